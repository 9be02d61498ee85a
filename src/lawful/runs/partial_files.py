"""Laws kept on disk while a discovery is under way, so that none is lost however it ends.

A run that will write `laws.json` appends what it finds to a new file of its own beside it, and never writes into that
of another run. It is `laws.json.partial`; if an earlier run has left that, it is `laws.json.2.partial`, and so on. The
file of an earlier run goes only when the run's own file holds all its laws, which then takes the name; if that never
happens, it stays. A run's own file goes when the whole result is written. Locks tell runs that live from those that do
not: a run holds one on its own file, and one on every earlier file that it may remove.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np

from lawful.common.errors import UsageError
from lawful.dependencies import format_law
from lawful.discovery.findings import KEY, Block, Listing
from lawful.results.json_files import is_device
from lawful.results.law_lines import NotationLines
from lawful.results.packed_laws import AT_ONCE, NO_RIGHT_SIDE, LawWriter
from lawful.search import unpack_sets

_FEW = 1_000
"""So many laws are written sooner than the kernels for more are loaded."""
_MOST_COMPARED = 256 << 20
"""Bytes of an earlier file that are read, to see whether all its laws are found again; a larger one stays."""


@dataclass
class _Locked:
    """A file that no other run touches, and its number among those beside one result."""

    path: Path
    number: int
    file: BinaryIO


@dataclass
class _Earlier(_Locked):
    """What an earlier run has left."""

    lines: _Lines | None
    """Its lines that this run has not written; None where there are too many to compare with those that it writes."""

    @property
    def is_found_again(self) -> bool:
        """Whether this run has written every line."""
        return self.lines is not None and self.lines.missing == 0


class _Lines:
    """Lines, kept as one number each: millions of laws need not be in memory as texts.

    The numbers are those of Python's own hashes, which nobody can foresee: two lines of one number are as good as
    impossible.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._numbers = np.unique(np.fromiter(map(hash, lines), np.int64))
        self._is_missing = np.ones(self._numbers.size, np.bool_)
        self.missing = self._numbers.size

    def discard(self, lines: Iterable[bytes]) -> None:
        """Take lines out, as far as they are in."""
        if self.missing:
            numbers = np.fromiter(map(hash, lines), np.int64)
            places = np.minimum(np.searchsorted(self._numbers, numbers), self._numbers.size - 1)
            self._is_missing[places[self._numbers[places] == numbers]] = False
            self.missing = int(np.count_nonzero(self._is_missing))


