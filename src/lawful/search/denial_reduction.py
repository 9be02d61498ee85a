"""What follows from denial constraints over a predicate space, for very many of them: which are trivial or implied.

The same reasoning as `dependencies.denial_implication`, on packed sets of predicates.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lawful.dependencies import Cell, Constant
from lawful.dependencies.denial_implication import COMPOSED
from lawful.dependencies.predicate_space import ANY_SIGN, GREATER, LESS, PredicateSpace
from lawful.search import denial_kernels as kernels
from lawful.search.set_kernels import count_occurrences, move_columns
from lawful.search.sets import Words, pack_sets, set_sizes

Counts = npt.NDArray[np.int64]

_COMPOSED = np.array(COMPOSED, np.int64)
_REMEMBERED = 32


def is_possible(sets: Words, space: PredicateSpace) -> npt.NDArray[np.bool_]:
    """Which constraints are not trivial across groups."""
    if not len(sets) or not space.compares_across:
        return np.ones(len(sets), np.bool_)
    return _closed(sets, space)[1]


def closures(sets: Words, space: PredicateSpace) -> Words:
    """For each set of predicates all predicates of the space that it implies (psi* of Hydra, section 6.4)."""
    if space.compares_across:
        return _closed(sets, space)[0]
    closed = np.zeros_like(sets)
    implied = pack_sets(space.implied, len(space))
    for number in range(len(space)):
        holds = (sets[:, number // 64] >> np.uint64(number % 64)) & np.uint64(1) != 0
        closed[holds] |= implied[number]
    return closed


def reduced(sets: Words, space: PredicateSpace, *, only_mirrored: bool = False, has_images: bool = False) -> Words:
    """Remove what follows from another constraint, as it stands or with t and s exchanged (Hydra, section 6.4).

    See `reduced_places`, which also tells where each was.
    """
    return reduced_places(sets, space, only_mirrored=only_mirrored, has_images=has_images)[0]


def reduced_places(
    sets: Words, space: PredicateSpace, *, only_mirrored: bool = False, has_images: bool = False
) -> tuple[Words, Counts]:
    """The constraints that follow from no other one, and the place of each, or of its mirror image, among all.

    A constraint follows from one all of whose predicates it implies. Departing from Hydra, implication is complete
    (rule (v) of the paper is unsound, and its rules together miss some). Of constraints that follow from each other
    the one stays that has the fewest predicates, then the weakest, then the first of the space.

    Parameters
    ----------
    only_mirrored
        That none follows from another as it stands, and none from the mirror image of another unless it is that
        image; see `denial_literals.finds_no_implied`. It saves holding each constraint against all others.
    has_images
        That the mirror image of each is there too, as it is unless a search was broken off.
    """
    images, is_first = kernels.first_images(sets, _mirrored(space))
    places = np.flatnonzero(is_first) if has_images else _first_occurrences(images)
    sets = images[places]
    if only_mirrored or len(sets) < 2:
        return sets, places
    closed = closures(sets, space)
    weakness = np.zeros(len(sets), np.int64)
    for number, mask in enumerate(space.signs):
        holds = (sets[:, number // 64] >> np.uint64(number % 64)) & np.uint64(1) != 0
        weakness[holds] += mask.bit_count()
    lexical = kernels.reading_keys(sets)[::-1]
    order = np.lexsort((*lexical, -weakness, set_sizes(sets), set_sizes(closed)))
    sets, closed = sets[order], closed[order]
    rare_first = np.empty(len(space), np.int64)
    rare_first[np.argsort(count_occurrences(closed)[: len(space)], kind="stable")] = np.arange(len(space))
    families = (sets, turned_sets(sets, space), closed)
    kept = kernels.keep_unimplied(*(move_columns(family, rare_first, sets.shape[1]) for family in families))
    return sets[kept], places[order[kept]]


def reading_order(sets: Words) -> Counts:
    """The places of constraints, small ones first, then by their predicates as the space has them."""
    return np.lexsort((*kernels.reading_keys(sets)[::-1], set_sizes(sets)))


def _first_occurrences(sets: Words) -> Counts:
    """The places at which each distinct set comes first, ascending."""
    order = np.lexsort(sets.T)
    ordered = sets[order]
    is_new = np.ones(len(sets), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.sort(order[is_new])


def turned_sets(sets: Words, space: PredicateSpace) -> Words:
    """The same constraints with t and s exchanged."""
    return move_columns(sets, _mirrored(space), sets.shape[1])


@lru_cache(maxsize=_REMEMBERED)
def _mirrored(space: PredicateSpace) -> Counts:
    return np.array(space.mirrored, np.int64)


def _closed(sets: Words, space: PredicateSpace) -> tuple[Words, npt.NDArray[np.bool_]]:
    return kernels.close_sets(sets, *_compared_nodes(space), _COMPOSED)


@lru_cache(maxsize=_REMEMBERED)
def _compared_nodes(space: PredicateSpace) -> tuple[Counts, Counts, Counts, Counts]:
    """The two nodes that each predicate compares, the signs that it allows, and how constants compare on their own."""
    nodes: dict[Cell | tuple[int, Constant], int] = {}
    left, right = (
        np.array([nodes.setdefault(node, len(nodes)) for node in side], np.int64)
        for side in zip(*(_nodes(space, group) for group in space.group_of), strict=True)
    )
    kin = np.full((len(nodes), len(nodes)), ANY_SIGN, np.int64)
    for one, a in nodes.items():
        for other, b in nodes.items():
            if a != b and not isinstance(one, Cell) and not isinstance(other, Cell) and one[0] == other[0]:
                kin[a, b] = _constants_sign(one, other, space)
    return left, right, np.array(space.signs, np.int64), kin


def _nodes(space: PredicateSpace, group: int) -> tuple[Cell, Cell | tuple[int, Constant]]:
    left, right = space.groups[group].left, space.groups[group].right
    return left, (left.column, right) if isinstance(right, Constant) else right


def _constants_sign(one: tuple[int, Constant], other: tuple[int, Constant], space: PredicateSpace) -> int:
    """How two constants of one column compare; texts of which the space knows no order only differ."""
    places = space.constant_places
    first, second = (places.get(constant, constant[1].value) for constant in (one, other))
    if isinstance(first, str) or isinstance(second, str):
        return LESS | GREATER
    return LESS if first < second else GREATER
