"""Comparing new rows with old ones: with a run of rows, or with those that an index lists.

Codes stand column by column in two segments, the base and the tail; row r of the table is row r of the base, or row
r minus the base's length of the tail.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ONE


@compiled
def compare_with_run(
    segment: Int32s,
    first_id: int,
    is_live: Flags,
    start: int,
    stop: int,
    row: Int32s,
    ignore: bool,
    words: Words,
    rows: Int32s,
) -> int:
    """Compare a row with the live rows `start` to `stop` of a segment; write their sets and numbers, return how many.

    With `ignore`, `words` has a second plane for where the rows are known to differ.
    """
    size = stop - start
    half = words.shape[0] // 2 if ignore else words.shape[0]
    words[:, :size] = 0
    for column in range(segment.shape[0]):
        codes = segment[column, start:stop]
        own = row[column]
        bit = ONE << np.uint64(column & 63)
        agree = words[column >> 6, :size]
        if not ignore:
            for k in range(size):
                agree[k] |= bit if codes[k] == own else np.uint64(0)
        elif own != 0:
            differ = words[half + (column >> 6), :size]
            for k in range(size):
                agree[k] |= bit if codes[k] == own else np.uint64(0)
                differ[k] |= bit if (codes[k] != own) & (codes[k] != 0) else np.uint64(0)
    kept = 0
    for k in range(size):
        number = first_id + start + k
        if is_live[number]:
            rows[kept] = number
            if kept != k:
                for w in range(words.shape[0]):
                    words[w, kept] = words[w, k]
            kept += 1
    return kept


@compiled
def compare_listed(base: Int32s, tail: Int32s, left: Int32s, right: Int32s, ignore: bool, words: Words) -> None:
    """Write the agree set of pair k to `words[:, k]`; with `ignore`, where it differs to the second plane."""
    in_base = base.shape[1]
    half = words.shape[0] // 2 if ignore else words.shape[0]
    words[:, : left.size] = 0
    for column in range(base.shape[0]):
        bit = ONE << np.uint64(column & 63)
        agree = words[column >> 6]
        differ = words[words.shape[0] - half + (column >> 6)]
        for k in range(left.size):
            one, other = left[k], right[k]
            a = base[column, one] if one < in_base else tail[column, one - in_base]
            b = base[column, other] if other < in_base else tail[column, other - in_base]
            if not ignore:
                if a == b:
                    agree[k] |= bit
            elif a != 0 and b != 0:
                if a == b:
                    agree[k] |= bit
                else:
                    differ[k] |= bit


@compiled
def choose_columns(sizes: Int64s, offsets: Int64s, columns: Int64s, is_needed: Flags) -> tuple[Flags, Int64s]:
    """Choose, for every new row, columns such that each set of columns holds one: that with the fewest rows to look at.

    Parameters
    ----------
    sizes
        How many rows have the same value as the new row, `int64[new rows, columns]`.
    offsets, columns
        Set s is `columns[offsets[s]:offsets[s + 1]]`, and not empty.
    is_needed
        Whether a new row has to look at a set, `bool[new rows, sets]`.

    Returns
    -------
    The columns that are chosen for each row, and how many rows are to be looked at in all.
    """
    chosen = np.zeros(sizes.shape, np.bool_)
    cost = np.zeros(sizes.shape[0], np.int64)
    for row in range(sizes.shape[0]):
        for s in range(offsets.size - 1):
            if not is_needed[row, s]:
                continue
            best = columns[offsets[s]]
            is_hit = False
            for place in range(offsets[s], offsets[s + 1]):
                column = columns[place]
                if chosen[row, column]:
                    is_hit = True
                    break
                if sizes[row, column] < sizes[row, best]:
                    best = column
            if not is_hit:
                chosen[row, best] = True
                cost[row] += sizes[row, best]
    return chosen, cost


@compiled
def rows_by_code(codes: Int32s, highest: int) -> tuple[Int32s, Int64s]:
    """All rows in the order of their codes, and where the rows of each code begin: those of code c end at c + 1."""
    starts = np.zeros(highest + 2, np.int64)
    for row in range(codes.size):
        starts[codes[row] + 1] += 1
    for code in range(highest + 1):
        starts[code + 1] += starts[code]
    places = starts.copy()
    order = np.empty(codes.size, np.int32)
    for row in range(codes.size):
        code = codes[row]
        order[places[code]] = row
        places[code] += 1
    return order, starts


@compiled
def breaks_class(
    order: Int32s,
    first: Int64s,
    last: Int64s,
    is_live: Flags,
    base: Int32s,
    tail: Int32s,
    column: int,
    codes: Int32s,
    first_new: int,
    ignore: bool,
) -> Flags:
    """Which new rows differ in a column from the old rows of their class, all of which have one value there.

    The class of new row k is `order[first[k]:last[k]]`, in the order of row numbers, and `codes[k]` its own value.
    """
    broken = np.zeros(codes.size, np.bool_)
    in_base = base.shape[1]
    for k in range(codes.size):
        if ignore and codes[k] == 0:
            continue
        for place in range(first[k], last[k]):
            row = order[place]
            if row >= first_new:
                break
            if is_live[row]:
                code = base[column, row] if row < in_base else tail[column, row - in_base]
                if not (ignore and code == 0):
                    broken[k] = code != codes[k]
                    break
    return broken
