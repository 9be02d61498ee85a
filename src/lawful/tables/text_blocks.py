"""Cutting text files into blocks of whole records.

A block is the unit that one thread or Spark task parses. It never cuts a record, even one whose quoted cells
run over several lines, and it knows the number of its first line, so that every row leads back to its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from lawful.tables.options import CsvDialect

BLOCK_BYTES = 8 << 20
LONGEST_RECORD = 256 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BlockError(Exception):
    """Text that cannot be read: the 1-based line, counted from where the reader began, and what is wrong."""

    def __init__(self, line: int, message: str, hint: str | None = None) -> None:
        super().__init__(line, message, hint)
        self.line = line
        self.message = message
        self.hint = hint


class OpenQuoteError(BlockError):
    """Text that ends inside quotes."""


@dataclass(frozen=True)
class TextBlock:
    """Whole records: UTF-8 or raw bytes that end in a newline, and the number of the first line, from 1."""

    data: bytes
    first_line: int
    starts_inside: npt.NDArray[np.bool_] | None = None
    """Which lines start inside quotes, where any does."""

    def record_lines(self, *, keep_blank: bool) -> npt.NDArray[np.int64]:
        """The line on which each record starts; blank lines between records are passed over."""
        if not self.data:
            return np.zeros(0, np.int64)
        octets = np.frombuffer(self.data, np.uint8)
        ends = np.flatnonzero(octets == 10)
        starts = np.concatenate(([0], ends[:-1] + 1))
        is_record = np.ones(len(ends), np.bool_)
        if not keep_blank:
            length = ends - starts
            is_record = (length > 1) | ((length == 1) & (octets[starts] != 13))
        if self.starts_inside is not None:
            is_record = ~self.starts_inside & (is_record | keep_blank)
        return np.flatnonzero(is_record) + self.first_line

    def records(self) -> Iterator[TextBlock]:
        """Each record as a block of its own; a blank line is one too."""
        newlines = self._newlines()
        starts = self.record_lines(keep_blank=True).tolist()
        for first, end in pairwise([*starts, self.first_line + len(newlines)]):
            yield self._part(newlines, first, end)

    def split_first_record(self) -> tuple[TextBlock | None, TextBlock | None]:
        """The first record that is not blank, and the block of the rest, blank lines in front of it included."""
        filled, starts = self.record_lines(keep_blank=False), self.record_lines(keep_blank=True)
        if len(filled) == 0:
            return None, None
        newlines = self._newlines()
        first, behind = int(filled[0]), self.first_line + len(newlines)
        following = starts[np.searchsorted(starts, first, side="right") :]
        end = int(following[0]) if len(following) else behind
        return self._part(newlines, first, end), self._part(newlines, end, behind) if end < behind else None

    def _newlines(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == 10)

    def _part(self, newlines: npt.NDArray[np.intp], first: int, end: int) -> TextBlock:
        """The block of the lines from `first` up to and without `end`."""
        lines = slice(first - self.first_line, end - self.first_line)
        start = newlines[lines.start - 1] + 1 if lines.start else 0
        inside = None if self.starts_inside is None else self.starts_inside[lines]
        return TextBlock(self.data[start : newlines[lines.stop - 1] + 1], first, inside)


def cut_into_blocks(
    chunks: Iterable[bytes], dialect: CsvDialect, *, quoted: bool, block_bytes: int = BLOCK_BYTES
) -> Iterator[TextBlock]:
    """Cut a stream of bytes, each chunk ending in a newline, into blocks of whole records.

    With `quoted`, newlines inside quotes belong to their record. The last block may end inside quotes: that is
    an `OpenQuoteError` pointing at the line where the open record starts, raised after the blocks before it.
    """
    pending: list[bytes] = []
    size = 0
    line = 1
    for chunk in chunks:
        pending.append(chunk)
        size += len(chunk)
        if size < block_bytes:
            continue
        block, rest = _cut(b"".join(pending), line, dialect, quoted)
        if block is not None:
            line += block.data.count(b"\n")
            yield block
        if len(rest) > LONGEST_RECORD:
            raise _open_quote(line)
        pending, size = ([rest], len(rest)) if rest else ([], 0)
        block_bytes = max(block_bytes, 2 * size)  # a long record must not be scanned over and over
    if pending:
        block, rest = _cut(b"".join(pending), line, dialect, quoted)
        if block is not None:
            line += block.data.count(b"\n")
            yield block
        if rest:
            raise _open_quote(line)


def _open_quote(line: int) -> OpenQuoteError:
    return OpenQuoteError(
        line,
        "a quoted cell of the record that starts here is never closed",
        "Close the quote, or say how quotes are written with --quote and --escape.",
    )


def _cut(data: bytes, first_line: int, dialect: CsvDialect, quoted: bool) -> tuple[TextBlock | None, bytes]:
    """The whole records at the front of `data`, and the bytes of a record that is still open."""
    if not quoted or dialect.quote is None or dialect.quote.encode() not in data:
        return TextBlock(data, first_line), b""
    starts_inside, open_at_end = quote_states(data, dialect)
    if not starts_inside.any() and not open_at_end:
        return TextBlock(data, first_line), b""
    rest = b""
    if open_at_end:
        record_starts = np.flatnonzero(~starts_inside)
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
        last = int(record_starts[-1])
        cut = 0 if last == 0 else int(newlines[last - 1]) + 1
        data, rest = data[:cut], data[cut:]
        if not data:
            return None, rest
        starts_inside = starts_inside[:last]
    return TextBlock(data, first_line, starts_inside if starts_inside.any() else None), rest


def quote_states(data: bytes, dialect: CsvDialect) -> tuple[npt.NDArray[np.bool_], bool]:
    """Which lines of `data` start inside quotes, and whether it ends inside."""
    # Numba takes its time to import; most files have no quotes and never come here.
    from lawful.tables.kernels.lines import NONE, line_states

    starts_inside, ends_inside = line_states(
        np.frombuffer(data, np.uint8),
        data.count(b"\n"),
        ord(dialect.separator),
        ord(dialect.quote) if dialect.quote else NONE,
        ord(dialect.escape) if dialect.escape else NONE,
        False,
    )
    return starts_inside, bool(ends_inside)


def without_byte_order_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Drop the mark that some programs put at the front of a UTF-8 file, before anything looks for quotes there."""
    remaining = iter(chunks)
    for first in islice(remaining, 1):
        yield first.removeprefix(BYTE_ORDER_MARK)
    yield from remaining
