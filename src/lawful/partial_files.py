"""Laws kept on disk while a discovery is under way, so that none is lost however it ends."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

from lawful.dependencies import format_law
from lawful.discovery.findings import KEY, Block, Listing
from lawful.errors import UsageError
from lawful.results.packed_laws import NO_RIGHT_SIDE, LawWriter
from lawful.search import unpack_sets


class PartialFile:
    """Laws appended to a file as they are found; it goes when the whole result is written in its place.

    A line holds one law in its notation, as a JSON string: a line that a sudden end has cut is seen to be cut.
    """

    def __init__(self, path: Path | None, names: Sequence[str]) -> None:
        self._path = path
        self._names = names
        self._writer = LawWriter(names)
        self._file: TextIO | None = None
        self.blocks: list[Block] = []
        self.listings: list[Listing] = []

    def __enter__(self) -> PartialFile:
        if self._path is not None:
            try:
                self._file = self._path.open("w", encoding="utf-8")
            except OSError as error:
                raise UsageError(f"cannot write {self._path}: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, found: Block | Listing) -> None:
        """Keep a block or a listing and write its laws, a line each."""
        if isinstance(found, Block):
            self.blocks.append(found)
        else:
            self.listings.append(found)
        if self._file is not None:
            self._file.writelines(json.dumps(text) + "\n" for text in self._texts(found))
            self._file.flush()

    def _texts(self, found: Block | Listing) -> Iterator[str]:
        if not isinstance(found, Block):
            return (format_law(law, self._names) for law in found.laws())
        goal = right_side(found)
        return (self._writer.text(columns, goal) for columns in unpack_sets(found.sets))


def right_side(block: Block) -> int:
    """The right side of the laws of a block, as packed laws have it."""
    return NO_RIGHT_SIDE if block.goal == KEY else block.goal


def partial_path(out: Path) -> Path:
    """Where laws are kept while a discovery that will write `out` is under way."""
    return out.with_name(f"{out.name}.partial")


def forget_partial(out: Path) -> None:
    """Remove what was kept for the sake of a sudden end, once the whole result is written."""
    with contextlib.suppress(OSError):
        partial_path(out).unlink()
