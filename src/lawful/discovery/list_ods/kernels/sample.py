"""The loops of discovery on the sample: all children of a candidate at once, Expand and Check in one pass.

The sample is `ranks[columns, rows]` and `orders[columns, rows]`, the rows in the order of each column. Ranks are
dense from 0 on, `highest` holds the largest of each column. Marks are columns with directions as in `od_tree`.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lawful.common.arrays import Flags, Int32s
from lawful.common.compiled import compiled

Int8s = NDArray[np.int8]

VALID, SPLIT, SWAP = 0, 1, 2
NO_LOW = 2**62
NO_HIGH = -1


@compiled
def sort_by_class(ids: Int32s, classes: int, order: Int32s, turned: bool, starts: Int32s, out: Int32s) -> None:
    """Sort rows, given in some order or, turned, backwards, by class id; `starts` receives where each class begins."""
    starts[: classes + 1] = 0
    for i in range(ids.size):
        starts[ids[i] + 1] += 1
    for c in range(classes):
        starts[c + 1] += starts[c]
    for i in range(order.size):
        row = order[order.size - 1 - i] if turned else order[i]
        out[starts[ids[row]]] = row
        starts[ids[row]] += 1


@compiled
def expand(ids: Int32s, classes: int, ranks: Int32s, order: Int32s, turned: bool, out: Int32s) -> int:
    """Number the classes of a list with one more column; return how many there are."""
    placed = np.empty(ids.size, np.int32)
    sort_by_class(ids, classes, order, turned, np.empty(classes + 1, np.int32), placed)
    found = -1
    for i in range(placed.size):
        row = placed[i]
        if i == 0 or ids[row] != ids[placed[i - 1]] or ranks[row] != ranks[placed[i - 1]]:
            found += 1
        out[row] = found
    return found + 1


@compiled
def _state_with(state: int, before: int, low: int, high: int) -> int:
    """The state after one more class of X, by the extremes of Y in it and the largest Y of the class before."""
    if low < before:
        return SWAP
    return state if low == high else SPLIT


@compiled
def states_on_the_right(
    x: Int32s, x_classes: int, y: Int32s, ranks: Int32s, highest: Int32s, marks: Int32s, states: Int8s
) -> None:
    """The states of X -> YA for each marked A, where X -> Y holds."""
    rows = np.empty(x.size, np.int32)
    sort_by_class(x, x_classes, np.arange(x.size).astype(np.int32), False, np.empty(x_classes + 1, np.int32), rows)
    for m in range(marks.size):
        column = ranks[marks[m] >> 1]
        turned = marks[m] & 1 == 1
        top = np.int64(highest[marks[m] >> 1])
        state = VALID
        before = NO_HIGH
        i = 0
        while i < rows.size and state != SWAP:
            low = NO_LOW
            high = NO_HIGH
            current = x[rows[i]]
            while i < rows.size and x[rows[i]] == current:
                row = rows[i]
                value = np.int64(y[row]) * (top + 1) + (top - column[row] if turned else column[row])
                low = min(low, value)
                high = max(high, value)
                i += 1
            state = _state_with(state, before, low, high)
            before = high
        states[m] = state


@compiled
def states_on_the_left(
    x: Int32s, x_classes: int, y: Int32s, ranks: Int32s, orders: Int32s, marks: Int32s, states: Int8s
) -> None:
    """The states of XA -> Y for each marked A, where X -> Y has no swap."""
    rows = np.empty(x.size, np.int32)
    starts = np.empty(x_classes + 1, np.int32)
    for m in range(marks.size):
        column = ranks[marks[m] >> 1]
        sort_by_class(x, x_classes, orders[marks[m] >> 1], marks[m] & 1 == 1, starts, rows)
        state = VALID
        before = NO_HIGH
        i = 0
        while i < rows.size and state != SWAP:
            low = NO_LOW
            high = NO_HIGH
            first = rows[i]
            while i < rows.size and x[rows[i]] == x[first] and column[rows[i]] == column[first]:
                value = int(y[rows[i]])
                low = min(low, value)
                high = max(high, value)
                i += 1
            state = _state_with(state, before, low, high)
            before = high
        states[m] = state


@compiled
def mark_determined(ids: Int32s, classes: int, ranks: Int32s, determined: Flags) -> None:
    """Mark the columns that have one rank in each class."""
    seen = np.empty(classes, np.int32)
    for column in range(ranks.shape[0]):
        seen[:] = -1
        determined[column] = True
        for row in range(ids.size):
            rank = ranks[column, row]
            known = seen[ids[row]]
            if known < 0:
                seen[ids[row]] = rank
            elif known != rank:
                determined[column] = False
                break


@compiled
def draw_partners(column: Int32s, begin: int, left: Int8s, out: Int32s) -> int:
    """Take the first rows from `begin` on, of each rank as many as `left` says; return how many were taken."""
    taken = 0
    for i in range(column.size):
        row = i + begin
        if row >= column.size:
            row -= column.size
        if left[column[row]] > 0:
            left[column[row]] -= 1
            out[taken] = row
            taken += 1
            if taken == out.size:
                break
    return taken


@compiled
def mark_violations(ranks: Int32s, orders: Int32s, bidirectional: bool, marked: Flags) -> None:
    """Mark two rows that break A -> B, a swap if there is one, for all columns A and B and both directions of B."""
    for a in range(ranks.shape[0]):
        for b in range(ranks.shape[0]):
            if a != b:
                _mark_violation(ranks[a], ranks[b], orders[a], 1, marked)
                if bidirectional:
                    _mark_violation(ranks[a], ranks[b], orders[a], -1, marked)


@compiled
def _mark_violation(a: Int32s, b: Int32s, order: Int32s, sign: int, marked: Flags) -> None:
    before = -1
    split_low = split_high = -1
    i = 0
    while i < order.size:
        low = high = order[i]
        current = a[low]
        while i < order.size and a[order[i]] == current:
            row = order[i]
            if sign * b[row] < sign * b[low]:
                low = row
            if sign * b[row] > sign * b[high]:
                high = row
            i += 1
        if before >= 0 and sign * b[low] < sign * b[before]:
            marked[before] = marked[low] = True
            return
        if split_low < 0 and b[low] != b[high]:
            split_low, split_high = low, high
        before = high
    if split_low >= 0:
        marked[split_low] = marked[split_high] = True
