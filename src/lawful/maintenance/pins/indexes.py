"""What keeps one pinned law: one shape for all."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from lawful.checks.denials.pair_judge import PairJudge
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.maintenance.evidence import Pair
from lawful.tables.living.living_table import LivingTable
from lawful.tables.living.loose_rows import LooseRows


class Tally(NamedTuple):
    """How many rows are in pairs that break a law, and how many such pairs there are."""

    rows: int
    pairs: int


class PinIndex(Protocol):
    """Follows the rows of a table for one law. Rows are handed over with their codes, `int32[columns, rows]`."""

    def insert(self, rows: Int64s, codes: Int32s) -> None:
        """Take rows in that are not in yet."""

    def delete(self, rows: Int64s, codes: Int32s) -> None:
        """Let rows go that were taken in."""

    def tally(self) -> Tally:
        """How badly the law is broken."""

    def witness(self) -> Pair | None:
        """Two rows that break the law, if some do."""

    def partners(self, codes: Int32s) -> Int64s:
        """For rows that are not taken in, a row that each would break the law with, -1 where there is none."""

    def partners_of(self, rows: Int64s, codes: Int32s) -> Int64s:
        """For rows that are taken in, another row that each breaks the law with, -1 where there is none."""

    def conflicts(self, codes: Int32s) -> Flags:
        """Which of some rows, that are not taken in, break the law with each other: `bool[rows, rows]`."""

    @property
    def memory(self) -> int:
        """Bytes in use."""


class NoIndex:
    """A law that has no index: counts come from checks of the whole table, and rows are compared one by one.

    It remembers only what is tried (`PinnedLaws.breaking`): rows of the table that are taken for gone, and rows that
    are not in the table yet.
    """

    memory = 0

    def __init__(self, table: LivingTable, law: Law, null: NullPolicy) -> None:
        self._table, self._law, self._null = table, law, null
        self._out: set[int] = set()
        self._tried: dict[int, Int32s] = {}

    def insert(self, rows: Int64s, codes: Int32s) -> None:
        """Note rows that are not in the table yet."""
        for place, row in enumerate(rows.tolist()):
            if row >= self._table.end:
                self._tried[row] = codes[:, place]
            self._out.discard(row)

    def delete(self, rows: Int64s, codes: Int32s) -> None:
        """Note rows that are taken for gone."""
        for row in rows.tolist():
            self._tried.pop(row, None)
            if row < self._table.end and self._table.is_live[row]:
                self._out.add(row)

    def partners(self, codes: Int32s) -> Int64s:
        """Compare each row with all others."""
        numbers = self._table.live_rows()
        numbers = numbers[~np.isin(numbers, list(self._out))] if self._out else numbers
        tried = np.array(list(self._tried.values()), np.int32).reshape(-1, self._table.width).T
        joining = np.concatenate([tried, codes], axis=1)
        every = np.concatenate([numbers, np.array(list(self._tried), np.int64)])
        return self._partners(LooseRows.among(self._table, numbers, joining), every, np.arange(codes.shape[1]))

    def _partners(self, rows: LooseRows, numbers: Int64s, asking: Int64s) -> Int64s:
        judge = PairJudge(self._law, rows, self._null)
        known = np.arange(len(numbers))
        found = np.full(len(asking), -1, np.int64)
        for place in asking.tolist():
            breaking = np.flatnonzero(judge.partners(len(numbers) + place, known))
            if len(breaking):
                found[place] = numbers[breaking[0]]
        return found

    def conflicts(self, codes: Int32s) -> Flags:
        """Compare each row with the others."""
        count = codes.shape[1]
        judge = PairJudge(self._law, LooseRows.among(self._table, np.empty(0, np.int64), codes), self._null)
        every = np.arange(count)
        found = np.zeros((count, count), np.bool_)
        for row in range(count):
            found[row, :row] = judge.partners(row, every[:row])
        return found | found.T
