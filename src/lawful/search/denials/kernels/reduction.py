"""What follows from sets of predicates, for very many of them: mirror images, closures, and which sets are implied.

Signs of a comparison are bits of a mask: less 1, equal 2, greater 4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Flags, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, NONE, ONE, ZERO, bit, lowest
from lawful.search.kernels.set_trie import Nodes, add_set, has_subset, with_room
from lawful.search.kernels.sets import move_columns

Counts = npt.NDArray[np.int64]

_ANY = 7
_EQUAL = 2
_UNEQUAL = 5
_AT_MOST = 3


@compiled
def first_images(sets: Words, mirrored: Counts) -> tuple[Words, Flags]:
    """Of each set and its mirror image the one that has the first predicate that the other lacks.

    Returns also whether that is the set. `mirrored` is for each predicate the one that says the same of a pair turned
    round.
    """
    images = move_columns(sets, mirrored, sets.shape[1])
    is_first = np.ones(sets.shape[0], np.bool_)
    for i in range(sets.shape[0]):
        for k in range(sets.shape[1]):
            differing = sets[i, k] ^ images[i, k]
            if differing != ZERO:
                is_first[i] = (sets[i, k] & bit(lowest(differing))) != ZERO
                break
        if is_first[i]:
            images[i] = sets[i]
    return images, is_first


@compiled
def reading_keys(sets: Words) -> Words:
    """For each word of sets a key: the smaller one has the first predicate that the other lacks."""
    keys = np.zeros((sets.shape[1], sets.shape[0]), np.uint64)
    for i in range(sets.shape[0]):
        for k in range(sets.shape[1]):
            rest = sets[i, k]
            key = ALL
            while rest != ZERO:
                key ^= bit(63 - lowest(rest))
                rest &= rest - ONE
            keys[k, i] = key
    return keys


@compiled
def _narrow(between: Counts, nodes: int, composed: Counts) -> bool:
    """Narrow the relations of every two nodes through every third; say whether something is left for all."""
    changed = True
    while changed:
        changed = False
        for middle in range(nodes):
            for first in range(nodes):
                if first == middle or between[first, middle] == _ANY:
                    continue
                for last in range(first + 1, nodes):
                    if last == middle:
                        continue
                    left = between[first, last] & composed[between[first, middle], between[middle, last]]
                    if left == 0:
                        return False
                    if left != between[first, last]:
                        between[first, last] = left
                        between[last, first] = _converse(left)
                        changed = True
    return True


@compiled
def _converse(relations: int) -> int:
    return (relations & _EQUAL) | ((relations & 1) << 2) | ((relations & 4) >> 2)


@compiled
def _sharpen(between: Counts, nodes: int) -> bool:
    """Drop equality where two values that differ lie between: the one thing that narrowing triangles misses.

    Van Beek and Cohen ("Exact and approximate reasoning about temporal relations", 1990) show that nothing else is
    missed. Returns whether anything was dropped.
    """
    changed = False
    for a in range(nodes):
        for b in range(nodes):
            if between[a, b] != _UNEQUAL:
                continue
            for low in range(nodes):
                if (between[low, a] | _AT_MOST) != _AT_MOST or (between[low, b] | _AT_MOST) != _AT_MOST:
                    continue
                for high in range(nodes):
                    if (
                        between[low, high] & _EQUAL
                        and (between[a, high] | _AT_MOST) == _AT_MOST
                        and (between[b, high] | _AT_MOST) == _AT_MOST
                    ):
                        between[low, high] &= ~_EQUAL
                        between[high, low] &= ~_EQUAL
                        changed = True
    return changed


@compiled
def close_sets(
    sets: Words, left: Counts, right: Counts, masks: Counts, kin: Counts, first: Counts, composed: Counts
) -> tuple[Words, Flags]:
    """For each set of predicates, all predicates that hold wherever it does, and whether it can hold at all.

    Parameters
    ----------
    sets
        The sets, over the predicates of a space.
    left, right, masks
        The nodes that each predicate compares, and the signs that it allows.
    kin
        For every two nodes the signs that they can have on their own: any for cells, one for two constants.
    first
        For every two nodes the first predicate that compares them, or `NONE`; the others follow it.
    composed
        For every two sets of signs the signs that they leave for a chain.
    """
    n_sets, words = sets.shape
    n_nodes = kin.shape[0]
    closures = np.zeros_like(sets)
    can_hold = np.zeros(n_sets, np.bool_)
    place = np.full(n_nodes, -1, np.int64)
    node_at = np.empty(n_nodes, np.int64)
    between = np.empty((n_nodes, n_nodes), np.int64)
    for i in range(n_sets):
        nodes = _list_nodes(sets[i], left, right, kin, place, node_at)
        for a in range(nodes):
            for b in range(nodes):
                between[a, b] = kin[node_at[a], node_at[b]]
        for w in range(words):
            rest = sets[i, w]
            while rest != ZERO:
                predicate = w * 64 + lowest(rest)
                rest &= rest - ONE
                a, b = place[left[predicate]], place[right[predicate]]
                between[a, b] &= masks[predicate]
                between[b, a] = _converse(between[a, b])
        consistent = _is_possible(between, nodes) and _narrow(between, nodes, composed)
        while consistent and _sharpen(between, nodes):
            consistent = _is_possible(between, nodes) and _narrow(between, nodes, composed)
        can_hold[i] = consistent
        for a in range(nodes if consistent else 0):
            for b in range(nodes):
                _add_implied(closures[i], between[a, b], first[node_at[a], node_at[b]], left, right, masks)
        for a in range(nodes):
            place[node_at[a]] = -1
    return closures, can_hold


@compiled
def _add_implied(members: Words, signs: int, first: int, left: Counts, right: Counts, masks: Counts) -> None:
    """Add the predicates of a group, from its first one on, that allow all signs that are left between its nodes."""
    predicate = first
    while (
        predicate != NONE
        and predicate < left.size
        and left[predicate] == left[first]
        and right[predicate] == right[first]
    ):
        if signs & ~masks[predicate] == 0:
            members[predicate >> 6] |= bit(predicate)
        predicate += 1


@compiled
def _is_possible(between: Counts, nodes: int) -> bool:
    for a in range(nodes):
        for b in range(a + 1, nodes):
            if between[a, b] == 0:
                return False
    return True


@compiled
def _list_nodes(members: Words, left: Counts, right: Counts, kin: Counts, place: Counts, node_at: Counts) -> int:
    """Number the nodes that a set of predicates speaks of, and the constants that belong with a constant of it."""
    nodes = 0
    for w in range(members.size):
        rest = members[w]
        while rest != ZERO:
            predicate = w * 64 + lowest(rest)
            rest &= rest - ONE
            for node in (left[predicate], right[predicate]):
                if place[node] < 0:
                    place[node] = nodes
                    node_at[nodes] = node
                    nodes += 1
    for k in range(nodes):
        for other in range(kin.shape[0]):
            if place[other] < 0 and kin[node_at[k], other] != _ANY:
                place[other] = nodes
                node_at[nodes] = other
                nodes += 1
    return nodes


@compiled
def keep_unimplied(sets: Words, turned: Words, closures: Words, nodes: Nodes, used: int) -> tuple[Flags, Nodes, int]:
    """Which sets are kept if each is dropped whose closure holds a set kept before, as it stands or turned round.

    A closure is small beside the space, so that a trie of the kept sets answers at once what would take a comparison
    with each of them. Rare predicates should have the smallest numbers. Returns also the trie, maybe a larger one, that
    holds what is kept by now, and how many nodes it uses.
    """
    n_sets, words = sets.shape
    keep = np.zeros(n_sets, dtype=np.bool_)
    for i in range(n_sets):
        if has_subset(nodes, closures[i]):
            continue
        keep[i] = True
        nodes = with_room(nodes, used + 2 * 64 * words)  # for what two sets may take
        used = add_set(nodes, used, sets[i])
        used = add_set(nodes, used, turned[i])
    return keep, nodes, used
