"""What follows from denial constraints over a predicate space, for very many of them: which are trivial or implied.

The same reasoning as `dependencies.denial_implication`, on packed sets of predicates.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.dependencies import Cell, Constant
from lawful.dependencies.denial_implication import COMPOSED
from lawful.dependencies.predicate_space import ANY_SIGN, GREATER, LESS, PredicateSpace
from lawful.search import denial_kernels as kernels
from lawful.search.set_kernels import move_columns
from lawful.search.sets import Words, columns_by_frequency, pack_sets, set_sizes, sets_without


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


def reduced(sets: Words, space: PredicateSpace, *, only_mirrored: bool = False) -> Words:
    """Remove what follows from another constraint, as it stands or with t and s exchanged (Hydra, section 6.4).

    A constraint follows from one all of whose predicates it implies. Departing from Hydra, implication is complete
    (rule (v) of the paper is unsound, and its rules together miss some). Of constraints that follow from each other
    the one stays that has the fewest predicates, then the weakest, then the first of the space.

    Parameters
    ----------
    only_mirrored
        That none follows from another as it stands, and none from the mirror image of another unless it is that
        image; see `denial_inversion.finds_no_implied`. It saves holding each constraint against all others.
    """
    if len(sets) < 2:
        return sets
    sets = _without_mirror_images(sets, space)
    closed = closures(sets, space)
    weakness = np.zeros(len(sets), np.int64)
    for number, mask in enumerate(space.signs):
        holds = (sets[:, number // 64] >> np.uint64(number % 64)) & np.uint64(1) != 0
        weakness[holds] += mask.bit_count()
    # Of equal ranks the one whose first predicate that the other lacks is the smaller comes first.
    lexical = [~_reversed_bits(sets[:, word]) for word in range(sets.shape[1])]
    order = np.lexsort((*reversed(lexical), -weakness, set_sizes(sets), set_sizes(closed)))
    sets = np.ascontiguousarray(sets[order])
    if only_mirrored:
        return sets
    turned = turned_sets(sets, space)
    columns = columns_by_frequency(np.concatenate([sets, turned]))
    kept: Words = sets[kernels.keep_unimplied(sets, turned, closed[order], columns)]
    return kept


def _without_mirror_images(sets: Words, space: PredicateSpace) -> Words:
    """Of a constraint and its mirror image keep the one that has the first predicate that the other lacks."""
    turned = turned_sets(sets, space)
    is_first, is_open = np.ones(len(sets), np.bool_), np.ones(len(sets), np.bool_)
    for word in range(sets.shape[1]):
        differing = sets[:, word] ^ turned[:, word]
        lowest = differing & (~differing + np.uint64(1))
        is_first &= ~is_open | (sets[:, word] & lowest == lowest)
        is_open &= differing == 0
    # The images of the others are there too, unless the search was broken off.
    lonely = sets_without(turned[~is_first], sets[is_first])
    return np.concatenate([sets[is_first], turned_sets(lonely, space)])


def turned_sets(sets: Words, space: PredicateSpace) -> Words:
    """The same constraints with t and s exchanged."""
    return move_columns(sets, np.array(space.mirrored, np.int64), sets.shape[1]) if len(space) else sets


def _reversed_bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The bits of each word in the opposite order."""
    as_bytes = np.ascontiguousarray(words).view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(as_bytes, axis=1, bitorder="little")
    reversed_words: npt.NDArray[np.uint64] = np.packbits(bits, axis=1, bitorder="big").view(">u8").astype(np.uint64)
    return np.ravel(reversed_words)


def _closed(sets: Words, space: PredicateSpace) -> tuple[Words, npt.NDArray[np.bool_]]:
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
    masks = np.array(space.signs, np.int64)
    return kernels.close_sets(sets, left, right, masks, kin, np.array(COMPOSED, np.int64))


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
