"""Discovery of keys and FDs that almost hold: minimal sets of columns whose error is within a threshold.

Neither error grows when a column is added to a key or to a left side, so the sets that are *too wrong* are closed
under taking subsets, and the minimal sets that are right enough are the minimal hitting sets of the complements of
the maximal wrong ones. These are found together (Gunopulos et al., "Discovering all most specific sentences", 2003,
call it dualize and advance): enumerate the minimal sets that lie in no wrong set known so far, let the engine
measure them, grow every wrong one to a maximal wrong set, and repeat until all are right enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.findings import KEY, Block, Candidate, Findings, law_of
from lawful.discovery.keys_and_fds.thinking import candidates_of, goals_of
from lawful.discovery.loop import Answer, Pace, run_loop
from lawful.discovery.peeling import Peeled, stated_in_full, twin_blocks
from lawful.discovery.questions import Question
from lawful.discovery.search import Search
from lawful.search import full_set, minimal_sets, pack_sets, unpack_sets, words_for
from lawful.search.sets import WORD_BITS
from lawful.tables.sample import rows_of_all


def discover_almost(search: Search, question: Question) -> Findings:
    """Find all minimal keys and FDs with an error of at most `question.error`, each with its error."""
    with search.to_the_end():
        almost_keys_and_fds(search, question, search.state)
    return search.findings


def almost_keys_and_fds(search: Search, question: Question, state: Callable[[Block], None]) -> AlmostKeysAndFds:
    """State all minimal keys and FDs within the error, and give what was found of them; raises at a limit."""
    peeled = search.shared(question).peeled
    if question.fds:
        empty = np.zeros((1, words_for(peeled.width)), np.uint64)
        for column in peeled.constants:
            state(Block(column, empty, np.zeros(1)))
    almost = AlmostKeysAndFds(search, question, peeled, state)
    run_loop(search, almost)
    if question.fds:
        search.shared(question).almost = almost
    return almost


class AlmostKeysAndFds:
    """The sets known to be too wrong, for each goal, and the ones found right enough."""

    pace = Pace()
    wants_to_think = False

    def __init__(self, search: Search, question: Question, peeled: Peeled, state: Callable[[Block], None]) -> None:
        self.is_done = False
        self.measure: Measure | None = question.measure
        self._search, self._question, self._peeled, self._tell = search, question, peeled, state
        self._columns = peeled.columns
        rows = rows_of_all(search.table)
        self._whole = max(1, rows * (rows - 1) // 2 if question.measure == "g1" else rows)
        goals = goals_of(question, len(self._columns))
        self._wrong: dict[int, list[tuple[int, ...]]] = {goal: [] for goal in goals}
        self._errors: dict[Candidate, float] = {}
        self._stated: set[Candidate] = set()
        self._knows_twins = not question.fds

    def sample(self) -> None:
        """Compare nothing: no sample bounds an error from above."""

    def think(self) -> Iterator[list[Candidate]]:
        """Enumerate, measure, state the right ones, grow the wrong ones."""
        if not self._knows_twins:
            yield from self._twins()
        edges = {goal: self._edges(goal, wrong) for goal, wrong in self._wrong.items()}
        thought = candidates_of(edges, self._question.max_size, self._search.watch)
        fresh = [(goal, lhs) for goal, sets in thought for lhs in unpack_sets(sets) if (goal, lhs) not in self._stated]
        yield from self._measured(fresh)
        self._state([candidate for candidate in fresh if self._is_right(candidate)])
        too_wrong = [candidate for candidate in fresh if not self._is_right(candidate)]
        yield from self._grow(too_wrong)
        self.is_done = not too_wrong

    def left_sides(self, goal: int) -> Words:
        """The minimal left sides of a column over the searched columns, all once the search has ended."""
        return pack_sets([lhs for other, lhs in self._stated if other == goal], len(self._columns))

    def law(self, candidate: Candidate) -> Law:
        """The key or FD that a candidate stands for."""
        return law_of(candidate, self._columns)

    def learn(self, answers: Sequence[Answer]) -> None:
        """Note errors."""
        for candidate, verdict in answers:
            assert verdict.violations is not None
            self._errors[candidate] = verdict.violations / self._whole

    def _is_right(self, candidate: Candidate) -> bool:
        return self._errors[candidate] <= self._question.error

    def _measured(self, candidates: list[Candidate]) -> Iterator[list[Candidate]]:
        """Measure what was not measured before, and wait for it."""
        unknown = [candidate for candidate in dict.fromkeys(candidates) if candidate not in self._errors]
        if unknown:
            yield unknown
            yield []

    def _twins(self) -> Iterator[list[Candidate]]:
        """Twins determine each other without error, which is minimal unless nothing at all is needed."""
        groups = [(goal, group) for goal, group in enumerate(self._peeled.twins) if len(group) > 1]
        yield from self._measured([(goal, ()) for goal, _ in groups])
        for goal, group in groups:
            if not self._is_right((goal, ())) and self._question.max_size != 0:
                for block in twin_blocks(group, self._peeled.width):
                    self._tell(Block(block.goal, block.sets, np.zeros(len(block.sets))))
        self._knows_twins = True

    def _edges(self, goal: int, wrong: list[tuple[int, ...]]) -> Words:
        width = len(self._columns)
        missing = ~pack_sets(wrong, width) & full_set(width)
        if goal != KEY:
            missing[:, goal // WORD_BITS] &= ~(np.uint64(1) << np.uint64(goal % WORD_BITS))
        return minimal_sets(missing)

    def _grow(self, too_wrong: list[Candidate]) -> Iterator[list[Candidate]]:
        """Add to each set every column that leaves it too wrong, all sets a column at a time."""
        grown = list(too_wrong)
        for column in range(len(self._columns)):
            tries = {
                place: (goal, tuple(sorted((*lhs, column))))
                for place, (goal, lhs) in enumerate(grown)
                if column != goal and column not in lhs
            }
            yield from self._measured(list(tries.values()))
            for place, larger in tries.items():
                if not self._is_right(larger):
                    grown[place] = larger
        for goal, lhs in dict.fromkeys(grown):
            self._wrong[goal].append(lhs)

    def _state(self, right: list[Candidate]) -> None:
        self._stated.update(right)
        for goal in dict.fromkeys(goal for goal, _ in right):
            of_goal = [lhs for other, lhs in right if other == goal]
            errors = np.array([self._errors[goal, lhs] for lhs in of_goal])
            for block in stated_in_full(goal, pack_sets(of_goal, len(self._columns)), self._peeled, errors):
                self._tell(block)
