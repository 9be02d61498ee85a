"""The left sides of many right sides at once: each is a search of its own, so threads share them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Words
from lawful.common.errors import StoppedError
from lawful.common.machine import cores
from lawful.search.pods.goals import GoalSearch
from lawful.search.pods.left_sides import Goal, GoalEdges

Look = Callable[[], None]


class Thought(NamedTuple):
    """The minimal left sides of one right side that no known pair refutes.

    Attributes
    ----------
    sets
        The left sides; what was found by then if the search was ended.
    was_cut
        Whether larger ones may be left.
    ended_by
        What ended the search, if it did not come to its end.
    """

    goal: Goal
    sets: Words
    was_cut: bool
    ended_by: Exception | None


def left_sides_of(edges: Words, goals: Sequence[Goal], columns: int, max_columns: int, look: Look) -> Iterator[Thought]:
    """Yield what is found for each right side, in their order.

    Parameters
    ----------
    edges
        What `pair_edges` gives.
    look
        Called now and then, in any thread; what it raises ends a search.
    """
    left = Event()

    def think(goal: Goal) -> Thought:
        def look_here() -> None:
            look()
            if left.is_set():
                raise StoppedError("nobody waits for it any more")

        search = GoalSearch(GoalEdges.of(edges, goal), columns, max_columns)
        found = [np.zeros((0, edges.shape[1]), np.uint64)]
        ended_by: Exception | None = None
        try:
            found.extend(search.chunks(look_here))
        except Exception as error:  # whatever it is, it is raised where the goals are waited for
            ended_by = error
        return Thought(goal, np.concatenate(found), search.was_cut, ended_by)

    with ThreadPoolExecutor(cores()) as pool:
        waiting = [pool.submit(think, goal) for goal in goals]
        try:
            for future in waiting:
                yield future.result()
        finally:
            left.set()
            for future in waiting:
                future.cancel()
