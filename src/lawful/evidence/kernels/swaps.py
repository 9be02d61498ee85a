"""Noting which order compatibilities the pairs of rows refute, agree set by agree set.

A pair that has < in column a and > in column b is a swap of a and b; with the same sign in both it is a swap against
the opposite direction. `refuted[v, a, ASC]` is the set of the columns b > a that some pair with agree set v
swaps with a, `refuted[v, a, DESC]` the same for opposite directions. Column a itself is in the latter where a pair
differs on a, which refutes the FD.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.vector_set import find_or_place
from lawful.evidence.kernels.words import ONE, ZERO, hash_of

ASC, DESC = 0, 1
RECENT_BITS = 12
_LAST_BIT = np.uint64(63)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@compiled
def note_swaps(
    signs: Words,
    everything: Words,
    left: Int32s,
    right: Int32s,
    slots: Int32s,
    slots_shift: int,
    keys: Words,
    witnesses: Int32s,
    size: int,
    refuted: Words,
    recent: Words,
    told: Int32s,
) -> tuple[int, int]:
    """Take in the pairs with the sign words `signs[plane * width + word, k]`.

    `recent` holds, at the place that their hash gives them, signs that were taken in: in a small table most pairs
    have the signs of an earlier one, and need not be looked at again.

    Returns how many agree sets there are now, and how many pairs told something new: an agree set, or a swap that no
    pair with this agree set had shown. `told` gets their numbers.
    """
    width = everything.size
    shift = np.uint64(64 - RECENT_BITS)
    agree = np.empty((width, left.size), np.uint64)
    for w in range(width):
        for k in range(left.size):
            agree[w, k] = ~(signs[w, k] | signs[width + w, k]) & everything[w]
    less = np.empty(width, np.uint64)
    greater = np.empty(width, np.uint64)
    news = 0  # the pair that is looked at is written at this place, and counted if it told something
    for k in range(left.size):
        if _is_recent(signs, k, recent[np.int64(hash_of(signs, k) >> shift)]):
            continue
        v = find_or_place(agree, k, hash_of(agree, k), slots, slots_shift, keys, size)
        is_new = v == size
        if is_new:
            witnesses[v, 0] = left[k]
            witnesses[v, 1] = right[k]
            size += 1
        for w in range(width):  # where both bits are set a null makes the sign unknown
            less[w] = signs[w, k] & ~signs[width + w, k]
            greater[w] = signs[width + w, k] & ~signs[w, k]
        is_new |= _note(less, greater, refuted[v]) != ZERO
        told[news] = k
        news += int(is_new)
    return size, news


@compiled
def _is_recent(signs: Words, k: int, recent: Words) -> bool:
    """Whether a pair has these recent signs; if not, its own take their place."""
    is_recent = True
    for w in range(signs.shape[0]):
        is_recent &= recent[w] == signs[w, k]
        recent[w] = signs[w, k]
    return is_recent


@compiled
def _note(less: Words, greater: Words, refuted: Words) -> np.uint64:
    """Note the swaps of a pair under its agree set; return a word that is zero if none was new.

    Without a jump that depends on a sign: the processor could not guess it.
    """
    changed = ZERO
    for a in range(refuted.shape[0]):
        first = a >> 6
        place = np.uint64(a) & _LAST_BIT
        # All ones where a has the sign, else zero.
        is_less = _ALL if (less[first] >> place) & ONE != ZERO else ZERO
        is_greater = _ALL if (greater[first] >> place) & ONE != ZERO else ZERO
        counted = _ALL << place  # the columns of this word from a on
        for w in range(first, less.size):
            swapped = ((greater[w] & is_less) | (less[w] & is_greater)) & counted
            alike = ((less[w] & is_less) | (greater[w] & is_greater)) & counted
            changed |= (swapped & ~refuted[a, ASC, w]) | (alike & ~refuted[a, DESC, w])
            refuted[a, ASC, w] |= swapped
            refuted[a, DESC, w] |= alike
            counted = _ALL
    return changed


@compiled
def next_pairs(rows: int, distance: int, position: int, left: Int32s, right: Int32s) -> tuple[int, int, int]:
    """List pairs of rows that stand `distance` apart, from a position on, then those further apart; as many as fit.

    Returns how many pairs were listed and where to go on; the end is at the distance `rows`.
    """
    listed = 0
    while distance < rows and listed < left.size:
        left[listed] = position
        right[listed] = position + distance
        listed += 1
        position += 1
        if position + distance == rows:
            distance += 1
            position = 0
    return listed, distance, position


@compiled
def pairs_of_tile(rows: int, last: int, i: int, j: int, left: Int32s, right: Int32s) -> tuple[int, int, int]:
    """List pairs (i, j) with i < j < `rows` from here on, then those of the next i before `last`; as many as fit.

    Returns how many pairs were listed and where to go on; the end is at i = `last`.
    """
    listed = 0
    while i < last and listed < left.size:
        stop = min(rows, j + left.size - listed)
        for k in range(j, stop):
            left[listed] = i
            right[listed] = k
            listed += 1
        j = stop
        if j == rows:
            i += 1
            j = i + 1
    return listed, i, j
