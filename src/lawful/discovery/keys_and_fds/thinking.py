"""Thinking about keys and FDs: from the pairs that were seen to the candidates that none of them refutes.

A pair refutes the key X if it agrees on X, and the FD X -> A if it agrees on X and differs on A. So the candidates
are the minimal hitting sets of what the pairs do *not* agree on.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lawful.common.arrays import Words
from lawful.common.memory import make_room
from lawful.discovery.findings import KEY
from lawful.discovery.questions import Question, Watch
from lawful.search import (
    FEW_COLUMNS,
    GrowingEdges,
    determinants_of_few_columns,
    easy_hitting_sets,
    iterate_hitting_sets,
)

_WORTH_THREADS = 20_000
"""Fewer edges than this are gone through before threads would have started."""


def goals_of(question: Question, width: int) -> range:
    """The goals that a question asks for; keys come right before the first column."""
    return range(KEY if question.keys else 0, width if question.fds else 0)


class Thoughts:
    """The minimal candidates of each goal that no pair refutes, while pairs are taken in.

    Under the policy that ignores nulls, a pair may neither agree nor differ on a column: `differ` tells where it
    differs, and only there does it refute an FD.
    """

    def __init__(self, goals: range, width: int, max_size: int | None, watch: Watch) -> None:
        self._goals, self._width, self._max_size, self._watch = goals, width, max_size, watch
        self._edges = GrowingEdges(width, goals, watch.look)
        self._taken_in = 0
        self._differ: Words | None = None

    def candidates(self, agree: Words, differ: Words | None) -> Iterator[tuple[int, Words]]:
        """What these pairs leave. The first ones agree as those given the last time, and may differ on more columns."""
        if self._width <= FEW_COLUMNS:
            found = determinants_of_few_columns(self._goals, agree, differ, self._width, self._max_size)
            return zip(self._goals, found, strict=True)
        is_new = np.ones(len(agree), np.bool_)
        is_new[: self._taken_in] = False
        if differ is not None and self._differ is not None:
            is_new[: self._taken_in] = (differ[: self._taken_in] != self._differ).any(axis=1)
        self._edges.add(agree[is_new], None if differ is None else differ[is_new])
        self._taken_in, self._differ = len(agree), None if differ is None else differ.copy()
        return candidates_of(self._edges.edges(), self._max_size, self._watch)


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
    found, taken = [np.zeros((0, edges.shape[1]), np.uint64)], 0
    for chunk in iterate_hitting_sets(edges, max_size=max_size, edges_are_minimal=True):
        watch.look()
        found.append(chunk)
        taken += chunk.nbytes
        make_room(taken)  # for the copy that joins them
    return np.concatenate(found)
