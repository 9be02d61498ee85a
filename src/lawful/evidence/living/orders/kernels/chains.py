"""Chains of rows that are sorted on two columns.

Row k has the keys `x[k]` and `y[k]`; chain c is the rows `starts[c]` to `starts[c + 1]`. Along a chain both keys grow.
Where a comparison is strict they grow strictly, but for rows with the same x and y, which always stand side by side:
the paper's Equ, without a map of its own.

Rows may have a class too, `classes[k]`, which grows along a chain before all else. Both keys then grow within each
class, whose rows are a part of every chain. An empty `classes` says that all rows are of one class.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.compiled import compiled
from lawful.evidence.living.orders.kernels.bounds import lower_bound, upper_bound


@compiled
def cover_by_chains(classes: Int32s, x: Int64s, y: Int64s, is_strict: bool) -> tuple[Int32s, int]:
    """The chain of every row, and how many chains there are: the fewest (OptIndex, algorithm 2).

    Rows are sorted by class, by x, then by y: growing if ties in x may follow each other, else falling (I6: the paper
    breaks ties by growing y in both cases, which puts rows with the same x into a chain that must be strict in x).
    `is_strict` is about y. The last y of all chains fall from chain to chain, so the one next below is found by
    halving. A class begins with the first chain again: there are as many chains as the class needs that needs most.
    """
    chain_of = np.empty(x.size, np.int32)
    last = np.empty(x.size, np.int64)
    chains = used = 0
    for k in range(x.size):
        if k > 0 and classes.size and classes[k] != classes[k - 1]:
            used = 0
        elif k > 0 and x[k] == x[k - 1] and y[k] == y[k - 1]:
            chain_of[k] = chain_of[k - 1]
            continue
        low, high = 0, used
        while low < high:
            mid = (low + high) >> 1
            if last[mid] < y[k] or (last[mid] == y[k] and not is_strict):
                high = mid
            else:
                low = mid + 1
        chain_of[k] = low
        last[low] = y[k]
        used = max(used, low + 1)
        chains = max(chains, used)
    return chain_of, chains


@compiled
def _fits(x: Int64s, y: Int64s, start: int, stop: int, own_x: int, own_y: int, strict_x: bool, strict_y: bool) -> int:
    """2 if the chain has a row with both keys, 1 if a row with them can stand in it, else 0 (I7).

    The paper compares positions p and q, which differ where there are ties. What matters is that the rows that may
    stand before the new one and those that may stand behind it are all rows.
    """
    low_x = lower_bound(x, start, stop, own_x)
    high_x = upper_bound(x, low_x, stop, own_x)
    low_y = lower_bound(y, start, stop, own_y)
    high_y = upper_bound(y, low_y, stop, own_y)
    if max(low_x, low_y) < min(high_x, high_y):
        return 2
    before = min(low_x if strict_x else high_x, low_y if strict_y else high_y)
    behind = max(high_x if strict_x else low_x, high_y if strict_y else low_y)
    return 1 if behind <= before else 0


@compiled
def _follows(before_x: int, before_y: int, x: int, y: int, strict_x: bool, strict_y: bool) -> bool:
    return (before_x < x or (before_x == x and not strict_x)) and (before_y < y or (before_y == y and not strict_y))


@compiled
def part_of_class(classes: Int32s, start: int, stop: int, own: int) -> tuple[int, int]:
    """The part of a chain whose rows are of a class: all of it where there are no classes."""
    if not classes.size:
        return start, stop
    first = lower_bound(classes, start, stop, own)
    return first, upper_bound(classes, first, stop, own)


@compiled
def choose_chains(
    starts: Int64s,
    classes: Int32s,
    x: Int64s,
    y: Int64s,
    new_classes: Int32s,
    new_x: Int64s,
    new_y: Int64s,
    strict_x: bool,
    strict_y: bool,
) -> tuple[Int32s, int]:
    """The chain that each new row is put into, and how many chains there are then (section V-C).

    A row goes to its equals, else into the longest chain that can take it, else into a chain of its own. New rows are
    sorted as for `cover_by_chains`, so of those that a chain has got, only the last is to be compared with the next.
    """
    old = starts.size - 1
    chain_of = np.empty(new_x.size, np.int32)
    sizes = np.zeros(old + new_x.size, np.int64)
    sizes[:old] = starts[1:] - starts[:-1]
    last = np.full(old + new_x.size, -1, np.int64)
    chains = old
    first_of_class = 0
    for k in range(new_x.size):
        best = -1
        if k > 0 and new_classes.size and new_classes[k] != new_classes[k - 1]:
            first_of_class = k
        if k > first_of_class and new_x[k] == new_x[k - 1] and new_y[k] == new_y[k - 1]:
            best = chain_of[k - 1]
        else:
            for c in range(chains):
                if last[c] >= first_of_class and not _follows(
                    new_x[last[c]], new_y[last[c]], new_x[k], new_y[k], strict_x, strict_y
                ):
                    continue
                fit = 1
                if c < old:
                    own = new_classes[k] if new_classes.size else 0
                    start, stop = part_of_class(classes, starts[c], starts[c + 1], own)
                    fit = _fits(x, y, start, stop, new_x[k], new_y[k], strict_x, strict_y)
                if fit == 2:
                    best = c
                    break
                if fit == 1 and (best < 0 or sizes[c] > sizes[best]):
                    best = c
        if best < 0:
            best = chains
            chains += 1
        chain_of[k] = best
        sizes[best] += 1
        last[best] = k
    return chain_of, chains


@compiled
def merge_chains(
    starts: Int64s,
    classes: Int32s,
    x: Int64s,
    y: Int64s,
    rows: Int32s,
    new_starts: Int64s,
    new_classes: Int32s,
    new_x: Int64s,
    new_y: Int64s,
    new_rows: Int32s,
    is_live: Flags,
) -> tuple[Int64s, Int32s, Int64s, Int64s, Int32s]:
    """Put new rows, given by chain, into the chains, and leave out rows that are gone and chains that get empty."""
    size = rows.size + new_rows.size
    all_x, all_y, all_rows = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32)
    has_classes = classes.size + new_classes.size > 0
    all_classes = np.empty(size if has_classes else 0, np.int32)
    all_starts = np.zeros(new_starts.size, np.int64)
    chains, end = 0, 0
    for c in range(new_starts.size - 1):
        i, stop = (starts[c], starts[c + 1]) if c < starts.size - 1 else (0, 0)
        j, new_stop = new_starts[c], new_starts[c + 1]
        while i < stop or j < new_stop:
            takes_old = j == new_stop
            if i < stop and j < new_stop:
                ahead = new_classes[j] - classes[i] if has_classes else 0
                takes_old = ahead > 0
                if ahead == 0:
                    takes_old = x[i] < new_x[j] or (x[i] == new_x[j] and y[i] <= new_y[j])
            row = rows[i] if takes_old else new_rows[j]
            if is_live[row]:
                all_x[end] = x[i] if takes_old else new_x[j]
                all_y[end] = y[i] if takes_old else new_y[j]
                all_rows[end] = row
                if has_classes:
                    all_classes[end] = classes[i] if takes_old else new_classes[j]
                end += 1
            if takes_old:
                i += 1
            else:
                j += 1
        if end > all_starts[chains]:
            chains += 1
            all_starts[chains] = end
    return (
        all_starts[: chains + 1].copy(),
        all_classes[:end].copy(),
        all_x[:end].copy(),
        all_y[:end].copy(),
        all_rows[:end].copy(),
    )
