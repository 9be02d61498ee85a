"""Compiled loops over families of packed sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, ONE, ZERO, bit, lowest, popcount

Counts = npt.NDArray[np.int64]

LANES = 8
"""Words in a block of an index: a cache line, so that a column of 512 sets is one line."""
SETS_PER_BLOCK = LANES * 64

STATE_SLOTS = 3
"""Where a walk over a family stands: the next set, the sets in the index, and those of them smaller than the next."""
ALL_WORK = 1 << 62


@compiled
def count_members(family: Words) -> Counts:
    """The cardinality of each set."""
    n_sets, words = family.shape
    counts = np.zeros(n_sets, dtype=np.int64)
    for i in range(n_sets):
        for w in range(words):
            counts[i] += popcount(family[i, w])
    return counts


@compiled
def count_occurrences(family: Words) -> Counts:
    """In how many sets each column occurs."""
    n_sets, words = family.shape
    counts = np.zeros(words * 64, dtype=np.int64)
    for i in range(n_sets):
        for w in range(words):
            rest = family[i, w]
            while rest != ZERO:
                counts[w * 64 + lowest(rest)] += 1
                rest &= rest - ONE
    return counts


@compiled
def flatten_members(family: Words, n_members: int) -> Counts:
    """The columns of all sets, set after set, each ascending."""
    n_sets, words = family.shape
    members = np.empty(n_members, dtype=np.int64)
    k = 0
    for i in range(n_sets):
        for w in range(words):
            rest = family[i, w]
            while rest != ZERO:
                members[k] = w * 64 + lowest(rest)
                k += 1
                rest &= rest - ONE
    return members


@compiled
def move_columns(family: Words, destination: Counts, words_after: int) -> Words:
    """Renumber columns: column c becomes `destination[c]`, or is dropped where that is negative."""
    n_sets, words = family.shape
    moved = np.zeros((n_sets, words_after), dtype=np.uint64)
    for i in range(n_sets):
        for w in range(words):
            rest = family[i, w]
            while rest != ZERO:
                to = destination[w * 64 + lowest(rest)]
                rest &= rest - ONE
                if to >= 0:
                    moved[i, to >> 6] |= bit(to)
    return moved


@compiled
def transpose(family: Words) -> Words:
    """Which sets hold each column: row c is a packed set of set numbers."""
    n_sets, words = family.shape
    holders = np.zeros((words * 64, (n_sets + 63) >> 6), dtype=np.uint64)
    for i in range(n_sets):
        for w in range(words):
            rest = family[i, w]
            while rest != ZERO:
                holders[w * 64 + lowest(rest), i >> 6] |= bit(i)
                rest &= rest - ONE
    return holders


@compiled
def minimal_of_sorted(ordered: Words) -> Words:
    """The sets of a family that contain no other, each once, the smallest first; equal sets must be neighbours."""
    family = distinct_by_size(ordered)
    if family.shape[0] > 0 and count_members(family[:1])[0] == 0:
        return family[:1]
    keep = keep_minimal(family, columns_by_frequency(family))
    n_kept = 0
    for i in range(family.shape[0]):
        if keep[i]:
            family[n_kept] = family[i]
            n_kept += 1
    return family[:n_kept]


@compiled
def distinct_by_size(ordered: Words) -> Words:
    """Each set once, the smallest first, those of a size as they stand."""
    n_sets, words = ordered.shape
    sizes = count_members(ordered)
    places = np.zeros(words * 64 + 2, dtype=np.int64)
    for i in range(n_sets):
        is_new = i == 0
        for w in range(words):
            is_new |= ordered[i, w] != ordered[i - 1, w]
        if not is_new:
            sizes[i] = -1
        places[sizes[i] + 1] += int(is_new)
    places = np.cumsum(places)
    family = np.empty((places[-1], words), dtype=np.uint64)
    for i in range(n_sets):
        if sizes[i] >= 0:
            family[places[sizes[i]]] = ordered[i]
            places[sizes[i]] += 1
    return family


@compiled
def columns_by_frequency(family: Words) -> Counts:
    """The columns that occur in a family, the most frequent first."""
    occurrences = count_occurrences(family)
    columns = np.empty(occurrences.size, dtype=np.int64)
    n_columns = 0
    for column in range(occurrences.size):
        if occurrences[column] > 0:
            place = n_columns
            while place > 0 and occurrences[columns[place - 1]] < occurrences[column]:
                columns[place] = columns[place - 1]
                place -= 1
            columns[place] = column
            n_columns += 1
    return columns[:n_columns]


@compiled
def keep_minimal(family: Words, columns: Counts) -> npt.NDArray[np.bool_]:
    """Which sets of a family contain no other; the sets must be distinct and sorted by cardinality.

    `columns` are the columns in use, best the most frequent first.
    """
    n_sets = family.shape[0]
    keep = np.zeros(n_sets, dtype=np.bool_)
    state = np.zeros(STATE_SLOTS, dtype=np.int64)
    keep_minimal_on(family, count_members(family), columns, new_index(n_sets, columns), keep, state, ALL_WORK)
    return keep


@compiled
def keep_minimal_on(
    family: Words,
    sizes: Counts,
    columns: Counts,
    index: Words,
    keep: npt.NDArray[np.bool_],
    state: Counts,
    work: int,
) -> None:
    """Go on with `keep_minimal` until some work is done, counted in blocks of the index; see `STATE_SLOTS`."""
    missing = np.empty(columns.shape[0] + 4, dtype=np.int64)
    covered = np.empty(LANES, dtype=np.uint64)
    i, n_kept, n_smaller = state
    while i < family.shape[0] and work > 0:
        if i > 0 and sizes[i] > sizes[i - 1]:
            n_smaller = n_kept
        n_missing = find_missing(family[i], columns, missing)
        minimal = True
        work -= 1
        for block in range((n_smaller + SETS_PER_BLOCK - 1) >> 9):
            work -= 1
            if not rule_out(index, block, n_smaller, missing, n_missing, covered):
                minimal = False
                break
        if minimal:
            keep[i] = True
            enter_index(index, n_kept, family[i], columns)
            n_kept += 1
        i += 1
    state[:] = i, n_kept, n_smaller


@compiled
def find_fresh_columns(family: Words, columns: Counts) -> Words:
    """For each set of a family, distinct and sorted by cardinality, its columns in no proper subset of it.

    Only sets that have such columns are indexed: the columns of any other set are those of subsets of it.
    """
    n_sets = family.shape[0]
    kept = np.empty(n_sets, dtype=np.int64)
    fresh = family.copy()
    state = np.zeros(STATE_SLOTS, dtype=np.int64)
    find_fresh_on(family, count_members(family), columns, new_index(n_sets, columns), kept, fresh, state, ALL_WORK)
    return fresh


@compiled
def find_fresh_on(
    family: Words,
    sizes: Counts,
    columns: Counts,
    index: Words,
    kept: Counts,
    fresh: Words,
    state: Counts,
    work: int,
) -> None:
    """Go on with `find_fresh_columns` until some work is done, counted in blocks of the index; see `STATE_SLOTS`."""
    words = family.shape[1]
    missing = np.empty(columns.shape[0] + 4, dtype=np.int64)
    covered = np.empty(LANES, dtype=np.uint64)
    i, n_kept, n_smaller = state
    while i < family.shape[0] and work > 0:
        if i > 0 and sizes[i] > sizes[i - 1]:
            n_smaller = n_kept
        n_missing = find_missing(family[i], columns, missing)
        left = True
        work -= 1
        # From the largest sets down, as they take away most.
        block = (n_smaller + SETS_PER_BLOCK - 1) >> 9
        while left and block > 0:
            block -= 1
            work -= 1
            if rule_out(index, block, n_smaller, missing, n_missing, covered):
                continue
            for lane in range(LANES - 1, -1, -1):
                subsets = ~covered[lane]
                while left and subsets != ZERO:
                    subset = kept[block * SETS_PER_BLOCK + lane * 64 + lowest(subsets)]
                    subsets &= subsets - ONE
                    left = False
                    for w in range(words):
                        fresh[i, w] &= ~family[subset, w]
                        left |= fresh[i, w] != ZERO
        if left:
            enter_index(index, n_kept, family[i], columns)
            kept[n_kept] = i
            n_kept += 1
        i += 1
    state[:] = i, n_kept, n_smaller


@compiled
def sets_by_column(family: Words, chosen: Words, universe: int) -> tuple[Counts, Words]:
    """For each column, the sets of a family for which it is chosen, without it; and where those of each end."""
    occurrences = count_occurrences(chosen)
    ends = np.cumsum(occurrences[:universe])
    place = ends - occurrences[:universe]
    words = family.shape[1]
    listed = np.empty((ends[universe - 1] if universe > 0 else 0, words), dtype=np.uint64)
    for i in range(family.shape[0]):
        for w in range(words):
            rest = chosen[i, w]
            while rest != ZERO:
                column = w * 64 + lowest(rest)
                rest &= rest - ONE
                for k in range(words):
                    listed[place[column], k] = family[i, k]
                listed[place[column], w] &= ~bit(column)
                place[column] += 1
    return ends, listed


@compiled
def new_index(capacity: int, columns: Counts) -> Words:
    """An index of sets that answers for 512 of them at once.

    A set lies in x if none of its columns is missing in x, so the union of the lines of the missing columns
    has a zero at it. The lines of the most frequent columns come first, for which the union fills up soonest.
    Lines are read four at a time: the empty line after the last column pads a shorter rest.
    """
    return np.zeros(((capacity >> 9) + 1, columns.shape[0] + 1, LANES), dtype=np.uint64)


@compiled
def enter_index(index: Words, number: int, members: Words, columns: Counts) -> None:
    """Put a set into the index."""
    lane = (number >> 6) & (LANES - 1)
    for k in range(columns.shape[0]):
        if (members[columns[k] >> 6] & bit(columns[k])) != ZERO:
            index[number >> 9, k, lane] |= bit(number)


@compiled
def find_missing(members: Words, columns: Counts, missing: Counts) -> int:
    """Write the lines of the columns that a set lacks, padded with the empty line, and count them."""
    n_missing = 0
    for k in range(columns.shape[0]):
        missing[n_missing] = k
        n_missing += int((members[columns[k] >> 6] & bit(columns[k])) == ZERO)
    missing[n_missing : n_missing + 4] = columns.shape[0]
    return n_missing


@compiled
def rule_out(index: Words, block: int, n_indexed: int, missing: Counts, n_missing: int, covered: Words) -> bool:
    """Whether no set of a block is a subset; otherwise `covered` has zeros at those that are."""
    for lane in range(index.shape[2]):
        taken = n_indexed - block * SETS_PER_BLOCK - lane * 64
        covered[lane] = ZERO if taken >= 64 else (ALL if taken <= 0 else ALL << np.uint64(taken))
    for k in range(0, n_missing, 4):
        everywhere = ALL
        first = index[block, missing[k]]
        second = index[block, missing[k + 1]]
        third = index[block, missing[k + 2]]
        fourth = index[block, missing[k + 3]]
        for lane in range(index.shape[2]):
            covered[lane] |= first[lane] | second[lane] | third[lane] | fourth[lane]
            everywhere &= covered[lane]
        if everywhere == ALL:
            return True
    return False
