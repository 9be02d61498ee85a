"""Denial constraints of one, two or three predicates that no pair of a sample breaks, by going through all of them.

A predicate is the set of pairs of rows that satisfy it, as bits. Predicates make a constraint that no pair breaks if
their sets have nothing in common. Most have something in common that is found in the first words, so that millions of
constraints are looked at in the time in which a search for hitting sets opens thousands of nodes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, NONE, ZERO

Counts = npt.NDArray[np.int64]

# Where a search stands: the first and second predicate of the constraints that come next.
FIRST = 0
SECOND = 1
STATE_SLOTS = 2

MOST = 3
"""The most predicates of a constraint."""


@compiled
def search_small_on(
    planes: Words, groups: Counts, weaker: Counts, size: int, state: Counts, word_budget: int, out: Int32s
) -> int:
    """Go on until `out` may be full or about `word_budget` words were read; return how many sets were written.

    Parameters
    ----------
    planes
        For each predicate the pairs that satisfy it.
    groups
        For each predicate its group; those of a group stand together.
    weaker
        For each predicate the others of its group that hold wherever it does, then `NONE`.
    size
        How many predicates a constraint has: 1, 2 or 3, of different groups.
    state
        Where to go on; it is at its end once the first predicate is none of them.
    out
        The constraints, `int32[n, MOST]`, the numbers of their predicates and then `NONE`: minimal, and none that a
        weaker predicate in the place of another would leave unbroken. It has room for one per predicate at least.
    """
    n, words = planes.shape
    common, where = np.empty(words, np.uint64), np.empty(words, np.int64)
    written, read = 0, 0
    while state[FIRST] < n and read < word_budget and written + n <= out.shape[0]:
        p, q = state[FIRST], state[SECOND]
        if size == 1:
            if _is_minimal(planes, weaker, p, NONE, NONE):
                _write(out[written], p, NONE, NONE)
                written += 1
            read += words
            _go_on(state, n)
            continue
        if q >= n:
            _go_on(state, n)
            continue
        if groups[q] == groups[p]:
            state[SECOND] += 1
            continue
        if size == 2:
            first = _first_common(planes[p], planes[q])
            read += first + 1
            if first == words and _is_minimal(planes, weaker, p, q, NONE):
                _write(out[written], p, q, NONE)
                written += 1
            state[SECOND] += 1
            continue
        full = 0
        for k in range(words):
            word = planes[p, k] & planes[q, k]
            if word != ZERO:
                common[full], where[full] = word, k
                full += 1
        read += words
        if full:
            for r in range(q + 1, n):
                if groups[r] == groups[q]:
                    continue
                k = 0
                while k < full and common[k] & planes[r, where[k]] == ZERO:
                    k += 1
                read += k + 1
                if k == full and _is_minimal(planes, weaker, p, q, r):
                    _write(out[written], p, q, r)
                    written += 1
        state[SECOND] += 1
    return written


@compiled
def _go_on(state: Counts, n: int) -> None:
    """Go on to the next first predicate."""
    state[FIRST] += 1
    state[SECOND] = state[FIRST] + 1


@compiled
def _write(out: Int32s, p: int, q: int, r: int) -> None:
    """Write a constraint of up to three predicates."""
    out[0], out[1], out[2] = p, q, r


@compiled
def _first_common(one: Words, other: Words) -> int:
    """The first word in which two sets have something in common; the number of words if there is none."""
    k = 0
    while k < one.shape[0] and one[k] & other[k] == ZERO:
        k += 1
    return k


@compiled
def _is_unbroken(planes: Words, p: int, q: int, r: int) -> bool:
    """Whether no pair satisfies some predicates, of which there may be fewer than three."""
    for k in range(planes.shape[1]):
        word = ALL if p == NONE else planes[p, k]
        if q != NONE:
            word &= planes[q, k]
        if r != NONE:
            word &= planes[r, k]
        if word != ZERO:
            return False
    return True


@compiled
def _is_minimal(planes: Words, weaker: Counts, p: int, q: int, r: int) -> bool:
    """Whether no pair breaks a constraint, and some pair breaks it with any predicate left out or weakened."""
    if not _is_unbroken(planes, p, q, r):
        return False
    for _ in range(3):
        if p != NONE:
            if _is_unbroken(planes, NONE, q, r):
                return False
            for k in range(weaker.shape[1]):
                if weaker[p, k] == NONE:
                    break
                if _is_unbroken(planes, weaker[p, k], q, r):
                    return False
        p, q, r = q, r, p
    return True
