"""Preliminary denial constraints: what a sample of pairs leaves open (Hydra, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.common.arrays import Words
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.compared_pairs import ComparedPairs
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.search import Search
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.search import pack_sets, unpack_sets
from lawful.search.denials.inversion import depths, minimal_constraints
from lawful.search.denials.literals import Convention, Literals, finds_no_implied
from lawful.search.denials.reduction import Counts, ShouldStop, reduced_places
from lawful.search.sets import by_size, words_for
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.sample import SampleTable

_FOUND_FOR_A_CHECK = 8
"""How many constraints are found for one that is left to check, at most: others are mirror images or implied."""


class Preliminary(ComparedPairs):
    """The constraints over a predicate space that no pair of the pool breaks, and the pool that says so."""

    def __init__(
        self, search: Search, question: DenialQuestion, table: EncodedTable | SampleTable, space: PredicateSpace
    ) -> None:
        super().__init__(search, question, table, space)
        self._question = question

    def with_own_pool(self) -> Preliminary:
        """The same with a pool of its own."""
        return Preliminary(self._search, self._question, self._table, self.space)

    def of_this_space(self, sets: Words, space: PredicateSpace) -> Words:
        """Constraints over some of the predicates, numbered as here."""
        if space is self.space:
            return sets
        numbers = [self.space.numbers[predicate] for predicate in space.predicates]
        return pack_sets([[numbers[one] for one in each] for each in unpack_sets(sets)], len(self.space))

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
            self.give_up_if_checks_take_longer(found // _FOUND_FOR_A_CHECK)
        candidates, _ = self.reduced(np.concatenate(inverted), has_images=True, should_stop=self.is_over)
        self.look()
        return by_size(candidates)

    def inverted(
        self, evidence: DenialEvidence, convention: Convention, max_size: int | None, *, by_size: bool = False
    ) -> Iterator[Words]:
        """The minimal constraints that no known pair breaks; pairs break them in either order (section 6.4)."""
        literals = Literals.of(self.space, convention)
        edges = literals.edges(evidence.signs.less, evidence.signs.greater, self.look)
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
