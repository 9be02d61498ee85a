"""What a search for denial constraints chooses from, and the constraints that its choices stand for.

For the reduced convention these are *signs* to exclude in a group and not predicates to take: excluding greater is
<=, excluding greater and equal is <. A minimal choice of exclusions is exactly a constraint that no other one implies
group by group, so the many implied ones are never made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import combinations
from operator import and_
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.memory import make_room
from lawful.dependencies.predicate_space import ANY_SIGN, EQUAL, GREATER, LESS, PredicateSpace, worked_out_once
from lawful.search.denials.kernels import inversion as kernels
from lawful.search.kernels.sets import move_columns
from lawful.search.sets import Look, look_away, minimal_sets, padded_lists, words_for

Convention = Literal["reduced", "one-per-pair", "set-minimal"]
CONVENTIONS: Final[tuple[Convention, ...]] = ("reduced", "one-per-pair", "set-minimal")
Counts = npt.NDArray[np.int64]
Masks = tuple[int, ...]

_REMEMBERED = 32
_EDGES_AT_ONCE = 1 << 15
"""Pairs whose edges are made between two looks at the limits: less than a tenth of a second."""


@dataclass(frozen=True, eq=False)
class Literals:
    """For each literal its group and the signs that it allows; those of a group stand together.

    Attributes
    ----------
    units
        What a limit on predicates counts: all literals of a group as one if they come down to one predicate.
    rivals
        For each literal a list of those that no constraint may have next to it.
    is_predicates
        Whether literals are the predicates of the space, under the same numbers.
    """

    space: PredicateSpace
    groups: Counts
    masks: Counts
    units: Counts
    rivals: Counts
    is_predicates: bool

    @staticmethod
    @worked_out_once
    def of(space: PredicateSpace, convention: Convention) -> Literals:
        """The literals for a convention over a space."""
        chosen: list[tuple[int, int]] = []
        rivals: list[Sequence[int]] = []
        for number, group in enumerate(space.groups):
            own, is_split = _literals_of(tuple(space.signs[member] for member in group.members), convention)
            literals = range(len(chosen), len(chosen) + len(own))
            is_exclusive = not is_split and convention != "set-minimal"
            rivals.extend([other for other in literals if is_exclusive and other != one] for one in literals)
            chosen.extend((number, mask) for mask in own)
        groups, masks_of_all = (np.array(side, np.int64) for side in zip(*chosen, strict=True)) if chosen else _NONE
        units = np.arange(len(chosen)) if convention == "set-minimal" else groups
        return Literals(space, groups, masks_of_all, units, padded_lists(rivals), convention != "reduced")

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def members(self) -> Counts:
        """For each unit the list of its literals."""
        return members_of(self.units)

    @cached_property
    def most_units(self) -> int:
        """The most units that a constraint can have literals of."""
        return len(self.members)

    @cached_property
    def _mirrored(self) -> Counts:
        """For each literal the one that says the same of a pair turned round."""
        numbers = {place: number for number, place in enumerate(self._places)}
        images = []
        for group, mask in self._places:
            image, turns = self.space.mirrored_groups[group]
            images.append(numbers[image, _converse(mask) if turns else mask])
        return np.array(images, np.int64)

    @property
    def _places(self) -> list[tuple[int, int]]:
        return list(zip(self.groups.tolist(), self.masks.tolist(), strict=True))

    @cached_property
    def _first_of_group(self) -> Counts:
        return np.searchsorted(self.groups, np.arange(len(self.space.groups)))

    @cached_property
    def _meanings(self) -> Counts:
        """For each group and each choice of its literals, as bits, the predicate that it comes down to."""
        masks_of_groups: list[list[int]] = [[] for _ in self.space.groups]
        for group, mask in self._places:
            masks_of_groups[group].append(mask)
        most = max(map(len, masks_of_groups), default=0)
        meanings = np.full((len(masks_of_groups), 1 << most), kernels.NO_PREDICATE, np.int64)
        for group, masks in enumerate(masks_of_groups):
            members = self.space.groups[group].members
            own = _meanings_of(tuple(masks), tuple(self.space.signs[one] for one in members), self.is_predicates)
            meanings[group, : len(own)] = [place if place < 0 else members[place] for place in own]
        return meanings

    def all_edges(self, less: Words, greater: Words) -> Words:
        """For each vector of signs the literals of which a valid constraint must hold one."""
        return kernels.literal_edges(less, greater, self.groups, self.masks, words_for(len(self)))

    def turned(self, edges: Words) -> Words:
        """The edges of the same pairs turned round."""
        return move_columns(edges, self._mirrored, edges.shape[1])

    def edges(self, less: Words, greater: Words, look: Look = look_away) -> Words:
        """The minimal edges of pairs in either order; `look` is called now and then, and may raise an error."""
        make_room(2 * len(less) * words_for(len(self)) * less.itemsize)
        edges = np.empty((2 * len(less), words_for(len(self))), np.uint64)
        for first in range(0, len(less), _EDGES_AT_ONCE):
            look()
            some = slice(first, first + _EDGES_AT_ONCE)
            own = self.all_edges(less[some], greater[some])
            edges[first : first + len(own)] = own
            edges[len(less) + first : len(less) + first + len(own)] = self.turned(own)
        return minimal_sets(edges, look)

    def predicates(self, sets: Words) -> Words:
        """The sets of predicates that sets of literals stand for; those without a meaning, or trivial, are left out."""
        return self.meant(sets)[0]

    def meant(self, sets: Words) -> tuple[Words, npt.NDArray[np.bool_]]:
        """The same, and which sets were not left out."""
        words = words_for(len(self.space))
        return kernels.meant_sets(sets, self.groups, self._first_of_group, self._meanings, self.is_predicates, words)


def members_of(units: Counts) -> Counts:
    """For each unit the list of its literals; those of a unit stand together."""
    firsts = np.flatnonzero(np.diff(units, prepend=-1))
    ends = np.append(firsts, len(units))[1:]
    return padded_lists([range(first, end) for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)])


@worked_out_once
def finds_no_implied(space: PredicateSpace) -> bool:
    """Whether no minimal constraint of the reduced convention follows from another as it stands.

    So it is within single columns if each predicate comes down from literals in one way only: then a constraint that
    follows from another has all of its literals and is not minimal. And where pairs count in either order, the mirror
    image of every minimal constraint is one too, so that none follows from another's image but the image itself.
    """
    if space.compares_across:
        return False
    literals = Literals.of(space, "reduced")
    return all(
        _come_down_in_one_way(tuple(literals.masks[literals.groups == group].tolist()))
        for group in range(len(space.groups))
    )


@lru_cache(maxsize=_REMEMBERED)
def _come_down_in_one_way(masks: Masks) -> bool:
    for size in range(1, len(masks) + 1):
        for chosen in combinations(masks, size):
            common = reduce(and_, chosen)
            if common and any(mask not in chosen and common & ~mask == 0 for mask in masks):
                return False
    return True


@lru_cache(maxsize=_REMEMBERED)
def _meanings_of(masks: Masks, by_member: Masks, is_predicates: bool) -> list[int]:
    """For each choice of literals with some masks, the place of the member of their group that they come down to."""
    meanings = [kernels.NO_PREDICATE]
    for code in range(1, 1 << len(masks)):
        mask = reduce(and_, (mask for place, mask in enumerate(masks) if code >> place & 1), ANY_SIGN)
        if mask == 0 or (not is_predicates and mask not in by_member):
            meanings.append(kernels.TRIVIAL)
        else:
            meanings.append(by_member.index(mask) if mask in by_member else kernels.NO_PREDICATE)
    return meanings


@lru_cache(maxsize=_REMEMBERED)
def _literals_of(masks: Masks, convention: Convention) -> tuple[Masks, bool]:
    """The literals of a group, given what each of its predicates allows, and whether they are signs to exclude."""
    is_split = convention == "reduced" and _is_closed(masks)
    return tuple(mask for mask in masks if _is_irreducible(mask, masks)) if is_split else masks, is_split


def _converse(mask: int) -> int:
    """The signs of the other direction."""
    return (mask & EQUAL) | (GREATER if mask & LESS else 0) | (LESS if mask & GREATER else 0)


def _is_closed(masks: Masks) -> bool:
    """Whether any two predicates of a group that do not exclude each other come down to one that is there."""
    return all(one & other in masks or one & other == 0 for one in masks for other in masks)


def _is_irreducible(mask: int, masks: Masks) -> bool:
    """Whether a predicate does not come down to weaker ones."""
    common = ANY_SIGN
    for other in masks:
        if other != mask and mask & ~other == 0:
            common &= other
    return common != mask


_NONE = (np.zeros(0, np.int64), np.zeros(0, np.int64))
