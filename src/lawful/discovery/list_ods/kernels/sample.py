"""The loops over the sample: partitions, what they determine, and which columns they leave swapped.

The sample is `ranks[columns, rows]` and `orders[columns, rows]`, the rows in the order of each column. Ranks are
dense from 0 on. `ids` are the classes of the rows that agree on some columns.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lawful.common.arrays import Flags, Int32s
from lawful.common.compiled import compiled

Int8s = NDArray[np.int8]

NO_LOW = 2**62
NO_HIGH = -1


@compiled
def sort_by_class(ids: Int32s, classes: int, order: Int32s, starts: Int32s, out: Int32s) -> None:
    """Sort rows, given in some order, by class id; `starts` has room for where each class begins."""
    starts[: classes + 1] = 0
    for i in range(ids.size):
        starts[ids[i] + 1] += 1
    for c in range(classes):
        starts[c + 1] += starts[c]
    for i in range(order.size):
        row = order[i]
        out[starts[ids[row]]] = row
        starts[ids[row]] += 1


@compiled
def expand(ids: Int32s, classes: int, ranks: Int32s, order: Int32s, out: Int32s) -> int:
    """Number the classes of rows that agree on one more column; return how many there are."""
    placed = np.empty(ids.size, np.int32)
    sort_by_class(ids, classes, order, np.empty(classes + 1, np.int32), placed)
    found = -1
    for i in range(placed.size):
        row = placed[i]
        if i == 0 or ids[row] != ids[placed[i - 1]] or ranks[row] != ranks[placed[i - 1]]:
            found += 1
        out[row] = found
    return found + 1


@compiled
def mark_swapped(
    ids: Int32s, classes: int, b: Int32s, ranks: Int32s, orders: Int32s, both: bool, swapped: Flags
) -> None:
    """Mark each column A, at 0 as rising and at 1 as falling, by which two rows of a class are swapped against B.

    Without `both`, only rising columns are looked at, and falling ones are marked.
    """
    rows = np.empty(ids.size, np.int32)
    starts = np.empty(classes + 1, np.int32)
    for column in range(ranks.shape[0]):
        a = ranks[column]
        sort_by_class(ids, classes, orders[column], starts, rows)
        swapped[column, 0] = False
        swapped[column, 1] = not both
        current = -1
        lowest = NO_LOW
        highest = NO_HIGH
        i = 0
        while i < rows.size and not (swapped[column, 0] and swapped[column, 1]):
            first = rows[i]
            if ids[first] != current:
                current = ids[first]
                lowest = NO_LOW
                highest = NO_HIGH
            low = NO_LOW
            high = NO_HIGH
            while i < rows.size and ids[rows[i]] == current and a[rows[i]] == a[first]:
                low = min(low, int(b[rows[i]]))
                high = max(high, int(b[rows[i]]))
                i += 1
            if low < highest:
                swapped[column, 0] = True
            if high > lowest:
                swapped[column, 1] = True
            lowest = min(lowest, low)
            highest = max(highest, high)


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
