"""Minimal keys and left sides, kept while the agree sets of a table come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.errors import StoppedError
from lawful.search.keys_and_fds.inversion import FEW_COLUMNS, cut, determinants_of_few_columns
from lawful.search.keys_and_fds.kept_edges import KeptEdges
from lawful.search.maintained_hitting_sets import HittingSets, Update
from lawful.search.sets import as_family, sets_without, words_for

_WORTH_THREADS = 20_000
"""Fewer edges and laws than this are gone through before threads would have started."""


class GoalChange(NamedTuple):
    """What an update did to the minimal keys (goal -1), or to the minimal left sides of a right side."""

    goal: int
    removed: Words
    added: Words


class KeptDeterminants:
    """The minimal keys and left sides that pairs of rows leave, exact after every update of the pairs.

    Parameters
    ----------
    width
        The number of columns.
    goals
        Right sides, and -1 for keys.
    max_size
        Leave out keys and left sides with more columns.
    method
        A `bitmap` over all subsets is filled anew by every update; it is for few columns. A `search` keeps
        the minimal edges and hitting sets of each goal, and costs in proportion to what changes. `auto` takes the
        first up to `FEW_COLUMNS` columns.

    Notes
    -----
    No pairs at all leave the empty set as the one law of every goal.
    """

    def __init__(
        self,
        width: int,
        goals: range,
        max_size: int | None = None,
        *,
        method: Literal["auto", "bitmap", "search"] = "auto",
    ) -> None:
        self._width = width
        self._goals = goals
        self._max_size = max_size
        by_bitmap = width <= FEW_COLUMNS if method == "auto" else method == "bitmap"
        # Until there are pairs, there is an empty left side; but not if it is larger than what is asked for.
        empty = np.zeros((1 if max_size is None or max_size >= 0 else 0, words_for(width)), dtype=np.uint64)
        self._laws = [empty] * len(goals)
        self._by_goal = None if by_bitmap else _Goals(width, goals, max_size)

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, npt.NDArray[Any]],
        width: int,
        goals: range,
        max_size: int | None,
        agree: Words,
        differ: Words | None,
        *,
        method: Literal["auto", "bitmap", "search"] = "auto",
    ) -> KeptDeterminants:
        """Go on from what `arrays` gave, with the pairs that there were then."""
        made = cls(width, goals, max_size, method=method)
        made._laws = cut(as_family(arrays["laws"]), arrays["ends"])
        if made._by_goal is not None:
            made._by_goal.remember(agree, differ, made._laws, arrays["nodes_per_law"].tolist())
        return made

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that is worth saving beside the pairs: the laws of each goal one after the other, and their ends."""
        nodes_per_law = [1.0] * len(self._goals) if self._by_goal is None else self._by_goal.nodes_per_law()
        nothing = np.zeros((0, words_for(self._width)), dtype=np.uint64)
        return {
            "laws": np.concatenate([nothing, *self._laws]),
            "ends": np.cumsum([len(laws) for laws in self._laws], dtype=np.int64),
            "nodes_per_law": np.array(nodes_per_law, dtype=np.float64),
        }

    def laws(self, goal: int) -> Words:
        """The minimal keys or left sides of a goal; a family that later updates leave as it is."""
        return self._laws[self._goals.index(goal)]

    def update(
        self,
        agree: Words,
        differ: Words | None,
        changed: Words | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[GoalChange]:
        """Take in what pairs there are now, and return what changes, goal by goal; goals with no change are left out.

        Parameters
        ----------
        agree
            The agree sets of all pairs, `uint64[pairs, words]`; repetitions do no harm.
        differ
            Where each of these pairs is known to differ; None if it differs wherever it does not agree.
        changed
            The agree sets of the pairs that came or went since the last update; others among them do no harm. None
            if any may have, which costs a look at each.
        should_stop
            Is asked now and then whether to give up.

        Raises
        ------
        StoppedError
            If it was to give up: then nothing has changed.
        """
        if changed is not None and not len(changed):
            return []
        if self._by_goal is None:
            laws = determinants_of_few_columns(self._goals, agree, differ, self._width, self._max_size)
            changes = [
                GoalChange(goal, sets_without(before, after), sets_without(after, before))
                for goal, before, after in zip(self._goals, self._laws, laws, strict=True)
                if not np.array_equal(before, after)
            ]
            self._laws = laws
        else:
            changes = self._by_goal.update(agree, differ, changed, should_stop)
            self._laws = self._by_goal.laws()
        return [change for change in changes if len(change.removed) or len(change.added)]


class _Goals:
    """The edges and hitting sets of all goals."""

    def __init__(self, width: int, goals: range, max_size: int | None) -> None:
        self._width = width
        self._goals = goals
        self._max_size = max_size
        self._edges = KeptEdges(width, goals)
        self._hitting_sets = [HittingSets(width, max_size=max_size) for _ in goals]
        self._remembered: tuple[Words, Words | None] | None = None
        """Pairs whose edges have to be made before the next update."""

    def remember(self, agree: Words, differ: Words | None, laws: list[Words], nodes_per_law: list[float]) -> None:
        """Go on with the laws of pairs that were known before."""
        nothing = np.zeros((0, words_for(self._width)), dtype=np.uint64)
        self._know([nothing] * len(laws), laws, nodes_per_law)
        self._remembered = agree, differ

    def laws(self) -> list[Words]:
        """The laws of each goal."""
        return [of_goal.solutions for of_goal in self._hitting_sets]

    def nodes_per_law(self) -> list[float]:
        """What the laws of each goal cost."""
        return [of_goal.nodes_per_solution for of_goal in self._hitting_sets]

    def update(
        self, agree: Words, differ: Words | None, changed: Words | None, should_stop: Callable[[], bool]
    ) -> list[GoalChange]:
        """Think all goals over, and only then change anything."""
        given_up = Event()

        def look() -> None:
            if given_up.is_set() or should_stop():
                raise StoppedError("the update was stopped", "The laws are those from before it.")

        self._make_remembered_edges(look)
        edges = self._edges.think(agree, differ, changed, look)
        touched = [k for k in range(len(self._goals)) if len(edges.gone[k]) or len(edges.come[k])]

        def think(k: int) -> Update:
            return self._hitting_sets[k].think(edges.gone[k], edges.come[k], look)

        work = sum(len(self._hitting_sets[k]) + len(edges.come[k]) for k in touched)
        updates = _several_at_a_time(think, touched, given_up) if work > _WORTH_THREADS else list(map(think, touched))
        self._edges.make(edges)
        for k, update in zip(touched, updates, strict=True):
            self._hitting_sets[k].make(update)
        return [GoalChange(self._goals[k], *update.change) for k, update in zip(touched, updates, strict=True)]

    def _make_remembered_edges(self, look: Callable[[], None]) -> None:
        if self._remembered is None:
            return
        made = self._edges.think(*self._remembered, None, look)
        self._know(made.come, self.laws(), self.nodes_per_law())
        self._edges.make(made)
        self._remembered = None

    def _know(self, edges: list[Words], laws: list[Words], nodes_per_law: list[float]) -> None:
        self._hitting_sets = [
            HittingSets.known(self._width, *of_goal, max_size=self._max_size)
            for of_goal in zip(edges, laws, nodes_per_law, strict=True)
        ]


def _several_at_a_time(think: Callable[[int], Update], goals: list[int], given_up: Event) -> list[Update]:
    """Think about goals in threads; if one of them fails, or Ctrl-C comes, the others give up."""
    with ThreadPoolExecutor() as threads:
        try:
            return list(threads.map(think, goals))
        except BaseException:
            given_up.set()
            raise
