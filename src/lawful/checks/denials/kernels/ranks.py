"""Loops over rows by their ranks that the search for violating pairs and their counting share.

A t has a bound and an s a value in each order; they satisfy it if the bound is at most the value. `ts` and `ss`
are places of rows in arrays of bounds and values.
"""

# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled

Int32Table = NDArray[np.int32]

# Up to so many pairs, looking at each is quicker than anything else.
FEW_PAIRS = 96
# A table over all values is made where it has at most so many entries per row; otherwise rows are sorted.
TABLE_ENTRIES_A_ROW = 4


@compiled
def prune(ts: Int32s, ss: Int32s, bounds: Int32s, values: Int32s) -> tuple[Int32s, Int32s, int]:
    """Drop every t whose bound no s reaches, and every s that reaches no bound.

    Returns too how many ranks lie between the ends of what is left, 0 if every s left reaches the bound of
    every t left. Either nothing is left of both or something of each.
    """
    lowest, highest = extremes(ss, values)
    lowest_bound, highest_bound = extremes(ts, bounds)
    if lowest_bound > highest:
        return ts[:0], ss[:0], 0
    if highest_bound <= lowest:
        return ts, ss, 0
    if highest_bound > highest:
        ts = at_most(ts, bounds, highest)
        highest_bound = highest
    if lowest < lowest_bound:
        ss = at_least(ss, values, lowest_bound)
        lowest = lowest_bound
    # The ends may have moved further inwards, so what is called open here may be over.
    return ts, ss, 0 if highest_bound <= lowest else int(highest) - int(lowest_bound) + 1


@compiled
def extremes(places: Int32s, ranks: Int32s) -> tuple[int, int]:
    """Return the smallest and the largest rank."""
    smallest = ranks[places[0]]
    largest = smallest
    for place in places:
        smallest = min(smallest, ranks[place])
        largest = max(largest, ranks[place])
    return smallest, largest


@compiled
def at_most(places: Int32s, ranks: Int32s, highest: int) -> Int32s:
    """Return the places whose ranks are at most so high."""
    out = np.empty(places.size, np.int32)
    filled = 0
    for place in places:
        out[filled] = place
        filled += ranks[place] <= highest
    return out[:filled]


@compiled
def at_least(places: Int32s, ranks: Int32s, lowest: int) -> Int32s:
    """Return the places whose ranks are at least so high."""
    out = np.empty(places.size, np.int32)
    filled = 0
    for place in places:
        out[filled] = place
        filled += ranks[place] >= lowest
    return out[:filled]


@compiled
def middle(ts: Int32s, ss: Int32s, bounds: Int32s, values: Int32s) -> int:
    """Return the rank half-way between the lowest bound and the highest value.

    Ranks are dense, so halving their range again and again takes as many steps as halving the rows. After
    `prune` something is on either side, so each half is smaller than the whole.
    """
    lowest, _ = extremes(ts, bounds)
    _, highest = extremes(ss, values)
    return lowest + (highest - lowest + 1) // 2


@compiled
def falling(places: Int32s, ranks: Int32s) -> Int32s:
    """Return the places by falling ranks, those of one rank in their order."""
    lowest, highest = extremes(places, ranks)
    span = int(highest) - int(lowest) + 1
    if span > TABLE_ENTRIES_A_ROW * places.size:
        return places[np.argsort(-ranks[places], kind="mergesort")]
    starts = np.zeros(span + 1, np.int32)
    for place in places:
        starts[highest - ranks[place] + 1] += 1
    for i in range(1, span + 1):
        starts[i] += starts[i - 1]
    out = np.empty_like(places)
    for place in places:
        i = highest - ranks[place]
        out[starts[i]] = place
        starts[i] += 1
    return out


@compiled
def note_order(order: int, span: int, open_orders: Int64s, spans: Int64s, filled: int) -> None:
    """Put an order that is not over among the others, the widest first."""
    place = filled
    while place > 0 and spans[place - 1] < span:
        spans[place] = spans[place - 1]
        open_orders[place] = open_orders[place - 1]
        place -= 1
    spans[place] = span
    open_orders[place] = order
