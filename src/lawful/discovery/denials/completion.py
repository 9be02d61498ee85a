"""Hydra's evidence set completion (section 6): all pairs that violate the constraints of a sample.

The constraints that a sample suggests may be wrong. The evidence of every pair that violates one of them, together
with the sample, gives all constraints that hold and no others (Theorem 2). One pair stands for all with the same
evidence, so that is what the engine gives back.

Departures: which constraints are redundant is decided within groups of predicates (rules i, iii and iv of section
6.4) and not along chains of columns; rule v is unsound as printed. Selectivities come from random pairs, but only as
many as a good guess needs. The refiners' own departures stand in `checks.denials.refining`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from lawful.checks.denials.tree import Path, Step
from lawful.common.arrays import Words
from lawful.dependencies import Cell
from lawful.dependencies.predicate_space import EQUAL, GREATER, LESS, ORDER_OPERATORS, PredicateSpace
from lawful.discovery.denials.questions import DenialQuestion
from lawful.discovery.search import Search
from lawful.evidence.denials.lanes import Lane, lanes_of
from lawful.evidence.pool import Follower
from lawful.search.set_trie import SetTrie
from lawful.search.sets import pack_sets, unpack_sets
from lawful.tables.encoded_table import EncodedTable

_SAMPLED_PAIRS = 50_000

Numbers = tuple[int, ...]
"""A constraint as the numbers of its predicates in the space."""


def complete_by_violating_pairs(
    search: Search, question: DenialQuestion, space: PredicateSpace, dcs: Words, taker: Follower
) -> int:
    """Hand the evidence of all pairs that violate any of some constraints to `taker`.

    Parameters
    ----------
    dcs
        The preliminary constraints: sets of predicates of the space, packed.
    taker
        Gets one pair for each distinct evidence.

    Returns
    -------
    int
        How much of it was new to `taker`.
    """
    table = search.table
    assert isinstance(table, EncodedTable)
    preliminary = [tuple(map(int, numbers)) for numbers in unpack_sets(dcs)]
    search.progress("leaving out constraints that others imply")
    checked = without_redundant(space, preliminary)
    search.progress(f"looking for all pairs that violate {len(checked):,} constraints")
    lanes = lanes_of(table, space, question.null_policy)
    paths = plan_paths(space, checked, Selectivities(lanes, space, table.rows, question.seed))
    found = search.engine.violating_pairs(space, paths, search.watch.is_over)
    search.look()
    return taker.add_pairs(np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1]))


def without_redundant(space: PredicateSpace, dcs: Iterable[Numbers]) -> list[Numbers]:
    """Leave out every constraint whose violating pairs all violate another one that is kept, one way or turned round.

    One after the other, smallest first: two that imply each other must not both go. The evidence of both
    orders of a pair is taken, so a constraint may go for the sake of another's mirror image.
    """
    ordered = sorted(dcs, key=lambda numbers: (len(numbers), numbers))
    own = pack_sets(ordered, len(space))
    closures = pack_sets([_implied(space, numbers) for numbers in ordered], len(space))
    turned_round = ([space.mirrored[number] for number in numbers] for numbers in ordered)
    mirrored = pack_sets([_implied(space, numbers) for numbers in turned_round], len(space))
    kept = SetTrie()
    result = []
    for place, numbers in enumerate(ordered):
        if not kept.has_subset_of(closures[place]) and not kept.has_subset_of(mirrored[place]):
            kept.add(own[place])
            result.append(numbers)
    return result


def _implied(space: PredicateSpace, numbers: Iterable[int]) -> list[int]:
    """All predicates that a pair satisfies if it satisfies the numbered ones, group by group."""
    signs: dict[int, int] = {}
    for number in numbers:
        group = space.group_of[number]
        signs[group] = signs.get(group, LESS | EQUAL | GREATER) & space.signs[number]
    return [
        member
        for group, allowed in signs.items()
        for member in space.groups[group].members
        if allowed & ~space.signs[member] == 0
    ]


class Selectivities:
    """How many of all pairs satisfy a predicate, or two at once, guessed from random pairs (section 4.2)."""

    def __init__(self, lanes: Sequence[Lane], space: PredicateSpace, rows: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        size = _SAMPLED_PAIRS if rows > 1 else 0
        t = random.integers(0, max(1, rows), size)
        s = (t + random.integers(1, max(2, rows), size)) % max(1, rows)
        self._size = size
        self._satisfied: list[npt.NDArray[np.uint8]] = []
        for lane, group in zip(lanes, space.groups, strict=True):
            sign = np.sign(lane.left[t].astype(np.int64) - lane.right[s])
            for member in group.members:
                allowed = space.signs[member]
                satisfied = np.array([allowed & LESS, allowed & EQUAL, allowed & GREATER], np.bool_)[sign + 1]
                if lane.nulls is not None:
                    satisfied &= ~(lane.nulls[t] | lane.nulls[s])
                self._satisfied.append(np.packbits(satisfied))

    def of(self, *numbers: int) -> float:
        """The share of pairs that satisfy all of some predicates; never 0."""
        together = np.bitwise_and.reduce([self._satisfied[number] for number in numbers])
        return (1 + int(np.bitwise_count(together).sum())) / (1 + self._size)


def plan_paths(space: PredicateSpace, dcs: Sequence[Numbers], selectivities: Selectivities) -> list[Path]:
    """Order the predicates of each constraint for the tree: by frequency over selectivity, the highest first.

    Predicates that order t and s go in pairs where a constraint has several, the pairs chosen by the same weight.
    """
    frequencies: Counter[Numbers] = Counter()
    for numbers in dcs:
        frequencies.update(combinations(_orders(space, numbers), 2))
    pair_weights = {pair: count / selectivities.of(*pair) for pair, count in frequencies.items()}
    all_steps = [_steps(space, numbers, pair_weights) for numbers in dcs]
    step_frequencies = Counter(step for steps in all_steps for step in steps)
    weights = {step: count / selectivities.of(*step) for step, count in step_frequencies.items()}
    ordered = [sorted(steps, key=lambda step: (-weights[step], step)) for steps in all_steps]
    # Neighbours share long beginnings, wherever the list is cut.
    ordered.sort(key=lambda steps: [(-weights[step], step) for step in steps])
    return [tuple(_as_step(space, step) for step in steps) for steps in ordered]


def _orders(space: PredicateSpace, numbers: Numbers) -> Numbers:
    """The predicates that are inequality joins, ascending."""
    chosen = []
    for number in sorted(numbers):
        predicate = space.predicates[number]
        is_join = isinstance(predicate.right, Cell) and predicate.right.row != predicate.left.row
        if is_join and predicate.operator in ORDER_OPERATORS:
            chosen.append(number)
    return tuple(chosen)


def _steps(space: PredicateSpace, numbers: Numbers, weights: dict[Numbers, float]) -> list[Numbers]:
    """The predicates of a constraint, inequality joins two by two as far as they go."""
    left = list(_orders(space, numbers))
    steps: list[Numbers] = [(number,) for number in numbers if number not in left]
    while len(left) >= 2:
        pair = max(combinations(left, 2), key=lambda pair: (weights[pair], pair))
        steps.append(pair)
        left = [number for number in left if number not in pair]
    steps.extend((number,) for number in left)
    return steps


def _as_step(space: PredicateSpace, numbers: Numbers) -> Step:
    return tuple(space.predicates[number] for number in numbers)
