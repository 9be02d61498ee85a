"""Ranges of sorted rows that hold what new rows ask for: what all indexes answer with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.evidence.living.orders.fetches import Fetch
from lawful.evidence.living.orders.kernels.ranges import list_pairs


class Ranges(NamedTuple):
    """For each of some new rows, ranges of `rows`: `rows[first[k, c] : last[k, c]]` for every c.

    Rows that have left may be in them, and rows that came after the new one.
    """

    rows: Int32s
    first: Int32s
    last: Int32s

    def counts(self) -> Int64s:
        """How many rows are in the ranges of each new row."""
        return np.asarray((self.last - self.first).sum(axis=1, dtype=np.int64))

    def of(self, new: slice) -> Ranges:
        """Those of some of the new rows."""
        return self._replace(first=self.first[new], last=self.last[new])

    def without(self, left_out: Flags) -> Ranges:
        """The same with nothing for some of the new rows."""
        return self._replace(last=np.where(left_out[:, None], self.first, self.last))

    def pairs(self, numbers: Int64s, is_live: Flags, seen: Words, chunk: int) -> Iterator[tuple[Int32s, Int32s]]:
        """Pairs of a live row with a new row that came after it, at most `chunk` at a time.

        Parameters
        ----------
        numbers
            The numbers of the new rows.
        seen
            Bit k of word r: the pair of row r with new row k was listed before. Empty if pairs may be listed again.
        """
        first, last, at = np.array(self.first, order="C"), np.ascontiguousarray(self.last), 0
        chunk = min(chunk, int(self.counts().sum()))
        while chunk and at < first.size:
            left, right = np.empty(chunk, np.int32), np.empty(chunk, np.int32)
            at, count = list_pairs(self.rows, first, last, numbers, is_live, seen, at, left, right)
            if count:
                yield left[:count], right[:count]


class RowIndex(Protocol):
    """An index of the live rows of a table."""

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns whose comparisons it answers."""

    @property
    def within(self) -> int | None:
        """A column whose value is the same in all rows that it lists."""

    @property
    def rank(self) -> int:
        """In how many sorted lists a row is looked for."""

    @property
    def memory(self) -> int:
        """Bytes in use."""

    def catch_up(self) -> None:
        """Take in the rows that have come."""

    def ranges(self, rows: Int64s, fetch: Fetch) -> list[Ranges]:
        """Where the rows are that some rows ask for, with either of the two as the first."""


def total_counts(parts: Iterable[Ranges], rows: int) -> Int64s:
    """How many rows new rows would be given in all, those that have left included, without listing them."""
    counted = np.zeros(rows, np.int64)
    for part in parts:
        counted += part.counts()
    return counted
