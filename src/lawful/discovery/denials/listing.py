"""Denial constraints as they are given back: packed, with how interesting each is and what it says in plain words.

The interest of a constraint is the mean of its succinctness and its coverage (Chu, Ilyas and Papotti, "Discovering
denial constraints", PVLDB 2013, section 5). Succinct is what takes few different columns and operators to say. A pair
of rows that satisfies k of n predicates counts (k + 1) / n towards coverage: the nearer pairs come to breaking a
constraint without doing so, the more it says. Coverage is estimated from random pairs, the same for all constraints and
all seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Floats, Words
from lawful.dependencies import DC, LawKind
from lawful.dependencies.denial_readings import plain_reading
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.denials.pool import ComparesPairs
from lawful.search import set_sizes, unpack_sets
from lawful.search.denials.kernels.inversion import count_met, member_sums
from lawful.search.denials.literals import Literals
from lawful.search.kernels.sets import count_occurrences, move_columns
from lawful.search.kernels.supersets import superset_weights
from lawful.search.sets import full_set, pack_sets, unpack_set, words_for

_MOST_COMPARISONS = 200_000_000
_FEWEST_PAIRS, _PAIRS_A_ROW, _MOST_PAIRS = 500, 20, 20_000
_SEED = 0
_UNPACKED_AT_ONCE = 4096
_WORDS_AT_ONCE = 1 << 22
"""The words of evidence that are looked at together."""


@dataclass(frozen=True, eq=False)
class DenialListing:
    """Denial constraints over one space; `sets` are the numbers of their predicates, packed.

    `rate` says how interesting each is, once somebody asks.
    """

    space: PredicateSpace
    names: tuple[str, ...]
    sets: Words
    rate: Callable[[], Floats]
    errors: Floats | None = None

    @cached_property
    def interests(self) -> Floats:
        """How interesting each is, from 0 to 1."""
        return self.rate()

    @property
    def kind(self) -> LawKind:
        """The kind of all of these laws."""
        return "dc"

    def __len__(self) -> int:
        return len(self.sets)

    def laws(self) -> Iterator[DC]:
        """The laws as values, made as they are asked for."""
        for start in range(0, len(self.sets), _UNPACKED_AT_ONCE):
            for numbers in unpack_sets(self.sets[start : start + _UNPACKED_AT_ONCE]):
                yield self.space.dc(numbers)

    def readings(self) -> Iterator[str | None]:
        """What each says in plain words, where a simpler law says the same."""
        for dc in self.laws():
            yield plain_reading(dc, self.names)

    def ties(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Laws of the same interest stay in the order in which the search has put them."""
        return ()

    def chosen(self, places: npt.NDArray[np.int64]) -> DenialListing:
        """Some of the laws, in that order."""
        errors = None if self.errors is None else self.errors[places]
        interests = self.interests[places]
        return DenialListing(self.space, self.names, self.sets[places], lambda: interests, errors)


def interests_of(
    sets: Words, space: PredicateSpace, pool_over: Callable[[PredicateSpace], ComparesPairs], *, hold: bool = True
) -> Floats:
    """How interesting each constraint is, from 0 to 1.

    Parameters
    ----------
    pool_over
        Makes what compares pairs of rows over some predicates. A constraint says nothing of the others, of which a wide
        space has very many.
    hold
        That no pair of rows breaks any of the constraints.
    """
    if not len(sets) or not len(space):
        return np.ones(len(sets))
    named = unpack_set(np.bitwise_or.reduce(sets))
    destination = np.full(len(space), -1, np.int64)
    destination[list(named)] = np.arange(len(named))
    sets, narrow = move_columns(sets, destination, words_for(len(named))), space.only(named)
    return 0.5 * (_succinctness(sets, narrow) + _coverage(sets, narrow, pool_over(narrow), hold))


def _succinctness(sets: Words, space: PredicateSpace) -> Floats:
    symbols: dict[object, list[int]] = {}
    for number, predicate in enumerate(space.predicates):
        group = space.groups[space.group_of[number]]
        for symbol in (predicate.operator, *group.columns):
            symbols.setdefault(symbol, []).append(number)
    length = count_met(sets, pack_sets(symbols.values(), len(space)))
    shortest = 2.0  # one column and one operator
    succinct: Floats = shortest / np.maximum(length, shortest)
    return succinct


def _coverage(sets: Words, space: PredicateSpace, pool: ComparesPairs, hold: bool) -> Floats:
    """The mean of (k + 1) / n over the pairs that break nothing.

    The mean of k is the sum of the shares of pairs that satisfy each predicate, so no constraint needs to be held
    against every pair, unless some pairs break it and are to be left out.
    """
    if pool.rows < 2:
        return np.ones(len(sets))
    pairs = min(_PAIRS_A_ROW * pool.rows, _MOST_PAIRS)
    if not hold:
        pairs = int(np.clip(_MOST_COMPARISONS // len(sets), min(_FEWEST_PAIRS, pairs), pairs))
    random = np.random.default_rng(_SEED)
    left = random.integers(0, pool.rows, pairs)
    right = (left + random.integers(1, pool.rows, pairs)) % pool.rows
    literals, everything, is_empty = Literals.of(space, "set-minimal"), full_set(len(space)), ~sets.any(axis=1)
    satisfying, left_out = np.zeros(64 * sets.shape[1], np.int64), np.zeros(len(sets), np.int64)
    at_once = max(_FEWEST_PAIRS, _WORDS_AT_ONCE // sets.shape[1])
    for start in range(0, pairs, at_once):
        signs = pool.compare(left[start : start + at_once], right[start : start + at_once])
        satisfied = ~literals.all_edges(signs.less, signs.greater) & everything
        satisfying += count_occurrences(satisfied)
        if not hold:
            left_out += superset_weights(sets, satisfied, np.ones(len(satisfied), np.int64))
    left_out[is_empty] = 0
    sizes = np.maximum(set_sizes(sets), 1)
    total = member_sums(sets, satisfying)
    near = pairs - left_out
    covered: Floats = ((total - sizes * left_out) / np.maximum(near, 1) + 1) / sizes
    return np.where(near > 0, covered, 0.0)
