"""Canonical order dependencies by evidence: sample pairs, think, check, learn from what was wrong.

DISTOD walks the lattice of all sets of columns level by level, and validates every candidate on the data. Here the
candidates are those that no pair of rows seen so far refutes, found as minimal hitting sets for each two columns and
direction (`canonical_thinking`), and only these are checked; the witness of a refuted one goes back to the pool. If
the table is small, all pairs are compared and nothing is left to check.

A minimal valid context X of A ~ B is an answer unless X determines A or B. If a left side L of A lies in X, L is
itself a valid context of A ~ B, because a swap differs on A; so X = L. It is therefore enough to know the minimal FDs
first, and to drop the contexts that are left sides of A or of B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lawful.checks import CheckTask, RankedTable
from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery.canonical_questions import CanonicalQuestion
from lawful.discovery.canonical_statements import Statements
from lawful.discovery.canonical_thinking import Goal, Hypergraphs, Thought, fd_goals, pair_goals, think
from lawful.discovery.findings import Emit, Findings
from lawful.discovery.memory import MemoryKeeper
from lawful.discovery.order_classes import order_classes
from lawful.discovery.peeling import peel
from lawful.discovery.questions import Progress, Watch
from lawful.engines import Engine
from lawful.errors import StoppedError
from lawful.evidence import SwapPool, WindowSampler, sample_random_pairs
from lawful.evidence.swap_kernels import DESC
from lawful.meanings import Direction
from lawful.search import pack_sets, unpack_sets, words_for
from lawful.search.sets import Words

_CHECKS_A_ROUND = 4_000
_TOO_MANY_REFUTED = 0.1
_FEW_REFUTED = 50
_FIRST_YIELD = 0.05
_FIRST_PAIRS = 50_000
_SECONDS_A_PAIR = 0.1e-6
_ALLOWED_SECONDS = 0.1
_ALLOWED_AT_COLUMNS = 14

Candidate = tuple[Goal, tuple[int, ...]]


def discover_by_evidence(
    table: RankedTable,
    engine: Engine,
    question: CanonicalQuestion,
    watch: Watch,
    emit: Emit,
    progress: Progress,
    *,
    all_pairs: bool | None = None,
) -> Findings:
    """Find all minimal FDs and canonical order dependencies that hold; at a limit, what was certain by then.

    `engine` must be open on the table. Everything that is emitted is final. Whether `all_pairs` are compared, or
    some are and the rest is checked, is a question of time alone; None takes the quicker.
    """
    search = _Search(table, engine, question, watch, emit, progress)
    try:
        search.run(all_pairs)
        search.findings.complete = True
    except StoppedError as stop:
        search.findings.stopped_because = watch.reason() or stop.message
    search.statements.hand_out()
    return search.findings


class _Search:
    def __init__(
        self,
        table: RankedTable,
        engine: Engine,
        question: CanonicalQuestion,
        watch: Watch,
        emit: Emit,
        progress: Progress,
    ) -> None:
        policy = question.null_policy
        self._table, self._engine, self._question = table, engine, question
        self._watch, self._progress = watch, progress
        self._memory = MemoryKeeper(engine, watch, question.partition_chain)
        self._orders = order_classes(peel(table, policy), table, policy)
        self.statements = Statements(table, self._orders, question, emit)
        self.findings = self.statements.findings
        self.findings.counts |= {"rounds": 0, "checks": 0, "refuted": 0}
        self._pool = SwapPool(table, policy, self._orders.columns)
        self._sampler: WindowSampler | None = None
        self._hypergraphs: Hypergraphs | None = None  # of the pool as it is now
        self._left_sides: list[Words] = []

    def run(self, all_pairs: bool | None) -> None:
        """FDs first, because they say which contexts are not minimal."""
        self.statements.state_peeled()
        is_full = _all_pairs_are_cheap(self._table.rows, self._orders.groups) if all_pairs is None else all_pairs
        self.findings.counts["full_evidence"] = int(is_full)
        if is_full:
            self._progress(f"comparing all pairs of {self._table.rows:,} rows")
            self._pool.add_all_pairs(self._watch.is_over)
            self._watch.look()
        else:
            self._sampler = WindowSampler(self._pool, self._table, self._question.seed)
            sample_random_pairs(self._pool, _FIRST_PAIRS, self._question.seed)
            self._sample(_FIRST_YIELD)
        nothing = np.zeros((0, words_for(self._orders.groups)), np.uint64)
        self._left_sides = [nothing] * self._orders.groups
        left_sides = [[nothing] for _ in self._left_sides]
        for fds in self._settled(fd_goals(self._orders)):
            for goal, sets in fds.by_goal():
                left_sides[goal.left].append(sets)
                self.statements.state_fds(goal.left, sets)
        self._left_sides = [np.concatenate(of_goal) for of_goal in left_sides]
        for pairs in self._settled(pair_goals(self._orders)):
            classes = np.array(pairs.goals, np.int64).reshape(-1, 3)  # their direction is 1 where they descend
            self.statements.list_pairs(classes[pairs.owners], pairs.sets)
            self.statements.hand_out_now_and_then()

    def _settled(self, goals: Sequence[Goal]) -> Iterator[Thought]:
        """The laws of each goal, as they become certain."""
        if not goals:
            return
        yield from self._candidates(goals) if self._sampler is None else self._checked(goals)
        self.findings.counts["agree_sets"] = len(self._pool)

    def _candidates(self, goals: Sequence[Goal]) -> Iterator[Thought]:
        """What no known pair refutes, is no left side of an FD, and interests enough."""
        self._progress(f"thinking about {len(self._pool):,} agree sets")
        if self._hypergraphs is None:
            self._hypergraphs = Hypergraphs(self._pool, self._orders, self._watch)
        coverage = self.statements.coverage
        least, largest = self._question.min_interest, self._question.max_size
        support = coverage.support(least) if least > 0 else None
        for thought in think(self._hypergraphs, goals, self._left_sides, largest, support):
            if least > 0:
                yield thought.chosen(coverage.of(thought.sets) >= least)
            else:
                yield thought

    def _checked(self, goals: Sequence[Goal]) -> Iterator[Thought]:
        """Think, check, learn from the witnesses, until nothing is refuted."""
        confirmed: set[Candidate] = set()
        counts, min_yield = self.findings.counts, _FIRST_YIELD
        while goals:
            candidates = [
                (thought.goals[owner], lhs)
                for thought in self._candidates(goals)
                for owner, lhs in zip(thought.owners.tolist(), unpack_sets(thought.sets), strict=True)
                if (thought.goals[owner], lhs) not in confirmed
            ]
            counts["rounds"] += 1
            self._progress(f"round {counts['rounds']}: {len(candidates):,} candidates to check")
            knew_too_little = False
            for batch in _smallest_first(candidates):
                held, witnesses = self._check(batch)
                confirmed.update(held)
                yield self._packed(held)
                self._learn(witnesses)
                counts["checks"] += len(batch)
                counts["refuted"] += len(witnesses)
                knew_too_little = len(witnesses) > max(_FEW_REFUTED, _TOO_MANY_REFUTED * len(batch))
                if knew_too_little:
                    break  # think again before checking more
            if knew_too_little:
                min_yield /= 4
                self._sample(min_yield)
            # A goal whose candidates were all confirmed is settled: its evidence cannot change any more.
            goals = list(dict.fromkeys(goal for goal, lhs in candidates if (goal, lhs) not in confirmed))

    def _check(self, batch: list[Candidate]) -> tuple[list[Candidate], list[tuple[int, int]]]:
        """Let the engine check candidates; give those that hold and the witnesses against the others."""
        held: list[Candidate] = []
        witnesses: list[tuple[int, int]] = []
        for verdict in self._engine.check([CheckTask(number, self._law(*one)) for number, one in enumerate(batch)]):
            if verdict.witness is None:
                held.append(batch[verdict.id])
            else:
                witnesses.append(verdict.witness)
            self._memory.look()
        self.findings.counts["partition_drops"] = self._memory.drops
        return held, witnesses

    def _learn(self, witnesses: list[tuple[int, int]]) -> None:
        if witnesses:
            self._pool.add_pairs(*np.array(witnesses, np.int32).T)
            self._hypergraphs = None

    def _law(self, goal: Goal, places: tuple[int, ...]) -> Law:
        columns = self._orders.columns
        context = tuple(columns[place] for place in places)
        if goal.is_fd:
            return FD(context, columns[goal.left])
        direction: Direction = "desc" if goal.direction == DESC else "asc"
        return CanonicalOD(context, columns[goal.left], columns[goal.right], direction)

    def _packed(self, held: list[Candidate]) -> Thought:
        goals = list(dict.fromkeys(goal for goal, _ in held))
        numbers = {goal: number for number, goal in enumerate(goals)}
        owners = np.array([numbers[goal] for goal, _ in held], np.int64)
        return Thought(goals, owners, pack_sets([lhs for _, lhs in held], self._orders.groups))

    def _sample(self, min_yield: float) -> None:
        assert self._sampler is not None
        self._progress("comparing some pairs of rows")
        self._sampler.run(min_yield, should_stop=self._watch.is_over)
        self._watch.look()
        self._hypergraphs = None


def _all_pairs_are_cheap(rows: int, columns: int) -> bool:
    """Whether comparing all pairs takes less time than checking would; candidates multiply with the columns."""
    allowed: float = _ALLOWED_SECONDS * 2.0 ** min(40.0, (columns - _ALLOWED_AT_COLUMNS) / 2)
    return rows * (rows - 1) / 2 * _SECONDS_A_PAIR <= allowed


def _smallest_first(candidates: list[Candidate]) -> Iterator[list[Candidate]]:
    """Batches in order of size: small candidates are quick to check, and their refutation rules out the most."""
    ordered = sorted(candidates, key=lambda candidate: len(candidate[1]))
    for first in range(0, len(ordered), _CHECKS_A_ROUND):
        yield ordered[first : first + _CHECKS_A_ROUND]
