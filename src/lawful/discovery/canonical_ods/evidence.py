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

import time
from collections.abc import Iterator, Sequence

import numpy as np

from lawful.checks import CheckTask, RankedTable, Verdict
from lawful.common.errors import StoppedError
from lawful.common.meanings import Direction
from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery.canonical_ods.checking import Candidate, Lessons, OpenGoals, Places
from lawful.discovery.canonical_ods.checkpoint import remembered
from lawful.discovery.canonical_ods.order_classes import order_classes
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.canonical_ods.statements import Statements
from lawful.discovery.canonical_ods.thinking import Goal, Hypergraphs, Thought, fd_goals, pair_goals, think
from lawful.discovery.findings import Emit, Findings
from lawful.discovery.memory import MemoryKeeper
from lawful.discovery.peeling import peel
from lawful.discovery.questions import Progress, Watch
from lawful.engines import Engine
from lawful.engines.protocol import Checks
from lawful.engines.stream import CheckStream
from lawful.evidence import SwapPool, WindowSampler, sample_random_pairs, some_rows
from lawful.evidence.kernels.swaps import DESC
from lawful.search import pack_sets, words_for

_CHECKS_AT_FIRST = 1024
_LONGEST_WAIT = 0.2
_SECONDS_BETWEEN_STATEMENTS = 0.3
_FIRST_YIELD = 0.05
_LOWERED = 4
_FIRST_PAIRS = 50_000
_SAMPLES_AT_ONCE = 1 << 19
_SECONDS_A_SAMPLE = 0.3e-6
_SECONDS_A_CHECK = 100e-6
_SECONDS_A_ROW = 0.5e-9
_SECONDS_A_PAIR = 0.1e-6
_ALLOWED_SECONDS = 0.1
_ALLOWED_AT_COLUMNS = 14


def discover_by_evidence(
    table: RankedTable,
    engine: Engine,
    question: CanonicalQuestion,
    watch: Watch,
    emit: Emit,
    progress: Progress,
    *,
    all_pairs: bool | None = None,
    samples: bool = True,
) -> Findings:
    """Find all minimal FDs and canonical order dependencies that hold; at a limit, what was certain by then.

    `engine` must be open on the table. Everything that is emitted is final. Whether `all_pairs` are compared, or
    some are and the rest is checked, is a question of time alone; None takes the quicker. So is whether it `samples`
    some pairs, or only learns from the witnesses of refuted candidates.
    """
    search = _Search(table, engine, question, watch, emit, progress, all_pairs)
    findings = search.findings
    try:
        with remembered(engine, table, question, findings) as checks:
            search.run(checks, samples)
            findings.complete = True
    except StoppedError as stop:
        findings.stopped_because = watch.reason() or stop.message
    search.statements.hand_out()
    return findings


