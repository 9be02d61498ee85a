"""Searching for denial constraints: hitting sets of literals in groups, and the predicates that they come down to.

Signs of a comparison are bits of a mask: less 1, equal 2, greater 4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Flags, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, add_listed, bit, drop_listed, lowest
from lawful.search.kernels.hitting_sets import (
    CANDIDATES,
    LEVEL,
    MARK_SLOTS,
    NODES,
    SET_SLOTS,
    UNCOVERED,
    descend,
    drop_columns_that_break_minimality,
    next_branch,
    open_node,
    write_finished,
)
from lawful.search.kernels.sets import transpose

Counts = npt.NDArray[np.int64]

CUT = NODES + 1  # whether the limit on groups ever kept a literal out
STATE_SLOTS = CUT + 1

TRIVIAL = -2  # what no pair of rows can satisfy
NO_PREDICATE = -1

_EQUAL = 2


@compiled
def open_groups(edges: Words, n_literals: int) -> tuple[Words, Counts, Words, Words, Words]:
    """A search at its root: the holders, chosen, used, marks and sets of `search_groups_on`.

    A level is written before it is read, so that only the root needs to be filled.
    """
    n_edges, words = edges.shape
    levels = min(n_edges, n_literals) + 1
    holders = transpose(edges)
    chosen = np.empty(levels, np.int64)
    used = np.empty((levels, words + 1), np.uint64)
    marks = np.empty((levels, MARK_SLOTS, holders.shape[1]), np.uint64)
    sets = np.empty((levels, SET_SLOTS, words), np.uint64)
    used[0] = marks[0] = sets[0] = ZERO
    for i in range(n_edges):
        marks[0, UNCOVERED, i >> 6] |= bit(i)
        for k in range(words):
            sets[0, CANDIDATES, k] |= edges[i, k]
    open_node(edges, marks[0], sets[0], True)
    return holders, chosen, used, marks, sets


@compiled
def search_groups_on(
    edges: Words,
    holders: Words,
    group_of: Counts,
    members: Counts,
    rivals: Counts,
    max_groups: int,
    state: Counts,
    chosen: Counts,
    used: Words,
    marks: Words,
    sets: Words,
    node_budget: int,
    out: Words,
) -> int:
    """Go on with a search as `search_on` of `search.kernels.hitting_sets` does, with literals in groups.

    Parameters
    ----------
    group_of, members
        The group of each literal, and for each group the list of its literals, which ends with `NONE`.
    rivals
        For each literal a list of those that no solution may have next to it.
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
            add_listed(used[level], members[group_of[literal]])
            used[level, words] += ONE
        is_full = used[level, words] >= np.uint64(max_groups)
        drop_listed(sets[level, CANDIDATES], rivals[literal])
        if is_full:
            for k in range(words):
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
