"""The rows on which list-based order dependencies are discovered before the table is asked (FindOD, section V).

Some rows are drawn at random, and for some of these rows that tie with them or are next to them in a column. Later come
the rows that refuted something on the whole table. Departing from the paper, a table not larger than a sample is its
own sample, at most so many rows are drawn, and all of them stay: what is asked of them is asked once (`parts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lawful.checks import RankedTable, partitions
from lawful.common.arrays import Int32s
from lawful.discovery.list_ods.kernels import sample as kernels
from lawful.search.list_ods.od_tree import bits
from lawful.tables.sample import SampleTable, rows_of_all

_WHOLE_ROWS = 2_000
_SHARE = 0.01
_FEWEST, _MOST = 50, 100_000
_MET, _PARTNERS = 100, 2
_BYTES_OF_PARTITIONS = 1 << 26
"""Of partitions that are kept; one that is needed again is made again."""

ClassIds = tuple[Int32s, int]
"""The class of each row, and the number of classes."""


class Sample:
    """Some rows of a table, and what they say of columns.

    Parameters
    ----------
    table
        The table.
    columns
        The columns that are searched; bits and marks count them by their places here.
    rows
        The rows, by id.
    bidirectional
        Whether it matters which columns fall while others rise.
    """

    def __init__(
        self, table: RankedTable, columns: Sequence[int], rows: Iterable[int], *, bidirectional: bool = True
    ) -> None:
        self._table = table
        self._columns = tuple(columns)
        self._bidirectional = bidirectional
        self._rows = np.unique(np.fromiter(rows, np.int64))
        self._rank()

    def __len__(self) -> int:
        return self._rows.size

    @property
    def is_whole(self) -> bool:
        """Whether all rows of the table are here."""
        return self._rows.size == rows_of_all(self._table)

    def add(self, rows: Iterable[int]) -> None:
        """Add rows that refute something which held here."""
        self._rows = np.union1d(self._rows, np.fromiter(rows, np.int64))
        self._rank()

    def determined(self, columns: int) -> int:
        """The columns that a set of columns determines here, its own among them."""
        flags = np.empty(len(self._columns), np.bool_)
        kernels.mark_determined(*self._class_ids(columns), self._ranks, flags)
        return sum(1 << int(column) for column in np.flatnonzero(flags)) | columns

    def compatible(self, context: int, column: int) -> int:
        """The marked columns that no two rows, which agree on the context, order against a column that rises."""
        swapped = np.empty((len(self._columns), 2), np.bool_)
        kernels.mark_swapped(
            *self._class_ids(context), self._ranks[column], self._ranks, self._orders, self._bidirectional, swapped
        )
        return sum(1 << int(mark) for mark in np.flatnonzero(~swapped.ravel()))

    def _class_ids(self, columns: int) -> ClassIds:
        found = self._partitions.get(columns)
        if found is None:
            smaller = (columns ^ 1 << column for column in bits(columns))
            known = next((smaller for smaller in smaller if smaller in self._partitions), columns & (columns - 1))
            (ids, classes), column = self._class_ids(known), (columns ^ known).bit_length() - 1
            out = np.empty_like(ids)
            classes = kernels.expand(ids, classes, self._ranks[column], self._orders[column], out)
            found = out, classes
            if len(self._partitions) * out.nbytes > _BYTES_OF_PARTITIONS:
                self._forget_partitions()
            self._partitions[columns] = found
        return found

    def _rank(self) -> None:
        """Rank the rows that are here."""
        shape = (len(self._columns), self._rows.size)
        self._ranks, self._orders = np.empty(shape, np.int32), np.empty(shape, np.int32)
        for place, column in enumerate(self._columns):
            values = np.asarray(self._table.column(column)[self._rows])
            order = np.argsort(values, kind="stable")
            rises = np.diff(values[order], prepend=values[order[:1]]) != 0
            self._ranks[place, order] = np.cumsum(rises)
            self._orders[place] = order
        self._forget_partitions()

    def _forget_partitions(self) -> None:
        self._partitions: dict[int, ClassIds] = {0: (np.zeros(self._rows.size, np.int32), 1)}


def draw_rows(table: RankedTable, columns: Sequence[int], seed: int, *, bidirectional: bool = True) -> Sample:
    """Draw rows at random, and for some of them rows that agree with them or are next to them in a column.

    Only such rows split a candidate, and in a large table two random rows hardly ever do (a departure).
    """
    if table.rows <= _WHOLE_ROWS:
        return Sample(table, columns, range(table.rows), bidirectional=bidirectional)
    size = int(np.clip(_SHARE * table.rows, _FEWEST, _MOST))
    # Not `choice` without replacement, which takes as long as the table is; a row drawn twice is one row.
    drawn = [np.random.default_rng(seed).integers(0, table.rows, size)]
    met = drawn[0][: int(np.clip(size, 0, _MET))]
    dense = table.drawn if isinstance(table, SampleTable) else table
    for column in columns:
        ranks = partitions.read_only(dense.column(column))
        left = np.zeros(dense.distinct(column) + 2, np.int8)
        left[ranks[met]] = left[ranks[met] + 1] = _PARTNERS
        partners = np.empty(2 * _PARTNERS * met.size, np.int32)
        found = kernels.draw_partners(ranks, int(drawn[0][0]), left, partners)
        drawn.append(partners[:found].astype(np.int64))
    return Sample(table, columns, np.concatenate(drawn), bidirectional=bidirectional)
