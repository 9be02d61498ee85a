"""Hypergraphs of many goals over one family of sets.

Each set of a family has a table of bits, one bit per goal: whether the set is an edge of that goal's hypergraph. A goal
is a cell (row, bit) of the table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import LAST_BIT, ONE, ZERO, lowest
from lawful.search.kernels.sets import LANES, SETS_PER_BLOCK, enter_index, find_missing, rule_out

Counts = npt.NDArray[np.int64]


@compiled
def sets_of_goal(family: Words, marks: Words, bit: int, kept: Words) -> Words:
    """The sets whose mark has a bit, cut to the columns `kept`."""
    place = np.uint64(bit) & LAST_BIT
    count = 0
    for i in range(marks.size):
        count += int((marks[i] >> place) & ONE)
    chosen = np.empty((count, family.shape[1]), np.uint64)
    count = 0
    for i in range(marks.size):
        if (marks[i] >> place) & ONE != ZERO:
            for w in range(family.shape[1]):
                chosen[count, w] = family[i, w] & kept[w]
            count += 1
    return chosen


@compiled
def take_goals_of_subsets(
    family: Words, sizes: Counts, goals: Words, columns: Counts, index: Words, kept: Counts, state: Counts, stop: int
) -> None:
    """Go on until set `stop`, and take away from each set the goals for which a proper subset is an edge too.

    The sets must be distinct and sorted by cardinality. This is `find_fresh_columns` with tables of goals instead of
    columns. `state` is the next set, how many sets are in the index, and how many of these are smaller than the next.
    """
    missing = np.empty(columns.shape[0] + 4, dtype=np.int64)
    covered = np.empty(LANES, dtype=np.uint64)
    start, n_kept, n_smaller = state
    for i in range(start, stop):
        if i > 0 and sizes[i] > sizes[i - 1]:
            n_smaller = n_kept
        n_missing = find_missing(family[i], columns, missing)
        left = goals[i].any()
        block = (n_smaller + SETS_PER_BLOCK - 1) >> 9
        while left and block > 0:
            block -= 1
            if rule_out(index, block, n_smaller, missing, n_missing, covered):
                continue
            for lane in range(LANES - 1, -1, -1):
                subsets = ~covered[lane]
                while left and subsets != ZERO:
                    subset = kept[block * SETS_PER_BLOCK + lane * 64 + lowest(subsets)]
                    subsets &= subsets - ONE
                    left = _take_away(goals[i], goals[subset])
        if left:  # what others took away from it, its supersets lose to those others
            enter_index(index, n_kept, family[i], columns)
            kept[n_kept] = i
            n_kept += 1
    state[:] = stop, n_kept, n_smaller


@compiled
def _take_away(goals: Words, others: Words) -> bool:
    """Take the goals of another set away; say whether any is left. All words, because that is one wide operation."""
    rest = ZERO
    for w in range(goals.size):
        goals[w] &= ~others[w]
        rest |= goals[w]
    return bool(rest != ZERO)
