"""Minimal hitting sets from a bitmap over all subsets of few columns, one bit per subset.

A set of columns is its own address: subset X is bit `X % 64` of word `X // 64`. The first six columns are
handled by shifts inside of words, the others by whole words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, LAST_BIT, ONE, SIX, ZERO, lowest, popcount

# For each of the first six columns, the subsets of a word that lack it.
LACKING = np.array(
    [
        0x5555555555555555,
        0x3333333333333333,
        0x0F0F0F0F0F0F0F0F,
        0x00FF00FF00FF00FF,
        0x0000FFFF0000FFFF,
        0x00000000FFFFFFFF,
    ],
    dtype=np.uint64,
)


@compiled
def minimal_hitting_bitmap(edges: Words, n_columns: int) -> Words:
    """The bitmap of the minimal hitting sets of edges that are given as one word each."""
    full = (ONE << np.uint64(n_columns)) - ONE
    bitmap = np.zeros(1 << max(n_columns - 6, 0), dtype=np.uint64)
    for i in range(edges.shape[0]):
        largest_miss = full & ~edges[i]
        bitmap[np.int64(largest_miss >> SIX)] |= ONE << (largest_miss & LAST_BIT)
    _close_downward(bitmap, n_columns)
    # What does not miss an edge hits all; beyond 2^n there is nothing.
    in_use = ALL if n_columns >= 6 else (ONE << np.uint64(1 << n_columns)) - ONE
    for i in range(bitmap.shape[0]):
        bitmap[i] = ~bitmap[i] & in_use
    _keep_minimal_bits(bitmap, n_columns)
    return bitmap


@compiled
def _close_downward(bitmap: Words, n_columns: int) -> None:
    """Mark all subsets of marked sets, one column after the other."""
    for column in range(n_columns - 1, 5, -1):
        stride = 1 << (column - 6)
        for start in range(0, bitmap.shape[0], 2 * stride):
            for i in range(start, start + stride):
                bitmap[i] |= bitmap[i + stride]
    for i in range(bitmap.shape[0]):
        word = bitmap[i]
        for column in range(min(n_columns, 6)):
            word |= (word >> np.uint64(1 << column)) & LACKING[column]
        bitmap[i] = word


@compiled
def _keep_minimal_bits(bitmap: Words, n_columns: int) -> None:
    """Unmark the sets of an upward-closed bitmap that have a marked subset with one column less.

    From the last word to the first, so that smaller sets are still untouched when they are asked for.
    """
    for i in range(bitmap.shape[0] - 1, -1, -1):
        word = bitmap[i]
        minimal = word
        rest = np.uint64(i)
        while rest != ZERO and minimal != ZERO:
            minimal &= ~bitmap[i ^ np.int64(rest & ~(rest - ONE))]
            rest &= rest - ONE
        if minimal != ZERO:
            for column in range(min(n_columns, 6)):
                minimal &= ~((word & LACKING[column]) << np.uint64(1 << column))
        bitmap[i] = minimal


@compiled
def minimal_hitting_sets_of_goals(
    differences: Words,
    marks: Words,
    goals: npt.NDArray[np.int64],
    dropped: Words,
    starts: npt.NDArray[np.int64],
    n_columns: int,
    max_size: int,
) -> tuple[npt.NDArray[np.int64], Words]:
    """The minimal hitting sets of many hypergraphs over few columns, one bitmap after the other.

    Parameters
    ----------
    differences
        The sets that are edges of some goal, one word each.
    marks
        `uint64[sets, rows, 2, words]`: set v is an edge of the goal (row, half, bit) if that bit of
        `marks[v, row, half]` is set.
    goals
        For each goal its row, bit and half, and two columns that neither its edges nor its hitting sets may hold.
    dropped, starts
        Sets that are no answers to a goal: those from `starts[c]` to `starts[c + 1]` for either of its columns c;
        but where its row and bit are the same, all are answers.

    Returns
    -------
    owners, sets
        For each answer the number of its goal, and the set.
    """
    full = (ONE << np.uint64(n_columns)) - ONE
    bitmap = np.empty(1 << max(n_columns - 6, 0), np.uint64)
    sets = np.empty(1024, np.uint64)
    owners = np.empty(1024, np.int64)
    n_sets = 0
    for k in range(goals.shape[0]):
        row, place, half, one, other = goals[k]
        allowed = full & ~((ONE << np.uint64(one)) | (ONE << np.uint64(other)))
        bitmap[:] = ZERO
        for v in range(differences.size):
            if (marks[v, row, half, place >> 6] >> (np.uint64(place) & LAST_BIT)) & ONE != ZERO:
                largest_miss = allowed & ~differences[v]
                bitmap[np.int64(largest_miss >> SIX)] |= ONE << (largest_miss & LAST_BIT)
        _close_downward(bitmap, n_columns)
        _turn_within(bitmap, allowed, n_columns)
        _keep_minimal_bits(bitmap, n_columns)
        if row != place:
            _unmark(bitmap, dropped[starts[one] : starts[one + 1]])
            _unmark(bitmap, dropped[starts[other] : starts[other + 1]])
        found = read_bitmap(bitmap, max_size)
        if n_sets + found.size > sets.size:
            sets = _with_room(sets, n_sets, n_sets + found.size)
            owners = _with_room(owners, n_sets, n_sets + found.size)
        _put(sets, n_sets, found)
        owners[n_sets : n_sets + found.size] = k
        n_sets += found.size
    return owners[:n_sets], sets[:n_sets]


@compiled
def minimal_determinants(
    agree_sets: Words, differ_sets: Words, first_goal: int, last_goal: int, n_columns: int, max_size: int
) -> tuple[npt.NDArray[np.int64], Words]:
    """The minimal keys and left sides that pairs of rows leave over few columns, one bitmap per goal.

    A pair refutes what lies within the columns that it agrees on: for keys always, for a right side if it differs
    there. So no edges are made, and none need be minimal.

    Parameters
    ----------
    agree_sets, differ_sets
        For each pair the columns on which its rows agree and are known to differ, `uint64[pairs, 1]`. No
        `differ_sets` at all says that rows differ wherever they do not agree.
    first_goal, last_goal
        Right sides, or -1 for keys; up to and without the last.

    Returns
    -------
    ends, sets
        Where the answers to each goal end, and the answers, `uint64[answers, 1]`.
    """
    agree, differ = agree_sets[:, 0], differ_sets[:, 0]
    full = (ONE << np.uint64(n_columns)) - ONE
    seen = np.zeros(1 << max(n_columns - 6, 0), np.uint64)
    _mark(seen, agree)
    bitmap = np.empty_like(seen)
    sets = np.empty(1024, np.uint64)
    ends = np.empty(last_goal - first_goal, np.int64)
    n_sets = 0
    for goal in range(first_goal, last_goal):
        right = ONE << np.uint64(goal) if goal >= 0 else ZERO
        if right == ZERO or differ.size == 0:
            _copy_within(seen, full & ~right, n_columns, bitmap)
        else:
            bitmap[:] = ZERO
            _mark_differing(bitmap, agree, differ, right)
        _close_downward(bitmap, n_columns)
        _turn_within(bitmap, full & ~right, n_columns)
        _keep_minimal_bits(bitmap, n_columns)
        found = read_bitmap(bitmap, max_size)
        if n_sets + found.size > sets.size:
            sets = _with_room(sets, n_sets, n_sets + found.size)
        _put(sets, n_sets, found)
        n_sets += found.size
        ends[goal - first_goal] = n_sets
    return ends, sets[:n_sets].reshape(-1, 1)


@compiled
def _mark(bitmap: Words, sets: Words) -> None:
    for i in range(sets.size):
        bitmap[np.int64(sets[i] >> SIX)] |= ONE << (sets[i] & LAST_BIT)


@compiled
def _mark_differing(bitmap: Words, sets: Words, differ: Words, right: np.uint64) -> None:
    """Mark the sets of the pairs that are known to differ on the right side."""
    for i in range(sets.size):
        if differ[i] & right != ZERO:
            bitmap[np.int64(sets[i] >> SIX)] |= ONE << (sets[i] & LAST_BIT)


@compiled
def _copy_within(bitmap: Words, allowed: np.uint64, n_columns: int, copy: Words) -> None:
    """Mark in `copy` what is marked among the subsets of the allowed columns; no others."""
    in_use = _subsets_in_a_word(allowed, n_columns)
    for i in range(bitmap.shape[0]):
        copy[i] = bitmap[i] & in_use if (np.uint64(i) << SIX) & ~allowed == ZERO else ZERO


@compiled
def _turn_within(bitmap: Words, allowed: np.uint64, n_columns: int) -> None:
    """Mark what was not marked, and the other way round, among the subsets of the allowed columns; no others."""
    in_use = _subsets_in_a_word(allowed, n_columns)
    for i in range(bitmap.shape[0]):
        bitmap[i] = ~bitmap[i] & in_use if (np.uint64(i) << SIX) & ~allowed == ZERO else ZERO


@compiled
def _subsets_in_a_word(allowed: np.uint64, n_columns: int) -> np.uint64:
    """The subsets of a word that hold none of the first six columns but allowed ones."""
    in_use = ALL if n_columns >= 6 else (ONE << np.uint64(1 << n_columns)) - ONE
    for column in range(min(n_columns, 6)):
        if (allowed >> np.uint64(column)) & ONE == ZERO:
            in_use &= LACKING[column]
    return np.uint64(in_use)


@compiled
def _unmark(bitmap: Words, sets: Words) -> None:
    for i in range(sets.size):
        bitmap[np.int64(sets[i] >> SIX)] &= ~(ONE << (sets[i] & LAST_BIT))


@compiled
def _with_room(array: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    larger = np.empty(2 * needed, array.dtype)
    _put(larger, 0, array[:used])
    return larger


@compiled
def _put(array: npt.NDArray[Any], first: int, entries: npt.NDArray[Any]) -> None:
    """Copy by a loop: an array that is assigned to a slice takes Numba seconds to compile, for its error message."""
    for i in range(entries.size):
        array[first + i] = entries[i]


@compiled
def read_bitmap(bitmap: Words, max_size: int) -> Words:
    """The marked subsets of at most `max_size` columns, as one word each."""
    n_marked = 0
    for i in range(bitmap.shape[0]):
        n_marked += popcount(bitmap[i])
    found = np.empty(n_marked, dtype=np.uint64)
    n_found = 0
    for i in range(bitmap.shape[0]):
        rest = bitmap[i]
        while rest != ZERO:
            subset = (np.uint64(i) << SIX) | np.uint64(lowest(rest))
            rest &= rest - ONE
            if popcount(subset) <= max_size:
                found[n_found] = subset
                n_found += 1
    return found[:n_found]
