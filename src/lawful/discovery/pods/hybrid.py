"""Pointwise order dependencies from some pairs of rows: the thinker of the hybrid strategy.

A left side that no pair of the pool refutes is checked. If the law holds it is minimal too, since real pairs refute
every law that it could follow from; so it is stated at once, and a right side all of whose candidates hold is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.compared_pairs import ComparedPairs
from lawful.discovery.loop import Answer, Pace, Tally
from lawful.discovery.pods.thinking import left_sides_of
from lawful.discovery.search import Search
from lawful.search.denials.inversion import depths
from lawful.search.pods.kernels.left_sides import count_columns
from lawful.search.pods.left_sides import Goal, goals_of, pair_edges, pointwise_laws
from lawful.search.sets import sets_without

_CHECKS_AT_ONCE = 2_000
_TOO_MANY_REFUTED = 0.5

Candidate = tuple[Goal, Words]
State = Callable[[Goal, Words], None]
"""Is given the left sides of laws that are certain."""


class PointwiseLaws:
    """The candidates, and which of them are confirmed; under a limit of time the small ones first.

    Parameters
    ----------
    search, compared
        The search, and the pairs that it knows.
    columns, largest
        The columns of the table, and the most of them on a left side.
    state
        Is given what holds.
    """

    pace = Pace()
    measure: Measure | None = None

    def __init__(self, search: Search, compared: ComparedPairs, columns: int, largest: int, state: State) -> None:
        self._search, self._compared, self._columns, self._state = search, compared, columns, state
        self._confirmed: defaultdict[Goal, list[Words]] = defaultdict(list)
        self._sizes = depths(largest) if search.watch.is_limited else iter((largest,))
        self._size = next(self._sizes)
        self._open = goals_of(columns)
        self._cut: set[Goal] = set()
        self._refuted: set[Goal] = set()
        self._tally = Tally(_TOO_MANY_REFUTED)

    @property
    def is_done(self) -> bool:
        """Whether all right sides are done."""
        return not self._open

    @property
    def wants_to_think(self) -> bool:
        """Whether the last batch has shown that the pool knew too little."""
        return self._tally.knew_too_little

    def sample(self) -> None:
        """Compare more pairs, the more the more was refuted."""
        self._compared.sample_more(after_refutations=self._tally.refuted > 0)

    def think(self) -> Iterator[Sequence[Candidate]]:
        """Look for the left sides that no pair of the pool refutes, and send those that are not confirmed."""
        self._tally.begin_thought()
        self._refuted.clear()
        candidates = self._candidates()
        for start in range(0, len(candidates), _CHECKS_AT_ONCE):
            yield self._tally.send(candidates[start : start + _CHECKS_AT_ONCE])
        yield []
        self._open = [goal for goal in self._open if goal in self._refuted]
        larger = None if self._open or not self._cut else next(self._sizes, None)
        if larger is not None:
            self._size, self._open, self._cut = larger, sorted(self._cut), set()

    def law(self, candidate: Candidate) -> Law:
        """The law that a candidate is."""
        goal, literals = candidate
        return next(pointwise_laws(goal, literals[np.newaxis]))

    def learn(self, answers: Sequence[Answer]) -> None:
        """State what holds; the witnesses against the rest join the pool, and those of other families."""
        self._tally.note(answers)
        held: defaultdict[Goal, list[Words]] = defaultdict(list)
        for (goal, literals), verdict in answers:
            if verdict.holds:
                held[goal].append(literals)
            else:
                self._refuted.add(goal)
        for goal, found in held.items():
            sets = np.stack(found)
            self._confirmed[goal].append(sets)
            self._compared.confirmed += len(sets)
            self._state(goal, sets)
        self._compared.learn([verdict.witness for _, verdict in answers if verdict.witness is not None])
        self._compared.look()

    def _candidates(self) -> list[Candidate]:
        """What the pool leaves open, small left sides first."""
        pool, compared = self._compared.pool, self._compared
        self._search.progress(f"thinking about {len(pool):,} kinds of pairs")
        signs = pool.evidence.signs
        edges = pair_edges(signs.less, signs.greater, self._columns)
        found: list[Candidate] = []
        for thought in left_sides_of(edges, self._open, self._columns, self._size, compared.look):
            if thought.ended_by is not None:
                raise thought.ended_by
            if thought.was_cut:
                self._cut.add(thought.goal)
            known = self._confirmed[thought.goal]
            sets = sets_without(thought.sets, np.concatenate(known)) if known else thought.sets
            found.extend((thought.goal, literals) for literals in sets)
            compared.give_up_if_checks_take_longer(compared.confirmed + len(found))
        if not found:
            return []
        order = np.argsort(count_columns(np.stack([literals for _, literals in found])), kind="stable")
        return [found[place] for place in order.tolist()]