class PartialFile:
    """Laws appended to a file as they are found; without a result to be written, they are only gathered.

    A line holds one law in its notation, as a JSON string: a line that a sudden end has cut is seen to be cut. Use it
    in a `with` block, and `forget` it once the whole result is written.

    Parameters
    ----------
    out
        Where the result will be written: the laws lie beside it. None, or a device, keeps nothing on disk.
    """

    def __init__(self, out: str | os.PathLike[str] | None) -> None:
        self.blocks: list[Block] = []
        self.listings: list[Listing] = []
        self.path: Path | None = None
        """Where the laws are, while there is such a file."""
        self.failure: str | None = None
        """Why laws are not written any more, if they cannot be: the search goes on without."""
        self._out = None if out is None else Path(out)
        self._names: Sequence[str] = ()
        self._writer = LawWriter(())
        self._own: _Locked | None = None
        self._earlier: list[_Earlier] = []

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own is not None and self.path is not None and os.fstat(self._own.file.fileno()).st_size == 0:
            self.forget()
        for locked in (*self._earlier, *((self._own,) if self._own else ())):
            with contextlib.suppress(OSError):  # what a full disk did not take is known to be missing
                locked.file.close()

    @property
    def left(self) -> list[Path]:
        """Files of earlier runs that hold laws which this run has not found, or not written."""
        return [earlier.path for earlier in self._earlier if not earlier.is_found_again]

    def refuse_checkpoint(self, checkpoint: Path | None) -> None:
        """Refuse a checkpoint that is the result itself, or that a run may take for a file of laws."""
        if checkpoint is None or self._out is None:
            return
        if checkpoint.resolve() == self._out.resolve():
            raise UsageError(f"{self._out} cannot be both the document and the checkpoint", "Name another file.")
        if _may_be_partial(checkpoint, self._out):
            raise UsageError(
                f"{checkpoint} cannot be the checkpoint: "
                f"laws on the way to {self._out} are kept in files of such names",
                "Name another file.",
            )

    def begin(self, names: Sequence[str]) -> None:
        """Open a file for laws on columns of these names."""
        self._names, self._writer = names, LawWriter(names)
        if self._out is None or is_device(self._out):
            return
        try:
            self._earlier = _left_by_earlier_runs(self._out)
            self._own = _new_file(self._out)
        except OSError as error:
            raise UsageError(f"cannot write {_numbered(self._out, 1)}: {error.strerror}") from None
        self.path = self._own.path

    def append(self, found: Block | Listing) -> None:
        """Keep a block or a listing and write its laws, a line each."""
        if isinstance(found, Block):
            self.blocks.append(found)
        else:
            self.listings.append(found)
        if self._own is None or self.failure is not None:
            return
        try:
            for lines in self._texts(found):
                self._own.file.write(lines)
                for earlier in self._earlier:
                    if earlier.lines is not None:
                        earlier.lines.discard(lines.splitlines(keepends=True))
            self._own.file.flush()
        except OSError as error:
            self.failure = f"cannot write {self.path}: {error.strerror}"
        else:
            self._replace_earlier(self._own)

    def release(self) -> None:
        """Let go of what was gathered, once a search has ended; what is written stays."""
        self.blocks, self.listings = [], []

    def forget(self) -> None:
        """Remove this run's own file, once the whole result is written."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink()
        self.path = None

    def _texts(self, found: Block | Listing) -> Iterator[bytes]:
        """The lines of some laws, many at a time."""
        if isinstance(found, Block) and len(found.sets) > _FEW:
            by_kernel = NotationLines(self._names)
            for first in range(0, len(found.sets), AT_ONCE):
                yield by_kernel.lines(found.sets[first : first + AT_ONCE], right_side(found))
            return
        if isinstance(found, Block):
            texts = (self._writer.text(columns, right_side(found)) for columns in unpack_sets(found.sets))
        else:
            texts = (format_law(law, self._names) for law in found.laws())
        while some := list(map(json.dumps, islice(texts, _FEW))):
            yield ("\n".join(some) + "\n").encode("ascii")

    def _replace_earlier(self, own: _Locked) -> None:
        """Remove what this run's own file holds too; of all names it takes the first."""
        for earlier in [earlier for earlier in self._earlier if earlier.is_found_again]:
            with contextlib.suppress(OSError):  # then it stays, which does no harm
                if own.number < earlier.number:
                    earlier.path.unlink()
                else:
                    own.path.replace(earlier.path)
                    self.path = own.path = earlier.path
                    own.number = earlier.number
            earlier.file.close()
            self._earlier.remove(earlier)


def right_side(block: Block) -> int:
    """The right side of the laws of a block, as packed laws have it."""
    return NO_RIGHT_SIDE if block.goal == KEY else block.goal


def _may_be_partial(path: Path, out: Path) -> bool:
    """Whether runs that will write `out` may keep laws in a file of that path."""
    path = path.resolve()
    return path.parent == out.parent.resolve() and _number(path, out) is not None


def _numbered(out: Path, number: int) -> Path:
    return out.with_name(f"{out.name}.partial" if number == 1 else f"{out.name}.{number}.partial")


def _number(path: Path, out: Path) -> int | None:
    matched = re.fullmatch(rf"{re.escape(out.name)}(?:\.([1-9][0-9]{{0,8}}))?\.partial", path.name)
    return None if matched is None else int(matched[1] or 1)


def _left_by_earlier_runs(out: Path) -> list[_Earlier]:
    """Lock and read the files of runs that are no more, in the order of their numbers."""
    numbers = {path: number for path in out.parent.iterdir() if (number := _number(path, out)) is not None}
    found = (_of_earlier_run(path, number) for path, number in sorted(numbers.items(), key=lambda item: item[1]))
    return [earlier for earlier in found if earlier is not None]


def _of_earlier_run(path: Path, number: int) -> _Earlier | None:
    """Lock and read a file; what cannot be locked, or is no file of laws, is left alone."""
    if not path.is_file():  # a pipe would never end
        return None
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        file = stack.enter_context(path.open("r+b"))
        if _lock(file, path):
            is_small = os.fstat(file.fileno()).st_size <= _MOST_COMPARED
            lines = _Lines(line for line in file if line.endswith(b"\n")) if is_small else None
            stack.pop_all()  # the lock lasts as long as the file is open
            return _Earlier(path, number, file, lines)
    return None


def _new_file(out: Path) -> _Locked:
    """Create the file of the first number that is free."""
    number = 1
    while True:
        path = _numbered(out, number)
        try:
            file = path.open("xb")
        except FileExistsError:
            number += 1
            continue
        try:
            is_ours = _lock(file, path)
        except OSError:  # a file system without locks, where every run leaves the others' files alone
            is_ours = True
        if is_ours:
            return _Locked(path, number, file)
        file.close()  # a run that began at the same moment took it for one of an earlier run


def _lock(file: BinaryIO, path: Path) -> bool:
    """Keep other runs off a file; False if one was quicker."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
