"""The loops behind sorted partitions: growing one by a column, and looking for a split or a swap between two.

A sorted partition of a list of columns is an array of class ids, one per row, ascending in the order of the list
(FindOD, section V-A). Ids below the number of classes may be unused.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from lawful.checks.kernels.orders import NO_HIGH, NO_LOW
from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled

VALID, SPLIT, SWAP = 0, 1, 2
"""What a list says of another: it orders it; it would, but for ties; or some pair is ordered the other way round."""


@compiled
def expand_by_table(
    ids: Int32s, column: Int32s, highest: int, turned: bool, size: int, table: Int32s, out: Int32s
) -> int:
    """Number the pairs of class id and rank in their order; `table` has `size` zeros on entry and on return.

    Ids count in direction-adjusted ranks: with `turned`, larger ranks come first. Returns the number of classes.
    """
    span = highest + 1
    for i in range(ids.size):
        rank = highest - column[i] if turned else column[i]
        table[ids[i] * span + rank] = 1
    classes = 0
    for place in range(size):
        if table[place] != 0:
            table[place] = classes
            classes += 1
    for i in range(ids.size):
        rank = highest - column[i] if turned else column[i]
        out[i] = table[ids[i] * span + rank]
    table[:size] = 0
    return classes


@compiled
def pack_pairs(
    ids: Int32s, column: Int32s, highest: int, turned: bool, rank_bits: int, row_bits: int, keys: Int64s
) -> None:
    """Write class id, direction-adjusted rank and, in the last `row_bits`, the row of each row into one integer."""
    for i in range(ids.size):
        rank = np.int64(highest - column[i] if turned else column[i])
        pair = np.int64(ids[i]) << rank_bits | rank
        keys[i] = pair << row_bits | i if row_bits > 0 else pair


@compiled
def number_packed(keys: Int64s, row_bits: int, out: Int32s) -> int:
    """Number the distinct pairs of sorted keys that end with their rows; return how many there are."""
    last_bits = (np.int64(1) << row_bits) - 1
    found = -1
    last_pair = np.int64(-1)
    for i in range(keys.size):
        pair = keys[i] >> row_bits
        if pair != last_pair:
            found += 1
            last_pair = pair
        out[keys[i] & last_bits] = found
    return found + 1


@compiled
def number_ordered(keys: Int64s, order: Int64s, out: Int32s) -> int:
    """Number the distinct pairs of keys, visited in their order; return how many there are."""
    found = -1
    last_pair = np.int64(-1)
    for i in range(order.size):
        row = order[i]
        if keys[row] != last_pair:
            found += 1
            last_pair = keys[row]
        out[row] = found
    return found + 1


@compiled
def find_violation(
    left: Int32s, left_classes: int, right: Int32s, highest: int, turned: bool, extremes: Int32s, found: Int32s
) -> int:
    """Look for a swap between two sorted partitions, else for a split; `found` receives two rows that show it.

    With `turned` the right list falls. This is FindOD's algorithm 2 with ids of classes compared where it prints ids of
    rows, without a first class before the first, and left at the first swap only. A swap is preferred because it
    rules out more. `extremes` holds the smallest and the largest right id of each left class; it is empty on entry and
    on return.
    """
    for i in range(left.size):
        value = highest - right[i] if turned else right[i]
        c = left[i]
        extremes[c, 0] = min(extremes[c, 0], value)
        extremes[c, 1] = max(extremes[c, 1], value)
    state = VALID
    before = -1
    first_class = second_class = first_value = second_value = 0
    for c in range(left_classes):
        low = extremes[c, 0]
        high = extremes[c, 1]
        if high == NO_HIGH:
            continue
        if before >= 0 and low < extremes[before, 1]:
            state = SWAP
            first_class, first_value = before, extremes[before, 1]
            second_class, second_value = c, low
            break
        if state == VALID and low != high:
            state = SPLIT
            first_class, first_value = c, low
            second_class, second_value = c, high
        before = c
    extremes[:left_classes, 0] = NO_LOW
    extremes[:left_classes, 1] = NO_HIGH
    if state != VALID:
        _name_rows(left, right, highest, turned, first_class, first_value, second_class, second_value, found)
    return state


@compiled
def _name_rows(
    left: Int32s,
    right: Int32s,
    highest: int,
    turned: bool,
    first_class: int,
    first_value: int,
    second_class: int,
    second_value: int,
    found: Int32s,
) -> None:
    """Write the first row at each of two points to `found`."""
    found[0] = -1
    found[1] = -1
    for i in range(left.size):
        value = highest - right[i] if turned else right[i]
        if found[0] < 0 and left[i] == first_class and value == first_value:
            found[0] = i
        elif found[1] < 0 and left[i] == second_class and value == second_value:
            found[1] = i
        if found[0] >= 0 and found[1] >= 0:
            return


@compiled
def mark_blocks(values: Int32s, smallest_after: Int32s, offsets: Int32s) -> int:
    """Cut a sequence where nothing before is larger than anything after; write the cuts, and return how many blocks.

    Two values that are out of order lie in one block, and a block of several values has every one of them out of
    order with another.
    """
    smallest = NO_LOW
    for i in range(values.size - 1, -1, -1):
        smallest_after[i] = smallest
        smallest = min(smallest, values[i])
    blocks = 0
    offsets[0] = 0
    largest = NO_HIGH
    for i in range(values.size):
        largest = max(largest, values[i])
        if largest <= smallest_after[i]:
            blocks += 1
            offsets[blocks] = i + 1
    return blocks
