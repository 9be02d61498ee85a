"""A depth-first search for minimal hitting sets, on explicit stacks, that stops and goes on at any node.

The search is MMCS of Murakami & Uno ("Efficient algorithms for dualizing large-scale hypergraphs", 2014):
grow a partial solution S by the columns of an uncovered edge, and see to it that each member keeps a critical
edge, one that only it hits. Departures:

- crit and uncov are not lists that are edited and restored, but two bitmaps over the edges for each level:
  the edges hit by no member of S, and those hit once. crit[u] is the second one cut with the edges of u.
- Columns that would take away a member's last critical edge are removed from CAND when a node is opened: they
  are the intersection of that member's critical edges. MMCS tests each candidate when its turn comes.
- A column in all uncovered edges ends its branch: it is written out without opening a node, and it is not
  given back to CAND, as no later sibling could be critical next to it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, bit, lowest, popcount
from lawful.search.kernels.sets import transpose

Counts = npt.NDArray[np.int64]

# The state of a search.
LEVEL = 0  # of the node at work; -1 when the search is over
NODES = 1  # opened so far
STATE_SLOTS = 2

# The bitmaps over the edges that each level keeps.
UNCOVERED = 0  # hit by no member of the partial solution
ONCE = 1  # hit by exactly one
MARK_SLOTS = 2

# The sets of columns that each level keeps.
SOLUTION = 0  # the partial solution
CANDIDATES = 1  # CAND: what deeper levels may still add
BRANCHES = 2  # columns of the chosen edge that still have to be tried
FINISHERS = 3  # columns that complete a solution and still have to be written
SET_SLOTS = 4


@compiled
def search_on(
    edges: Words,
    holders: Words,
    max_size: int,
    state: Counts,
    chosen: Counts,
    marks: Words,
    sets: Words,
    held_by: Words,
    supports: Words,
    least: int,
    node_budget: int,
    out: Words,
) -> int:
    """Go on with a search until `out` is full, `node_budget` nodes were opened or nothing is left.

    Parameters
    ----------
    edges, holders
        The edges, none of them empty, and for each column the bitmap of the edges that hold it.
    max_size
        The most columns of a solution.
    state, chosen, marks, sets
        Where the search stands; for each level the column that led to it, its bitmaps and its sets.
    held_by, supports, least
        For each column the bitmap of the members of another family that hold it, and for each level that of those
        that hold the partial solution: branches with fewer than `least` are left out. With zero nothing is.
    out
        Receives the solutions.

    Returns
    -------
    int
        The number of solutions written.
    """
    n_out = 0
    opened = 0
    level = state[LEVEL]
    while level >= 0:
        n_out = write_finished(sets[level], out, n_out)
        if n_out == out.shape[0]:
            break
        column = next_branch(sets[level])
        if column < 0:
            level -= 1
            continue
        if opened == node_budget:
            break
        opened += 1
        descend(holders[column], column, marks[level], marks[level + 1], sets[level], sets[level + 1])
        if least > 0 and _narrow(supports[level], held_by[column], supports[level + 1]) < least:
            continue
        level += 1
        chosen[level] = column
        drop_columns_that_break_minimality(edges, holders, chosen, level, marks[level], sets[level])
        open_node(edges, marks[level], sets[level], level + 1 < max_size)
    state[LEVEL] = level
    state[NODES] += opened
    return n_out


@compiled
def search_families(edges: Words, ends: Counts, max_size: int, work: int) -> tuple[Counts, Words]:
    """Search many families of edges in turn, each to its end, as far as some amount of work suffices.

    Parameters
    ----------
    edges, ends
        The families one after the other, each without an edge that contains another, and where each ends.
    work
        Nodes to be opened, each counted once for every word of a bitmap over its family.

    Returns
    -------
    ends, sets
        Where the solutions of each family end, for the families that were done, and the solutions.
    """
    words = edges.shape[1]
    no_support = np.empty((0, 0), dtype=np.uint64)
    out = np.empty((1024, words), dtype=np.uint64)
    solution_ends = np.empty(ends.size, dtype=np.int64)
    n_out = n_before = first = 0
    for family in range(ends.size):
        own = edges[first : ends[family]]
        first = ends[family]
        state, holders, chosen, marks, sets = _start(own, max_size)
        if own.shape[0] == 0:
            out = _with_room(out, n_out)
            out[n_out] = ZERO
            n_out += 1
        work_of_node = max(1, marks.shape[2])
        while state[LEVEL] >= 0 and state[NODES] * work_of_node < work:
            out = _with_room(out, n_out)
            nodes = max(1, work // work_of_node - state[NODES])
            n_out += search_on(
                own, holders, max_size, state, chosen, marks, sets, no_support, no_support, 0, nodes, out[n_out:]
            )
        if state[LEVEL] >= 0:
            return solution_ends[:family], out[:n_before]
        work -= state[NODES] * work_of_node
        solution_ends[family] = n_before = n_out
    return solution_ends, out[:n_out]


@compiled
def _start(edges: Words, max_size: int) -> tuple[Counts, Words, Counts, Words, Words]:
    """The state of a search at its root, or at its end if nothing is to be searched."""
    n_edges, words = edges.shape
    state = np.zeros(STATE_SLOTS, dtype=np.int64)
    columns = np.zeros(words, dtype=np.uint64)
    n_columns = 0
    for k in range(words):
        for i in range(n_edges):
            columns[k] |= edges[i, k]
        n_columns += popcount(columns[k])
    # An empty edge makes its family minimal only if it is alone.
    if n_edges == 0 or n_columns == 0 or max_size < 1:
        state[LEVEL] = -1
        n_edges = n_columns = 0
    holders = transpose(edges)
    levels = min(n_edges, n_columns, max_size) + 1
    marks = np.zeros((levels, MARK_SLOTS, holders.shape[1]), dtype=np.uint64)
    sets = np.zeros((levels, SET_SLOTS, words), dtype=np.uint64)
    if state[LEVEL] == 0:
        for i in range(n_edges):
            marks[0, UNCOVERED, i >> 6] |= bit(i)
        sets[0, CANDIDATES] = columns
        open_node(edges, marks[0], sets[0], max_size > 1)
    return state, holders, np.zeros(levels, dtype=np.int64), marks, sets


@compiled
def _with_room(out: Words, used: int) -> Words:
    if used < out.shape[0]:
        return out
    larger = np.empty((2 * out.shape[0], out.shape[1]), dtype=np.uint64)
    for i in range(used):  # not by a slice, which takes seconds to compile
        for w in range(out.shape[1]):
            larger[i, w] = out[i, w]
    return larger


@compiled
def write_finished(sets: Words, out: Words, n_out: int) -> int:
    """Write the solutions that one more column completes, as far as there is room, and count what was written."""
    for w in range(sets.shape[1]):
        rest = sets[FINISHERS, w]
        while rest != ZERO and n_out < out.shape[0]:
            for k in range(sets.shape[1]):
                out[n_out, k] = sets[SOLUTION, k]
            out[n_out, w] |= rest & ~(rest - ONE)
            rest &= rest - ONE
            n_out += 1
        sets[FINISHERS, w] = rest
    return n_out


@compiled
def next_branch(sets: Words) -> int:
    """The next column to try, or -1 if all were tried."""
    for w in range(sets.shape[1]):
        if sets[BRANCHES, w] != ZERO:
            return w * 64 + lowest(sets[BRANCHES, w])
    return -1


@compiled
def descend(holders: Words, column: int, marks: Words, deeper_marks: Words, sets: Words, deeper_sets: Words) -> None:
    """Add a column to the solution on the next level, and give it back to the candidates of its siblings."""
    for k in range(sets.shape[1]):
        deeper_sets[SOLUTION, k] = sets[SOLUTION, k]
        deeper_sets[CANDIDATES, k] = sets[CANDIDATES, k]
    deeper_sets[SOLUTION, column >> 6] |= bit(column)
    sets[BRANCHES, column >> 6] &= ~bit(column)
    sets[CANDIDATES, column >> 6] |= bit(column)
    for k in range(marks.shape[1]):
        deeper_marks[UNCOVERED, k] = marks[UNCOVERED, k] & ~holders[k]
        deeper_marks[ONCE, k] = (marks[ONCE, k] & ~holders[k]) | (marks[UNCOVERED, k] & holders[k])


@compiled
def _narrow(support: Words, held_by: Words, deeper_support: Words) -> int:
    """Keep the members that hold one more column, and count them."""
    count = 0
    for k in range(support.size):
        deeper_support[k] = support[k] & held_by[k]
        count += popcount(deeper_support[k])
    return count


@compiled
def drop_columns_that_break_minimality(
    edges: Words, holders: Words, chosen: Counts, level: int, marks: Words, sets: Words
) -> None:
    """Remove from CAND what lies in all critical edges of a member; the other sets are scratch so far."""
    words = edges.shape[1]
    shared = sets[BRANCHES]
    broken = sets[FINISHERS]
    broken[:] = ZERO
    for i in range(1, level + 1):
        member = chosen[i]
        left = ZERO
        for k in range(words):
            shared[k] = sets[CANDIDATES, k] & ~broken[k]
            left |= shared[k]
        e = 0
        while left != ZERO and e < marks.shape[1]:
            critical = marks[ONCE, e] & holders[member, e]
            while critical != ZERO and left != ZERO:
                edge = e * 64 + lowest(critical)
                critical &= critical - ONE
                left = ZERO
                for k in range(words):
                    shared[k] &= edges[edge, k]
                    left |= shared[k]
            e += 1
        for k in range(words):
            broken[k] |= shared[k]
    for k in range(words):
        sets[CANDIDATES, k] &= ~broken[k]


@compiled
def open_node(edges: Words, marks: Words, sets: Words, may_branch: bool) -> None:
    """Choose the uncovered edge with the fewest candidates and split them into finishers and branches."""
    words = edges.shape[1]
    fewest = int(words * 64 + 1)
    best = -1
    for k in range(words):
        sets[FINISHERS, k] = sets[CANDIDATES, k]
        sets[BRANCHES, k] = ZERO
    for e in range(marks.shape[1]):
        rest = marks[UNCOVERED, e]
        while rest != ZERO:
            edge = e * 64 + lowest(rest)
            rest &= rest - ONE
            size = 0
            for k in range(words):
                size += popcount(edges[edge, k] & sets[CANDIDATES, k])
                sets[FINISHERS, k] &= edges[edge, k]
            if size < fewest:
                fewest = size
                best = edge
                if size == 0:
                    return
    for k in range(words):
        if may_branch:
            sets[BRANCHES, k] = edges[best, k] & sets[CANDIDATES, k] & ~sets[FINISHERS, k]
        sets[CANDIDATES, k] &= ~edges[best, k]
