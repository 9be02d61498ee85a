"""Minimal keys and FDs of a table that changes, within an error.

The search is the one of `discovery`, dualize and advance; what differs is who measures its candidates. By g1, the
multiset of agree sets does, where it is kept. By g3, what was measured before tells something: a row that comes adds at
most one to the fewest rows whose removal mends a law, and a row that leaves takes at most one away. So a candidate that
was far too wrong still is, and the engine measures only the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lawful.checks import CheckTask, Verdict
from lawful.common.arrays import Int64s, Words
from lawful.dependencies import Law
from lawful.discovery.findings import Block, Findings, candidate_of
from lawful.discovery.keys_and_fds.approximate import discover_almost
from lawful.discovery.keys_and_fds.thinking import goals_of
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.engines.protocol import Checks
from lawful.evidence.living.agree_multiset import AgreeMultiset
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Counted, HeldLaws, Pair
from lawful.maintenance.kept_laws import Checker, LawsChange, difference
from lawful.search import pack_sets, words_for
from lawful.search.sets import sets_without
from lawful.tables.living.living_table import LivingTable


class AlmostLaws:
    """The minimal keys and FDs of a living table whose error is at most what is asked for.

    Parameters
    ----------
    counted
        All pairs of rows, counted, if they are; then the g1 error of every candidate is known.
    """

    def __init__(self, table: LivingTable, question: Question, counted: Counted | None, laws: Sequence[Block]) -> None:
        self._table, self._question, self._counted = table, question, counted
        self._sets = {block.goal: block.sets for block in laws}
        self._measured = _Measured(question, table.rows)

    @staticmethod
    def discovered(
        table: LivingTable, question: Question, checker: Checker, watch: Watch, *, counted: bool
    ) -> AlmostLaws:
        """Find the laws of a table."""
        evidence = (
            Counted.of(table, question.null_policy, watch.is_over) if counted and question.measure == "g1" else None
        )
        laws = AlmostLaws(table, question, evidence, [])
        laws._sets = laws._search(checker, watch)
        return laws

    @property
    def agree_sets(self) -> int:
        """How many agree sets are kept."""
        return 0 if self._counted is None else len(self._counted)

    def blocks(self) -> Iterator[Block]:
        """All laws, goal by goal, without their errors."""
        for goal in goals_of(self._question, self._table.width):
            yield Block(goal, self._sets[goal])

    def findings(self, checker: Checker) -> Findings:
        """All laws with their errors as they are now."""
        blocks = []
        checks = self._checks(checker, exactly=True)
        rows = self._table.rows
        whole = max(1, rows * (rows - 1) // 2 if self._question.measure == "g1" else rows)
        for block in self.blocks():
            if len(block.sets):
                tasks = [CheckTask(n, law, self._question.measure) for n, law in enumerate(block.laws())]
                errors = np.zeros(len(tasks))
                for verdict in checks.check(tasks):
                    assert verdict.violations is not None
                    errors[verdict.id] = verdict.violations / whole
                blocks.append(Block(block.goal, block.sets, errors))
        return Findings(blocks, complete=True)

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow the batch with the counts, then search again with what is measured already."""
        if self._counted is not None:
            self._counted.change(gone, new, HeldLaws(None, []), checker.pairs, watch.is_over)
        self._measured.drift(came=len(new), left=len(gone))
        held, self._sets = self._sets, self._search(checker, watch)
        return difference(held, self._sets, checker.checks)

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Block], added: Sequence[Block]
    ) -> None:
        """Follow a batch by what was logged of it."""
        if self._counted is not None:
            self._counted.replay(gone, new, logged)
        for block in removed:
            self._sets[block.goal] = sets_without(self._sets[block.goal], block.sets)
        for block in added:
            self._sets[block.goal] = np.concatenate([self._sets[block.goal], block.sets])

    def logged(self) -> Arrays:
        """How counts changed."""
        return {} if self._counted is None else self._counted.logged()

    def arrays(self) -> Arrays:
        """The counts."""
        return {} if self._counted is None else self._counted.arrays()

    def refuting(self, columns: Words, goal: int) -> Pair | None:
        """No single pair makes an error too large."""
        return None

    def implies(self, columns: Words, goal: int) -> bool:
        """A law within an error may be broken all the same."""
        return False

    def differences(self) -> list[str]:
        """What of the counts is not as the rows say."""
        return [] if self._counted is None else self._counted.differences()

    def _search(self, checker: Checker, watch: Watch) -> dict[int, Words]:
        engine, view = checker.opened()
        search = Search(view, engine, watch, checks=self._checks(checker))
        found = discover_almost(search, self._question)
        watch.look()
        checker.checks = search.counts.get("checks", 0)
        nothing = np.empty((0, words_for(view.width)), np.uint64)
        return {
            goal: np.concatenate([nothing, *(block.sets for block in found.blocks if block.goal == goal)])
            for goal in goals_of(self._question, view.width)
        }

    def _checks(self, checker: Checker, *, exactly: bool = False) -> Checks:
        if self._counted is not None:
            return _FromCounts(self._counted.multiset, self._table.width)
        engine, _ = checker.opened()
        return engine if exactly or self._question.measure == "g1" else self._measured.before(engine)


class _FromCounts:
    """Measures candidates by the multiset of agree sets."""

    def __init__(self, multiset: AgreeMultiset, width: int) -> None:
        self._violations, self._width = multiset.violation_counts(), width

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Look all of them up at once."""
        given = list(tasks)
        candidates = [candidate_of(task.law) for task in given]
        left = pack_sets([columns for _, columns in candidates], self._width)
        right = np.array([goal for goal, _ in candidates], np.int64)
        for task, violations in zip(given, self._violations.violations(left, right).tolist(), strict=True):
            yield Verdict(task.id, violations == 0, None, violations)


class _Bounds(NamedTuple):
    """How many removals a candidate needed, and how many rows had left by then."""

    removals: int
    left: int


class _Measured:
    """What candidates were measured to be, for those that were too wrong by far."""

    def __init__(self, question: Question, rows: int) -> None:
        self._error, self._rows = question.error, rows
        self._left = 0
        self._known: dict[Law, _Bounds] = {}

    def drift(self, *, came: int, left: int) -> None:
        """Rows have come and left."""
        self._left, self._rows = self._left + left, self._rows + came - left

    def before(self, engine: Checks) -> Checks:
        """Answer what is certain, and let an engine measure the rest."""
        return _BeforeEngine(self, engine)

    def least(self, law: Law) -> int | None:
        """A number of removals that is certainly needed, if it is too many; else None."""
        known = self._known.get(law)
        if known is None:
            return None
        least = known.removals - (self._left - known.left)
        return least if least > self._error * self._rows else None

    def note(self, law: Law, removals: int) -> None:
        """Keep what was measured."""
        self._known[law] = _Bounds(removals, self._left)


class _BeforeEngine:
    """Checks that are answered by what was measured before, where that is enough."""

    def __init__(self, measured: _Measured, engine: Checks) -> None:
        self._measured, self._engine = measured, engine

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Answer, or ask the engine."""
        unknown: list[CheckTask] = []
        for task in tasks:
            least = self._measured.least(task.law)
            if least is None:
                unknown.append(task)
            else:
                yield Verdict(task.id, False, None, least)
        laws = {task.id: task.law for task in unknown}
        for verdict in self._engine.check(unknown):
            assert verdict.violations is not None
            self._measured.note(laws[verdict.id], verdict.violations)
            yield verdict
