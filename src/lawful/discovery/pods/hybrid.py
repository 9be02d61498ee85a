"""Pointwise order dependencies from some pairs of rows: the thinker of the hybrid strategy.

A left side that no pair of the pool refutes is checked. If the law holds it is minimal too, since real pairs refute
every law that it could follow from; so it is stated at once, and a right side all of whose candidates hold is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

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
_FEW_PAIRS = 2_500
"""How many pairs make the sample for small laws."""
_FEW_GOALS = 32
"""Right sides whose small left sides are checked before others are thought about."""
_SMALL = 2
"""The most columns of a left side that is sought first under a limit."""

Candidate = tuple[Goal, Words]
State = Callable[[Goal, Words], None]
"""Is given the left sides of laws that are certain."""
Stated = Mapping[Goal, Sequence[Words]]


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
    stated
        What was given to `state` so far, by whomever.
    """

    pace = Pace()
    measure: Measure | None = None

    def __init__(
        self, search: Search, compared: ComparedPairs, columns: int, largest: int, state: State, stated: Stated
    ) -> None:
        self._search, self._compared, self._columns, self._state = search, compared, columns, state
        self._stated = stated
        self._sizes = depths(largest) if search.watch.is_limited else iter((largest,))
        self._size = next(self._sizes)
        self._open = goals_of(columns)
        self._cut: set[Goal] = set()
        self._refuted: set[Goal] = set()
        self._goals_at_once = max(1, len(self._open))
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
        for first in range(0, len(self._open), self._goals_at_once):
            candidates = self._candidates(self._open[first : first + self._goals_at_once])
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
            self._compared.confirmed += len(sets)
            self._state(goal, sets)
        self._compared.learn([verdict.witness for _, verdict in answers if verdict.witness is not None])
        self._compared.look()

    def _expect_checks(self, candidates: int) -> None:
        """Give up now if it is clear that so many checks would take too long."""
        self._compared.give_up_if_checks_take_longer(self._compared.confirmed + candidates)

    def _candidates(self, goals: Sequence[Goal]) -> list[Candidate]:
        """What the pool leaves open of some right sides, small left sides first."""
        pool, compared = self._compared.pool, self._compared
        self._search.progress(f"thinking about {len(pool):,} kinds of pairs")
        signs = pool.evidence.signs
        edges = pair_edges(signs.less, signs.greater, self._columns)
        found: list[Candidate] = []
        for thought in left_sides_of(edges, goals, self._columns, self._size, compared.look):
            if thought.ended_by is not None:
                raise thought.ended_by
            if thought.was_cut:
                self._cut.add(thought.goal)
            known = self._stated.get(thought.goal)
            sets = sets_without(thought.sets, np.concatenate(known)) if known else thought.sets
            found.extend((thought.goal, literals) for literals in sets)
            self._expect_checks(len(found))
        if not found:
            return []
        order = np.argsort(count_columns(np.stack([literals for _, literals in found])), kind="stable")
        return [found[place] for place in order.tolist()]


class SmallPointwiseLaws(PointwiseLaws):
    """Laws with at most two columns on the left, from a few pairs and checks: what a search that is stopped has to say.

    Comparing all pairs, or enough of them for any left side, can take longer than a limit allows.
    """

    def __init__(
        self, search: Search, compared: ComparedPairs, columns: int, largest: int, state: State, stated: Stated
    ) -> None:
        super().__init__(search, compared, columns, largest, state, stated)
        self._sizes = iter(
            range(min(largest, 1), min(largest, _SMALL) + 1)
        )  # laws of no columns are among those of one
        self._size = next(self._sizes)
        self._goals_at_once = _FEW_GOALS

    def sample(self) -> None:
        """Compare a few pairs, once: witnesses tell more than further ones would."""
        self._compared.sample_a_little(_FEW_PAIRS)

    def _expect_checks(self, candidates: int) -> None:
        """Check as many as there is time for, the smallest first."""
