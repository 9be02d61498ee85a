"""Thinking about keys and FDs: from the pairs that were seen to the candidates that none of them refutes.

A pair refutes the key X if it agrees on X, and the FD X -> A if it agrees on X and differs on A. So the candidates
are the minimal hitting sets of what the pairs do *not* agree on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lawful.common.arrays import Words
from lawful.discovery.findings import KEY
from lawful.discovery.questions import Question, Watch
from lawful.search import (
    FEW_COLUMNS,
    determinants_of_few_columns,
    easy_hitting_sets,
    fd_edges,
    full_set,
    iterate_hitting_sets,
    key_edges,
    minimal_sets,
)
from lawful.search.sets import WORD_BITS

_WORTH_THREADS = 20_000
"""Fewer edges than this are gone through before threads would have started."""


def goals_of(question: Question, width: int) -> range:
    """The goals that a question asks for; keys come right before the first column."""
    return range(KEY if question.keys else 0, width if question.fds else 0)


def candidates_of_pairs(
    goals: range, agree: Words, differ: Words | None, width: int, max_size: int | None, watch: Watch
) -> Iterator[tuple[int, Words]]:
    """The minimal candidates of each goal that no pair refutes.

    Under the policy that ignores nulls, a pair may neither agree nor differ on a column: `differ` tells where it
    differs, and only there does it refute an FD.
    """
    if width > FEW_COLUMNS:
        return candidates_of(edges_of(goals, agree, differ, width), max_size, watch)
    return zip(goals, determinants_of_few_columns(goals, agree, differ, width, max_size), strict=True)


def edges_of(goals: Sequence[int], agree: Words, differ: Words | None, width: int) -> dict[int, Words]:
    """For each goal, the minimal sets of columns of which every candidate must hold one."""
    edges = {KEY: key_edges(agree, width)} if KEY in goals else {}
    right_sides = [goal for goal in goals if goal != KEY]
    if right_sides and differ is None:
        of_all = fd_edges(agree, width)
        return edges | {goal: of_all[goal] for goal in right_sides}
    missing = ~agree & full_set(width)
    for goal in right_sides:
        assert differ is not None
        word, bit = goal // WORD_BITS, np.uint64(1) << np.uint64(goal % WORD_BITS)
        of_goal = missing[(differ[:, word] & bit) != 0]
        of_goal[:, word] &= ~bit
        edges[goal] = minimal_sets(of_goal)
    return edges


def candidates_of(edges: dict[int, Words], max_size: int | None, watch: Watch) -> Iterator[tuple[int, Words]]:
    """The minimal hitting sets of the edges of each goal: easy goals at once, hard ones several at a time.

    The edges of a goal are minimal and without the goal itself, which so is in no candidate.
    """
    goals = list(edges)
    if sum(len(of_goal) for of_goal in edges.values()) < _WORTH_THREADS:
        easy = easy_hitting_sets(list(edges.values()), max_size)
        watch.look()
        yield from zip(goals, easy, strict=False)
        for goal in goals[len(easy) :]:
            yield goal, _enumerated(edges[goal], max_size, watch)
        return
    with ThreadPoolExecutor() as threads:
        found = threads.map(lambda goal: _enumerated(edges[goal], max_size, watch), goals)
        yield from zip(goals, found, strict=True)


def _enumerated(edges: Words, max_size: int | None, watch: Watch) -> Words:
    found = [np.zeros((0, edges.shape[1]), np.uint64)]
    for chunk in iterate_hitting_sets(edges, max_size=max_size, edges_are_minimal=True):
        watch.look()
        found.append(chunk)
    return np.concatenate(found)
