"""A hash set of vectors of words: open addressing with linear probing, vectors numbered as they come.

Slots hold the number of a vector, or -1. Vector v is `keys[:, v, :]`: one or two planes of words, each plane
contiguous, so that a plane is a family of sets by itself. Vectors arrive as `words[plane * width + word, k]`.
The caller sees to it that there is room for all that may come; slots are a power of two, at most half full.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import hash_of, hash_of_next, hash_of_word


@compiled
def _is_vector(keys: Words, v: int, words: Words, k: int) -> bool:
    width = keys.shape[2]
    for plane in range(keys.shape[0]):
        for w in range(width):
            if keys[plane, v, w] != words[plane * width + w, k]:
                return False
    return True


@compiled
def find_or_place(words: Words, k: int, mixed: np.uint64, slots: Int32s, shift: int, keys: Words, size: int) -> int:
    """Return the number of a vector; it is `size` if the vector is new, and then it is in place."""
    slot = np.int64(mixed >> np.uint64(shift))
    while True:
        v = slots[slot]
        if v < 0:
            break
        if _is_vector(keys, v, words, k):
            return int(v)
        slot = (slot + 1) & (slots.size - 1)
    slots[slot] = size
    width = keys.shape[2]
    for plane in range(keys.shape[0]):
        for w in range(width):
            keys[plane, size, w] = words[plane * width + w, k]
    return size


@compiled
def _unknown(words: Words, vectors: int, slots: Int32s, shift: int, keys: Words, missed: Int32s) -> int:
    """Look at the first slot of every vector; list those that are not there and return how many they are.

    There is no jump in the loop, so that the memory accesses of many vectors overlap, none of which the
    processor could guess. This made it faster than any filter of recent vectors in front of the slots.
    """
    misses = 0
    width = keys.shape[2]
    shift_bits = np.uint64(shift)
    if width == 1:
        # The same as below for planes of one word, which most are: no loops within the loop.
        last = keys.shape[0] - 1
        one, other = words[0], words[last]
        for k in range(vectors):
            mixed = hash_of_word(one[k])
            if last > 0:
                mixed = hash_of_next(mixed, other[k])
            v = slots[mixed >> shift_bits]
            known = max(v, 0)
            is_here = (v >= 0) & (keys[0, known, 0] == one[k]) & (keys[last, known, 0] == other[k])
            missed[misses] = k
            misses += is_here ^ 1
        return misses
    for k in range(vectors):
        v = slots[hash_of(words, k) >> shift_bits]
        known = max(v, 0)
        is_here = v >= 0
        for plane in range(keys.shape[0]):
            for w in range(width):
                is_here &= keys[plane, known, w] == words[plane * width + w, k]
        missed[misses] = k
        misses += is_here ^ 1
    return misses


@compiled
def add_pairs(
    words: Words, left: Int32s, right: Int32s, slots: Int32s, shift: int, keys: Words, witnesses: Int32s, size: int
) -> int:
    """Add the vector of every pair; return how many vectors there are now. The first pair is the witness."""
    missed = np.empty(left.size + 1, np.int32)
    misses = _unknown(words, left.size, slots, shift, keys, missed)
    for k in missed[:misses]:
        v = find_or_place(words, k, hash_of(words, k), slots, shift, keys, size)
        if v == size:
            witnesses[v, 0] = left[k]
            witnesses[v, 1] = right[k]
            size += 1
    return size


@compiled
def refill(keys: Words, size: int, slots: Int32s, shift: int) -> None:
    """Fill empty slots with all vectors."""
    width = keys.shape[2]
    words = np.empty((keys.shape[0] * width, 1), np.uint64)
    for v in range(size):
        for plane in range(keys.shape[0]):
            for w in range(width):
                words[plane * width + w, 0] = keys[plane, v, w]
        slot = np.int64(hash_of(words, 0) >> np.uint64(shift))
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = v
