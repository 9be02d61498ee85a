"""Pairs of rows compared over a predicate space, some at first and more where that spares checks.

Denial constraints and pointwise order dependencies share it: what one pair says of a law is its evidence.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiling import working_seconds
from lawful.common.machine import cores
from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.cost_model import full_evidence_seconds
from lawful.discovery.questions import Watch
from lawful.discovery.search import Asked, Search
from lawful.evidence import EFFICIENCY_THRESHOLD, FocusedSampler, WindowSampler, YieldSampler, sample_random_pairs
from lawful.evidence.byte_columns import DIRECT_BITS
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.evidence.denials.pool import ComparesPairs, DenialPool
from lawful.evidence.signs import SignVectors
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranked_table import RankedTable
from lawful.tables.sample import SampleTable

RANDOM_PARTNERS = 20
"""Random partners of every row in the first sample (Hydra, section 4.2)."""

_MOST_RANDOM_PAIRS = 4_000_000
_MOST_FOCUSED_PAIRS = 100_000_000
_FIRST_YIELD = 0.0005
_SECONDS_A_CHECKED_ROW = 10e-9
"""What a check takes for each row, about."""
_FULL_SECONDS = 2.0
_PATIENCE = 1.0
"""How many times as long as comparing all pairs sampling and checking may take before all pairs are compared."""
_SECONDS_A_HASHED_PAIR = 20e-9
"""What one thread takes for a pair whose vector is too long for a table of all vectors."""
_SHARE_FOR_SMALL, _MOST_FOR_SMALL = 0.4, 60.0
"""The share of the time that is left, and the most seconds, for small laws before all others."""
WORTH_A_LOOK = 1 << 24
"""With fewer comparisons than this, all pairs of rows are compared before small laws would be found by checks."""


class SlowerThanAllPairsError(Exception):
    """Thinking and checking have taken so long that comparing all pairs is the quicker way."""


class ComparedPairs:
    """The pool of the pairs that were compared over a space, and the samplers that fill it.

    Attributes
    ----------
    patience_ends
        When to give up sampling and checking, on the clock that leaves out compiling.
    confirmed
        How many laws are known to hold, and need no check.
    """

    def __init__(
        self, search: Search, question: Asked, table: EncodedTable | SampleTable, space: PredicateSpace
    ) -> None:
        self.space = space
        self.names = tuple(table.names)
        self.patience_ends = math.inf
        self.confirmed = 0
        self._search, self._asked, self._table = search, question, table
        # Rows that join a sample later are compared where they refute something, and not sampled.
        self._sampled: RankedTable = table.drawn if isinstance(table, SampleTable) else table
        self._samplers: tuple[YieldSampler, ...] = ()
        self._min_yield = _FIRST_YIELD

    @cached_property
    def pool(self) -> DenialPool:
        """The evidence of the pairs that were compared; at first of those that other families have learnt from."""
        pool = DenialPool(self._sampled, self.space, self._asked.null_policy, self._search.look)
        known = self._search.shared(self._asked).known_pairs
        if self.space.groups and len(known):
            self._add_to(pool, known)
        return pool

    def _add_to(self, pool: DenialPool, pairs: Int32s) -> None:
        if isinstance(self._table, SampleTable):
            pool.add_pairs_of(self._table, pairs[:, 0], pairs[:, 1])
        else:
            pool.add_pairs(*np.ascontiguousarray(pairs.T))

    def rated(self, space: PredicateSpace) -> ComparesPairs:
        """What interest is taken from: pairs of all rows, also where the pool has a sample of them."""
        if isinstance(self._table, SampleTable):
            return _PairsOfAllRows(self._table, space, self._asked.null_policy)
        return DenialPool(self._sampled, space, self._asked.null_policy)

    @property
    def evidence(self) -> DenialEvidence:
        """What the pool knows."""
        self._search.counts["evidence"] = len(self.pool)
        return self.pool.evidence

    def all_pairs(self, *, counted: bool) -> DenialEvidence:
        """The evidence of all pairs of rows, from wherever the engine compares them."""
        search = self._search
        search.progress(f"comparing all pairs of {search.table.rows:,} rows")
        evidence = search.engine.denial_evidence(self.space, search.watch.is_over, counted=counted)
        search.look()
        search.counts["evidence"] = len(evidence)
        return evidence

    def sample(self) -> FocusedSampler:
        """Hydra's sample (section 4): random partners for every row, then the foci that find most."""
        table, pool, seed = self._sampled, self.pool, self._asked.seed
        self._search.progress("comparing some pairs of rows")
        random_pairs = min(RANDOM_PARTNERS * table.rows, _MOST_RANDOM_PAIRS)
        sample_random_pairs(pool, random_pairs, seed)
        ordered = [group.left.column for group in self.space.groups if group.same_column and group.is_ordered]
        sampler = FocusedSampler(pool, table, seed, ordered)
        sampler.run(EFFICIENCY_THRESHOLD, should_stop=self._search.watch.is_over)
        self._search.look()
        self._search.counts["sampled"] = len(pool)
        return sampler

    def sample_more(self, *, after_refutations: bool) -> None:
        """Compare pairs until they yield too little, which is less each time that laws were refuted.

        Comparing pairs is quick beside thinking and checking, so samplers go on for longer than Hydra's, and before
        every thought for longer still. Rows that agree on much are rare among random ones: windows find them.
        """
        if not self._samplers:
            focused = self.sample()
            windows = WindowSampler(self.pool, self._sampled, self._asked.seed)
            self._samplers = focused, windows
        self._min_yield /= 4 if after_refutations else 1
        for sampler in self._samplers:
            sampler.run(self._min_yield, _MOST_FOCUSED_PAIRS, self._search.watch.is_over)
            self._search.look()

    def sample_a_little(self, pairs: int) -> None:
        """Compare so many pairs, unless some are known: enough to refute most small laws, and over in a moment.

        A fifth of them are random, the others neighbours in some column.
        """
        if not len(self.pool):
            near = pairs * 4 // 5
            sample_random_pairs(self.pool, pairs - near, self._asked.seed)
            judged_after = max(1, near // (2 * max(1, len(self.pool.columns))))  # so that each column has its turn
            windows = WindowSampler(self.pool, self._sampled, self._asked.seed, judged_after)
            windows.run(0.0, near, self._search.watch.is_over)
            self._search.look()

    def be_patient_for_small_laws(self) -> None:
        """Give small laws a share of the time that is left."""
        self.patience_ends = end_of_small_laws(self._search.watch)

    def learn(self, witnesses: list[tuple[int, int]]) -> None:
        """Take in pairs that refute laws, for this search and those of other families."""
        if witnesses:
            self._add_to(self.pool, np.array(witnesses, np.int32))
            self._search.shared(self._asked).learn(witnesses)

    def look(self) -> None:
        """End the search at its limits, or this way of searching where another is quicker by now."""
        self._search.look()
        if working_seconds() > self.patience_ends:
            raise SlowerThanAllPairsError

    def is_over(self) -> bool:
        """Whether `look` would end something."""
        return self._search.watch.is_over() or working_seconds() > self.patience_ends

    def wait_as_long_as_all_pairs_take(self) -> None:
        """Give up sampling and checking once comparing all pairs would have been done."""
        rows, groups = self._search.table.rows, self.space.groups
        bits = sum(2 if group.is_ordered else 1 for group in groups)
        hashing = 0.0 if bits <= DIRECT_BITS else math.comb(rows, 2) * _SECONDS_A_HASHED_PAIR / cores()
        patience = _PATIENCE * max(hashing, full_evidence_seconds(rows, 2 * len(groups)))
        self.patience_ends = working_seconds() + patience

    def give_up_if_checks_take_longer(self, candidates: int) -> None:
        """Leave so many candidates to all pairs if checking them would outlast the patience."""
        expected = (candidates - self.confirmed) * self._table.rows * _SECONDS_A_CHECKED_ROW
        if working_seconds() + expected > self.patience_ends:
            raise SlowerThanAllPairsError


class _PairsOfAllRows:
    """Pairs of rows of a table of which a sample is here: their ranks are fetched."""

    def __init__(self, sample: SampleTable, space: PredicateSpace, policy: NullPolicy) -> None:
        self.rows = sample.whole.rows
        self._sample, self._space, self._policy = sample, space, policy

    def compare(self, left: Int64s, right: Int64s) -> SignVectors:
        """The vectors of pairs, given by the ids of their rows."""
        ids, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        pool = DenialPool(self._sample.of_rows(ids), self._space, self._policy)
        t, s = np.split(places.astype(np.int32), 2)
        return pool.compare(t, s)


def small_laws_come_first(search: Search, groups: int) -> bool:
    """Whether small laws are found by checks before all pairs could be compared, and somebody may need them.

    A pair is compared in so many groups.
    """
    return search.watch.is_limited and math.comb(search.table.rows, 2) * groups > WORTH_A_LOOK


def end_of_small_laws(watch: Watch) -> float:
    """When to end a search for small laws that goes before the search for all."""
    return working_seconds() + min(_MOST_FOR_SMALL, _SHARE_FOR_SMALL * watch.seconds_left)


def full_evidence_is_quicker(rows: int, space: PredicateSpace) -> bool:
    """Whether to compare all pairs: if that takes no longer than checking some thousands of laws would.

    A comparison takes about twice as long as one of agree sets, since it has two bits per group.
    """
    return full_evidence_seconds(rows, 2 * len(space.groups)) <= _FULL_SECONDS


def most_within(error: float, pairs: int) -> int:
    """The most pairs whose share of all does not exceed an error, whatever the rounding."""
    most = int(error * pairs)
    while (most + 1) / pairs <= error:
        most += 1
    while most > 0 and most / pairs > error:
        most -= 1
    return most
