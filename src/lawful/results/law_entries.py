"""The laws of a discovery as the entries of a document: one by one, or as text by the thousand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from lawful.dependencies import to_document
from lawful.results.json_files import BETWEEN_ENTRIES, harmless_json
from lawful.results.law_lines import ENTRY_DIGITS, EntryLines
from lawful.results.packed_laws import NO_RIGHT_SIDE, Chunk, LawWriter, PackedLaws
from lawful.results.ranking import Ranking
from lawful.search import unpack_sets

_LISTED_AT_ONCE = 1_000
_FEW = 1_000
"""So many laws are written sooner than the kernels for more are loaded."""

Told = Callable[[int], None]
"""Is told how many laws were written so far."""


class LawEntries:
    """Iterates over the entries; `blocks` gives their JSON text, many entries at a time."""

    def __init__(self, laws: Ranking, names: Sequence[str], told: Told | None = None) -> None:
        self._laws, self._names, self._told = laws, names, told

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for packed in self._laws.packed:
            for chunk in packed.chunks():
                yield from self._of_chunk(chunk)
        yield from self._listed()

    def blocks(self, *, ensure_ascii: bool) -> Iterator[str]:
        """The entries as JSON, in texts of many, with `BETWEEN_ENTRIES` between two of them."""
        encode, written = json.JSONEncoder(ensure_ascii=ensure_ascii).encode, 0
        for packed in self._laws.packed:
            for text, count in self._packed_blocks(packed, encode, ensure_ascii=ensure_ascii):
                yield text
                written = self._tell(written + count)
        remaining = self._listed()
        while some := list(map(encode, islice(remaining, _LISTED_AT_ONCE))):
            yield harmless_json(BETWEEN_ENTRIES.join(some))
            written = self._tell(written + len(some))

    def _tell(self, written: int) -> int:
        if self._told is not None:
            self._told(written)
        return written

    def _packed_blocks(
        self, packed: PackedLaws, encode: Callable[[Any], str], *, ensure_ascii: bool
    ) -> Iterator[tuple[str, int]]:
        by_kernel = EntryLines(self._names, ensure_ascii=ensure_ascii) if len(packed) > _FEW else None
        for chunk in packed.chunks():
            if by_kernel is None:
                text = harmless_json(BETWEEN_ENTRIES.join(map(encode, self._of_chunk(chunk))))
            else:
                text = by_kernel.lines(chunk).decode("utf-8").removesuffix(BETWEEN_ENTRIES)
            yield text, len(chunk.sets)

    def _of_chunk(self, chunk: Chunk) -> Iterator[dict[str, Any]]:
        names, writer = self._names, LawWriter(self._names)
        interests = np.round(chunk.interests, ENTRY_DIGITS).tolist()
        errors = None if chunk.errors is None else chunk.errors.tolist()
        known = None if chunk.fared is None else list(chunk.fared.rows())
        each = zip(unpack_sets(chunk.sets), chunk.right_sides.tolist(), strict=True)
        for place, (columns, right_side) in enumerate(each):
            listed = [names[column] for column in columns]
            entry: dict[str, Any] = (
                {"kind": "key", "columns": listed}
                if right_side == NO_RIGHT_SIDE
                else {"kind": "fd", "lhs": listed, "rhs": names[right_side]}
            )
            entry |= {"text": writer.text(columns, right_side)}
            if known is not None:
                entry |= _strength_entry(*known[place])
            entry["interest"] = interests[place]
            yield entry if errors is None else entry | {"error": errors[place]}

    def _listed(self) -> Iterator[dict[str, Any]]:
        for listed in self._laws.listed:
            for law, interest, error, reading, strength, tested, violating in listed:
                entry = to_document(law, self._names)
                if listed.fared is not None:
                    entry |= _strength_entry(strength, tested, violating)
                entry["interest"] = round(interest, ENTRY_DIGITS)
                if error is not None:
                    entry["error"] = error
                yield entry if reading is None else entry | {"reading": reading}


def _strength_entry(strength: float | None, tested: int | None, violating: int | None) -> dict[str, Any]:
    """What a document says of how a law fares; counts only where there are any."""
    entry: dict[str, Any] = {"strength": None if strength is None else round(strength, ENTRY_DIGITS)}
    return entry | ({} if tested is None else {"tested": tested, "violating": violating})
