"""What sets that come and go do to the minimal edges of many goals.

A family has for each of its sets the goals of which it is an edge, and of these the *fresh* ones: those of which no
proper subset is an edge. Whatever goals the subsets of a set have, some of these subsets have them fresh.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Flags, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, lowest
from lawful.search.kernels.places import find_hashed, hashed
from lawful.search.kernels.sets import (
    LANES,
    SETS_PER_BLOCK,
    columns_by_frequency,
    enter_index,
    find_missing,
    new_index,
    rule_out,
)

Counts = npt.NDArray[np.int64]

_FEW_SOURCES = 8
"""So many sets are compared one by one before an index of them would answer."""


@compiled
def collect_differences(sought: Words, agree: Words, differ: Words) -> tuple[Flags, Words]:
    """Which of some distinct sets occur in a family, and all that stands in `differ`, if anything does, beside them."""
    slots = hashed(sought)
    found = np.zeros(sought.shape[0], dtype=np.bool_)
    together = np.zeros(sought.shape, dtype=np.uint64)
    for i in range(agree.shape[0]):
        which = find_hashed(agree[i], sought, slots)
        if which >= 0:
            found[which] = True
            if differ.shape[0] > 0:
                together[which] |= differ[i]
    return found, together


@compiled
def take_sets(first: Words, second: Words, places: Counts) -> Words:
    """The sets at some places of two families, the second counted on from the end of the first."""
    taken = np.empty((places.size, first.shape[1]), dtype=np.uint64)
    for i in range(places.size):
        place = places[i] - first.shape[0]
        for w in range(first.shape[1]):
            taken[i, w] = first[places[i], w] if place < 0 else second[place, w]
    return taken


@compiled
def spread_to_supersets(family: Words, sources: Words, first: Words, second: Words) -> tuple[Words, Words]:
    """For each set the union of `first`, and the union of `second`, over the sources that it properly contains."""
    firsts, seconds = np.zeros_like(family), np.zeros_like(family)
    if sources.shape[0] <= _FEW_SOURCES:
        for i in range(family.shape[0]):
            for source in range(sources.shape[0]):
                if _contains(family[i], sources[source]):
                    _add(firsts[i], first[source], seconds[i], second[source])
        return firsts, seconds
    columns = columns_by_frequency(sources)
    index = new_index(sources.shape[0], columns)
    for k in range(sources.shape[0]):
        enter_index(index, k, sources[k], columns)
    missing = np.empty(columns.shape[0] + 4, dtype=np.int64)
    covered = np.empty(LANES, dtype=np.uint64)
    for i in range(family.shape[0]):
        n_missing = find_missing(family[i], columns, missing)
        for block in range((sources.shape[0] + SETS_PER_BLOCK - 1) >> 9):
            if rule_out(index, block, sources.shape[0], missing, n_missing, covered):
                continue
            for lane in range(LANES):
                subsets = ~covered[lane]
                while subsets != ZERO:
                    source = block * SETS_PER_BLOCK + lane * 64 + lowest(subsets)
                    subsets &= subsets - ONE
                    if _contains(family[i], sources[source]):
                        _add(firsts[i], first[source], seconds[i], second[source])
    return firsts, seconds


@compiled
def _contains(members: Words, others: Words) -> bool:
    """Whether a set contains another and is not the same."""
    outside = ZERO
    different = ZERO
    for w in range(members.size):
        outside |= others[w] & ~members[w]
        different |= others[w] ^ members[w]
    return bool(outside == ZERO and different != ZERO)


@compiled
def _add(firsts: Words, first: Words, seconds: Words, second: Words) -> None:
    for w in range(firsts.size):
        firsts[w] |= first[w]
        seconds[w] |= second[w]


@compiled
def settle_fresh(
    family: Words,
    sizes: Counts,
    goals: Words,
    opened: Words,
    fresh: Words,
    columns: Counts,
    index: Words,
    kept: Counts,
    state: Counts,
    stop: int,
) -> None:
    """Go on until set `stop`, and make the opened goals of each set fresh that no proper subset has.

    The sets must be distinct and sorted by cardinality. `state` is the next set, how many sets are in the index, and
    how many of these are smaller than the next. This is `find_fresh_columns` for some goals of some sets.
    """
    words = family.shape[1]
    missing = np.empty(columns.shape[0] + 4, dtype=np.int64)
    covered = np.empty(LANES, dtype=np.uint64)
    start, n_kept, n_smaller = state
    for i in range(start, stop):
        if i > 0 and sizes[i] > sizes[i - 1]:
            n_smaller = n_kept
        left = _any(opened[i])
        if left:
            n_missing = find_missing(family[i], columns, missing)
            # From the largest sets down, as they take away most.
            block = (n_smaller + SETS_PER_BLOCK - 1) >> 9
            while left and block > 0:
                block -= 1
                if rule_out(index, block, n_smaller, missing, n_missing, covered):
                    continue
                for lane in range(LANES - 1, -1, -1):
                    subsets = ~covered[lane]
                    while left and subsets != ZERO:
                        subset = kept[block * SETS_PER_BLOCK + lane * 64 + lowest(subsets)]
                        subsets &= subsets - ONE
                        for w in range(words):
                            opened[i, w] &= ~goals[subset, w]
                        left = _any(opened[i])
            for w in range(words):
                fresh[i, w] |= opened[i, w]
        if _any(fresh[i]):
            enter_index(index, n_kept, family[i], columns)
            kept[n_kept] = i
            n_kept += 1
    state[:] = stop, n_kept, n_smaller


@compiled
def _any(words: Words) -> bool:
    rest = ZERO
    for w in range(words.size):
        rest |= words[w]
    return bool(rest != ZERO)
