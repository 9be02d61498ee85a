"""Some rows of a table that no process holds: what searches look at, while other processes check all rows.

A row of the sample is named by its place in it, which fits 32 bits whatever the table's row ids are. Rows that refute a
law join the sample, so it grows; no row ever changes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK, ColumnType, NullPolicy
from lawful.dependencies import Constant
from lawful.tables.ranked_table import ChosenRows, RankedTable
from lawful.tables.shared_ranks import Coded, place_among, rank_coded

_LARGEST_RANK = 2**31 - 2
_FIRST_ROOM = 1024


class Frequent(NamedTuple):
    """A value of a column as text, its rank in the whole table, and how many rows have it."""

    text: str
    rank: int
    rows: int


class ValuesOfAll(Protocol):
    """What can be asked about the values of all rows."""

    def of_ranks(self, column: int, ranks: Int64s) -> pa.Array:
        """The values of some ranks of a column, which rise and are not null."""

    def shared(self, columns: Sequence[int]) -> Int64s | None:
        """How many values each two of some columns share; None if some have no order between them."""

    def mean(self, column: int) -> Fraction:
        """The mean of a column's numbers over all rows."""

    def frequent(self, column: int, most: int) -> list[Frequent]:
        """The values that most rows have; of those that as many rows have, the least first."""

    def read(self, column: int, constant: Constant) -> pa.Array:
        """A constant as a value of a column."""


