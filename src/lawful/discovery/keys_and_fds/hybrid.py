"""Keys and FDs from some pairs of rows: the thinker of the hybrid strategy.

HyFD's idea (Papenbrock & Naumann, "A hybrid approach to functional dependency discovery", 2016) on the pool that all
families share: compare some pairs, think, let the engine check what no pair refutes, learn from the witnesses of what
was wrong. Departing from HyFD, a refuted candidate gives its witness pair back to the pool instead of being specialised
in a tree, so that families learn from each other. And where many candidates have a few columns in common, all pairs
that agree on these are compared instead of the candidates checked one by one (`settled_sets`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.common.meanings import Measure, NullPolicy
from lawful.dependencies import Law
from lawful.discovery.findings import KEY, Candidate, law_of
from lawful.discovery.keys_and_fds.settled_sets import SettledSets
from lawful.discovery.keys_and_fds.thinking import Thoughts, goals_of
from lawful.discovery.loop import Answer, Pace, Tally
from lawful.discovery.peeling import stated_in_full
from lawful.discovery.questions import Question
from lawful.discovery.search import Search
from lawful.evidence import equal_rows
from lawful.evidence.sampling import JUDGED_AFTER
from lawful.search import full_set, pack_sets, unpack_sets, words_for
from lawful.search.sets import sets_without

_CHECKS_AT_FIRST, _CHECKS_AT_ONCE = 64, 2_000
_TOO_MANY_REFUTED = 0.1
_FIRST_YIELD = 0.01
_LEAST_YIELD_TIMES_ROWS = 8.0
"""A pair takes about as long as eight rows of a check: where samples yield less, a refuted check tells as much."""
_JUDGED_AFTER = 1 << 14
"""Pairs that tell at first what a source of them yields; more, once checks have shown that they were too few."""
_PAIRS_BEFORE_A_THOUGHT = 1 << 19
"""On wide tables every pair agrees on a set of its own, and few of these sets refute anything: it is time to think."""


class KeysAndFds:
    """The candidates that no pair of the pool refutes, and which of them are certain."""

    pace = Pace()
    measure: Measure | None = None

    def __init__(self, search: Search, question: Question) -> None:
        self.is_done = False
        self._search, self._question = search, question
        shared = search.shared(question)
        self._shared, self._peeled, self._pool = shared, shared.peeled, shared.pool
        self._columns = self._peeled.columns
        self._goals = goals_of(question, len(self._columns))
        if KEY in self._goals and equal_rows(shared.sampled, self._columns, question.null_policy):
            self._goals = self._goals[1:]  # no key tells these two rows apart
        self._settled = SettledSets(search.table, search.engine, self._pool, self._columns)
        self._thoughts = Thoughts(self._goals, len(self._columns), question.max_size, search.watch)
        self._confirmed: dict[int, Words] = {}
        self._tally = Tally(_TOO_MANY_REFUTED)
        self._min_yield = _FIRST_YIELD
        shared.windows.judged_after = _JUDGED_AFTER

    @property
    def wants_to_think(self) -> bool:
        """Whether the last batch has shown that the pool knew too little."""
        return self._tally.knew_too_little

    def sample(self) -> None:
        """Compare pairs until they yield too little, which is less each time that candidates were refuted."""
        windows = self._shared.windows
        if self._tally.refuted:
            self._min_yield = max(self._min_yield / 2, _LEAST_YIELD_TIMES_ROWS / self._search.table.rows)
            windows.judged_after = min(2 * windows.judged_after, JUDGED_AFTER)
        if self._goals:
            windows.run(self._min_yield, _PAIRS_BEFORE_A_THOUGHT, self._search.watch.is_over)
        self._tally.begin_thought()

    def think(self) -> Iterator[Sequence[Candidate]]:
        """Think, and settle what costs less than checks, until nothing does; then send what needs a check."""
        open_candidates = self._think_and_settle()
        self._search.counts.update(agree_sets=len(self._pool), settled=len(self._settled))
        for batch in _smallest_first(open_candidates):
            yield self._tally.send(batch)
        yield []
        self.is_done = self._tally.refuted == 0

    def law(self, candidate: Candidate) -> Law:
        """The key or FD that a candidate stands for."""
        return law_of(candidate, self._columns)

    def learn(self, answers: Sequence[Answer]) -> None:
        """State what holds; the witnesses of the others join the pool."""
        self._tally.note(answers)
        for goal, sets in _by_goal([candidate for candidate, verdict in answers if verdict.holds], len(self._columns)):
            self._state(goal, sets)
        self._shared.learn([verdict.witness for _, verdict in answers if verdict.witness is not None])
        self._search.counts["agree_sets"] = len(self._pool)

    def _think_and_settle(self) -> list[tuple[int, Words]]:
        """The candidates of each goal that need a check; what needs none is stated."""
        while True:
            open_candidates = [(goal, self._sorted_out(goal, sets)) for goal, sets in self._candidates()]
            left_sides = [sets for _, sets in open_candidates]
            if not left_sides or not self._settled.settle_some_of(np.concatenate(left_sides), self._search.watch):
                return open_candidates

    def _candidates(self) -> Iterator[tuple[int, Words]]:
        """What no pair refutes; the pool may compare further columns, of the same values in another order."""
        width, agree, differ = len(self._columns), self._pool.agree, None
        if self._question.null_policy is NullPolicy.IGNORE:
            differ = self._pool.differ
        if self._pool.width > width:
            agree = agree[:, : words_for(width)] & full_set(width)
        return self._thoughts.candidates(agree, differ)

    def _sorted_out(self, goal: int, sets: Words) -> Words:
        """State the candidates that need no check, and return those that do; none that was confirmed before."""
        if goal in self._confirmed:
            sets = sets_without(sets, self._confirmed[goal])
        is_decided = self._settled.decide(sets)
        self._state(goal, sets[is_decided])
        return sets[~is_decided]

    def _state(self, goal: int, certain: Words) -> None:
        if len(certain):
            known = self._confirmed.get(goal, certain[:0])
            self._confirmed[goal] = np.concatenate([known, certain])
            for block in stated_in_full(goal, certain, self._peeled):
                self._search.state(block)


def _smallest_first(candidates: list[tuple[int, Words]]) -> Iterator[list[Candidate]]:
    """Batches in order of size: small candidates are quick to check, and their refutation rules out the most.

    The first batches are short, since they tell whether the pool knew enough.
    """
    unordered = [(goal, lhs) for goal, sets in candidates for lhs in unpack_sets(sets)]
    ordered = sorted(unordered, key=lambda candidate: len(candidate[1]))
    first, size = 0, _CHECKS_AT_FIRST
    while first < len(ordered):
        yield ordered[first : first + size]
        first, size = first + size, min(4 * size, _CHECKS_AT_ONCE)


def _by_goal(candidates: Iterable[Candidate], width: int) -> Iterator[tuple[int, Words]]:
    sets: dict[int, list[tuple[int, ...]]] = {}
    for goal, lhs in candidates:
        sets.setdefault(goal, []).append(lhs)
    for goal, of_goal in sorted(sets.items()):
        yield goal, pack_sets(of_goal, width)
