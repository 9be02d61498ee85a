"""Preliminary denial constraints: what a sample of pairs leaves open (Hydra, sections 4 and 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from lawful.common.arrays import Words
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.kernels.working_clock import working_seconds
from lawful.discovery.search import Search
from lawful.evidence import EFFICIENCY_THRESHOLD, FocusedSampler, sample_random_pairs
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.evidence.denials.pool import DenialPool
from lawful.search.denials.inversion import depths, minimal_constraints
from lawful.search.denials.literals import Convention, Literals, finds_no_implied
from lawful.search.denials.reduction import Counts, ShouldStop, reduced_places
from lawful.search.sets import by_size, words_for
from lawful.tables.encoded_table import EncodedTable

RANDOM_PARTNERS = 20
"""Random partners of every row in the first sample (Hydra, section 4.2)."""

_MOST_RANDOM_PAIRS = 4_000_000
_SECONDS_A_CHECKED_ROW = 10e-9
"""What a check takes for each row, about."""
_FOUND_FOR_A_CHECK = 8
"""How many constraints are found for one that is left to check, at most: others are mirror images or implied."""


class SlowerThanAllPairsError(Exception):
    """Thinking and checking have taken so long that comparing all pairs is the quicker way."""


class Preliminary:
    """The constraints over a predicate space that no pair of the pool breaks, and the pool that says so.

    Attributes
    ----------
    patience_ends
        When to give up sampling and checking, on the clock that leaves out compiling.
    confirmed
        How many constraints are known to hold, and need no check.
    """

    def __init__(self, search: Search, question: DenialQuestion, table: EncodedTable, space: PredicateSpace) -> None:
        self.space = space
        self.names = tuple(table.names)
        self.patience_ends = math.inf
        self.confirmed = 0
        self._search, self._question, self._table = search, question, table

    @cached_property
    def pool(self) -> DenialPool:
        """The evidence of the pairs that were compared; at first of those that other families have learnt from."""
        pool = DenialPool(self._table, self.space, self._question.null_policy)
        known = self._search.shared(self._question).known_pairs
        if self.space.groups and len(known):
            pool.add_pairs(*np.ascontiguousarray(known.T))
        return pool

    @property
    def evidence(self) -> DenialEvidence:
        """What the pool knows."""
        self._search.counts["evidence"] = len(self.pool)
        return self.pool.evidence

    def sample(self) -> FocusedSampler:
        """Hydra's sample (section 4): random partners for every row, then the foci that find most."""
        question, table, pool = self._question, self._table, self.pool
        self._search.progress("comparing some pairs of rows")
        random_pairs = min(RANDOM_PARTNERS * table.rows, _MOST_RANDOM_PAIRS)
        sample_random_pairs(pool, random_pairs, question.seed)
        ordered = [group.left.column for group in self.space.groups if group.same_column and group.is_ordered]
        sampler = FocusedSampler(pool, table, question.seed, ordered)
        sampler.run(EFFICIENCY_THRESHOLD, should_stop=self._search.watch.is_over)
        self._search.look()
        self._search.counts["sampled"] = len(pool)
        return sampler

    def sampled_and_inverted(self) -> Words:
        """Sample, and give what the sample suggests."""
        self.sample()
        return self.constraints(self._question.max_size)

    def constraints(self, max_size: int | None) -> Words:
        """The strongest constraints that no pair of the pool breaks: if they hold, all others do. Small ones first."""
        inverted, found = [self.nothing()], 0
        for sets in self.inverted(self.pool.evidence, "reduced", max_size):
            inverted.append(sets)
            found += len(sets)
            self._give_up_if_checks_take_longer(found // _FOUND_FOR_A_CHECK)
        candidates, _ = self.reduced(np.concatenate(inverted), has_images=True, should_stop=self._is_over)
        self.look()
        return by_size(candidates)

    def inverted(
        self, evidence: DenialEvidence, convention: Convention, max_size: int | None, *, by_size: bool = False
    ) -> Iterator[Words]:
        """The minimal constraints that no known pair breaks; pairs break them in either order (section 6.4)."""
        literals = Literals.of(self.space, convention)
        edges = literals.edges(evidence.signs.less, evidence.signs.greater)
        self._search.look()
        return minimal_constraints(edges, literals, max_size, self.look, by_size=by_size)

    def reduced(self, sets: Words, *, has_images: bool, should_stop: ShouldStop) -> tuple[Words, Counts]:
        """Some constraints without those that follow from others, and their places."""
        return reduced_places(
            sets,
            self.space,
            only_mirrored=finds_no_implied(self.space),
            has_images=has_images,
            should_stop=should_stop,
        )

    def sizes(self, most: int) -> Iterator[int | None]:
        """Limits on the size, one after the other: under a limit of time small constraints come first."""
        asked = self._question.max_size
        if self._search.watch.is_limited:
            yield from depths(most if asked is None else min(most, asked))
        else:
            yield asked

    def nothing(self) -> Words:
        """No constraint at all."""
        return np.zeros((0, words_for(len(self.space))), np.uint64)

    def look(self) -> None:
        """End the search at its limits, or this way of searching where another is quicker by now."""
        self._search.look()
        if working_seconds() > self.patience_ends:
            raise SlowerThanAllPairsError

    def _is_over(self) -> bool:
        """Whether `look` would end something."""
        return self._search.watch.is_over() or working_seconds() > self.patience_ends

    def _give_up_if_checks_take_longer(self, candidates: int) -> None:
        """Leave so many candidates to all pairs if checking them would outlast the patience."""
        expected = (candidates - self.confirmed) * self._table.rows * _SECONDS_A_CHECKED_ROW
        if working_seconds() + expected > self.patience_ends:
            raise SlowerThanAllPairsError