class _Search:
    def __init__(
        self,
        table: RankedTable,
        engine: Engine,
        question: CanonicalQuestion,
        watch: Watch,
        emit: Emit,
        progress: Progress,
        all_pairs: bool | None,
    ) -> None:
        policy = question.null_policy
        self._table, self._engine, self._question = table, engine, question
        self._watch, self._progress = watch, progress
        self._memory = MemoryKeeper(engine, table, watch, question.partition_chain)
        self._orders = order_classes(peel(table, policy), table, policy)
        self.statements = Statements(table, self._orders, question, emit)
        self.findings = self.statements.findings
        self.findings.counts |= {"rounds": 0, "checks": 0, "refuted": 0}
        self._is_full = _all_pairs_are_cheap(table.rows, self._orders.groups) if all_pairs is None else all_pairs
        self._sampled = table if self._is_full else some_rows(table, question.seed)
        self._pool = SwapPool(self._sampled, policy, self._orders.columns)
        self._hypergraphs: Hypergraphs | None = None  # of the pool as it is now
        self._left_sides = [np.zeros((0, words_for(self._orders.groups)), np.uint64)] * self._orders.groups
        self._columns = self._orders.columns
        self._out: dict[int, Candidate] = {}
        self._held: list[Candidate] = []  # pairs that are certain and not stated
        self._stated = 0.0
        self._asked = 0

    def run(self, checks: Checks, samples: bool) -> None:
        """Compare all pairs and think, or compare some and let the engine check what is left."""
        self.statements.state_peeled()
        self.findings.counts["full_evidence"] = int(self._is_full)
        if self._is_full:
            self._progress(f"comparing all pairs of {self._table.rows:,} rows")
            self._pool.absorb(self._engine.swap_evidence(self._pool.columns, self._watch.is_over))
            self._watch.look()
            for goals in (fd_goals(self._orders), pair_goals(self._orders)):  # FDs say which contexts are not minimal
                for thought in self._candidates(goals):
                    self._state(thought)
        else:
            try:
                self._check_what_some_pairs_leave(checks, samples)
            finally:
                self._state_held()
        self.findings.counts["agree_sets"] = len(self._pool)

    def _state(self, certain: Thought) -> None:
        """State laws: FDs by goal, pairs all together."""
        if any(goal.is_fd for goal in certain.goals):
            for goal, sets in certain.by_goal():
                self._left_sides[goal.left] = np.concatenate([self._left_sides[goal.left], sets])
                self.statements.state_fds(goal.left, sets)
        else:
            classes = np.array(certain.goals, np.int64).reshape(-1, 3)  # their direction is 1 where they descend
            self.statements.list_pairs(classes[certain.owners], certain.sets)
            self.statements.hand_out_now_and_then()

    def _state_held(self) -> None:
        """State the pairs that have come together."""
        if self._held:
            self._state(self._packed(self._held))
            self._held.clear()
        self._stated = time.monotonic()

    def _candidates(self, goals: Sequence[Goal]) -> Iterator[Thought]:
        """What no known pair refutes, is no left side of an FD, and interests enough."""
        if not goals:
            return
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

    def _check_what_some_pairs_leave(self, checks: Checks, samples: bool) -> None:
        """Keep checks out all the time; think again when nothing is left to send, or too much of it was wrong."""
        sampling = _Sampling(self._pool, self._sampled, self._table.rows, self._question.seed, self._watch)
        if samples:
            self._progress("comparing some pairs of rows")
            sampling.begin()
        goals = OpenGoals(self._table, self._orders)
        counts = self.findings.counts
        lessons = Lessons()
        with CheckStream(checks, batch=_CHECKS_AT_FIRST) as stream:
            while goals:
                if sampling.goes_on:  # the engine works meanwhile, on what is not known to be wrong
                    sampling.go_on()
                    lessons.are_new = True
                elif lessons.ask_for_thought(goals, is_idle=stream.running == 0):
                    self._hypergraphs = None
                    with lessons.thinking():
                        goals.take_in(self._candidates(goals.ready))
                    counts["rounds"] += 1
                    if not goals:
                        break
                while stream.room and goals.waiting:
                    stream.put(self._tasks(goals.send(stream.batch)))
                    self._progress(f"round {counts['rounds']}: {goals.waiting:,} candidates to check")
                verdicts = stream.take(0 if sampling.goes_on else lessons.rest(goals, _LONGEST_WAIT))
                witnesses = self._take_in(verdicts, goals)
                if lessons.learn(len(verdicts), len(witnesses)) and samples:
                    sampling.want_more()
                self._memory.look()
        counts["partition_drops"] = self._memory.drops

    def _tasks(self, candidates: list[Candidate]) -> list[CheckTask]:
        tasks = []
        for candidate in candidates:
            tasks.append(CheckTask(self._asked, self._law(*candidate)))
            self._out[self._asked] = candidate
            self._asked += 1
        return tasks

    def _take_in(self, verdicts: list[Verdict], goals: OpenGoals) -> list[tuple[int, int]]:
        """State what holds, learn from the witnesses against the rest, and give these."""
        fds: list[Candidate] = []
        witnesses: list[tuple[int, int]] = []
        for verdict in verdicts:
            candidate = self._out.pop(verdict.id)
            if verdict.witness is None:
                (fds if candidate[0].is_fd else self._held).append(candidate)
                goals.confirm(candidate)
            else:
                witnesses.append(verdict.witness)
                goals.refute(candidate)
        if witnesses:
            self._pool.add_pairs_of(self._table, *np.array(witnesses, np.int32).T)
        if fds:
            self._state(self._packed(fds))
        if time.monotonic() - self._stated > _SECONDS_BETWEEN_STATEMENTS:
            self._state_held()
        self.findings.counts["checks"] += len(verdicts)
        self.findings.counts["refuted"] += len(witnesses)
        return witnesses

    def _law(self, goal: Goal, places: Places) -> Law:
        columns = self._columns
        context = tuple(columns[place] for place in places)
        if goal.is_fd:
            return FD(context, columns[goal.left])
        direction: Direction = "desc" if goal.direction == DESC else "asc"
        return CanonicalOD(context, columns[goal.left], columns[goal.right], direction)

    def _packed(self, held: list[Candidate]) -> Thought:
        goals = list(dict.fromkeys(goal for goal, _ in held))
        numbers = {goal: number for number, goal in enumerate(goals)}
        owners = np.array([numbers[goal] for goal, _ in held], np.int64)
        return Thought(goals, owners, pack_sets([places for _, places in held], self._orders.groups))


class _Sampling:
    """Pairs of rows that are likely to tell something: many at first, more when too many candidates are wrong."""

    def __init__(self, pool: SwapPool, sampled: RankedTable, checked_rows: int, seed: int, watch: Watch) -> None:
        self.goes_on = False
        """Whether pairs that are wanted have not been compared."""
        self._pool, self._seed, self._watch = pool, seed, watch
        self._sampler = WindowSampler(pool, sampled, seed)
        self._min_yield = _FIRST_YIELD
        # Below this, a check would find a witness sooner than the sampler finds one.
        self._least_yield = _SECONDS_A_SAMPLE / (_SECONDS_A_CHECK + checked_rows * _SECONDS_A_ROW)

    def begin(self) -> None:
        """Compare the first pairs."""
        sample_random_pairs(self._pool, _FIRST_PAIRS, self._seed)
        self._sampler.run(self._min_yield, should_stop=self._watch.is_over)
        self._watch.look()

    def want_more(self) -> None:
        """Be content with a lower yield from now on, unless checks yield more."""
        if self._min_yield / _LOWERED >= self._least_yield:
            self._min_yield /= _LOWERED
            self.goes_on = True

    def go_on(self) -> None:
        """Compare some of the pairs that are wanted."""
        done = self._sampler.run(self._min_yield, _SAMPLES_AT_ONCE, self._watch.is_over)
        self.goes_on = done.pairs == _SAMPLES_AT_ONCE
        self._watch.look()


def _all_pairs_are_cheap(rows: int, columns: int) -> bool:
    """Whether comparing all pairs takes less time than checking would; candidates multiply with the columns."""
    allowed: float = _ALLOWED_SECONDS * 2.0 ** min(40.0, (columns - _ALLOWED_AT_COLUMNS) / 2)
    return rows * (rows - 1) / 2 * _SECONDS_A_PAIR <= allowed
