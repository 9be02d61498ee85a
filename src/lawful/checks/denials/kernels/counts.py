"""Counting the pairs that satisfy all orders of a denial constraint, in all or for each t, without enumerating them.

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
from lawful.common.arrays import Int32s, Int64s
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
    partners = np.zeros(t_offsets[-1], np.int64)
    count_partners(t_offsets, s_offsets, bounds, values, partners)
    pairs = partners.sum()
    for g in range(t_offsets.size - 1):
        pairs -= _count_same(
            t_rows, t_offsets[g], t_offsets[g + 1], s_rows, s_offsets[g], s_offsets[g + 1], bounds, values
        )
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
def count_partners(
    t_offsets: Int32s, s_offsets: Int32s, bounds: Int32Table, values: Int32Table, partners: Int64s
) -> None:
    """Add to `partners[t]` how many s of its group satisfy all orders with it, itself included if it is one of them."""
    every_order = (1 << bounds.shape[0]) - 1
    for g in range(t_offsets.size - 1):
        if t_offsets[g] < t_offsets[g + 1] and s_offsets[g] < s_offsets[g + 1]:
            ts = np.arange(t_offsets[g], t_offsets[g + 1]).astype(np.int32)
            ss = np.arange(s_offsets[g], s_offsets[g + 1]).astype(np.int32)
            _count(ts, ss, bounds, values, every_order, partners)


@compiled
def _count(ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, orders: int, partners: Int64s) -> None:
    """Count for some t; the bits of `orders` say which orders are not yet satisfied by all pairs."""
    if ts.size * ss.size <= FEW_PAIRS:
        for t in ts:
            for s in ss:
                partners[t] += _satisfy(t, s, bounds, values)
        return
    left = 0
    open_orders = np.empty(bounds.shape[0], np.int64)
    spans = np.empty(bounds.shape[0], np.int64)
    for k in range(bounds.shape[0]):
        if orders >> k & 1:
            ts, ss, span = prune(ts, ss, bounds[k], values[k])
            if ts.size == 0:
                return
            if span == 0:
                orders &= ~(1 << k)
            else:
                note_order(k, span, open_orders, spans, left)
                left += 1
    if left == 0:
        for t in ts:
            partners[t] += ss.size
        return
    last = open_orders[left - 1]
    if left == 1:
        _count_one_order(ts, ss, bounds[last], values[last], partners)
        return
    if left == 2:
        _count_two_orders(ts, ss, bounds, values, open_orders[0], last, partners)
        return
    ts, ss, span = prune(ts, ss, bounds[last], values[last])
    if ts.size == 0:
        return
    pivot = middle(ts, ss, bounds[last], values[last])
    low_ts, high_ts = at_most(ts, bounds[last], pivot), at_least(ts, bounds[last], pivot + 1)
    low_ss, high_ss = at_most(ss, values[last], pivot - 1), at_least(ss, values[last], pivot)
    if low_ts.size and high_ss.size:
        _count(low_ts, high_ss, bounds, values, orders & ~(1 << last), partners)
    if low_ts.size and low_ss.size:
        _count(low_ts, low_ss, bounds, values, orders, partners)
    if high_ts.size and high_ss.size:
        _count(high_ts, high_ss, bounds, values, orders, partners)


@compiled
def _count_one_order(ts: Int32s, ss: Int32s, bounds: Int32s, values: Int32s, partners: Int64s) -> None:
    ts, ss = falling(ts, bounds), falling(ss, values)
    reached = 0
    for t in ts:
        while reached < ss.size and values[ss[reached]] >= bounds[t]:
            reached += 1
        partners[t] += reached


@compiled
def _count_two_orders(
    ts: Int32s, ss: Int32s, bounds: Int32Table, values: Int32Table, a: int, b: int, partners: Int64s
) -> None:
    """Take rows by falling first order; a Fenwick tree over the second counts the s that came."""
    ts, ss = falling(ts, bounds[a]), falling(ss, values[a])
    lowest, _ = extremes(ts, bounds[b])
    _, highest = extremes(ss, values[b])
    span = max(0, int(highest) - int(lowest) + 1)
    is_dense = span <= TABLE_ENTRIES_A_ROW * (ts.size + ss.size)
    steps = values[b][:0] if is_dense else -values[b][falling(ss, values[b])]
    tree = np.zeros((span if is_dense else steps.size) + 1, np.int32)
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
            partners[t] += int(tree[step])
            step -= step & -step
