"""Thinking about canonical order dependencies: from the pairs that were seen to what none of them refutes.

A pair refutes X: A ~ B if it agrees on X and swaps A and B. So for each two columns and each direction the candidates
are the minimal hitting sets of what the swapping pairs do not agree on; and for an FD, of what the pairs that differ
on its right side do not agree on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.discovery.order_classes import Orders
from lawful.evidence import Pool
from lawful.evidence.kernels.swaps import ASC, DESC
from lawful.search import distinct_sets, full_set, iterate_hitting_sets, minimal_hitting_sets, pack_set, pack_sets
from lawful.search.canonical_ods.goals import keep_minimal_goals
from lawful.search.canonical_ods.kernels.goals import sets_of_goal
from lawful.search.hitting_sets import BITMAP_COLUMNS, Support
from lawful.search.kernels.bitmaps import minimal_hitting_sets_of_goals
from lawful.search.sets import WORD_BITS, Look, order_by_size, sets_without, words_for

_BITMAP_GROUPS = 20
"""Up to here a bitmap over all subsets (128 KB) costs a goal less than a search would need to get going."""

_WORTH_THREADS = 12
"""With fewer columns than this all goals are done before another thread would have started."""

_GOALS_AT_ONCE = 32


class Goal(NamedTuple):
    """Two classes of columns and a direction (`ASC` or `DESC`), or for an FD its right side twice and `DESC`."""

    left: int
    right: int
    direction: int

    @property
    def is_fd(self) -> bool:
        """Whether left sides of FDs are sought, and not contexts of pairs."""
        return self.left == self.right


def fd_goals(orders: Orders) -> list[Goal]:
    """A goal for each group of twins."""
    return [Goal(place, place, DESC) for place in range(orders.groups)]


def pair_goals(orders: Orders) -> list[Goal]:
    """Goals for each two classes, both directions."""
    pairs = combinations(range(len(orders.classes)), 2)
    return [Goal(left, right, direction) for left, right in pairs for direction in (ASC, DESC)]


class CandidateSets(NamedTuple):
    """Sets of groups, each with the number of its goal in a list of goals."""

    goals: Sequence[Goal]
    owners: npt.NDArray[np.int64]
    sets: Words

    @staticmethod
    def of(candidates: Sequence[tuple[Goal, tuple[int, ...]]], groups: int) -> CandidateSets:
        """Candidates one by one, packed."""
        goals = list(dict.fromkeys(goal for goal, _ in candidates))
        numbers = {goal: number for number, goal in enumerate(goals)}
        owners = np.array([numbers[goal] for goal, _ in candidates], np.int64)
        return CandidateSets(goals, owners, pack_sets([places for _, places in candidates], groups))

    def chosen(self, places: npt.NDArray[Any]) -> CandidateSets:
        """Some of the sets, by number or by mask."""
        return CandidateSets(self.goals, self.owners[places], self.sets[places])

    def by_goal(self) -> Iterator[tuple[Goal, Words]]:
        """The sets of each goal that has any."""
        order = np.argsort(self.owners, kind="stable")
        numbers, starts = np.unique(self.owners[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends[: len(starts)], strict=True):
            yield self.goals[number], self.sets[order[start:end]]

    def classes(self) -> npt.NDArray[np.int64]:
        """Of pairs, for each set the two classes, and 1 where they descend."""
        return np.array(self.goals, np.int64).reshape(-1, 3)[self.owners]


class Hypergraphs:
    """For each goal the sets of groups of which every candidate must hold one, as far as a pool knows."""

    def __init__(self, pool: Pool, orders: Orders, look: Look) -> None:
        self.groups = orders.groups
        self._orders, self._look = orders, look
        self._all = full_set(orders.groups)
        self._differences = ~pool.agree[:, : words_for(orders.groups)] & self._all
        self._refuted = pool.refuted
        if orders.groups > _BITMAP_GROUPS:  # a bitmap needs no minimal edges
            self._keep_minimal()

    def _keep_minimal(self) -> None:
        order = order_by_size(self._differences)
        self._differences = self._differences[order]
        self._refuted = self._refuted[order]
        goals = self._refuted.reshape(len(order), -1)
        keep_minimal_goals(self._differences, goals, self._look)
        useful = goals.any(axis=1)
        self._differences, self._refuted = self._differences[useful], self._refuted[useful]

    def candidates(
        self, goals: Sequence[Goal], left_sides: Sequence[Words], max_size: int | None, support: Support | None
    ) -> CandidateSets:
        """The minimal sets of groups that no known pair refutes, left sides of either column left out.

        Where some support is demanded, sets without it may be left out too.
        """
        self._look()
        if self.groups <= _BITMAP_GROUPS:
            return self._by_bitmaps(goals, left_sides, max_size)
        found = [self._by_search(goal, left_sides, max_size, support) for goal in goals]
        owners = np.repeat(np.arange(len(goals)), [len(sets) for sets in found])
        return CandidateSets(goals, owners, np.concatenate(found))

    def _by_bitmaps(self, goals: Sequence[Goal], left_sides: Sequence[Words], max_size: int | None) -> CandidateSets:
        classes = self._orders.classes
        described = [(*goal, classes[goal.left].group, classes[goal.right].group) for goal in goals]
        owners, sets = minimal_hitting_sets_of_goals(
            self._differences[:, 0],
            self._refuted,
            np.array(described, np.int64),
            np.concatenate(left_sides)[:, 0],
            np.cumsum([0, *map(len, left_sides)]),
            self.groups,
            self.groups if max_size is None else max_size,
        )
        return CandidateSets(goals, owners, sets[:, np.newaxis])

    def _by_search(
        self, goal: Goal, left_sides: Sequence[Words], max_size: int | None, support: Support | None
    ) -> Words:
        groups = {self._orders.classes[place].group for place in (goal.left, goal.right)}
        allowed = self._all & ~pack_set(groups, self.groups)
        word = goal.right // WORD_BITS
        marks = np.ascontiguousarray(self._refuted[:, goal.left, goal.direction, word])
        edges = sets_of_goal(self._differences, marks, goal.right, allowed)
        if self.groups <= BITMAP_COLUMNS and support is None:
            found = minimal_hitting_sets(edges, max_size=max_size, edges_are_minimal=True, look=self._look)
        else:
            chunks = [edges[:0]]
            for chunk in iterate_hitting_sets(edges, max_size=max_size, edges_are_minimal=True, support=support):
                self._look()
                chunks.append(chunk)
            found = np.concatenate(chunks)
        if goal.is_fd:
            return found
        return sets_without(found, distinct_sets(np.concatenate([left_sides[group] for group in groups])))


def think(
    hypergraphs: Hypergraphs,
    goals: Sequence[Goal],
    left_sides: Sequence[Words],
    max_size: int | None,
    support: Support | None,
) -> Iterator[CandidateSets]:
    """The candidates of all goals, some goals at a time, in several threads."""

    def of_some(some: Sequence[Goal]) -> CandidateSets:
        return hypergraphs.candidates(some, left_sides, max_size, support)

    if hypergraphs.groups < _WORTH_THREADS:
        yield of_some(goals)
        return
    with ThreadPoolExecutor() as threads:
        yield from threads.map(of_some, [goals[i : i + _GOALS_AT_ONCE] for i in range(0, len(goals), _GOALS_AT_ONCE)])
