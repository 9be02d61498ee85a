"""Searching rows that only orders keep apart: does a t have an s that reaches all of its bounds?

See `search` for what bounds and values are.
"""

# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import numpy as np

from lawful.checks.denials.kernels.ranks import TABLE_ENTRIES_A_ROW, Int32Table, extremes, falling
from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled

# Below every value.
_NOTHING = -(2**31)


@compiled
def give_all(
    ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, order: int, first_only: bool, partners: Int32s
) -> int:
    """Give every t that reaches it the s that is best in the one order left, or any s if none is left."""
    best = ss[0]
    if order >= 0:
        for s in ss:
            if values[order, s] > values[order, best]:
                best = s
    found = -1
    for t in ts:
        if order < 0 or bounds[order, t] <= values[order, best]:
            partners[t] = best
            found = t
            if first_only:
                break
    return found


@compiled
def search_two_orders(
    ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, a: int, b: int, first_only: bool, partners: Int32s
) -> int:
    """Give every t the s with the best second value among those that reach its first bound."""
    lowest, _ = extremes(ts, bounds[a])
    _, highest = extremes(ss, values[a])
    span = int(highest) - int(lowest) + 1
    if span <= 0:
        return -1
    if span > TABLE_ENTRIES_A_ROW * (ts.size + ss.size):
        return _search_two_orders_sorted(ts, ss, bounds, values, a, b, first_only, partners)
    best = np.full((span, 2), _NOTHING, np.int32)  # the second value, and the s that has it
    for s in ss:
        place = values[a, s] - lowest
        if place >= 0 and values[b, s] > best[place, 0]:
            best[place, 0] = values[b, s]
            best[place, 1] = s
    for place in range(span - 2, -1, -1):
        if best[place + 1, 0] > best[place, 0]:
            best[place, 0] = best[place + 1, 0]
            best[place, 1] = best[place + 1, 1]
    found = -1
    for t in ts:
        place = bounds[a, t] - lowest
        if place < span and best[place, 0] >= bounds[b, t]:
            partners[t] = best[place, 1]
            found = t
            if first_only:
                break
    return found


@compiled
def _search_two_orders_sorted(
    ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, a: int, b: int, first_only: bool, partners: Int32s
) -> int:
    """The same where the values are too far apart for a table."""
    best = ss[np.argsort(values[a][ss], kind="mergesort")]
    reached = values[a][best]
    for i in range(best.size - 2, -1, -1):
        if values[b, best[i + 1]] > values[b, best[i]]:
            best[i] = best[i + 1]
    found = -1
    for t in ts:
        place = np.searchsorted(reached, bounds[a, t])
        if place < best.size and values[b, best[place]] >= bounds[b, t]:
            partners[t] = best[place]
            found = t
            if first_only:
                break
    return found


@compiled
def search_three_orders(
    ts: Int32s,
    ss: Int32s,
    bounds: Int32Table,
    values: Int32Table,
    a: int,
    b: int,
    c: int,
    first_only: bool,
    partners: Int32s,
) -> int:
    """Take rows by falling first order; a Fenwick tree over the second holds the s with the best third.

    Entry i of the tree stands for a range of steps that ends with step i, counted from the largest value.
    """
    ts, ss = falling(ts, bounds[a]), falling(ss, values[a])
    lowest, _ = extremes(ts, bounds[b])
    _, highest = extremes(ss, values[b])
    span = max(0, int(highest) - int(lowest) + 1)
    is_dense = span <= TABLE_ENTRIES_A_ROW * (ts.size + ss.size)
    steps = values[b][:0] if is_dense else -values[b][falling(ss, values[b])]
    tree = np.full((span if is_dense else steps.size) + 1, -1, np.int32)
    entered = 0
    found = -1
    for t in ts:
        while entered < ss.size and values[a, ss[entered]] >= bounds[a, t]:
            s = ss[entered]
            entered += 1
            value = values[b, s]
            step = highest - value + 1 if is_dense else np.searchsorted(steps, -value) + 1
            while step < tree.size:
                if tree[step] < 0 or values[c, s] > values[c, tree[step]]:
                    tree[step] = s
                step += step & -step
        bound = bounds[b, t]
        step = highest - bound + 1 if is_dense else np.searchsorted(steps, -bound, side="right")
        while step > 0:
            if tree[step] >= 0 and values[c, tree[step]] >= bounds[c, t]:
                partners[t] = tree[step]
                found = t
                break
            step -= step & -step
        if found >= 0 and first_only:
            break
    return found
