"""The loop that decides a denial constraint: does a t have an s that satisfies every comparison with it?

Both rows are points. A comparison that orders gives t a lower bound and s a value: `bounds[k, t] <= values[k, s]`
(whoever asks turns every operator into this one). A comparison with != gives both a colour, and the colours must
differ. Pairs are never enumerated:

- The largest value of all s removes every t with a higher bound, and the lowest bound every s with a lower
  value. With one order that is the answer, and a comparison that all pairs left satisfy is over.
- With two orders it takes the best second value among the s from each first value on; with three, rows come by
  their first value, and a Fenwick tree over the second keeps the best third.
- More orders are halved by rank until three are left (divide and conquer): what is below the middle
  against what is above satisfies one order for good, and the halves are searched each on their own.
- Colours: the best s serves every t that differs from it. A t that shares one of its colours asks for the
  best s without that colour, and so on: m colours give at most m * (m - 1) * ... such searches, each made
  once and only if some t asks.
"""

# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import numpy as np

from lawful.checks.denials.kernels.colours import search_colours, search_two_orders_and_colour
from lawful.checks.denials.kernels.orders import give_all, search_three_orders, search_two_orders
from lawful.checks.denials.kernels.ranks import FEW_PAIRS, Int32Table, at_least, at_most, middle, note_order, prune
from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled


@compiled
def search_groups(
    t_offsets: Int32s,
    s_offsets: Int32s,
    bounds: Int32Table,
    values: Int32Table,
    t_colours: Int32Table,
    s_colours: Int32Table,
    first_only: bool,
    partners: Int32s,
) -> int:
    """Look within each group for an s for every t; places count within the groups' concatenated rows.

    Sets `partners[t]` to the place of such an s where there is one; it is -1 everywhere on entry. With
    `first_only` the search ends with the first t that has one. Returns a t that has one, or -1.
    """
    every_order = (1 << bounds.shape[0]) - 1
    last_found = -1
    for g in range(t_offsets.size - 1):
        t_start, t_end = t_offsets[g], t_offsets[g + 1]
        s_start, s_end = s_offsets[g], s_offsets[g + 1]
        if t_start == t_end or s_start == s_end:
            continue
        ts = np.arange(t_start, t_end).astype(np.int32)
        ss = np.arange(s_start, s_end).astype(np.int32)
        found = _search(ts, ss, bounds, values, t_colours, s_colours, every_order, first_only, partners)
        if found >= 0:
            last_found = found
            if first_only:
                break
    return last_found


@compiled
def _search(
    ts: Int32s,
    ss: Int32s,
    bounds: Int32Table,
    values: Int32Table,
    t_colours: Int32Table,
    s_colours: Int32Table,
    orders: int,
    first_only: bool,
    partners: Int32s,
) -> int:
    """Search some t and s; the bits of `orders` say which orders are not yet satisfied by all their pairs."""
    if ts.size * ss.size <= FEW_PAIRS:
        return _search_pairs(ts, ss, bounds, values, t_colours, s_colours, first_only, partners)
    left = 0
    open_orders = np.full(bounds.shape[0] + 3, -1, np.int64)
    spans = np.empty(bounds.shape[0] + 3, np.int64)
    for k in range(bounds.shape[0]):
        if orders >> k & 1:
            ts, ss, span = prune(ts, ss, bounds[k], values[k])
            if ts.size == 0:
                return -1
            if span == 0:
                orders &= ~(1 << k)
            else:
                note_order(k, span, open_orders, spans, left)
                left += 1
    # Tables and trees over the order with the fewest ranks are the smallest, and so is the number of halvings.
    a, b, c = open_orders[0], open_orders[1], open_orders[2]
    colours = t_colours.shape[0]
    if colours == 0 and left <= 1:
        return give_all(ts, ss, bounds, values, a, first_only, partners)
    if colours == 0 and left == 2:
        return search_two_orders(ts, ss, bounds, values, b, a, first_only, partners)
    if colours == 0 and left == 3:
        return search_three_orders(ts, ss, bounds, values, b, c, a, first_only, partners)
    if left <= 1:
        return search_colours(ts, ss, bounds, values, t_colours, s_colours, a, first_only, partners)
    if left == 2 and colours == 1:
        one, other = t_colours[0], s_colours[0]
        return search_two_orders_and_colour(ts, ss, bounds, values, one, other, b, a, first_only, partners)
    last_order = open_orders[left - 1]
    # Pruning by other orders may have widened the gap in this one.
    ts, ss, span = prune(ts, ss, bounds[last_order], values[last_order])
    if ts.size == 0:
        return -1
    pivot = middle(ts, ss, bounds[last_order], values[last_order])
    low_ts, high_ts = at_most(ts, bounds[last_order], pivot), at_least(ts, bounds[last_order], pivot + 1)
    low_ss, high_ss = at_most(ss, values[last_order], pivot - 1), at_least(ss, values[last_order], pivot)
    across = orders & ~(1 << last_order)
    found = _search(low_ts, high_ss, bounds, values, t_colours, s_colours, across, first_only, partners)
    if found >= 0 and first_only:
        return found
    if found >= 0:
        low_ts = low_ts[partners[low_ts] < 0]
    other = _search(low_ts, low_ss, bounds, values, t_colours, s_colours, orders, first_only, partners)
    if other >= 0 and first_only:
        return other
    third = _search(high_ts, high_ss, bounds, values, t_colours, s_colours, orders, first_only, partners)
    return max(found, other, third)


@compiled
def _search_pairs(
    ts: Int32s,
    ss: Int32s,
    bounds: Int32Table,
    values: Int32Table,
    t_colours: Int32Table,
    s_colours: Int32Table,
    first_only: bool,
    partners: Int32s,
) -> int:
    found = -1
    for t in ts:
        for s in ss:
            satisfied = True
            for k in range(bounds.shape[0]):
                if bounds[k, t] > values[k, s]:
                    satisfied = False
                    break
            if satisfied:
                for c in range(t_colours.shape[0]):
                    if t_colours[c, t] == s_colours[c, s]:
                        satisfied = False
                        break
            if satisfied:
                partners[t] = s
                found = t
                if first_only:
                    return found
                break
    return found
