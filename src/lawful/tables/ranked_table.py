"""The table that evidence is taken from: columns of order-preserving ranks, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from lawful.common.arrays import Int32s
from lawful.common.meanings import NULL_RANK


class RankedTable(Protocol):
    """Columns as dense int32 ranks: 1 to `distinct` in the order of the values, 0 for null."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def width(self) -> int:
        """The number of columns."""

    def column(self, i: int, /) -> Int32s:
        """Column `i`: contiguous, one rank per row, possibly a read-only memory map."""

    def distinct(self, i: int, /) -> int:
        """The number of distinct values of column `i`, null not counted."""


def chosen_columns(table: RankedTable, columns: Sequence[int] | None) -> tuple[int, ...]:
    """The columns to compare: those given, or all.

    Raises
    ------
    IndexError
        If a column is not there or comes twice.
    """
    everything = tuple(range(table.width))
    if columns is None or columns == everything:
        return everything
    chosen = tuple(map(int, columns))
    if chosen and (len(set(chosen)) < len(chosen) or min(chosen) < 0 or max(chosen) >= table.width):
        raise IndexError(f"columns must be different ones of 0 to {table.width - 1}, and are {chosen}")
    return chosen


def matrix_of(table: RankedTable) -> Int32s | None:
    """All ranks, one line per column, if the table has them so; most tables that are no plain file have not."""
    found: Int32s | None = getattr(table, "matrix", None)
    return found


def in_lines(table: RankedTable, columns: tuple[int, ...]) -> Int32s:
    """Columns as the lines of one read-only array, which is not copied if the table has all of its ranks so."""
    matrix = matrix_of(table)
    if matrix is not None and columns == tuple(range(table.width)):
        return matrix
    return stacked([table.column(column) for column in columns], table.rows)


def stacked(columns: Sequence[Int32s], rows: int) -> Int32s:
    """Columns as the lines of one read-only array: one call then does what would take a call for each."""
    lines = np.concatenate(columns).reshape(len(columns), rows) if columns else np.empty((0, rows), np.int32)
    lines.setflags(write=False)
    return lines


class ChosenRows:
    """Some rows of a table, as a table; its columns are copied when they are asked for."""

    def __init__(self, table: RankedTable, rows: Int32s) -> None:
        self.ids = rows
        """The rows of the table that these are."""
        self._table = table
        self._columns: dict[int, Int32s] = {}
        self.rows = rows.size
        self.width = table.width

    def column(self, i: int, /) -> Int32s:
        """Column `i` of the chosen rows."""
        if i not in self._columns:
            self._columns[i] = np.asarray(self._table.column(i))[self.ids]
        return self._columns[i]

    def distinct(self, i: int, /) -> int:
        """As of the whole table: the chosen rows may have fewer values."""
        return self._table.distinct(i)


MOST_SAMPLED_ROWS = 1_000_000


def some_rows(table: RankedTable, seed: int, most: int = MOST_SAMPLED_ROWS) -> RankedTable:
    """The table itself, or about `most` of its rows: samples of pairs need no more, and stay close to the caches."""
    drawn: RankedTable | None = getattr(table, "drawn", None)
    if drawn is not None:  # a sample already
        return drawn
    if table.rows <= most:
        return table
    chance = np.random.default_rng(seed).random(table.rows, np.float32)
    return ChosenRows(table, np.flatnonzero(chance < most / table.rows).astype(np.int32))


def has_nulls(table: RankedTable, column: int) -> bool:
    """Whether any row is null in a column; of a sample, any row of the whole table."""
    counted = getattr(table, "nulls", None)
    return bool(counted(column) if counted is not None else (table.column(column) == NULL_RANK).any())
