"""Searching for denial constraints: hitting sets of literals in groups, what follows from them, and what is implied.

Signs of a comparison are bits of a mask: less 1, equal 2, greater 4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.search.bits_kernels import ALL, ONE, ZERO, bit, compiled, lowest
from lawful.search.hitting_set_kernels import (
    CANDIDATES,
    LEVEL,
    NODES,
    descend,
    drop_columns_that_break_minimality,
    next_branch,
    open_node,
    write_finished,
)
from lawful.search.set_kernels import move_columns
from lawful.search.set_trie_kernels import NODE_SLOTS, USED, add_sets, match_sets
from lawful.search.set_trie_kernels import STATE_SLOTS as TRIE_SLOTS

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

CUT = NODES + 1  # whether the limit on groups ever kept a literal out
STATE_SLOTS = CUT + 1

TRIVIAL = -2  # what no pair of rows can satisfy
NO_PREDICATE = -1

_ANY = 7
_EQUAL = 2
_UNEQUAL = 5
_AT_MOST = 3


@compiled
def search_groups_on(
    edges: Words,
    holders: Words,
    group_of: Counts,
    members: Words,
    rivals: Words,
    max_groups: int,
    state: Counts,
    chosen: Counts,
    used: Words,
    marks: Words,
    sets: Words,
    node_budget: int,
    out: Words,
) -> int:
    """Go on with a search as `hitting_set_kernels.search_on` does, with literals in groups.

    Parameters
    ----------
    group_of, members
        The group of each literal, and the literals of each group.
    rivals
        For each literal those that no solution may have next to it.
    max_groups
        The most groups that a solution may have literals of.
    used
        For each level the literals of the groups in use, and in the last word how many groups these are.
    """
    n_out = 0
    opened = 0
    words = edges.shape[1]
    level = state[LEVEL]
    while level >= 0:
        n_out = write_finished(sets[level], out, n_out)
        if n_out == out.shape[0]:
            break
        literal = next_branch(sets[level])
        if literal < 0:
            level -= 1
            continue
        if opened == node_budget:
            break
        opened += 1
        descend(holders[literal], literal, marks[level], marks[level + 1], sets[level], sets[level + 1])
        is_new = (used[level, literal >> 6] & bit(literal)) == ZERO
        level += 1
        chosen[level] = literal
        used[level] = used[level - 1]
        if is_new:
            for k in range(words):
                used[level, k] |= members[group_of[literal], k]
            used[level, words] += ONE
        is_full = used[level, words] >= np.uint64(max_groups)
        for k in range(words):
            sets[level, CANDIDATES, k] &= ~rivals[literal, k]
            if is_full:
                state[CUT] |= np.int64((sets[level, CANDIDATES, k] & ~used[level, k]) != ZERO)
                sets[level, CANDIDATES, k] &= used[level, k]
        drop_columns_that_break_minimality(edges, holders, chosen, level, marks[level], sets[level])
        open_node(edges, marks[level], sets[level], True)
    state[LEVEL] = level
    state[NODES] += opened
    return n_out


@compiled
def literal_edges(less: Words, greater: Words, group_of: Counts, masks: Counts, words: int) -> Words:
    """For each vector of signs the literals that it does not satisfy; an unknown sign satisfies none."""
    edges = np.zeros((less.shape[0], words), np.uint64)
    for i in range(less.shape[0]):
        for literal in range(group_of.size):
            word = group_of[literal] >> 6
            own = bit(group_of[literal])
            is_less = (less[i, word] & own) != ZERO
            is_greater = (greater[i, word] & own) != ZERO
            if is_less:
                satisfied = not is_greater and (masks[literal] & 1) != 0
            elif is_greater:
                satisfied = (masks[literal] & 4) != 0
            else:
                satisfied = (masks[literal] & _EQUAL) != 0
            if not satisfied:
                edges[i, literal >> 6] |= bit(literal)
    return edges


@compiled
def meant_sets(
    sets: Words, group_of: Counts, first_of_group: Counts, meanings: Counts, is_predicates: bool, words: int
) -> tuple[Words, Flags]:
    """The sets of predicates that sets of literals stand for, without trivial ones, and which are not trivial.

    Parameters
    ----------
    group_of, first_of_group
        The group of each literal, and the first literal of each group.
    meanings
        For each group and choice of its literals, as bits, the predicate that it comes down to.
    is_predicates
        Whether literals are predicates, so that sets stand for themselves.
    """
    found = np.zeros((sets.shape[0], words), np.uint64)
    kept = np.zeros(sets.shape[0], np.bool_)
    n_found = 0
    for i in range(sets.shape[0]):
        group, choice, meaning = -1, 0, NO_PREDICATE
        for w in range(sets.shape[1]):
            rest = sets[i, w]
            while rest != ZERO and meaning != TRIVIAL:
                literal = w * 64 + lowest(rest)
                rest &= rest - ONE
                if group_of[literal] != group:
                    _note_predicate(found[n_found], meaning)
                    group, choice = group_of[literal], 0
                choice |= 1 << (literal - first_of_group[group])
                meaning = meanings[group, choice]
        _note_predicate(found[n_found], meaning)
        kept[i] = meaning != TRIVIAL
        if not kept[i]:
            found[n_found] = ZERO
        elif is_predicates:
            found[n_found] = sets[i]
        n_found += int(kept[i])
    return found[:n_found], kept


@compiled
def _note_predicate(members: Words, predicate: int) -> None:
    if predicate >= 0:
        members[predicate >> 6] |= bit(predicate)


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
    sets: Words, left: Counts, right: Counts, masks: Counts, kin: Counts, composed: Counts
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
        for predicate in range(left.size):
            a, b = place[left[predicate]], place[right[predicate]]
            if consistent and a >= 0 and b >= 0 and between[a, b] & ~masks[predicate] == 0:
                closures[i, predicate >> 6] |= bit(predicate)
        for a in range(nodes):
            place[node_at[a]] = -1
    return closures, can_hold


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
def keep_unimplied(sets: Words, turned: Words, closures: Words) -> Flags:
    """Which sets are kept if each is dropped whose closure holds a set kept before, as it stands or turned round.

    A closure is small beside the space, so that a trie of the kept sets answers at once what would take a comparison
    with each of them. Rare predicates should have the smallest numbers.
    """
    n_sets, words = sets.shape
    longest = 2 * 64 * words  # what two sets may take
    nodes = np.zeros((4 * longest, NODE_SLOTS), np.int32)
    state = np.zeros(TRIE_SLOTS, np.int64)
    state[USED] = 1  # the root
    nothing = np.empty((0, words), np.uint64)
    keep = np.zeros(n_sets, dtype=np.bool_)
    for i in range(n_sets):
        if match_sets(nodes, closures[i], False, 1, nothing) > 0:
            continue
        keep[i] = True
        if state[USED] + longest > nodes.shape[0]:
            larger = np.zeros((2 * nodes.shape[0], NODE_SLOTS), np.int32)
            larger[: nodes.shape[0]] = nodes
            nodes = larger
        add_sets(nodes, state, sets[i : i + 1])
        add_sets(nodes, state, turned[i : i + 1])
    return keep


@compiled
def member_sums(sets: Words, weights: Counts) -> Counts:
    """The weights of the members of each set, added up."""
    sums = np.zeros(sets.shape[0], np.int64)
    for i in range(sets.shape[0]):
        for w in range(sets.shape[1]):
            rest = sets[i, w]
            while rest != ZERO:
                sums[i] += weights[w * 64 + lowest(rest)]
                rest &= rest - ONE
    return sums


@compiled
def count_met(sets: Words, family: Words) -> Counts:
    """How many sets of a family each set has a member in common with."""
    counts = np.zeros(sets.shape[0], np.int64)
    for i in range(sets.shape[0]):
        for j in range(family.shape[0]):
            for w in range(sets.shape[1]):
                if (sets[i, w] & family[j, w]) != ZERO:
                    counts[i] += 1
                    break
    return counts
