"""The minimal edges of keys and of all right sides, while agree sets come and none goes."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from lawful.common.arrays import Words
from lawful.search.kernels.sets import sets_by_column
from lawful.search.keys_and_fds.inversion import KEY, cut
from lawful.search.sets import (
    WORD_BITS,
    by_size,
    distinct_sets,
    fresh_columns,
    full_set,
    minimal_sets,
    set_sizes,
    words_for,
)

_SETS_AT_ONCE = 1 << 18
"""Sets between two looks at the limits: some tenths of a second. More, once more than these are kept."""


class GrowingEdges:
    """For each goal, the minimal sets of columns of which every candidate must hold one.

    A pair that differs on D refutes X -> A if A is in D and X misses D - {A}. Such an edge is minimal for A if A lies
    in no smaller difference within D. So one pass over the differences, which finds the columns of each that lie in
    none of its proper subsets, gives the edges of all right sides at once. Differences without such columns are unions
    of others (their agree sets are the intersections that Mannila & Räihä, "Algorithms for inferring functional
    dependencies from relations", leave out of a generating set). They never matter again, whatever comes, so they are
    forgotten: of millions of agree sets some thousands stay.

    Parameters
    ----------
    width
        The number of columns.
    goals
        Right sides, and `KEY` for keys.
    look
        Is called now and then, and may end the work by raising an error.
    """

    def __init__(self, width: int, goals: Collection[int], look: Callable[[], None] = lambda: None) -> None:
        self._width, self._goals, self._look = width, goals, look
        self._differences: Words = np.zeros((0, words_for(width)), np.uint64)
        self._fresh = self._differences
        self._unknown: dict[int, Words] | None = None
        """The edges of each goal, where a pair may neither agree nor differ on a column."""

    def add(self, agree: Words, differ: Words | None = None) -> None:
        """Take in agree sets; `differ` tells where pairs differ, if that is not wherever they do not agree.

        It is given always or never.
        """
        start = 0
        while start < len(agree):
            self._look()
            end = start + max(_SETS_AT_ONCE, 2 * len(self._differences))
            missing = ~agree[start:end] & full_set(self._width)
            if differ is None:
                self._add_differences(missing)
            else:
                self._add_unknown(missing, differ[start:end])
            start = end

    def edges(self) -> dict[int, Words]:
        """The minimal edges of each goal; the empty one, if nothing can be a candidate."""
        if self._unknown is not None:
            return dict(self._unknown)
        right_sides = [goal for goal in self._goals if goal != KEY]
        found = {KEY: minimal_sets(self._differences, self._look)} if len(right_sides) < len(self._goals) else {}
        if right_sides:
            ends, edges = sets_by_column(self._differences, self._fresh, self._width)
            of_all = cut(edges, ends)
            found |= {goal: of_all[goal] for goal in right_sides}
        return found

    def _add_differences(self, missing: Words) -> None:
        family = by_size(distinct_sets(np.concatenate([self._differences, missing])))
        fresh = fresh_columns(family, self._look)
        is_empty = set_sizes(family) == 0  # two equal rows, which no key tells apart
        stays = fresh.any(axis=1) | is_empty
        self._differences, self._fresh = family[stays], fresh[stays]

    def _add_unknown(self, missing: Words, differ: Words) -> None:
        edges: dict[int, Words] = {}
        for goal in self._goals:
            self._look()
            if goal == KEY:
                of_goal = missing
            else:
                word, bit = goal // WORD_BITS, np.uint64(1) << np.uint64(goal % WORD_BITS)
                of_goal = missing[(differ[:, word] & bit) != 0]
                of_goal[:, word] &= ~bit
            known = missing[:0] if self._unknown is None else self._unknown[goal]
            edges[goal] = minimal_sets(np.concatenate([known, of_goal]), self._look)
        self._unknown = edges
