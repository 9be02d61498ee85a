"""Finding live rows by the values of some columns, or of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.tables.living.living_table import LivingTable


def matching_rows(table: LivingTable, columns: Sequence[int], wanted: Int32s) -> list[list[int]]:
    """For each wanted combination of codes, the live rows that have it in these columns, in their order.

    The column with most values decides which rows are looked at, in one pass over it: an index would have to be kept
    up to date, and take as much memory as the column.

    Parameters
    ----------
    columns
        The columns to compare.
    wanted
        The codes to look for, `int32[columns, combinations]`; a code below 0 is of a value that never came.
    """
    found: list[list[int]] = [[] for _ in range(wanted.shape[1])]
    known: Flags = np.all(wanted >= 0, axis=0)
    if not known.any():
        return found
    telling = max(range(len(columns)), key=lambda place: len(table.columns[columns[place]].dictionary))
    candidates = _rows_with(table, columns[telling], wanted[telling][known])
    of_combination: dict[bytes, list[int]] = defaultdict(list)
    codes = np.stack([table.codes.column_of_rows(column, candidates) for column in columns])
    for row, key in zip(candidates.tolist(), _keys(codes), strict=True):
        of_combination[key].append(row)
    for place, key in enumerate(_keys(wanted)):
        if known[place]:
            found[place] = of_combination.get(key, [])
    return found


def _rows_with(table: LivingTable, column: int, codes: Int32s) -> Int64s:
    """The live rows that have one of some codes in a column."""
    is_wanted = np.zeros(len(table.columns[column].dictionary) + 1, np.bool_)
    is_wanted[codes] = True
    parts, first = [], 0
    for segment in table.codes.segments:
        rows = np.flatnonzero(is_wanted[segment[column]]) + first
        parts.append(rows[table.is_live[rows]])
        first += segment.shape[1]
    return np.concatenate(parts)


def _keys(codes: Int32s) -> list[bytes]:
    by_row = np.ascontiguousarray(codes.T)
    return [line.tobytes() for line in by_row]
