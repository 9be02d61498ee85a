"""Preliminary denial constraints: what a sample of pairs leaves open (Hydra, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from lawful.common.arrays import Int64s, Words
from lawful.common.memory import make_room
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

Numbers = tuple[int, ...]
"""A constraint as the numbers of its predicates in the space, ascending."""

_FOUND_FOR_A_CHECK = 8
"""How many constraints are found for one that is left to check, at most: others are mirror images or implied."""

_COPIES = 6
"""What it takes to find out what follows from what, in copies of the constraints."""


class Preliminary(ComparedPairs):
    """The constraints over a predicate space that no pair of the pool breaks, and the pool that says so."""

    def __init__(
        self, search: Search, question: DenialQuestion, table: EncodedTable | SampleTable, space: PredicateSpace
    ) -> None:
        super().__init__(search, question, table, space)
        self._question = question

    def over(self, space: PredicateSpace) -> Preliminary:
        """The same over a space, with a pool of its own."""
        return Preliminary(self._search, self._question, self._table, space)

    def in_this_space(self, constraints: Sequence[Numbers], space: PredicateSpace) -> Sequence[Numbers]:
        """Constraints over some of the predicates, numbered as here."""
        if space is self.space or not constraints:
            return constraints
        numbers = [self.space.numbers[predicate] for predicate in space.predicates]
        return [tuple(sorted(numbers[one] for one in each)) for each in constraints]

    def of_few(self, constraints: Sequence[Numbers], copies: int = 0) -> tuple[Preliminary, Words, Int64s]:
        """Constraints as sets of only those predicates that they, or their mirror images, are made of.

        Returns also the numbers that these predicates have here. What follows from what is the same in either space:
        constraints are made of these predicates alone.

        Raises
        ------
        StoppedError
            If there is no room for so many copies of these sets.
        """
        named = np.unique(np.fromiter(chain.from_iterable(constraints), np.int64))
        named = np.union1d(named, np.array(self.space.mirrored, np.int64)[named])
        make_room(copies * len(constraints) * self.nothing().itemsize * words_for(len(named)))
        few = self.over(self.space.only(named.tolist()))
        places = dict(zip(named.tolist(), range(len(named)), strict=True))
        return few, pack_sets([[places[one] for one in each] for each in constraints], len(named)), named

    def strongest_of(self, constraints: Sequence[Numbers]) -> list[Numbers]:
        """Some constraints without those that follow from others, small ones first."""
        few, sets, named = self.of_few(constraints, _COPIES)
        kept, _ = reduced_places(sets, few.space, should_stop=self.is_over)
        self.look()
        return [tuple(named[list(each)].tolist()) for each in unpack_sets(by_size(kept))]

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
