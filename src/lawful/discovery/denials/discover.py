"""Discovery of all minimal denial constraints: Hydra (Bleifuss, Kruse and Naumann, PVLDB 2017), and two shorter ways.

Three strategies, each the others' test. *Full* compares all pairs of rows and inverts their evidence: nothing is left
to check, and its counts also give the constraints that almost hold. *Completion* is the paper's: sample pairs
(section 4), invert their evidence (section 5), find all pairs that violate the preliminary constraints (section 6),
invert again. *Hybrid* departs from it: a preliminary constraint is checked by itself in near-linear time, and one
witness of a wrong one goes back to the pool, until nothing is wrong. One witness rules out a constraint as well as all
violating pairs do, and these can be billions.

Nobody knows beforehand how many candidates there will be to check. So where the strategy is open, hybrid gives up after
as long as comparing all pairs will take, and all pairs are compared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lawful.checks import CheckTask
from lawful.common.arrays import Floats, Words
from lawful.common.errors import StoppedError
from lawful.common.machine import cores
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.cost_model import full_evidence_seconds
from lawful.discovery.denials.listing import DenialListing, interests_of
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.findings import Emit, Findings
from lawful.discovery.kernels.working_clock import working_seconds
from lawful.discovery.questions import Progress, Watch
from lawful.engines import Engine
from lawful.evidence import EFFICIENCY_THRESHOLD, FocusedSampler, WindowSampler, YieldSampler, sample_random_pairs
from lawful.evidence.byte_columns import DIRECT_BITS
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.evidence.denials.pool import DenialPool
from lawful.search import set_sizes, unpack_sets
from lawful.search.denials.inversion import almost_constraints, depths, minimal_constraints
from lawful.search.denials.literals import Convention, Literals, finds_no_implied
from lawful.search.denials.reduction import Counts, ShouldStop, reading_order, reduced_places
from lawful.search.sets import by_size, sets_without, words_for
from lawful.tables.encoded_table import EncodedTable

RANDOM_PARTNERS = 20
"""Random partners of every row in the first sample (Hydra, section 4.2)."""

_FULL_SECONDS = 2.0
_MOST_RANDOM_PAIRS = 4_000_000
_MOST_FOCUSED_PAIRS = 100_000_000
_FIRST_YIELD = 0.0005
_CHECKS_AT_ONCE = 4_000
_TOO_MANY_REFUTED = 0.5
_PATIENCE = 1.0
"""How many times as long as comparing all pairs sampling and checking may take before all pairs are compared."""
_SECONDS_A_CHECKED_ROW = 10e-9
"""What a check takes for each row, about."""
_FOUND_FOR_A_CHECK = 8
"""How many constraints are found for one that is left to check, at most: others are mirror images or implied."""
_TO_SORT_OUT, _LEAST_TO_SORT_OUT = 0.1, 1.0
"""The share of its time, and the least seconds, that a search that was broken off takes to sort out what it found."""
_SECONDS_A_HASHED_PAIR = 20e-9
"""What one thread takes for a pair whose vector is too long for a table of all vectors."""


def discover_denial_constraints(
    table: EncodedTable, engine: Engine, question: DenialQuestion, watch: Watch, emit: Emit, progress: Progress
) -> Findings:
    """Find all minimal denial constraints of a table; at a limit, what was certain by then, small ones first.

    `engine` must be open on the table. The one listing of all constraints is emitted in the end.
    """
    findings = Findings()
    space = predicate_space(table, question)
    for line in space.describe(table.names):
        progress(line)
    findings.counts["predicates"] = len(space)
    search = _Search(table, engine, question, space, watch, progress, findings.counts)
    try:
        search.run()
        findings.complete = True
    except StoppedError as stop:
        findings.stopped_because = watch.reason() or stop.message
    listing = search.listing()
    findings.listings.append(listing)
    emit(listing)
    return findings


def full_evidence_is_quicker(rows: int, space: PredicateSpace) -> bool:
    """Whether to compare all pairs: if that takes no longer than checking some thousands of constraints would.

    A comparison takes about twice as long as one of agree sets, since it has two bits a group.
    """
    return full_evidence_seconds(rows, 2 * len(space.groups)) <= _FULL_SECONDS


def _longest_wait(rows: int, space: PredicateSpace) -> float:
    """How long to sample and check before all pairs are compared: as long as these will take."""
    bits = sum(2 if group.is_ordered else 1 for group in space.groups)
    hashing = 0.0 if bits <= DIRECT_BITS else math.comb(rows, 2) * _SECONDS_A_HASHED_PAIR / cores()
    return _PATIENCE * max(hashing, full_evidence_seconds(rows, 2 * len(space.groups)))


class _SlowerThanAllPairsError(Exception):
    """Thinking and checking have taken so long that comparing all pairs is the quicker way."""


class _Search:
    """One discovery: what was found so far can be listed at any moment."""

    def __init__(
        self,
        table: EncodedTable,
        engine: Engine,
        question: DenialQuestion,
        space: PredicateSpace,
        watch: Watch,
        progress: Progress,
        counts: dict[str, int],
    ) -> None:
        self._table, self._engine, self._question, self._space = table, engine, question, space
        self._watch, self._progress, self._counts = watch, progress, counts
        self._found: list[Words] = []
        self._errors: list[Floats] = []
        self._sorted_out: tuple[Words, Floats | None] | None = None
        self._began = time.monotonic()
        self._patience_ends = math.inf

    def run(self) -> None:
        """Find all constraints, and sort them out."""
        self._go_through_strategy()
        self._sort_out(has_images=True, should_stop=self._watch.is_over)
        self._watch.look()

    def _go_through_strategy(self) -> None:
        """Take the strategy that is asked for, or is quicker."""
        strategy = self._question.strategy
        if strategy == "auto":
            is_full = self._question.error > 0 or full_evidence_is_quicker(self._table.rows, self._space)
            strategy = "full" if is_full else "hybrid"
            if not is_full:
                self._patience_ends = working_seconds() + _longest_wait(self._table.rows, self._space)
        self._counts["full_evidence"] = int(strategy == "full")
        if self._question.error:
            self._find_almost()
        elif strategy == "full":
            self._find_all(self._all_pairs(counted=False))
        elif strategy == "completion":
            self._find_all(self._completed_pool().evidence)
        else:
            self._find_all(self._checked_evidence())

    def listing(self) -> DenialListing:
        """What was found, as it is given back; of a search that was broken off, what can be sorted out soon."""
        if self._sorted_out is None:
            ends = time.monotonic() + max(_LEAST_TO_SORT_OUT, _TO_SORT_OUT * (time.monotonic() - self._began))
            self._sort_out(has_images=False, should_stop=lambda: time.monotonic() > ends)
        assert self._sorted_out is not None
        sets, errors = self._sorted_out

        def rate() -> Floats:
            return interests_of(sets, self._space, self._pool, hold=not self._question.error)

        return DenialListing(self._space, tuple(self._table.names), sets, rate, errors)

    def _sort_out(self, *, has_images: bool, should_stop: ShouldStop) -> None:
        """Leave out what follows from something else, as far as there is time, and put the rest in order."""
        sets = np.concatenate([self._nothing(), *self._found])
        errors = np.concatenate([np.zeros(0), *self._errors]) if self._question.error else None
        if self._question.convention == "reduced":
            sets, places = self._reduced(sets, has_images=has_images, should_stop=should_stop)
            errors = None if errors is None else errors[places]
        order = reading_order(sets)
        self._sorted_out = sets[order], None if errors is None else errors[order]

    def _reduced(self, sets: Words, *, has_images: bool, should_stop: ShouldStop) -> tuple[Words, Counts]:
        return reduced_places(
            sets,
            self._space,
            only_mirrored=finds_no_implied(self._space),
            has_images=has_images,
            should_stop=should_stop,
        )

    @cached_property
    def _pool(self) -> DenialPool:
        return DenialPool(self._table, self._space, self._question.null_policy)

    def _all_pairs(self, *, counted: bool) -> DenialEvidence:
        self._progress(f"comparing all pairs of {self._table.rows:,} rows")
        evidence = self._engine.denial_evidence(self._space, self._watch.is_over, counted=counted)
        self._watch.look()
        self._counts["evidence"] = len(evidence)
        return evidence

    def _find_all(self, evidence: DenialEvidence) -> None:
        """Invert complete evidence in the convention that is asked for."""
        self._progress(f"thinking about {len(evidence):,} kinds of pairs")
        confirmed, self._found = self._found, []
        try:
            limit, by_size = self._question.max_size, self._watch.is_limited
            for sets in self._inverted(evidence, self._question.convention, limit, by_size=by_size):
                self._found.append(sets)
        except StoppedError:
            if sum(map(len, confirmed)) > sum(map(len, self._found)):
                self._found = confirmed  # which were checked one by one, and are certain too
            raise

    def _inverted(
        self, evidence: DenialEvidence, convention: Convention, max_size: int | None, *, by_size: bool = False
    ) -> Iterator[Words]:
        """The minimal constraints that no known pair breaks; pairs break them in either order (section 6.4)."""
        literals = Literals.of(self._space, convention)
        edges = literals.edges(evidence.signs.less, evidence.signs.greater)
        self._watch.look()
        return minimal_constraints(edges, literals, max_size, self._look, by_size=by_size)

    def _find_almost(self) -> None:
        """Find the constraints that few enough pairs break, from the counts of all of them."""
        evidence = self._all_pairs(counted=True)
        assert evidence.counts is not None
        literals = Literals.of(self._space, self._question.convention)
        pairs = max(1, math.comb(self._table.rows, 2))
        self._progress(f"thinking about {len(evidence):,} kinds of pairs")
        edges = literals.all_edges(evidence.signs.less, evidence.signs.greater)
        allowed = _most_within(self._question.error, pairs)
        smallest = 0
        for max_size in self._sizes(literals.most_units):
            for sets, broken in almost_constraints(
                edges, literals.turned(edges), evidence.counts, allowed, literals, max_size, self._watch.look
            ):
                is_new = set_sizes(sets) >= smallest
                self._found.append(sets[is_new])
                self._errors.append(broken[is_new] / pairs)
            smallest = 0 if max_size is None else max_size + 1

    def _sampled_pool(self) -> tuple[DenialPool, YieldSampler]:
        """Hydra's sample (section 4): random partners for every row, then the foci that find most."""
        question, table, pool = self._question, self._table, self._pool
        self._progress("comparing some pairs of rows")
        random_pairs = min(RANDOM_PARTNERS * table.rows, _MOST_RANDOM_PAIRS)
        sample_random_pairs(pool, random_pairs, question.seed)
        ordered = [group.left.column for group in self._space.groups if group.same_column and group.is_ordered]
        sampler = FocusedSampler(pool, table, question.seed, ordered)
        sampler.run(EFFICIENCY_THRESHOLD, should_stop=self._watch.is_over)
        self._watch.look()
        self._counts["sampled"] = len(pool)
        return pool, sampler

    def _completed_pool(self) -> DenialPool:
        """Add the evidence of all pairs that violate what the sample suggests (section 6)."""
        # Only this strategy needs its tree of refiners.
        from lawful.discovery.denials.completion import complete_by_violating_pairs

        pool, _ = self._sampled_pool()
        preliminary = self._preliminary(pool, self._question.max_size)
        complete_by_violating_pairs(
            self._table,
            self._engine,
            self._space,
            preliminary,
            pool,
            self._question.null_policy,
            self._watch,
            self._progress,
            self._question.seed,
        )
        self._counts["evidence"] = len(pool)
        return pool

    def _preliminary(self, pool: DenialPool, max_size: int | None) -> Words:
        """The strongest constraints that no pair of the pool breaks: if they hold, all others do."""
        inverted, found = [self._nothing()], 0
        for sets in self._inverted(pool.evidence, "reduced", max_size):
            inverted.append(sets)
            found += len(sets)
            self._give_up_if_checks_take_longer(found // _FOUND_FOR_A_CHECK)
        candidates, _ = self._reduced(np.concatenate(inverted), has_images=True, should_stop=self._is_over)
        self._look()
        return by_size(candidates)

    def _give_up_if_checks_take_longer(self, candidates: int) -> None:
        """Leave so many candidates to all pairs if checking them would outlast the patience."""
        expected = (candidates - sum(map(len, self._found))) * self._table.rows * _SECONDS_A_CHECKED_ROW
        if working_seconds() + expected > self._patience_ends:
            raise _SlowerThanAllPairsError

    def _checked_evidence(self) -> DenialEvidence:
        """The evidence of some pairs that gives the constraints that hold, or of all pairs if that is quicker."""
        try:
            return self._checked_pool().evidence
        except _SlowerThanAllPairsError:
            self._counts["full_evidence"] = 1
            return self._all_pairs(counted=False)
        finally:
            self._patience_ends = math.inf

    def _look(self) -> None:
        """End the search at its limits, or this way of searching where another is quicker by now."""
        self._watch.look()
        if working_seconds() > self._patience_ends:
            raise _SlowerThanAllPairsError

    def _is_over(self) -> bool:
        """Whether `_look` would end something."""
        return self._watch.is_over() or working_seconds() > self._patience_ends

    def _checked_pool(self) -> DenialPool:
        """Check what the pool suggests, and learn from the witnesses of what is wrong; until nothing is.

        Comparing pairs is quick beside thinking and checking, so samplers go on for longer than Hydra's, and before
        every round for longer still. Rows that agree on much are rare among random ones: windows find them.
        """
        pool, focused = self._sampled_pool()
        samplers = (focused, WindowSampler(pool, self._table, self._question.seed))
        self._counts.update(rounds=0, checks=0, refuted=0)
        confirmed = self._nothing()
        min_yield = _FIRST_YIELD
        for max_size in self._sizes(len(self._space.groups)):
            refuted = 1
            while refuted:
                for sampler in samplers:
                    sampler.run(min_yield, _MOST_FOCUSED_PAIRS, self._watch.is_over)
                    self._watch.look()
                self._progress(f"thinking about {len(pool):,} kinds of pairs")
                candidates = by_size(sets_without(self._preliminary(pool, max_size), confirmed))
                confirmed, refuted = self._round(pool, candidates, confirmed)
                min_yield /= 4 if refuted else 1
        self._counts["evidence"] = len(pool)
        return pool

    def _sizes(self, most: int) -> Iterator[int | None]:
        """Limits on the size, one after the other: under a limit of time small constraints come first."""
        asked = self._question.max_size
        if self._watch.is_limited:
            yield from depths(most if asked is None else min(most, asked))
        else:
            yield asked

    def _round(self, pool: DenialPool, candidates: Words, confirmed: Words) -> tuple[Words, int]:
        """Check candidates, the smallest first; return all that is confirmed by now, and how many were wrong."""
        self._counts["rounds"] += 1
        self._progress(f"round {self._counts['rounds']}: {len(candidates):,} constraints to check")
        refuted = 0
        for start in range(0, len(candidates), _CHECKS_AT_ONCE):
            batch = candidates[start : start + _CHECKS_AT_ONCE]
            held = np.zeros(len(batch), np.bool_)
            try:
                witnesses = self._check(batch, held)
            finally:
                confirmed = np.concatenate([confirmed, batch[held]])
                self._found = [confirmed]
            pool.add_pairs(witnesses[:, 0], witnesses[:, 1])
            refuted += len(witnesses)
            if len(witnesses) > _TOO_MANY_REFUTED * len(batch):
                break  # the pool knew too little: think again before checking more
        self._counts["refuted"] += refuted
        return confirmed, refuted

    def _check(self, batch: Words, held: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Note which constraints hold, one by one, and return a witness against each of the others."""
        witnesses = []
        tasks = [CheckTask(place, self._space.dc(numbers)) for place, numbers in enumerate(unpack_sets(batch))]
        for verdict in self._engine.check(tasks):
            if verdict.witness is None:
                held[verdict.id] = True
            else:
                witnesses.append(verdict.witness)
            self._counts["checks"] += 1
            self._look()
        return np.array(witnesses, np.int32).reshape(-1, 2)

    def _nothing(self) -> Words:
        return np.zeros((0, words_for(len(self._space))), np.uint64)


def _most_within(error: float, pairs: int) -> int:
    """The most pairs whose share of all does not exceed an error, whatever the rounding."""
    most = int(error * pairs)
    while (most + 1) / pairs <= error:
        most += 1
    while most > 0 and most / pairs > error:
        most -= 1
    return most
