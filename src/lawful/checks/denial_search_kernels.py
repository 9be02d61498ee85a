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
from numba import njit

from lawful.checks.denial_rank_kernels import (
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
from lawful.checks.ranked_table import Int32s

# Below every value.
NOTHING = -(2**31)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
        return _give_all(ts, ss, bounds, values, a, first_only, partners)
    if colours == 0 and left == 2:
        return _search_two_orders(ts, ss, bounds, values, b, a, first_only, partners)
    if colours == 0 and left == 3:
        return _search_three_orders(ts, ss, bounds, values, b, c, a, first_only, partners)
    if left <= 1:
        return _search_colours(ts, ss, bounds, values, t_colours, s_colours, a, first_only, partners)
    if left == 2 and colours == 1:
        one, other = t_colours[0], s_colours[0]
        return _search_two_orders_and_colour(ts, ss, bounds, values, one, other, b, a, first_only, partners)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _give_all(
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


@njit(cache=True, nogil=True)
def _search_two_orders(
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
    best = np.full((span, 2), NOTHING, np.int32)  # the second value, and the s that has it
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _search_three_orders(
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


@njit(cache=True, nogil=True)
def _search_two_orders_and_colour(
    ts: Int32s,
    ss: Int32s,
    bounds: Int32Table,
    values: Int32Table,
    t_colour: Int32s,
    s_colour: Int32s,
    a: int,
    b: int,
    first_only: bool,
    partners: Int32s,
) -> int:
    """Take rows by falling first order; the best s by the second and the best of another colour serve every t."""
    ts, ss = falling(ts, bounds[a]), falling(ss, values[a])
    best = -1
    other = -1
    entered = 0
    found = -1
    for t in ts:
        while entered < ss.size and values[a, ss[entered]] >= bounds[a, t]:
            s = ss[entered]
            entered += 1
            if best < 0 or values[b, s] > values[b, best]:
                if best >= 0 and s_colour[s] != s_colour[best]:
                    other = best
                best = s
            elif s_colour[s] != s_colour[best] and (other < 0 or values[b, s] > values[b, other]):
                other = s
        chosen = best if best >= 0 and s_colour[best] != t_colour[t] else other
        if chosen >= 0 and values[b, chosen] >= bounds[b, t] and s_colour[chosen] != t_colour[t]:
            partners[t] = chosen
            found = t
            if first_only:
                break
    return found


@njit(cache=True, nogil=True)
def _search_colours(
    ts: Int32s,
    ss: Int32s,
    bounds: Int32Table,
    values: Int32Table,
    t_colours: Int32Table,
    s_colours: Int32Table,
    order: int,
    first_only: bool,
    partners: Int32s,
) -> int:
    """Give every t the best s in the one order left that differs from it in every colour.

    A node of the tree is the best s that differs from all nodes above it in the colour by which the path left
    each. A t walks down until it meets an s that differs from it in all colours.
    """
    colours = t_colours.shape[0]
    if order >= 0:
        ss = falling(ss, values[order])
    places = np.zeros(16, np.int32)  # of the node's s among ss, or ss.size if there is none
    above = np.full((16, 2), -1, np.int32)  # the parent, and the colour by which the path left it
    below = np.full((16, colours), -1, np.int32)
    nodes = 1
    found = -1
    for t in ts:
        node = 0
        while places[node] < ss.size:
            s = ss[places[node]]
            if order >= 0 and values[order, s] < bounds[order, t]:
                break
            shared = -1
            for c in range(colours):
                if t_colours[c, t] == s_colours[c, s]:
                    shared = c
                    break
            if shared < 0:
                partners[t] = s
                found = t
                break
            if below[node, shared] < 0:
                if nodes == places.size:
                    places, above, below = _doubled(places, above, below)
                below[node, shared] = nodes
                above[nodes, 0], above[nodes, 1] = node, shared
                places[nodes] = _next_different(ss, s_colours, places, above, nodes, places[node] + 1)
                nodes += 1
            node = below[node, shared]
        if found >= 0 and first_only:
            break
    return found


@njit(cache=True, nogil=True)
def _next_different(ss: Int32s, s_colours: Int32Table, places: Int32s, above: Int32Table, node: int, start: int) -> int:
    """Return the place, from `start` on, of the first s that differs from the nodes above as its node asks."""
    for place in range(start, ss.size):
        s = ss[place]
        differs = True
        lower = node
        while above[lower, 0] >= 0:
            upper, colour = above[lower, 0], above[lower, 1]
            if s_colours[colour, s] == s_colours[colour, ss[places[upper]]]:
                differs = False
                break
            lower = upper
        if differs:
            return place
    return ss.size


@njit(cache=True, nogil=True)
def _doubled(places: Int32s, above: Int32Table, below: Int32Table) -> tuple[Int32s, Int32Table, Int32Table]:
    size = places.size
    more_places = np.zeros(2 * size, np.int32)
    more_above = np.full((2 * size, above.shape[1]), -1, np.int32)
    more_below = np.full((2 * size, below.shape[1]), -1, np.int32)
    more_places[:size] = places
    more_above[:size] = above
    more_below[:size] = below
    return more_places, more_above, more_below
