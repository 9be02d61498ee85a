"""Thinking about keys and FDs: from the pairs that were seen to the candidates that none of them refutes.

A pair refutes the key X if it agrees on X, and the FD X -> A if it agrees on X and differs on A. So the candidates
are the minimal hitting sets of what the pairs do *not* agree on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lawful.discovery.findings import KEY
from lawful.discovery.questions import Question, Watch
from lawful.search import fd_edges, full_set, iterate_hitting_sets, key_edges, minimal_sets
from lawful.search.sets import WORD_BITS, Words

_WORTH_THREADS = 20_000
"""Fewer edges than this are gone through before threads would have started."""


def goals_of(question: Question, width: int) -> list[int]:
    """The goals that a question asks for."""
    return [KEY] * question.keys + list(range(width)) * question.fds


def edges_of(goals: Sequence[int], agree: Words, differ: Words | None, width: int) -> dict[int, Words]:
    """For each goal, the minimal sets of columns of which every candidate must hold one.

    Under the policy that ignores nulls, a pair may neither agree nor differ on a column: `differ` tells where it
    differs, and only there does it refute an FD.
    """
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


def candidates_of(
    edges: dict[int, Words], width: int, max_size: int | None, watch: Watch
) -> Iterator[tuple[int, Words]]:
    """The minimal candidates of each goal, goal by goal, several at a time."""

    def enumerate_goal(goal: int) -> Words:
        allowed = full_set(width)
        if goal != KEY:
            allowed[goal // WORD_BITS] &= ~(np.uint64(1) << np.uint64(goal % WORD_BITS))
        found = []
        for chunk in iterate_hitting_sets(edges[goal], max_size=max_size, candidates=allowed, edges_are_minimal=True):
            watch.look()
            found.append(chunk)
        return np.concatenate(found) if found else np.zeros((0, edges[goal].shape[1]), np.uint64)

    if sum(len(of_goal) for of_goal in edges.values()) < _WORTH_THREADS:
        yield from ((goal, enumerate_goal(goal)) for goal in edges)
        return
    with ThreadPoolExecutor() as threads:
        yield from zip(edges, threads.map(enumerate_goal, edges), strict=True)
