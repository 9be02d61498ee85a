"""Searching rows that must differ: does a t have an s that shares none of its colours?

See `search` for what colours, bounds and values are.
"""

# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import numpy as np

from lawful.checks.denials.kernels.ranks import Int32Table, falling
from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled


@compiled
def search_two_orders_and_colour(
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


@compiled
def search_colours(
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


@compiled
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


@compiled
def _doubled(places: Int32s, above: Int32Table, below: Int32Table) -> tuple[Int32s, Int32Table, Int32Table]:
    size = places.size
    more_places = np.zeros(2 * size, np.int32)
    more_above = np.full((2 * size, above.shape[1]), -1, np.int32)
    more_below = np.full((2 * size, below.shape[1]), -1, np.int32)
    more_places[:size] = places
    more_above[:size] = above
    more_below[:size] = below
    return more_places, more_above, more_below
