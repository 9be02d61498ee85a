"""A depth-first search for the minimal left sides that no pair of rows refutes, one right side at a time.

A column has four literals, the bits of a nibble: <=, >=, < and >; both <= and >= are =. The *edge* of a pair that
breaks the right side has the literals that the pair does not satisfy, and a left side must hold one of every edge.
Literals imply each other, and that is the one thing that sets this search apart from `search.kernels.hitting_sets`: a
strict literal is needed only for edges that its weaker form does not hit. For all others it counts as its weaker form,
so that an edge is *critical* for < if it has < and not <=, and no other member hits it.

Departing from that search too, each level lists the edges that still matter instead of marking them among all:
those hit by no member, and those critical for one. Edges hit otherwise never matter again below. No edge of
a pair without unknown signs contains another one, so that there are very many, and few of them matter deep down.

The right side B <= follows from B < and from B =. A left side is minimal for it if some pair that satisfies it has B
less, and another has B equal. Such pairs are critical edges of two *marks*, members that every left side has.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, ONE, ZERO, bit, lowest, popcount

Counts = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int16]

# The literals of a column.
AT_MOST, AT_LEAST, LESS, GREATER = 0, 1, 2, 3
COLUMN_BITS = 4

_WEAK = np.uint64(0x3333333333333333)
_STRICT = np.uint64(0xCCCCCCCCCCCCCCCC)
_EVEN = np.uint64(0x5555555555555555)
_FIRST = np.uint64(0x1111111111111111)
_NIBBLE = np.uint64(15)
_TWO = np.uint64(2)

# What a pair is in a column, as the literals that it does not satisfy.
IS_EQUAL, IS_LESS, IS_GREATER, IS_UNKNOWN = 0xC, 0xA, 0x5, 0xF

# The state of a search.
LEVEL = 0  # of the node at work; -1 when the search is over
CUT = 1  # whether the limit on columns ever kept a literal out
NEEDS_ROOM = 2  # whether the lists have to grow before the search can go on
STATE_SLOTS = 3

# The sets of literals that each level keeps; see `search.kernels.hitting_sets`.
SOLUTION = 0
CANDIDATES = 1
BRANCHES = 2
FINISHERS = 3
SET_SLOTS = 4

# The members that critical edges belong to: two marks, then one for each level.
MARK_LESS, MARK_EQUAL, MARKS = 0, 1, 2


@compiled
def edges_of_signs(less: Words, greater: Words, columns: int) -> Words:
    """The literals that pairs do not satisfy, for vectors of signs; an unknown sign satisfies none."""
    words = (COLUMN_BITS * columns + 63) // 64
    edges = np.zeros((less.shape[0], max(1, words)), np.uint64)
    for i in range(less.shape[0]):
        for column in range(columns):
            own = bit(column)
            is_less = (less[i, column >> 6] & own) != ZERO
            is_greater = (greater[i, column >> 6] & own) != ZERO
            nibble = IS_EQUAL
            if is_less and is_greater:
                nibble = IS_UNKNOWN
            elif is_less or is_greater:
                nibble = IS_LESS if is_less else IS_GREATER
            edges[i, column >> 4] |= np.uint64(nibble) << np.uint64(COLUMN_BITS * (column & 15))
    return edges


@compiled
def turned_literals(sets: Words) -> Words:
    """The same with the two rows exchanged: <= and >= change places, and < and >."""
    turned = np.empty_like(sets)
    for i in range(sets.shape[0]):
        for k in range(sets.shape[1]):
            turned[i, k] = ((sets[i, k] & _EVEN) << ONE) | ((sets[i, k] >> ONE) & _EVEN)
    return turned


@compiled
def used_columns(literals: np.uint64) -> np.uint64:
    """All literals of the columns that a word has any of."""
    any_of = literals | (literals >> ONE)
    return ((any_of | (any_of >> _TWO)) & _FIRST) * _NIBBLE


@compiled
def count_columns(sets: Words) -> Counts:
    """How many columns each set has literals of."""
    counts = np.zeros(sets.shape[0], np.int64)
    for i in range(sets.shape[0]):
        for k in range(sets.shape[1]):
            counts[i] += popcount(used_columns(sets[i, k]) & _FIRST)
    return counts


@compiled
def rising_first(sets: Words) -> npt.NDArray[np.bool_]:
    """Which sets have <= or < in their first column that does not have =, or no such column."""
    result = np.ones(sets.shape[0], np.bool_)
    for i in range(sets.shape[0]):
        for k in range(sets.shape[1]):
            word = sets[i, k]
            equal = word & (word >> ONE) & _FIRST
            rest = word & ~(equal * _NIBBLE)
            if rest != ZERO:
                result[i] = (rest & ~(rest - ONE)) & _EVEN != ZERO
                break
    return result


@compiled
def open_root(uncovered: Words, once: Words, slots: Slots, ends: Counts, sets: Words) -> None:
    """Make the first node: all edges that are to be hit, and those that are critical for the marks."""
    words = uncovered.shape[1]
    n_uncovered, n_once = ends[1, 0], ends[1, 1]
    shared = np.full((MARKS, words), ALL)
    for k in range(words):
        sets[0, SOLUTION, k] = ZERO
        sets[0, FINISHERS, k] = ALL
        sets[0, CANDIDATES, k] = ZERO
        for i in range(n_uncovered):
            sets[0, CANDIDATES, k] |= uncovered[i, k]
            sets[0, FINISHERS, k] &= uncovered[i, k]
        for i in range(n_once):
            shared[slots[i], k] &= once[i, k]
        if n_once:
            sets[0, CANDIDATES, k] &= ~(shared[MARK_LESS, k] | shared[MARK_EQUAL, k])
    _choose_branches(uncovered[:n_uncovered], sets[0])


@compiled
def search_on(
    uncovered: Words,
    once: Words,
    slots: Slots,
    ends: Counts,
    has_marks: bool,
    max_columns: int,
    sets: Words,
    state: Counts,
    work: int,
    out: Words,
) -> int:
    """Go on until `out` is full, some work is done, the lists need room or nothing is left; return how many were found.

    Parameters
    ----------
    uncovered, once, slots
        The lists of all levels, one after the other: edges hit by no member, edges critical for one, and for which.
    ends
        Where the two lists of each level begin, and so where those of the level before end.
    has_marks
        Whether the marks must keep critical edges.
    max_columns
        The most columns of a left side.
    sets, state
        The sets of each level, and where the search stands.
    work
        How many edges to look at.
    out
        Receives the left sides.
    """
    n_out = 0
    words = uncovered.shape[1]
    shared = np.empty((sets.shape[0] + MARKS, words), np.uint64)
    state[NEEDS_ROOM] = 0
    level = state[LEVEL]
    while level >= 0:
        n_out = _write_finished(sets[level], out, n_out)
        if n_out == out.shape[0] or work <= 0:
            break
        literal = _next_branch(sets[level])
        if literal < 0:
            level -= 1
            continue
        n_uncovered = ends[level + 1, 0] - ends[level, 0]
        n_once = ends[level + 1, 1] - ends[level, 1]
        has_room = ends[level + 1, 0] + n_uncovered <= uncovered.shape[0]
        if not has_room or ends[level + 1, 1] + n_once + n_uncovered > once.shape[0]:
            state[NEEDS_ROOM] = 1
            break
        work -= n_uncovered + n_once + 1
        for k in range(words):
            sets[level + 1, SOLUTION, k] = sets[level, SOLUTION, k]
            sets[level + 1, CANDIDATES, k] = sets[level, CANDIDATES, k]
        sets[level, BRANCHES, literal >> 6] &= ~bit(literal)
        sets[level, CANDIDATES, literal >> 6] |= bit(literal)
        sets[level + 1, SOLUTION, literal >> 6] |= bit(literal)
        _keep_allowed(sets[level + 1], literal, max_columns, state)
        shared[: level + 1 + MARKS] = ALL
        is_needed = _list_edges(uncovered, once, slots, ends, level, literal, shared, sets[level + 1])
        for slot in range(0 if has_marks else MARKS, level + 1 + MARKS):
            for k in range(words):
                sets[level + 1, CANDIDATES, k] &= ~shared[slot, k]
        if is_needed:
            level += 1
            _choose_branches(uncovered[ends[level, 0] : ends[level + 1, 0]], sets[level])
    state[LEVEL] = level
    return n_out


@compiled
def _write_finished(sets: Words, out: Words, n_out: int) -> int:
    """Write the left sides that one more literal completes, as far as there is room."""
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
def _next_branch(sets: Words) -> int:
    for w in range(sets.shape[1]):
        if sets[BRANCHES, w] != ZERO:
            return w * 64 + lowest(sets[BRANCHES, w])
    return -1


@compiled
def _keep_allowed(sets: Words, literal: int, max_columns: int, state: Counts) -> None:
    """Leave out candidates that cannot stand next to a literal, or would be of too many columns.

    Next to <= of the same column only >= may stand, next to < and > nothing.
    """
    word = literal >> 6
    own = used_columns(bit(literal))
    sets[CANDIDATES, word] &= ~own | _WEAK if bit(literal) & _STRICT == ZERO else ~own
    columns = 0
    for k in range(sets.shape[1]):
        columns += popcount(used_columns(sets[SOLUTION, k]) & _FIRST)
    if columns >= max_columns:
        for k in range(sets.shape[1]):
            used = used_columns(sets[SOLUTION, k])
            state[CUT] |= np.int64(sets[CANDIDATES, k] & ~used != ZERO)
            sets[CANDIDATES, k] &= used


@compiled
def _list_edges(
    uncovered: Words, once: Words, slots: Slots, ends: Counts, level: int, literal: int, shared: Words, sets: Words
) -> bool:
    """List the edges that matter on the next level, with what all uncovered ones and all critical ones have in common.

    Tells whether the new literal is critical anywhere.
    """
    words = uncovered.shape[1]
    word, own = literal >> 6, bit(literal)
    weaker = (own & _STRICT) >> _TWO
    n_uncovered, n_once = ends[level + 1, 0], ends[level + 1, 1]
    first_once = n_once
    finishing = sets[FINISHERS]
    finishing[:] = ALL
    slot = level + MARKS
    for i in range(ends[level, 0], ends[level + 1, 0]):
        if uncovered[i, word] & own == ZERO:
            for k in range(words):
                uncovered[n_uncovered, k] = uncovered[i, k]
                finishing[k] &= uncovered[i, k]
            n_uncovered += 1
        elif uncovered[i, word] & weaker == ZERO:
            for k in range(words):
                once[n_once, k] = uncovered[i, k]
                shared[slot, k] &= uncovered[i, k]
            slots[n_once] = slot
            n_once += 1
    is_needed = bool(n_once > first_once)
    if is_needed:
        for i in range(ends[level, 1], ends[level + 1, 1]):
            if once[i, word] & own == ZERO:
                for k in range(words):
                    once[n_once, k] = once[i, k]
                    shared[slots[i], k] &= once[i, k]
                slots[n_once] = slots[i]
                n_once += 1
    ends[level + 2, 0], ends[level + 2, 1] = n_uncovered, n_once
    return is_needed


@compiled
def _choose_branches(uncovered: Words, sets: Words) -> None:
    """Choose the uncovered edge with the fewest candidates; `FINISHERS` has what all uncovered edges share.

    A strict literal does not finish where its weaker form does. What hits all that is left is no branch: nothing
    next to it could be critical.
    """
    words = uncovered.shape[1]
    fewest = words * 64 + 1
    best = -1
    for i in range(uncovered.shape[0]):
        size = 0
        for k in range(words):
            size += popcount(uncovered[i, k] & sets[CANDIDATES, k])
        if size < fewest:
            fewest = size
            best = i
            if size == 0:
                break
    for k in range(words):
        finishing = sets[FINISHERS, k]
        sets[BRANCHES, k] = ZERO
        sets[FINISHERS, k] = finishing & ~((finishing & _WEAK) << _TWO) & sets[CANDIDATES, k]
        if fewest > 0:
            sets[BRANCHES, k] = uncovered[best, k] & sets[CANDIDATES, k] & ~finishing
            sets[CANDIDATES, k] &= ~uncovered[best, k]