class WholeTable(Protocol):
    """What is known of all rows, or can be asked of those who have them."""

    @property
    def rows(self) -> int:
        """The number of all rows."""

    @property
    def width(self) -> int:
        """The number of columns."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def values(self) -> ValuesOfAll:
        """The values of all rows."""

    def type(self, position: int) -> ColumnType:
        """The type of a column."""

    def distinct(self, position: int) -> int:
        """The number of distinct values of a column, null not counted."""

    def nulls(self, position: int) -> int:
        """The number of rows that have no value in a column."""

    def ranks_of(self, ids: Int64s) -> Int64s:
        """The ranks of some rows, `int64[rows, columns]`."""

    def are_twins(self, first: int, second: int) -> bool:
        """Whether two columns agree and differ together in all rows, and are null in the same ones."""

    def are_ordered_alike(self, first: int, second: int, *, turned: bool) -> bool:
        """Whether two columns order all rows alike, null first; or the second one turned around."""

    def is_turned(self, first: int, second: int, policy: NullPolicy) -> bool | None:
        """Whether the second of two twins orders all rows as the first one turned around does; None: in another way."""


class SampleTable:
    """A sample of a table as a table of ranks, which searches take for the table itself.

    `distinct` and `nulls` are those of all rows, `rows` counts the sample. Ranks keep the order of the values and are
    not dense.

    Parameters
    ----------
    whole
        What all rows are asked by.
    ids, ranks
        The row ids of the sample, and its ranks, `int64[rows, columns]`.
    seed
        Where the random numbers started that chose these rows.
    """

    def __init__(self, whole: WholeTable, ids: Int64s, ranks: Int64s, seed: int = 0) -> None:
        self.whole, self.seed = whole, seed
        self.width = whole.width
        self.rows = 0
        self._ids = np.empty(0, np.int64)
        self._ranks = np.empty((0, self.width), np.int64)
        self._places: dict[int, int] = {}
        self._columns: dict[int, tuple[int, Int32s]] = {}
        self._asked: tuple[Int64s, SampleTable] | None = None
        self._growing = Lock()
        self._append(ids, ranks)
        self._first = self.rows

    @property
    def ids(self) -> Int64s:
        """The row ids of the sample."""
        return self._ids[: self.rows]

    def column(self, i: int, /) -> Int32s:
        """Column `i` of the sample; ranks beyond 32 bits are counted anew among those that are here."""
        rows = self.rows
        known = self._columns.get(i)
        if known is None or known[0] != rows:
            known = self._columns[i] = rows, _as_int32(self._ranks[:rows, i])
        return known[1]

    def distinct(self, i: int, /) -> int:
        """The number of distinct values of column `i` of all rows, null not counted."""
        return self.whole.distinct(i)

    def nulls(self, i: int, /) -> int:
        """The number of all rows that are null in column `i`."""
        return self.whole.nulls(i)

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return self.whole.names

    def type(self, i: int, /) -> ColumnType:
        """The type of column `i`."""
        return self.whole.type(i)

    @cached_property
    def drawn(self) -> RankedTable:
        """The rows that were drawn, without those that joined them later; their ranks are dense."""
        return _DrawnRows(self, self._first)

    def of_rows(self, ids: Int64s) -> RankedTable:
        """Some rows of the whole table, in the order of their ids given; those asked for last are kept."""
        if self._asked is None or not np.array_equal(self._asked[0], ids):
            self._asked = ids, SampleTable(self.whole, ids, self.whole.ranks_of(ids))
        return self._asked[1]

    def places(self, ids: Sequence[int]) -> list[int]:
        """The places of some rows in the sample, which they join if they are not there."""
        with self._growing:
            missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._places]
            if missing:
                wanted = np.array(missing, np.int64)
                self._append(wanted, self.whole.ranks_of(wanted))
            return [self._places[id_] for id_ in ids]

    def chosen(self, places: Int32s) -> SampleTable:
        """Some rows of the sample, in that order."""
        return SampleTable(self.whole, self._ids[places], self._ranks[places])

    def coded(self, column: int, rows: int | None = None) -> Coded:
        """The values of a column that the sample has, or its first rows, and which of them each row has."""
        present, codes = np.unique(self._ranks[: self.rows if rows is None else rows, column], return_inverse=True)
        values = present[present != NULL_RANK]
        return self.whole.values.of_ranks(column, values), (codes + values.size - present.size + 1).astype(np.int32)

    def shared_ranks(self, columns: Sequence[int], rows: int | None = None) -> list[Int32s]:
        """Rank the rows of several columns together: equal ranks are equal values, and null is 0."""
        return rank_coded([self.coded(column, rows) for column in columns], [self.type(column) for column in columns])

    def constant_place(self, column: int, constant: Constant) -> int:
        """Say where a constant stands among the values of a column that are here."""
        return _place(self, column, constant, self.coded(column), self.column(column))

    def _append(self, ids: Int64s, ranks: Int64s) -> None:
        rows = self.rows + len(ids)
        if rows > len(self._ids):
            room = max(_FIRST_ROOM, rows + rows // 8)
            held_ids, held = np.empty(room, np.int64), np.empty((room, self.width), np.int64)
            held_ids[: self.rows], held[: self.rows] = self._ids[: self.rows], self._ranks[: self.rows]
            self._ids, self._ranks = held_ids, held
        self._ids[self.rows : rows], self._ranks[self.rows : rows] = ids, ranks
        self._places.update(zip(ids.tolist(), range(self.rows, rows), strict=True))
        self.rows = rows


class _DrawnRows(ChosenRows):
    """The first rows of a sample with dense ranks: as many as its rows have values, however many the table has."""

    def __init__(self, table: SampleTable, rows: int) -> None:
        super().__init__(table, np.arange(rows, dtype=np.int32))
        self._sample = table
        self._distinct: dict[int, int] = {}

    def column(self, i: int, /) -> Int32s:
        """Column `i` of the chosen rows."""
        if i not in self._columns:
            self._columns[i] = dense(np.asarray(self._table.column(i))[self.ids])
            self._distinct[i] = int(self._columns[i].max(initial=0))
        return self._columns[i]

    def distinct(self, i: int, /) -> int:
        """How many values the chosen rows have."""
        self.column(i)
        return self._distinct[i]

    def shared_ranks(self, columns: Sequence[int]) -> list[Int32s]:
        """Rank the rows of several columns together: equal ranks are equal values, and null is 0."""
        return self._sample.shared_ranks(columns, self.rows)

    def constant_place(self, column: int, constant: Constant) -> int:
        """Say where a constant stands among the values of a column that are here."""
        return _place(self._sample, column, constant, self._sample.coded(column, self.rows), self.column(column))


def _place(table: SampleTable, column: int, constant: Constant, coded: Coded, ranks: Int32s) -> int:
    if not len(coded[0]):
        return 2 * NULL_RANK + 1
    return place_among(coded, ranks, table.whole.values.read(column, constant), table.type(column))


def dense(ranks: Int32s | Int64s) -> Int32s:
    """The same ranks, counted anew among those that occur; 0 stays null."""
    values, places = np.unique(ranks, return_inverse=True)
    offset = 0 if values.size and values[0] == 0 else 1
    found: Int32s = (places + offset).astype(np.int32)
    return found


def _as_int32(ranks: Int64s) -> Int32s:
    if ranks.max(initial=0) > _LARGEST_RANK:
        return dense(ranks)
    return np.ascontiguousarray(ranks, np.int32)


def rows_of_all(table: RankedTable) -> int:
    """The rows of a table; of a sample, those of the table that it was drawn from."""
    return table.whole.rows if isinstance(table, SampleTable) else table.rows


def is_sample(table: RankedTable) -> bool:
    """Whether a table is a sample of a larger one, so that what holds on it need not hold."""
    return isinstance(table, SampleTable)
