"""Answers to new rows as ranges of sorted rows, and these as pairs of rows.

An operator is a number: how a new row compares with the rows that are wanted.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ONE
from lawful.evidence.living.orders.kernels.bounds import lower_bound_near, upper_bound_near

ANY, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL = range(6)


@compiled
def _from(operator: int, start: int, low: int, high: int) -> int:
    """Where the rows begin that a row compares with as asked; `low` to `high` are those with the same key."""
    if operator == LESS:
        return high
    if operator in (LESS_OR_EQUAL, EQUAL):
        return low
    return start


@compiled
def _to(operator: int, stop: int, low: int, high: int) -> int:
    """Where they end."""
    if operator == GREATER:
        return low
    if operator in (GREATER_OR_EQUAL, EQUAL):
        return high
    return stop


@compiled
def _mirrored(operator: int) -> int:
    if operator in (LESS, LESS_OR_EQUAL):
        return operator + 2
    if operator in (GREATER, GREATER_OR_EQUAL):
        return operator - 2
    return operator


@compiled
def _find_parts(
    classes: Int32s, start: int, stop: int, own_class: Int32s, order: Int64s, part_start: Int64s, part_stop: Int64s
) -> None:
    """Write the part of a chain that is of each new row's class; all of it where there are no classes.

    `order` has the rows by their classes: each class is looked for from the end of the one before on.
    """
    begin, end = start, stop
    next_class = start
    before = -1
    for k in order:
        if own_class.size and (before < 0 or own_class[k] != own_class[before]):
            begin = lower_bound_near(classes, next_class, stop, own_class[k])
            end = next_class = upper_bound_near(classes, begin, stop, own_class[k])
        part_start[k], part_stop[k] = begin, end
        before = k


@compiled
def _find_bounds(
    keys: Int64s,
    part_start: Int64s,
    part_stop: Int64s,
    own: Int64s,
    order: Int64s,
    low: Int64s,
    high: Int64s,
) -> None:
    """Write where the keys of new rows stand in their part of a chain: `low[k]` to `high[k]` are equal to them.

    `order` has the rows by their classes, and by their keys in these. Each is looked for from the place of the one
    before on: for many rows that takes fewer steps than halving the chain for each.
    """
    begin = 0
    for k in order:
        begin = max(begin, part_start[k])
        low[k] = begin = lower_bound_near(keys, begin, part_stop[k], own[k])
        high[k] = upper_bound_near(keys, begin, part_stop[k], own[k])


@compiled
def find_ranges(
    starts: Int64s,
    classes: Int32s,
    x: Int64s,
    y: Int64s,
    own_class: Int32s,
    own_x: Int64s,
    own_y: Int64s,
    by_x: Int64s,
    by_y: Int64s,
    is_asked: Flags,
    operator_x: int,
    operator_y: int,
    both: bool,
    first: Int32s,
    last: Int32s,
) -> None:
    """Write, for each new row and chain c, the range of rows that it compares with as asked (Fetch, algorithm 1).

    Both keys grow along a chain, or along the part of it that is of the row's class. So what satisfies either
    comparison is a part of that, and what satisfies both is where the two overlap: at the end or at the beginning where
    both look the same way, else in the middle (example 11). Bounds tell equal keys from others, so no row is in it that
    should not be, and none is missing (I5, I8).

    `by_x` and `by_y` have the new rows by their classes, and in these by their keys. With `both`, place 2c + 1 has the
    range of the mirror image; where the two overlap, as for equal rows, place 2c has all.
    """
    mirror_x, mirror_y = _mirrored(operator_x), _mirrored(operator_y)
    low_of_x, high_of_x = np.empty(own_x.size, np.int64), np.empty(own_x.size, np.int64)
    low_of_y, high_of_y = np.empty(own_x.size, np.int64), np.empty(own_x.size, np.int64)
    part_start, part_stop = np.empty(own_x.size, np.int64), np.empty(own_x.size, np.int64)
    for c in range(starts.size - 1):  # all rows in one chain after the other, which then stays at hand
        _find_parts(classes, starts[c], starts[c + 1], own_class, by_x, part_start, part_stop)
        _find_bounds(x, part_start, part_stop, own_x, by_x, low_of_x, high_of_x)
        if operator_y != ANY:
            _find_bounds(y, part_start, part_stop, own_y, by_y, low_of_y, high_of_y)
        for k in range(own_x.size):
            place = 2 * c if both else c
            first[k, place] = last[k, place] = 0
            if both:
                first[k, place + 1] = last[k, place + 1] = 0
            if not is_asked[k]:
                continue
            start, stop = part_start[k], part_stop[k]
            low_x, high_x = low_of_x[k], high_of_x[k]
            low_y = high_y = start
            if operator_y != ANY:
                low_y, high_y = low_of_y[k], high_of_y[k]
            begin = max(_from(operator_x, start, low_x, high_x), _from(operator_y, start, low_y, high_y))
            end = min(_to(operator_x, stop, low_x, high_x), _to(operator_y, stop, low_y, high_y))
            if begin < end:
                first[k, place], last[k, place] = begin, end
            if not both:
                continue
            begin = max(_from(mirror_x, start, low_x, high_x), _from(mirror_y, start, low_y, high_y))
            end = min(_to(mirror_x, stop, low_x, high_x), _to(mirror_y, stop, low_y, high_y))
            if begin >= end:
                continue
            if first[k, place] < last[k, place] and begin < last[k, place] and first[k, place] < end:
                first[k, place], last[k, place] = min(begin, first[k, place]), max(end, last[k, place])
            else:
                first[k, place + 1], last[k, place + 1] = begin, end


@compiled
def list_pairs(
    rows: Int32s,
    first: Int32s,
    last: Int32s,
    numbers: Int64s,
    is_live: Flags,
    seen: Words,
    at: int,
    left: Int32s,
    right: Int32s,
) -> tuple[int, int]:
    """Write pairs of a new row with live rows before it in its ranges until there is no room; return where to go on.

    Ranges are gone through by rows and shortened from the front, so that the next call goes on in the middle of one.
    Bit k of `seen[row]` says that the pair with new row k was listed before; an empty `seen` that none was.

    Returns
    -------
    The range to go on with, counted over all rows, as many as there are if all is done; and how many pairs there are.
    """
    places = first.shape[1]
    count = 0
    while at < first.size:
        k, place = at // places, at % places
        bit = ONE << np.uint64(k & 63)
        start, stop = first[k, place], last[k, place]
        for j in range(start, stop):
            if count == left.size:
                first[k, place] = j
                return at, count
            row = rows[j]
            if row < numbers[k] and is_live[row]:
                if seen.size:
                    if seen[row] & bit:
                        continue
                    seen[row] |= bit
                left[count], right[count] = row, numbers[k]
                count += 1
        at += 1
    return at, count
