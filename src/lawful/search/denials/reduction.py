"""What follows from denial constraints over a predicate space, for very many of them: which are trivial or implied.

The same reasoning as `dependencies.denial_implication`, on packed sets of predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.dependencies import Cell, Constant
from lawful.dependencies.denial_implication import COMPOSED
from lawful.dependencies.predicate_space import ANY_SIGN, GREATER, LESS, Group, PredicateSpace, worked_out_once
from lawful.search.denials.kernels import reduction as kernels
from lawful.search.denials.kernels.inversion import member_sums
from lawful.search.kernels.bits import NONE
from lawful.search.kernels.set_trie import empty_nodes
from lawful.search.kernels.sets import count_occurrences, move_columns
from lawful.search.sets import pack_sets, set_sizes

Counts = npt.NDArray[np.int64]

_COMPOSED = np.array(COMPOSED, np.int64)
_SETS_AT_ONCE = 1 << 12
"""Sets between two looks at whether to stop: some hundredths of a second."""

ShouldStop = Callable[[], bool]


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


def reduced_places(
    sets: Words,
    space: PredicateSpace,
    *,
    only_mirrored: bool = False,
    has_images: bool = False,
    should_stop: ShouldStop = lambda: False,
) -> tuple[Words, Counts]:
    """Remove what follows from another constraint, as it stands or with t and s exchanged (Hydra, section 6.4).

    A constraint follows from one all of whose predicates it implies. Departing from Hydra, implication is complete
    (rule (v) of the paper is unsound, and its rules together miss some). Of constraints that follow from each other
    the one stays that has the fewest predicates, then the weakest, then the first of the space.

    Parameters
    ----------
    only_mirrored
        That none follows from another as it stands, and none from the mirror image of another unless it is that
        image; see `literals.finds_no_implied`. It saves holding each constraint against all others.
    has_images
        That the mirror image of each is there too, as it is unless a search was broken off.
    should_stop
        Asked often; once it says yes, only the first of all that were given are sorted out.

    Returns
    -------
    sets, places
        The constraints that follow from no other one, and the place of each, or of its mirror image, among all.
    """
    images, is_first = kernels.first_images(sets, _mirrored(space))
    places = np.flatnonzero(is_first) if has_images else _first_occurrences(images)
    sets = images[places]
    if only_mirrored or len(sets) < 2:
        return sets, places
    kept = _unimplied(sets, space, should_stop)
    return sets[kept], places[kept]


def _unimplied(sets: Words, space: PredicateSpace, should_stop: ShouldStop) -> Counts:
    """The places of the constraints that follow from no other, those that imply least first.

    Whatever a constraint follows from implies no more than it, so that those before are all that it is held against.
    """
    known = []
    for part in _parts(sets):
        known.append(closures(part, space))
        if should_stop():
            break
    closed = np.concatenate(known)
    sets = sets[: len(closed)]
    weakness = member_sums(sets, np.array([mask.bit_count() for mask in space.signs], np.int64))
    lexical = kernels.reading_keys(_words_in_use(sets))[::-1]
    order = np.lexsort((*lexical, -weakness, set_sizes(sets), set_sizes(closed)))
    rare_first = np.empty(len(space), np.int64)
    rare_first[np.argsort(count_occurrences(closed)[: len(space)], kind="stable")] = np.arange(len(space))
    nodes, used = empty_nodes(), 1
    kept = []
    for part in _parts(order):
        given, turned, consequences = (
            move_columns(family, rare_first, sets.shape[1])
            for family in (sets[part], turned_sets(sets[part], space), closed[part])
        )
        keep, nodes, used = kernels.keep_unimplied(given, turned, consequences, nodes, used)
        kept.append(part[keep])
    return np.concatenate(kept)


def _parts(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Parts of an array, one after the other, for a clock or Ctrl-C to have a chance between them."""
    return (array[start : start + _SETS_AT_ONCE] for start in range(0, len(array), _SETS_AT_ONCE))


def reading_order(sets: Words) -> Counts:
    """The places of constraints, small ones first, then by their predicates as the space has them."""
    return np.lexsort((*kernels.reading_keys(_words_in_use(sets))[::-1], set_sizes(sets)))


def _first_occurrences(sets: Words) -> Counts:
    """The places at which each distinct set comes first, ascending."""
    sets = _words_in_use(sets)
    order = np.lexsort(sets.T)
    ordered = sets[order]
    is_new = np.ones(len(sets), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.sort(order[is_new])


def _words_in_use(sets: Words) -> Words:
    """The words in which any set has a member, and the first: in a wide space these are few, and sort as all do."""
    in_use = np.union1d(0, np.flatnonzero(sets.any(axis=0)))
    return np.ascontiguousarray(sets[:, in_use])


def turned_sets(sets: Words, space: PredicateSpace) -> Words:
    """The same constraints with t and s exchanged."""
    return move_columns(sets, _mirrored(space), sets.shape[1])


@worked_out_once
def _mirrored(space: PredicateSpace) -> Counts:
    return np.array(space.mirrored, np.int64)


def _closed(sets: Words, space: PredicateSpace) -> tuple[Words, npt.NDArray[np.bool_]]:
    return kernels.close_sets(sets, *_compared_nodes(space), _COMPOSED)


@worked_out_once
def _compared_nodes(space: PredicateSpace) -> tuple[Counts, Counts, Counts, Counts, Counts]:
    """The two nodes that each predicate compares, the signs that it allows, and what stands between each two nodes.

    That is how they compare on their own, if both are constants, and the first predicate of those that compare them.
    """
    nodes: dict[Cell | tuple[int, Constant], int] = {}
    for group in space.groups:
        for node in _nodes(group):
            nodes.setdefault(node, len(nodes))
    of_groups = np.array([[nodes[node] for node in _nodes(group)] for group in space.groups], np.int64)
    left, right = of_groups[np.array(space.group_of, np.int64)].T.copy()
    kin = np.full((len(nodes), len(nodes)), ANY_SIGN, np.int64)
    constants = [(node, number) for node, number in nodes.items() if not isinstance(node, Cell)]
    for one, a in constants:
        for other, b in constants:
            if a != b and one[0] == other[0]:
                kin[a, b] = _constants_sign(one, other, space)
    first = np.full(kin.shape, NONE, np.int64)
    first[of_groups[:, 0], of_groups[:, 1]] = [group.members[0] for group in space.groups]
    return left, right, np.array(space.signs, np.int64), kin, first


def _nodes(group: Group) -> tuple[Cell, Cell | tuple[int, Constant]]:
    return group.left, (group.left.column, group.right) if isinstance(group.right, Constant) else group.right


def _constants_sign(one: tuple[int, Constant], other: tuple[int, Constant], space: PredicateSpace) -> int:
    """How two constants of one column compare; texts of which the space knows no order only differ."""
    places = space.constant_places
    first, second = (places.get(constant, constant[1].value) for constant in (one, other))
    if isinstance(first, str) or isinstance(second, str):
        return LESS | GREATER
    return LESS if first < second else GREATER
