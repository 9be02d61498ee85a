"""The codes of some rows, column by column, read when somebody asks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.tables.living.living_table import LivingTable


class RowCodes:
    """Rows as codes.

    Parameters
    ----------
    rows
        How many rows there are.
    read
        Gives the codes of a column.
    """

    def __init__(self, rows: int, read: Callable[[int], Int32s]) -> None:
        self.rows = rows
        self._read = read
        self._columns: dict[int, Int32s] = {}

    @staticmethod
    def of_matrix(codes: Int32s) -> RowCodes:
        """Rows whose codes are at hand, `int32[columns, rows]`."""
        return RowCodes(codes.shape[1], lambda column: codes[column])

    @staticmethod
    def of_table(table: LivingTable, rows: Int64s) -> RowCodes:
        """Rows of a table by their numbers, which rise."""
        if len(rows) == table.end:
            return RowCodes(len(rows), table.codes.column)
        return RowCodes(len(rows), lambda column: table.codes.column_of_rows(column, rows))

    def column(self, column: int) -> Int32s:
        """The codes of a column."""
        if column not in self._columns:
            self._columns[column] = np.array(self._read(column), np.int32)
        return self._columns[column]

    def some(self, which: Flags) -> RowCodes:
        """Some of the rows."""
        return RowCodes(int(np.count_nonzero(which)), lambda column: self.column(column)[which])
