"""Packed laws as lines of text, a chunk at a time: what Python takes microseconds for, by the million."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Bytes, Floats, Int64s, Words
from lawful.dependencies.notation import format_name
from lawful.results.json_files import BETWEEN_ENTRIES, harmless_json
from lawful.results.kernels.lines import add_member_lengths, put_members, put_pieces
from lawful.results.packed_laws import NO_RIGHT_SIDE, Chunk, Fared

ENTRY_DIGITS = 9
"""The digits of interests in documents."""


class Pieces(NamedTuple):
    """Texts to choose from, one after the other as bytes."""

    bytes_: Bytes
    offsets: Int64s

    @staticmethod
    def of(texts: Sequence[str]) -> Pieces:
        """Encode texts."""
        encoded = [text.encode("utf-8") for text in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return Pieces(as_bytes(b"".join(encoded)), offsets)


def as_bytes(text: bytes) -> Bytes:
    """Bytes as kernels take them."""
    return np.frombuffer(text, np.uint8)


class Lines:
    """As many lines as there are sets in a family, put together from parts that are the same kind of thing in all."""

    def __init__(self, family: Words) -> None:
        self._family = np.ascontiguousarray(family)
        self._lengths = np.zeros(len(family), np.int64)
        self._parts: list[Callable[[Bytes, Int64s], None]] = []

    def text(self, text: str) -> None:
        """Add the same text to every line."""
        self.chosen(Pieces.of([text]), np.zeros(len(self._family), np.int64))

    def chosen(self, pieces: Pieces, codes: Int64s) -> None:
        """Add one of some pieces to each line."""
        self._lengths += np.diff(pieces.offsets)[codes]
        self._parts.append(lambda out, ends: put_pieces(out, ends, codes, *pieces))

    def members(self, pieces: Pieces, if_none: str = "") -> None:
        """Add the pieces of the members of each set, with commas between them."""
        between, nothing = as_bytes(b", "), as_bytes(if_none.encode())
        add_member_lengths(self._lengths, self._family, pieces.offsets, between.size, nothing.size)
        self._parts.append(lambda out, ends: put_members(out, ends, self._family, *pieces, between, nothing))

    def bytes_(self) -> bytes:
        """All lines."""
        ends = np.cumsum(self._lengths) - self._lengths
        out = np.empty(int(self._lengths.sum()), np.uint8)
        for put in self._parts:
            put(out, ends)
        return out.tobytes()


class NotationLines:
    """Laws in their notation, each as a JSON string on a line of its own."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = Pieces.of([json.dumps(format_name(column, names))[1:-1] for column in range(len(names))])

    def lines(self, sets: Words, right_side: int) -> bytes:
        """Write keys, or FDs of one right side."""
        lines = Lines(sets)
        if right_side == NO_RIGHT_SIDE:
            lines.text('"key(')
            lines.members(self._names)
            lines.text(')"\n')
        else:
            lines.text('"')
            lines.members(self._names, "{}")
            lines.text(" -> ")
            lines.chosen(self._names, np.full(len(sets), right_side, np.int64))
            lines.text('"\n')
        return lines.bytes_()


class EntryLines:
    """Laws as the JSON objects of a document, each followed by `BETWEEN_ENTRIES`."""

    def __init__(self, names: Sequence[str], *, ensure_ascii: bool) -> None:
        encode = json.JSONEncoder(ensure_ascii=ensure_ascii).encode
        written = [format_name(column, names) for column in range(len(names))]
        self._names = Pieces.of([harmless_json(encode(name)) for name in names])
        self._written = Pieces.of([harmless_json(encode(name))[1:-1] for name in written])

    def lines(self, chunk: Chunk) -> bytes:
        """Write keys or FDs, not both."""
        lines = Lines(chunk.sets)
        if chunk.right_sides[0] == NO_RIGHT_SIDE:
            self._key(lines)
        else:
            self._fd(lines, chunk.right_sides)
        if chunk.fared is None:
            lines.text('", "interest": ')
        else:
            lines.text('", "strength": ')
            lines.chosen(*_numbers(np.round(chunk.fared.strengths, ENTRY_DIGITS)))
            lines.chosen(*_counts(chunk.fared))
            lines.text(', "interest": ')
        lines.chosen(*_numbers(np.round(chunk.interests, ENTRY_DIGITS)))
        if chunk.errors is not None:
            lines.text(', "error": ')
            lines.chosen(*_numbers(chunk.errors))
        lines.text("}" + BETWEEN_ENTRIES)
        return lines.bytes_()

    def _key(self, lines: Lines) -> None:
        lines.text('{"kind": "key", "columns": [')
        lines.members(self._names)
        lines.text('], "text": "key(')
        lines.members(self._written)
        lines.text(")")

    def _fd(self, lines: Lines, right_sides: Int64s) -> None:
        lines.text('{"kind": "fd", "lhs": [')
        lines.members(self._names)
        lines.text('], "rhs": ')
        lines.chosen(self._names, right_sides)
        lines.text(', "text": "')
        lines.members(self._written, "{}")
        lines.text(" -> ")
        lines.chosen(self._written, right_sides)


def _numbers(values: Floats) -> tuple[Pieces, Int64s]:
    """Numbers as JSON has them; of many laws few differ."""
    distinct, codes = np.unique(values, return_inverse=True)
    texts = ["null" if value != value else json.dumps(value) for value in distinct.tolist()]
    return Pieces.of(texts), codes.astype(np.int64)


def _counts(fared: Fared) -> tuple[Pieces, Int64s]:
    """How many pairs test each law and how many rows break it, where that was counted."""
    known = [
        "" if tested is None else f', "tested": {tested}, "violating": {violating}'
        for _, tested, violating in fared.rows()
    ]
    places = {text: place for place, text in enumerate(dict.fromkeys(known))}
    return Pieces.of(list(places)), np.array([places[text] for text in known], np.int64)
