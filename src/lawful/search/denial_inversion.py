"""Evidence inversion: from what pairs of rows satisfy to the minimal denial constraints that none of them breaks.

A constraint is valid if no evidence contains it (Hydra, section 5), so that it must hold a predicate that the pair
does not satisfy, for every pair: constraints are hitting sets. Departures from Hydra's Algorithm 1:

- The shared search for hitting sets takes the place of refining all constraints evidence by evidence. It gives out
  constraints as it finds them, needs no test for subsets, and starts from the empty constraint.
- Triviality is joint and needs no care while searching: predicates that exclude each other hit every evidence, so a
  minimal hitting set that holds such predicates holds nothing else. These few sets are dropped in the end.
- For the reduced convention the search chooses which *signs* to exclude in a group instead of which predicate to
  take: excluding greater is <=, excluding greater and equal is <. A minimal choice of exclusions is exactly a
  constraint that no other one implies group by group, so the many implied ones are never made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from lawful.dependencies.predicate_space import ANY_SIGN, PredicateSpace
from lawful.search import almost_denial_kernels as almost
from lawful.search import denial_kernels as kernels
from lawful.search.denial_reduction import is_possible
from lawful.search.hitting_set_kernels import CANDIDATES, LEVEL, MARK_SLOTS, SET_SLOTS, UNCOVERED, open_node
from lawful.search.hitting_sets import CHUNK_SETS, SLICE_NODES
from lawful.search.set_kernels import transpose
from lawful.search.sets import (
    Words,
    full_set,
    minimal_sets,
    pack_sets,
    set_sizes,
    union_of,
    words_for,
)

Convention = Literal["reduced", "one-per-pair", "set-minimal"]
CONVENTIONS: Final[tuple[Convention, ...]] = ("reduced", "one-per-pair", "set-minimal")
Counts = npt.NDArray[np.int64]
Look = Callable[[], None]

_TRIVIAL, _ABSENT = -2, -1
_ALMOST_NODES = 1 << 10


@dataclass(frozen=True, eq=False)
class Literals:
    """What the search for a convention chooses from: for each literal its group and the signs that it allows.

    Attributes
    ----------
    units
        What a limit on predicates counts: all literals of a group as one if they come down to one predicate.
    rivals
        For each literal those that no constraint may have next to it, packed.
    is_predicates
        Whether literals are the predicates of the space, under the same numbers.
    """

    space: PredicateSpace
    groups: Counts
    masks: Counts
    units: Counts
    rivals: Words
    is_predicates: bool

    @staticmethod
    def of(space: PredicateSpace, convention: Convention) -> Literals:
        """The literals for a convention over a space."""
        chosen: list[tuple[int, int]] = []
        exclusive: list[bool] = []
        for number, group in enumerate(space.groups):
            masks = [space.signs[member] for member in group.members]
            if convention == "reduced" and _is_closed(masks):
                chosen.extend((number, mask) for mask in masks if _is_irreducible(mask, masks))
                exclusive.append(False)
            else:
                chosen.extend((number, mask) for mask in masks)
                exclusive.append(convention != "set-minimal")
        groups = np.array([group for group, _ in chosen], np.int64)
        rivals = pack_sets(
            [
                [int(other) for other in np.flatnonzero(groups == group) if exclusive[group] and other != literal]
                for literal, group in enumerate(groups)
            ],
            len(chosen),
        )
        masks_of_all = np.array([mask for _, mask in chosen], np.int64)
        units = np.arange(len(chosen)) if convention == "set-minimal" else groups
        return Literals(space, groups, masks_of_all, units, rivals, convention != "reduced")

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def members(self) -> Words:
        """The literals of each unit."""
        units = range(int(self.units.max(initial=-1)) + 1)
        return pack_sets([np.flatnonzero(self.units == unit) for unit in units], len(self))

    @property
    def most_units(self) -> int:
        """The most units that a constraint can have literals of."""
        return len(np.unique(self.units))

    def all_edges(self, less: Words, greater: Words) -> Words:
        """For each vector of signs the literals of which a valid constraint must hold one."""
        return kernels.literal_edges(less, greater, self.groups, self.masks, words_for(len(self)))

    def edges(self, less: Words, greater: Words) -> Words:
        """The same, only minimal edges."""
        return minimal_sets(self.all_edges(less, greater))

    def predicates(self, sets: Words) -> Words:
        """The sets of predicates that sets of literals stand for; those without a meaning, or trivial, are left out."""
        return self.meant(sets)[0]

    def meant(self, sets: Words) -> tuple[Words, npt.NDArray[np.bool_]]:
        """The same, and which sets were not left out."""
        kept = np.ones(len(sets), np.bool_)
        found = np.zeros((len(sets), words_for(len(self.space))), np.uint64)
        for number, group in enumerate(self.space.groups):
            literals = np.flatnonzero(self.groups == number)
            combination = np.zeros(len(sets), np.int64)
            for place, literal in enumerate(literals):
                combination |= ((sets[:, literal // 64] >> np.uint64(literal % 64)) & np.uint64(1)).astype(
                    np.int64
                ) << place
            by_mask = {self.space.signs[member]: member for member in group.members}
            meaning = np.array([self._meaning(literals, code, by_mask) for code in range(1 << len(literals))], np.int64)
            member = meaning[combination]
            kept &= member != _TRIVIAL
            if not self.is_predicates:
                present = member >= 0
                bits = np.uint64(1) << (member % 64).astype(np.uint64)
                for word in range(found.shape[1]):
                    found[:, word] |= np.where(present & (member // 64 == word), bits, np.uint64(0))
        return np.ascontiguousarray((sets if self.is_predicates else found)[kept]), kept

    def _meaning(self, literals: Counts, code: int, by_mask: dict[int, int]) -> int:
        """The predicate that some literals of a group come down to."""
        if code == 0:
            return _ABSENT
        mask = ANY_SIGN
        for place, literal in enumerate(literals):
            if code >> place & 1:
                mask &= int(self.masks[literal])
        if mask == 0 or (not self.is_predicates and mask not in by_mask):
            return _TRIVIAL
        return by_mask.get(mask, _ABSENT)


def finds_no_implied(space: PredicateSpace) -> bool:
    """Whether no minimal constraint of the reduced convention follows from another as it stands.

    So it is within single columns if each predicate comes down from literals in one way only: then a constraint that
    follows from another has all of its literals and is not minimal. And where pairs count in either order, the mirror
    image of every minimal constraint is one too, so that none follows from another's image but the image itself.
    """
    if space.compares_across:
        return False
    literals = Literals.of(space, "reduced")
    for group in range(len(space.groups)):
        masks = literals.masks[literals.groups == group].tolist()
        for size in range(1, len(masks) + 1):
            for chosen in combinations(masks, size):
                common = reduce(and_, chosen)
                if common and any(mask not in chosen and common & ~mask == 0 for mask in masks):
                    return False
    return True


def _is_closed(masks: list[int]) -> bool:
    """Whether any two predicates of a group that do not exclude each other come down to one that is there."""
    return all(one & other in masks or one & other == 0 for one in masks for other in masks)


def _is_irreducible(mask: int, masks: list[int]) -> bool:
    """Whether a predicate does not come down to weaker ones."""
    common = ANY_SIGN
    for other in masks:
        if other != mask and mask & ~other == 0:
            common &= other
    return common != mask


class DenialSearch:
    """A search for minimal hitting sets of literals that can be stopped and resumed; see `HittingSetSearch`.

    Parameters
    ----------
    edges
        The edges, none of which contains another.
    literals
        What they are made of.
    max_size
        The most predicates of a constraint.
    """

    def __init__(self, edges: Words, literals: Literals, max_size: int) -> None:
        self._words = edges.shape[1]
        self._edges = edges
        self._literals = literals
        self._max_size = max_size
        self._only_the_empty_set = len(edges) == 0
        self._state = np.zeros(kernels.STATE_SLOTS, np.int64)
        if not len(edges) or not edges[0].any() or max_size < 1:
            self._state[LEVEL] = -1
        else:
            self._open_root()

    def _open_root(self) -> None:
        self._holders = transpose(self._edges)
        self._members = self._literals.members
        n_edges, words = self._edges.shape
        levels = min(n_edges, len(self._literals)) + 1
        self._chosen = np.zeros(levels, np.int64)
        self._used = np.zeros((levels, words + 1), np.uint64)
        self._marks = np.zeros((levels, MARK_SLOTS, self._holders.shape[1]), np.uint64)
        self._sets = np.zeros((levels, SET_SLOTS, words), np.uint64)
        self._marks[0, UNCOVERED] = full_set(n_edges)
        self._sets[0, CANDIDATES] = union_of(self._edges)
        open_node(self._edges, self._marks[0], self._sets[0], True)

    @property
    def finished(self) -> bool:
        """Whether all solutions were handed out."""
        return bool(self._state[LEVEL] < 0) and not self._only_the_empty_set

    @property
    def was_cut(self) -> bool:
        """Whether the limit kept anything out so far, so that a higher one might find more."""
        return bool(self._state[kernels.CUT]) or (self._max_size < 1 and len(self._edges) > 0)

    def advance(self, max_sets: int = CHUNK_SETS, max_nodes: int = SLICE_NODES) -> Words:
        """Go on for at most `max_nodes` nodes; return the next solutions, at most `max_sets`, maybe none."""
        if self._only_the_empty_set:
            self._only_the_empty_set = False
            return np.zeros((1, self._words), np.uint64)
        if self.finished:
            return np.zeros((0, self._words), np.uint64)
        out = np.empty((max_sets, self._words), np.uint64)
        literals = self._literals
        n_out = kernels.search_groups_on(
            self._edges,
            self._holders,
            literals.units,
            self._members,
            literals.rivals,
            self._max_size,
            self._state,
            self._chosen,
            self._used,
            self._marks,
            self._sets,
            max_nodes,
            out,
        )
        return out[:n_out]


def minimal_constraints(
    edges: Words, literals: Literals, max_size: int | None, look: Look, *, by_size: bool = False
) -> Iterator[Words]:
    """Yield the minimal constraints that hit all edges, as families of sets of predicates, none of them trivial.

    Parameters
    ----------
    max_size
        The most predicates of a constraint.
    look
        Called now and then; what it raises ends the search.
    by_size
        Yield small constraints before larger ones: the search is made once for every size, each time deeper.
    """
    most = literals.most_units if max_size is None else min(literals.most_units, max_size)
    smallest = 0
    for size in depths(most) if by_size else (most,):
        search = DenialSearch(edges, literals, size)
        while not search.finished:
            look()
            sets = literals.predicates(search.advance())
            count = set_sizes(sets)
            sets = sets[(smallest <= count) & (count <= size)]
            yield sets[is_possible(sets, literals.space)]
        if not search.was_cut:
            return
        smallest = size + 1


def depths(most: int) -> Iterator[int]:
    """Limits on the size, one after the other: each search costs a few times what the one before cost."""
    size = 0
    while size < most:
        yield size
        size += max(1, size // 3)
    yield most


def almost_constraints(
    edges: Words, turned: Words, weights: Counts, allowed: int, literals: Literals, max_size: int | None, look: Look
) -> Iterator[tuple[Words, Counts]]:
    """Yield the minimal constraints that pairs of at most the allowed weight break, and that weight for each.

    Parameters
    ----------
    edges, turned, weights
        For each distinct pair of rows its edges in either order, and how many pairs are like it.
    """
    most = literals.most_units if max_size is None else min(literals.most_units, max_size)
    depth = len(literals) + 2
    state, todo = np.zeros(almost.STATE_SLOTS, np.int64), np.zeros(depth, np.int64)
    sets = np.zeros((depth, almost.SET_SLOTS, words_for(len(literals))), np.uint64)
    if most > 0:
        sets[0, almost.CANDIDATES] = full_set(len(literals))
    members = literals.members
    while state[almost.LEVEL] >= 0:
        look()
        out, counts = np.empty((CHUNK_SETS, sets.shape[2]), np.uint64), np.empty(CHUNK_SETS, np.int64)
        n_out = almost.search_almost_on(
            edges, turned, weights, allowed, literals.units, members, literals.rivals, most,
            state, todo, sets, _ALMOST_NODES, out, counts,
        )  # fmt: skip
        found, kept = literals.meant(out[:n_out])
        possible = is_possible(found, literals.space)
        yield found[possible], counts[:n_out][kept][possible]
