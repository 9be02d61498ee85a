"""Canonical order dependencies by evidence: the thinker that compares pairs of rows before it asks for checks.

DISTOD walks the lattice of all sets of columns level by level, and validates every candidate on the data. Here the
candidates are those that no pair of rows seen so far refutes, found as minimal hitting sets for each two columns and
direction (`thinking`), and only these are checked; the witness of a refuted one goes back to the pool. If the table is
small, all pairs are compared and nothing is left to check.

A minimal valid context X of A ~ B is an answer unless X determines A or B. If a left side L of A lies in X, L is
itself a valid context of A ~ B, because a swap differs on A; so X = L. It is therefore enough to know the minimal FDs
first, and to drop the contexts that are left sides of A or of B.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from lawful.common.arrays import Words
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.canonical_ods.checking import Candidate, OpenGoals, Refutations, law_of
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.canonical_ods.small import small_pairs
from lawful.discovery.canonical_ods.statements import Statements
from lawful.discovery.canonical_ods.thinking import CandidateSets, Goal, Hypergraphs, fd_goals, pair_goals, think
from lawful.discovery.findings import Findings
from lawful.discovery.loop import Answer, Pace, run_loop
from lawful.discovery.memory import MemoryKeeper
from lawful.discovery.search import Search, Shared
from lawful.evidence import sample_random_pairs
from lawful.search import unpack_sets, words_for
from lawful.tables.sample import is_sample

_CHECKS_AT_FIRST = 1024
_CALLS = 3
_SECONDS_BETWEEN_STATEMENTS = 0.3
_FIRST_YIELD = 0.05
_LOWERED = 4
_FIRST_PAIRS = 50_000
_SECONDS_A_SAMPLE = 0.3e-6
_SECONDS_A_CHECK = 100e-6
_SECONDS_A_ROW = 0.5e-9
_SECONDS_A_PAIR = 0.1e-6
_ALLOWED_SECONDS = 0.1
_ALLOWED_AT_COLUMNS = 14


def discover_by_evidence(
    search: Search, question: CanonicalQuestion, *, all_pairs: bool | None = None, samples: bool = True
) -> Findings:
    """Find all minimal FDs and canonical order dependencies that hold; at a limit, what was certain by then.

    Everything that is emitted is final. Whether `all_pairs` are compared, or some are and the rest is checked, is a
    question of time alone; None takes the quicker. So is whether it `samples` some pairs, or only learns from the
    witnesses of refuted candidates.
    """
    shared = search.shared(question, swaps=True)
    statements = Statements(search, shared.orders, question)
    is_cheap = not is_sample(search.table) and all_pairs_are_cheap(search.table.rows, shared.orders.groups)
    is_full = is_cheap if all_pairs is None else all_pairs
    search.counts.update(rounds=0, checks=0, refuted=0, full_evidence=int(is_full))
    try:
        with search.to_the_end():
            memory = MemoryKeeper(search.engine, search.table, search.watch, question.partition_chain)
            statements.state_peeled()
            small = small_pairs(search, question, shared, statements)
            thinker = CanonicalODs(search, question, shared, statements, small, samples=samples)
            if is_full:
                thinker.read_all_pairs()
            else:
                try:
                    run_loop(search, thinker, memory)
                finally:
                    thinker.state_held()
                search.counts["partition_drops"] = memory.drops
            search.counts["agree_sets"] = len(shared.pool)
    finally:
        statements.hand_out()
    return search.findings


def all_pairs_are_cheap(rows: int, columns: int) -> bool:
    """Whether comparing all pairs takes less time than checking would; candidates multiply with the columns."""
    allowed: float = _ALLOWED_SECONDS * 2.0 ** min(40.0, (columns - _ALLOWED_AT_COLUMNS) / 2)
    return rows * (rows - 1) / 2 * _SECONDS_A_PAIR <= allowed


class CanonicalODs:
    """The goals that are open, the candidates that no pair of the pool refutes, and which of them are certain."""

    pace = Pace(_CALLS, _CHECKS_AT_FIRST)
    measure: Measure | None = None

    def __init__(
        self,
        search: Search,
        question: CanonicalQuestion,
        shared: Shared,
        statements: Statements,
        known: Sequence[Candidate] = (),
        *,
        samples: bool = True,
    ) -> None:
        self._search, self._question, self._shared, self._statements = search, question, shared, statements
        self._orders, self._pool = shared.orders, shared.pool
        self._left_sides = self._known_left_sides()
        self._goals = OpenGoals(search.table, self._orders, has_fds=shared.fds is not None)
        self._goals.know(known)
        self._known = frozenset(known)
        self._refutations = Refutations()
        self._sampling = _Sampling(search, shared, question.seed) if samples else None
        self._held: list[Candidate] = []  # pairs that are certain and not stated
        self._stated = 0.0

    @property
    def is_done(self) -> bool:
        """Whether every goal is settled."""
        return not self._goals

    @property
    def wants_to_think(self) -> bool:
        """Whether the verdicts that have come are worth another thought."""
        return self._refutations.ask_for_thought(self._goals)

    def read_all_pairs(self) -> None:
        """Compare all pairs and state what none of them refutes: nothing is left to check."""
        self._search.progress(f"comparing all pairs of {self._search.table.rows:,} rows")
        self._pool.absorb_swaps(self._search.engine.swap_evidence(self._orders.columns, self._search.watch.is_over))
        self._search.look()
        known = self._shared.fds is not None
        # FDs say which contexts are not minimal.
        for goals in ([] if known else fd_goals(self._orders), pair_goals(self._orders)):
            for thought in self._candidates(goals):
                self._state(self._unknown(thought))

    def sample(self) -> None:
        """Compare pairs of rows, more of them after too many candidates were wrong; the engine works meanwhile."""
        if self._sampling is not None and self._sampling.is_wanted:
            self._search.progress("comparing some pairs of rows")
            self._sampling.run()

    def think(self) -> Iterator[list[Candidate]]:
        """Find the candidates of all goals that can be thought about, and send those that are not out."""
        with self._refutations.thinking():
            self._goals.take_in(self._candidates(self._goals.ready))
        while self._goals.waiting:
            yield self._goals.send(self._search.batch)

    def law(self, candidate: Candidate) -> Law:
        """The FD or the order-compatible pair that a candidate stands for."""
        return law_of(candidate, self._orders.columns)

    def learn(self, answers: Sequence[Answer]) -> None:
        """State what holds; the witnesses against the rest join the pool."""
        fds: list[Candidate] = []
        witnesses: list[tuple[int, int]] = []
        for candidate, verdict in answers:
            if verdict.witness is None:
                (fds if candidate[0].is_fd else self._held).append(candidate)
                self._goals.confirm(candidate)
            else:
                witnesses.append(verdict.witness)
                self._goals.refute(candidate)
        self._shared.learn(witnesses)
        if fds:
            self._state(CandidateSets.of(fds, self._orders.groups))
        if time.monotonic() - self._stated > _SECONDS_BETWEEN_STATEMENTS:
            self.state_held()
        if self._refutations.learn(len(answers), len(witnesses)) and self._sampling is not None:
            self._sampling.want_more()

    def state_held(self) -> None:
        """State the pairs that have come together."""
        if self._held:
            self._state(CandidateSets.of(self._held, self._orders.groups))
            self._held.clear()
        self._stated = time.monotonic()

    def _known_left_sides(self) -> list[Words]:
        """The left sides of each group, if all FDs are known."""
        groups = self._orders.groups
        if self._shared.fds is None:
            return [np.zeros((0, words_for(groups)), np.uint64)] * groups
        return self._orders.peeled.left_sides(self._shared.fds)

    def _candidates(self, goals: Sequence[Goal]) -> Iterator[CandidateSets]:
        """What no known pair refutes, is no left side of an FD, and interests enough."""
        if not goals:
            return
        self._search.progress(f"thinking about {len(self._pool):,} agree sets")
        hypergraphs = Hypergraphs(self._pool, self._orders, self._search.look)
        coverage = self._statements.coverage
        least, largest = self._question.min_interest, self._question.max_size
        support = coverage.support(least) if least > 0 else None
        for thought in think(hypergraphs, goals, self._left_sides, largest, support):
            if least > 0:
                yield thought.chosen(coverage.of(thought.sets) >= least)
            else:
                yield thought

    def _unknown(self, certain: CandidateSets) -> CandidateSets:
        """Those that were not found before, when small contexts were sought."""
        if not self._known:
            return certain
        owners = (certain.goals[owner] for owner in certain.owners.tolist())
        is_new = [one not in self._known for one in zip(owners, unpack_sets(certain.sets), strict=True)]
        return certain.chosen(np.array(is_new, np.bool_))

    def _state(self, certain: CandidateSets) -> None:
        """State laws: FDs by goal, pairs all together."""
        if any(goal.is_fd for goal in certain.goals):
            for goal, sets in certain.by_goal():
                self._left_sides[goal.left] = np.concatenate([self._left_sides[goal.left], sets])
                self._statements.state_fds(goal.left, sets)
        else:
            self._statements.list_pairs(certain.classes(), certain.sets)
            self._statements.hand_out_now_and_then()


class _Sampling:
    """Pairs of rows that are likely to tell something: many at first, more when too many candidates are wrong."""

    def __init__(self, search: Search, shared: Shared, seed: int) -> None:
        self.is_wanted = True
        """Whether pairs that are wanted have not been compared."""
        self._shared, self._seed, self._is_over = shared, seed, search.watch.is_over
        self._min_yield = _FIRST_YIELD
        # Below this, a check would find a witness sooner than the sampler finds one.
        self._least_yield = _SECONDS_A_SAMPLE / (_SECONDS_A_CHECK + search.table.rows * _SECONDS_A_ROW)
        self._has_begun = False

    def want_more(self) -> None:
        """Be content with a lower yield from now on, unless checks yield more."""
        if self._min_yield / _LOWERED >= self._least_yield:
            self._min_yield /= _LOWERED
            self.is_wanted = True

    def run(self) -> None:
        """Compare the pairs that are wanted: at first some at random, which show swaps that windows miss."""
        if not self._has_begun:
            sample_random_pairs(self._shared.pool, _FIRST_PAIRS, self._seed)
            self._has_begun = True
        self._shared.windows.run(self._min_yield, should_stop=self._is_over)
        self.is_wanted = False
