"""A search for all minimal keys that compares pairs of rows only where a branch asks for them.

See `key_search` one folder up for what it does and why it is right. A call goes on until some work is done, or `out` or
another array is full: so Python can look at the limits and make room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lawful.checks.kernels.partitions import refine
from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.discovery.keys_and_fds.kernels.difference_sets import (
    FREE,
    USED,
    Edges,
    add_edge,
    compare,
    draw_pairs,
)
from lawful.search.kernels.bits import ZERO, bit, lowest
from lawful.search.kernels.hitting_sets import (
    CANDIDATES,
    FINISHERS,
    SOLUTION,
    UNCOVERED,
    descend,
    drop_columns_that_break_minimality,
    next_branch,
    open_node,
)

# The state of a search.
LEVEL = 0  # of the node at work; -1 when the search is over
IS_NEW = 1  # whether that node was not looked at yet
REFINED = 2  # the last level whose partition is there
NODES = 3  # entered so far
PAIRS = 4  # compared so far
ROOM_FOR_EDGES = 5  # asked for
ROOM_FOR_ROWS = 6  # asked for
STATE_SLOTS = 7

MOST_PAIRS = 1024
"""Drawn at once."""
_EXPONENT = 0.3
"""How many pairs are drawn from a partition: as many as it has, to this power, as the paper's authors do."""


class Data(NamedTuple):
    """The table: one line of ranks per column, and the lowest rank that agrees with itself."""

    ranks: Int32s
    lowest: int


class Branch(NamedTuple):
    """The nodes from the root to the one at work: the column that led to each, bitmaps and sets; see `hitting_sets`."""

    chosen: Int64s
    marks: Words
    sets: Words


class Partitions(NamedTuple):
    """The partitions of the nodes from the root on, one after the other in the same arrays.

    Attributes
    ----------
    rows, offsets
        As of any partition.
    row_ends, offset_ends
        Where those of each level end; those of the next begin there.
    slots, fetched, seen
        What `refine` needs.
    """

    rows: Int32s
    offsets: Int32s
    row_ends: Int64s
    offset_ends: Int64s
    slots: Int32s
    fetched: Int32s
    seen: Int32s


@compiled
def search_on(
    data: Data,
    max_size: int,
    edges: Edges,
    branch: Branch,
    partitions: Partitions,
    state: Int64s,
    budget: int,
    out: Words,
) -> int:
    """Go on with a search; return how many keys were written to `out`.

    `budget` is counted in steps of inner loops: rows that are refined, words of bitmaps, cells that are compared.
    """
    chosen, marks, sets = branch
    found = work = 0
    level = state[LEVEL]
    while level >= 0 and work < budget and found < out.shape[0]:
        if state[IS_NEW]:
            if not _has_any(marks[level, UNCOVERED]):
                work += _refine_down_to(level, data, chosen, partitions, state)
                if state[ROOM_FOR_ROWS] or not _has_room(edges, state):
                    break
                if partitions.row_ends[level + 1] == partitions.row_ends[level]:
                    _write(sets[level, SOLUTION], out[found])
                    found += 1
                    if level > 0:  # no other minimal key includes this one
                        sets[level - 1, CANDIDATES, chosen[level] >> 6] &= ~bit(chosen[level])
                    level = _back(level, state)
                    continue
                pairs = _learn(level, data, edges, marks, partitions)
                state[PAIRS] += pairs
                work += pairs * data.ranks.shape[0]
                if pairs == 0:
                    level = -1
                    break
            if level == max_size:
                level = _back(level, state)
                continue
            drop_columns_that_break_minimality(edges.sets, edges.holders, chosen, level, marks[level], sets[level])
            open_node(edges.sets, marks[level], sets[level], level + 1 < max_size)
            work += marks.shape[2] * (level + 2)
            state[IS_NEW] = 0
        column = _next_column(sets[level])
        if column < 0:
            level = _back(level, state)
            continue
        descend(edges.holders[column], column, marks[level], marks[level + 1], sets[level], sets[level + 1])
        work += marks.shape[2]
        level += 1
        chosen[level] = column
        state[IS_NEW] = 1
        state[NODES] += 1
    state[LEVEL] = level
    return found


@compiled
def _has_any(words: Words) -> bool:
    joined = ZERO
    for w in range(words.size):
        joined |= words[w]
    return bool(joined != ZERO)


@compiled
def _write(words: Words, out: Words) -> None:
    for w in range(words.size):
        out[w] = words[w]


@compiled
def _back(level: int, state: Int64s) -> int:
    """Leave a node for the one above it."""
    state[IS_NEW] = 0
    state[REFINED] = min(state[REFINED], level - 1)
    return level - 1


@compiled
def _next_column(sets: Words) -> int:
    """The next column to try: first those that hit all edges that were known when the node was opened."""
    for w in range(sets.shape[1]):
        if sets[FINISHERS, w] != ZERO:
            column = w * 64 + lowest(sets[FINISHERS, w])
            sets[FINISHERS, w] &= ~bit(column)
            return column
    return next_branch(sets)


@compiled
def _has_room(edges: Edges, state: Int64s) -> bool:
    """Whether the edges of as many pairs as are drawn at once would fit; if not, room is asked for."""
    state[ROOM_FOR_EDGES] = edges.counters[USED] - edges.counters[FREE] + MOST_PAIRS > edges.sets.shape[0]
    return not state[ROOM_FOR_EDGES]


@compiled
def _refine_down_to(level: int, data: Data, chosen: Int64s, partitions: Partitions, state: Int64s) -> int:
    """Make the partitions on the way to a node that are not there, if there is room; return how many rows it took."""
    rows, offsets, row_ends, offset_ends, slots, fetched, seen = partitions
    work = 0
    while state[REFINED] < level:
        before = state[REFINED]
        first, last = row_ends[before], row_ends[before + 1]
        if last + (last - first) + 1 > rows.size:
            state[ROOM_FOR_ROWS] = last + (last - first) + 1
            return work
        size, classes = refine(
            rows[first:last],
            offsets[offset_ends[before] : offset_ends[before + 1]],
            data.ranks[chosen[before + 1]],
            data.lowest,
            False,
            slots,
            fetched,
            seen,
            rows[last:],
            offsets[offset_ends[before + 1] :],
        )
        row_ends[before + 2] = last + size
        offset_ends[before + 2] = offset_ends[before + 1] + classes + 1
        state[REFINED] += 1
        work += last - first
    return work


@compiled
def _learn(level: int, data: Data, edges: Edges, marks: Words, partitions: Partitions) -> int:
    """Compare some pairs that agree on the columns of a node, and add what they differ on.

    Returns how many were compared, or 0 if two rows are equal, so that there is no key.
    """
    rows, offsets, row_ends, offset_ends, _, _, _ = partitions
    own_rows = rows[row_ends[level] : row_ends[level + 1]]
    own_offsets = offsets[offset_ends[level] : offset_ends[level + 1]]
    there_are = 0.0
    for c in range(own_offsets.size - 1):
        members = float(own_offsets[c + 1] - own_offsets[c])
        there_are += members * (members - 1.0) / 2.0
    drawn = min(MOST_PAIRS, int(np.ceil(there_are**_EXPONENT)))
    left, right = np.empty(drawn, np.int32), np.empty(drawn, np.int32)
    differences = np.zeros((drawn, edges.sets.shape[1]), np.uint64)
    draw_pairs(own_rows, own_offsets, edges.counters, left, right)
    compare(data.ranks, data.lowest, left, right, differences)
    for pair in range(drawn):
        if not _has_any(differences[pair]):
            return 0
        add_edge(differences[pair], edges, marks, level)
    return drawn
