"""The difference sets of some pairs of rows, and how a search for hitting sets comes to know of new ones on its way.

The search keeps bitmaps over the edges (`search/kernels/hitting_sets.py`). Here an edge has a *slot* in them. Only
minimal edges are kept: one that includes a new one gives its slot back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import hash_of_word
from lawful.search.kernels.bits import ONE, ZERO, bit, lowest
from lawful.search.kernels.hitting_sets import ONCE, UNCOVERED

# What is counted of the edges.
USED = 0  # slots that were ever used
FREE = 1  # of them, those that were given back
SEED = 2  # where random numbers go on
COUNTER_SLOTS = 3


class Edges(NamedTuple):
    """The minimal difference sets found so far, in slots.

    Attributes
    ----------
    sets
        The edge of each slot.
    holders
        For each column the bitmap of the slots whose edge holds it.
    free
        The slots that were given back.
    counters
        See above.
    """

    sets: Words
    holders: Words
    free: Int64s
    counters: Int64s


@compiled
def add_edge(edge: Words, edges: Edges, marks: Words, level: int) -> None:
    """Add an edge that the partial solution of this level, and so of all levels before, does not hit.

    It is left out if it includes another such edge: all the others are hit, and cannot lie in it.
    """
    sets, holders, free, counters = edges
    uncovered = marks[level, UNCOVERED]
    for e in range(uncovered.size):
        rest = uncovered[e]
        while rest != ZERO:
            slot = e * 64 + lowest(rest)
            rest &= rest - ONE
            if _includes(edge, sets[slot]):
                return
    for e in range(uncovered.size):
        rest = _holding_all(edge, holders, e)
        while rest != ZERO:
            _give_back(e * 64 + lowest(rest), edges, marks, level)
            rest &= rest - ONE
    if counters[FREE] > 0:
        counters[FREE] -= 1
        slot = free[counters[FREE]]
    else:
        slot = counters[USED]
        counters[USED] += 1
    own, e = bit(slot), slot >> 6
    for w in range(edge.size):
        sets[slot, w] = edge[w]
        rest = edge[w]
        while rest != ZERO:
            holders[w * 64 + lowest(rest), e] |= own
            rest &= rest - ONE
    for above in range(level + 1):
        marks[above, UNCOVERED, e] |= own


@compiled
def _includes(edge: Words, smaller: Words) -> bool:
    outside = ZERO
    for w in range(edge.size):
        outside |= smaller[w] & ~edge[w]
    return bool(outside == ZERO)


@compiled
def _holding_all(edge: Words, holders: Words, e: int) -> np.uint64:
    """One word of the bitmap of the slots whose edges hold all of these columns, of which there is one at least."""
    common = ~ZERO
    for w in range(edge.size):
        rest = edge[w]
        while rest != ZERO and common != ZERO:
            common &= holders[w * 64 + lowest(rest), e]
            rest &= rest - ONE
    return common


@compiled
def _give_back(slot: int, edges: Edges, marks: Words, level: int) -> None:
    own, e = bit(slot), slot >> 6
    for w in range(edges.sets.shape[1]):
        rest = edges.sets[slot, w]
        while rest != ZERO:
            edges.holders[w * 64 + lowest(rest), e] &= ~own
            rest &= rest - ONE
    for above in range(level + 1):
        marks[above, UNCOVERED, e] &= ~own
        marks[above, ONCE, e] &= ~own
    edges.free[edges.counters[FREE]] = slot
    edges.counters[FREE] += 1


@compiled
def draw_pairs(rows: Int32s, offsets: Int32s, counters: Int64s, left: Int32s, right: Int32s) -> None:
    """Draw pairs of rows of one class: a row of any class, and another row of its class."""
    for pair in range(left.size):
        place = _below(rows.size, counters)
        first, last = 0, offsets.size - 1
        while last - first > 1:
            middle = (first + last) >> 1
            if offsets[middle] <= place:
                first = middle
            else:
                last = middle
        start, members = offsets[first], offsets[first + 1] - offsets[first]
        other = start + (place - start + 1 + _below(members - 1, counters)) % members
        left[pair], right[pair] = rows[place], rows[other]


@compiled
def _below(bound: int, counters: Int64s) -> int:
    """A random number below a bound, which is at most 2 to the 31."""
    counters[SEED] += 1
    drawn = hash_of_word(hash_of_word(np.uint64(counters[SEED])))
    return int(np.int64((drawn >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)))


@compiled
def compare(ranks: Int32s, lowest_rank: int, left: Int32s, right: Int32s, differences: Words) -> None:
    """Mark for each pair the columns on which it does not agree; ranks below the lowest agree with nothing."""
    for column in range(ranks.shape[0]):
        own, w = bit(column), column >> 6
        for pair in range(left.size):
            rank = ranks[column, left[pair]]
            if rank != ranks[column, right[pair]] or rank < lowest_rank:
                differences[pair, w] |= own
