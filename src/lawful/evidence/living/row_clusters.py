"""Rows by value, column by column: the inverted attribute index of DynASt (section 4.3) in flat arrays.

A column's rows are sorted by code, so the rows of a value stand side by side. Rows that came after the sorting are not
in it; there are few, and whoever asks looks at all of them. Once there are many, everything is sorted anew. Rows that
have left stay in it until then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.evidence.living.kernels.partners import breaks_class, rows_by_code
from lawful.tables.living.living_table import LivingTable

_MOST_UNSORTED = 2048
_MOST_UNSORTED_SHARE = 1 / 16


class _SortedColumn(NamedTuple):
    order: Int32s
    starts: Int64s


class RowClusters:
    """The rows of a living table that have a value, for every column that was asked for."""

    def __init__(self, table: LivingTable) -> None:
        self._table = table
        self._columns: dict[int, _SortedColumn] = {}
        self.end = table.end
        """Rows from this number on are not sorted."""

    def catch_up(self) -> None:
        """Sort anew, at the next question, if too many rows are not sorted."""
        unsorted = self._table.end - self.end
        if unsorted > max(_MOST_UNSORTED, int(_MOST_UNSORTED_SHARE * self._table.end)):
            self._columns.clear()
            self.end = self._table.end

    def sizes(self, rows: Int32s, columns: list[int]) -> Int64s:
        """How many sorted rows share the value of each row, given as codes, in each column, `int64[rows, columns]`.

        Columns that are not asked for count as those that all rows share.
        """
        counted = np.full((rows.shape[1], rows.shape[0]), self.end, np.int64)
        for column in columns:
            starts = self._sorted(column).starts
            codes = np.minimum(rows[column], len(starts) - 2)
            counted[:, column] = starts[codes + 1] - starts[codes]
            counted[rows[column] > len(starts) - 2, column] = 0
        return counted

    def breaks_class(
        self, column: int, codes: Int32s, right_side: int, right_codes: Int32s, new: range, ignore: bool
    ) -> Flags:
        """Which new rows differ on the right side from the old rows that have their value in a column.

        To be asked only where the column has determined the right side.
        """
        order, starts = self._sorted(column)
        known = codes <= len(starts) - 2
        places = np.where(known, codes, 0)
        first, last = starts[places], np.where(known, starts[places + 1], starts[places])
        if ignore:
            last = np.where(codes == 0, first, last)
        segments = self._table.codes.segments
        return breaks_class(
            order, first, last, self._table.is_live, *segments, right_side, right_codes, new.start, ignore
        )

    def cluster(self, column: int, code: int) -> Int32s:
        """The sorted rows that have a code."""
        order, starts = self._sorted(column)
        return order[:0] if code > len(starts) - 2 else order[starts[code] : starts[code + 1]]

    def ranges(self, column: int, codes: Int32s) -> tuple[Int32s, Int64s, Int64s]:
        """The sorted rows, and where among them the rows of each code begin and end."""
        order, starts = self._sorted(column)
        known = np.minimum(codes, len(starts) - 2)
        first = starts[known]
        return order, first, np.where(codes > known, first, starts[known + 1])

    def _sorted(self, column: int) -> _SortedColumn:
        if column not in self._columns:
            codes = self._table.codes.column(column)[: self.end]
            self._columns[column] = _SortedColumn(*rows_by_code(codes, len(self._table.columns[column].dictionary)))
        return self._columns[column]
