"""The minimal edges of keys and of all right sides, kept while agree sets come and go."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int64s, Words
from lawful.search.kernels.places import find_places
from lawful.search.kernels.sets import columns_by_frequency, new_index, sets_by_column
from lawful.search.keys_and_fds.inversion import cut
from lawful.search.keys_and_fds.kernels.kept_edges import (
    collect_differences,
    settle_fresh,
    spread_to_supersets,
    take_sets,
)
from lawful.search.sets import WORD_BITS, as_family, distinct_sets, full_set, set_sizes, words_for

_SETS_A_SLICE = 1 << 12
_FEW_OF_ALL = 32
"""One in so many sets may change before to begin with no fresh goals at all costs less than to see what they touch."""
_WHEREVER_THEY_DO_NOT_AGREE: Words = np.empty((0, 1), np.uint64)


class Sets(NamedTuple):
    """Sets of columns that pairs do not agree on, distinct and by size, and the goals that each is an edge of."""

    sets: Words
    goals: Words
    fresh: Words
    """The goals of which no proper subset is an edge."""


class EdgesUpdate(NamedTuple):
    """How the minimal edges of each goal change, in the order of the goals; thought out and not yet made."""

    gone: list[Words]
    come: list[Words]
    after: Sets


class KeptEdges:
    """The minimal edges of many goals, as `fd_edges` and `key_edges` find them, while agree sets come and go.

    Parameters
    ----------
    width
        The number of columns.
    goals
        Right sides, and -1 for keys.

    Notes
    -----
    A pair is a set of columns that it does not agree on and the goals that it refutes there: an edge for each. Sets
    are kept once, with the goals of all their pairs. Keys are one more goal, which takes the bit after the last column.
    """

    def __init__(self, width: int, goals: range) -> None:
        self._width = width
        self._goals = goals
        self._words = words_for(width + 1)
        wanted = [width if goal < 0 else goal for goal in goals]
        self._wanted = np.zeros(self._words, dtype=np.uint64)
        for place in wanted:
            self._wanted[place // WORD_BITS] |= np.uint64(1) << np.uint64(place % WORD_BITS)
        self._key_bit = np.zeros(self._words, dtype=np.uint64)
        self._key_bit[width // WORD_BITS] = np.uint64(1) << np.uint64(width % WORD_BITS)
        none = np.zeros((0, self._words), dtype=np.uint64)
        self._kept = Sets(none, none, none)

    def edges(self) -> list[Words]:
        """The minimal edges of each goal."""
        return self._by_goal(self._kept.sets, self._kept.fresh)

    def think(self, agree: Words, differ: Words | None, changed: Words | None, look: Callable[[], None]) -> EdgesUpdate:
        """Work out how edges change, and change nothing.

        Parameters
        ----------
        agree, differ
            All pairs there are now.
        changed
            The agree sets of which some pair may have come or gone; None if any may have.
        look
            Is called now and then, and may end the work by raising an error.
        """
        kept = self._kept
        touched, goals = self._touched(agree, differ, changed)
        places = find_places(touched, kept.sets)
        known = places >= 0
        goals_before, fresh_before = np.zeros_like(touched), np.zeros_like(touched)
        goals_before[known] = kept.goals[places[known]]
        fresh_before[known] = kept.fresh[places[known]]
        is_there: Flags = np.asarray(goals.any(axis=1))
        stays = np.ones(len(kept.sets), dtype=np.bool_)
        stays[places[known]] = False
        merged = self._merged_by_size(stays, touched[is_there])
        # A set that stays keeps of its fresh goals those that it still has.
        before = take_sets(kept.fresh, fresh_before[is_there], merged)
        fresh = take_sets(kept.fresh, (fresh_before & goals)[is_there], merged)
        after = Sets(
            take_sets(kept.sets, touched[is_there], merged), take_sets(kept.goals, goals[is_there], merged), fresh
        )
        self._settle(after, touched, goals & ~goals_before, fresh_before & ~goals, look)
        lost = np.concatenate([before & ~fresh, fresh_before[~is_there]])
        gone = self._by_goal(np.concatenate([after.sets, touched[~is_there]]), lost)
        return EdgesUpdate(gone, self._by_goal(after.sets, fresh & ~before), after)

    def make(self, update: EdgesUpdate) -> None:
        """Make an update."""
        self._kept = update.after

    def _touched(self, agree: Words, differ: Words | None, changed: Words | None) -> tuple[Words, Words]:
        """The sets that may have changed, and the goals that they are edges of now."""
        full = full_set(self._width)
        agree = as_family(agree)
        if changed is None:
            known = ~self._kept.sets[:, : agree.shape[1]] & full
            changed = np.concatenate([agree & full, known])
        sought = distinct_sets(as_family(changed) & full)
        differences = _WHEREVER_THEY_DO_NOT_AGREE if differ is None else as_family(differ)
        is_there, together = collect_differences(sought, agree, differences)
        touched = self._widened(~sought & full)
        refuted = touched if differ is None else self._widened(together)
        goals = (refuted | self._key_bit) & self._wanted
        goals[~is_there] = 0
        return touched, goals

    def _merged_by_size(self, stays: Flags, others: Words) -> Int64s:
        """The places of the kept sets that stay and, counted on from the last kept one, of others, by size."""
        sizes = np.concatenate([set_sizes(self._kept.sets)[stays], set_sizes(others)])
        places = np.concatenate([np.flatnonzero(stays), len(stays) + np.arange(len(others))])
        # The narrow type makes the stable sort a radix sort.
        return places[np.argsort(sizes.astype(np.uint16), kind="stable")]

    def _settle(self, after: Sets, touched: Words, arriving: Words, leaving: Words, look: Callable[[], None]) -> None:
        """Find the fresh goals of all sets, given those from before and the goals that sets gained or lost."""
        acting = (arriving | leaving).any(axis=1)
        if not acting.any():
            return
        look()
        fresh = after.fresh
        if np.count_nonzero(acting) * _FEW_OF_ALL > len(fresh):
            fresh[:] = 0
            opened = after.goals.copy()
        else:
            covered, opened = spread_to_supersets(after.sets, touched[acting], arriving[acting], leaving[acting])
            places = find_places(touched, after.sets)
            opened[places[places >= 0]] |= arriving[places >= 0]
            fresh &= ~covered
            # Goals that a subset gained are covered, whatever others lost.
            opened &= after.goals & ~covered & ~fresh
        if not opened.any():
            return
        columns, sizes = columns_by_frequency(after.sets), set_sizes(after.sets)
        index = new_index(len(after.sets), columns)
        kept, state = np.empty(len(sizes), np.int64), np.zeros(3, np.int64)
        for start in range(0, len(sizes), _SETS_A_SLICE):
            look()
            stop = min(len(sizes), start + _SETS_A_SLICE)
            settle_fresh(after.sets, sizes, after.goals, opened, fresh, columns, index, kept, state, stop)

    def _by_goal(self, sets: Words, chosen: Words) -> list[Words]:
        """For each goal the sets that it is chosen for, as edges: without the goal itself."""
        some = chosen.any(axis=1)
        ends, listed = sets_by_column(sets[some], chosen[some], self._width + 1)
        of_columns = cut(np.ascontiguousarray(listed[:, : words_for(self._width)]), ends)
        return [of_columns[self._width if goal < 0 else goal] for goal in self._goals]

    def _widened(self, family: Words) -> Words:
        wide = np.zeros((len(family), self._words), dtype=np.uint64)
        wide[:, : family.shape[1]] = family
        return wide
