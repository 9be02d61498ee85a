"""Counting the pairs that satisfy all orders of a denial constraint, without enumerating them.

The same ways as in the search: one order by sorting both sides, two by a Fenwick tree, more by halving.
"""

# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import numpy as np

from lawful.checks.denials.kernels.ranks import (
    FEW_PAIRS,
    TABLE_ENTRIES_A_ROW,
    Int32Table,
    at_least,
    at_most,
    extremes,
    falling,
    middle,
    note_order,
    prune,
)
from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled


@compiled
def count_groups(
    t_rows: Int32s,
    t_offsets: Int32s,
    s_rows: Int32s,
    s_offsets: Int32s,
    bounds: Int32Table,
    values: Int32Table,
) -> int:
    """Count the pairs of two different rows of one group that satisfy all orders; rows ascend in a group."""
    every_order = (1 << bounds.shape[0]) - 1
    pairs = 0
    for g in range(t_offsets.size - 1):
        t_start, t_end = t_offsets[g], t_offsets[g + 1]
        s_start, s_end = s_offsets[g], s_offsets[g + 1]
        if t_start < t_end and s_start < s_end:
            ts = np.arange(t_start, t_end).astype(np.int32)
            ss = np.arange(s_start, s_end).astype(np.int32)
            pairs += _count(ts, ss, bounds, values, every_order)
            pairs -= _count_same(t_rows, t_start, t_end, s_rows, s_start, s_end, bounds, values)
    return pairs


@compiled
def _count_same(
    t_rows: Int32s,
    t_start: int,
    t_end: int,
    s_rows: Int32s,
    s_start: int,
    s_end: int,
    bounds: Int32Table,
    values: Int32Table,
) -> int:
    """Count the rows that satisfy all orders with themselves."""
    same = 0
    t = t_start
    s = s_start
    while t < t_end and s < s_end:
        if t_rows[t] < s_rows[s]:
            t += 1
        elif t_rows[t] > s_rows[s]:
            s += 1
        else:
            same += _satisfy(t, s, bounds, values)
            t += 1
            s += 1
    return same


@compiled
def _satisfy(t: int, s: int, bounds: Int32Table, values: Int32Table) -> bool:
    satisfied = True
    for k in range(bounds.shape[0]):
        satisfied &= bounds[k, t] <= values[k, s]
    return satisfied


@compiled
def _count(ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, orders: int) -> int:
    """Count pairs; the bits of `orders` say which orders are not yet satisfied by all pairs."""
    if ts.size * ss.size <= FEW_PAIRS:
        few = 0
        for t in ts:
            for s in ss:
                few += _satisfy(t, s, bounds, values)
        return few
    left = 0
    open_orders = np.empty(bounds.shape[0], np.int64)
    spans = np.empty(bounds.shape[0], np.int64)
    for k in range(bounds.shape[0]):
        if orders >> k & 1:
            ts, ss, span = prune(ts, ss, bounds[k], values[k])
            if ts.size == 0:
                return 0
            if span == 0:
                orders &= ~(1 << k)
            else:
                note_order(k, span, open_orders, spans, left)
                left += 1
    if left == 0:
        return ts.size * ss.size
    last = open_orders[left - 1]
    if left == 1:
        return _count_one_order(ts, ss, bounds[last], values[last])
    if left == 2:
        return _count_two_orders(ts, ss, bounds, values, open_orders[0], last)
    ts, ss, span = prune(ts, ss, bounds[last], values[last])
    if ts.size == 0:
        return 0
    pivot = middle(ts, ss, bounds[last], values[last])
    low_ts, high_ts = at_most(ts, bounds[last], pivot), at_least(ts, bounds[last], pivot + 1)
    low_ss, high_ss = at_most(ss, values[last], pivot - 1), at_least(ss, values[last], pivot)
    pairs = _count(low_ts, high_ss, bounds, values, orders & ~(1 << last))
    pairs += _count(low_ts, low_ss, bounds, values, orders)
    pairs += _count(high_ts, high_ss, bounds, values, orders)
    return pairs


@compiled
def _count_one_order(ts: Int32s, ss: Int32s, bounds: Int32s, values: Int32s) -> int:
    ts, ss = falling(ts, bounds), falling(ss, values)
    pairs = 0
    reached = 0
    for t in ts:
        while reached < ss.size and values[ss[reached]] >= bounds[t]:
            reached += 1
        pairs += reached
    return pairs


@compiled
def _count_two_orders(ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, a: int, b: int) -> int:
    """Take rows by falling first order; a Fenwick tree over the second counts the s that came."""
    ts, ss = falling(ts, bounds[a]), falling(ss, values[a])
    lowest, _ = extremes(ts, bounds[b])
    _, highest = extremes(ss, values[b])
    span = max(0, int(highest) - int(lowest) + 1)
    is_dense = span <= TABLE_ENTRIES_A_ROW * (ts.size + ss.size)
    steps = values[b][:0] if is_dense else -values[b][falling(ss, values[b])]
    tree = np.zeros((span if is_dense else steps.size) + 1, np.int32)
    pairs = 0
    entered = 0
    for t in ts:
        while entered < ss.size and values[a, ss[entered]] >= bounds[a, t]:
            value = values[b, ss[entered]]
            entered += 1
            step = highest - value + 1 if is_dense else np.searchsorted(steps, -value) + 1
            while step < tree.size:
                tree[step] += 1
                step += step & -step
        bound = bounds[b, t]
        step = highest - bound + 1 if is_dense else np.searchsorted(steps, -bound, side="right")
        while step > 0:
            pairs += int(tree[step])
            step -= step & -step
    return pairs
