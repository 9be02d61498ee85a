"""Discovery of keys and FDs that almost hold: minimal sets of columns whose error is within a threshold.

Neither error grows when a column is added to a key or to a left side, so the sets that are *too wrong* are closed
under taking subsets, and the minimal sets that are right enough are the minimal hitting sets of the complements of
the maximal wrong ones. These are found together (Gunopulos et al., "Discovering all most specific sentences", 2003,
call it dualize and advance): enumerate the minimal sets that lie in no wrong set known so far, let the engine
measure them, grow every wrong one to a maximal wrong set, and repeat until all are right enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from lawful.checks import CheckTask, RankedTable
from lawful.common.arrays import Words
from lawful.common.errors import StoppedError
from lawful.discovery.findings import KEY, Block, Candidate, Emit, Findings, law_of
from lawful.discovery.keys_and_fds.thinking import candidates_of, goals_of
from lawful.discovery.peeling import Peeled, peel, stated_in_full, twin_blocks
from lawful.discovery.questions import Progress, Question, Watch
from lawful.engines import Engine
from lawful.search import full_set, minimal_sets, pack_sets, unpack_sets, words_for
from lawful.search.sets import WORD_BITS


def discover_almost(
    table: RankedTable, engine: Engine, question: Question, watch: Watch, emit: Emit, progress: Progress
) -> Findings:
    """Find all minimal keys and FDs with an error of at most `question.error`, each with its error."""
    findings = Findings()
    search = _Search(table, engine, question, watch)
    peeled = search.peeled

    def state(blocks: Iterable[Block]) -> None:
        for block in blocks:
            findings.blocks.append(block)
            emit(block)

    try:
        if question.fds:
            empty = np.zeros((1, words_for(peeled.width)), np.uint64)
            state(Block(column, empty, np.zeros(1)) for column in peeled.constants)
            state(search.twins())
        for goal, sets, errors in search.run(progress):
            state(stated_in_full(goal, sets, peeled, errors))
        findings.complete = True
    except StoppedError as stop:
        findings.stopped_because = watch.reason() or stop.message
    findings.counts = {"checks": search.measured, "rounds": search.rounds}
    return findings


class _Search:
    """The sets known to be too wrong, for each goal, and the ones found right enough."""

    def __init__(self, table: RankedTable, engine: Engine, question: Question, watch: Watch) -> None:
        self.peeled: Peeled = peel(table, question.null_policy)
        self.columns = self.peeled.columns
        self.measured = self.rounds = 0
        self._engine = engine
        self._question = question
        self._watch = watch
        rows = table.rows
        self._whole = max(1, rows * (rows - 1) // 2 if question.measure == "g1" else rows)
        self._goals = goals_of(question, len(self.columns))
        self._errors: dict[Candidate, float] = {}

    def twins(self) -> Iterator[Block]:
        """Twins determine each other without error, which is minimal unless nothing at all is needed."""
        groups = [(goal, group) for goal, group in enumerate(self.peeled.twins) if len(group) > 1]
        alone = self._measure([(goal, ()) for goal, _ in groups])
        for goal, group in groups:
            if alone[goal, ()] > self._question.error and self._question.max_size != 0:
                for block in twin_blocks(group, self.peeled.width):
                    yield Block(block.goal, block.sets, np.zeros(len(block.sets)))

    def run(self, progress: Progress) -> Iterator[tuple[int, Words, np.ndarray]]:
        """Enumerate, measure, grow the wrong ones; yield the right ones of each round."""
        wrong: dict[int, list[tuple[int, ...]]] = {goal: [] for goal in self._goals}
        confirmed: set[Candidate] = set()
        while True:
            self.rounds += 1
            edges = {goal: self._edges(goal, wrong[goal]) for goal in self._goals}
            thought = candidates_of(edges, self._question.max_size, self._watch)
            candidates = [(goal, lhs) for goal, sets in thought for lhs in unpack_sets(sets)]
            fresh = [candidate for candidate in candidates if candidate not in confirmed]
            progress(f"round {self.rounds}: measuring {len(fresh):,} candidates")
            errors = self._measure(fresh)
            right = [candidate for candidate in fresh if errors[candidate] <= self._question.error]
            confirmed.update(right)
            yield from self._by_goal(right)
            too_wrong = [candidate for candidate in fresh if errors[candidate] > self._question.error]
            if not too_wrong:
                return
            for goal, lhs in self._grown(too_wrong):
                wrong[goal].append(lhs)

    def _edges(self, goal: int, wrong: list[tuple[int, ...]]) -> Words:
        width = len(self.columns)
        missing = ~pack_sets(wrong, width) & full_set(width)
        if goal != KEY:
            missing[:, goal // WORD_BITS] &= ~(np.uint64(1) << np.uint64(goal % WORD_BITS))
        return minimal_sets(missing)

    def _grown(self, too_wrong: list[Candidate]) -> list[Candidate]:
        """Add to each set every column that leaves it too wrong, all sets a column at a time."""
        grown = list(too_wrong)
        for column in range(len(self.columns)):
            tries = {
                place: (goal, tuple(sorted((*lhs, column))))
                for place, (goal, lhs) in enumerate(grown)
                if column != goal and column not in lhs
            }
            errors = self._measure(list(dict.fromkeys(tries.values())))
            for place, larger in tries.items():
                if errors[larger] > self._question.error:
                    grown[place] = larger
        return list(dict.fromkeys(grown))

    def _measure(self, candidates: list[Candidate]) -> dict[Candidate, float]:
        """The error of each candidate; what was measured before is not measured again."""
        unknown = [candidate for candidate in candidates if candidate not in self._errors]
        tasks = [
            CheckTask(number, law_of(candidate, self.columns), self._question.measure)
            for number, candidate in enumerate(unknown)
        ]
        for verdict in self._engine.check(tasks):
            assert verdict.violations is not None
            self._errors[unknown[verdict.id]] = verdict.violations / self._whole
            self.measured += 1
            self._watch.look()
        return {candidate: self._errors[candidate] for candidate in candidates}

    def _by_goal(self, right: list[Candidate]) -> Iterator[tuple[int, Words, np.ndarray]]:
        for goal in dict.fromkeys(goal for goal, _ in right):
            of_goal = [lhs for other, lhs in right if other == goal]
            errors = np.array([self._errors[goal, lhs] for lhs in of_goal])
            yield goal, pack_sets(of_goal, len(self.columns)), errors
