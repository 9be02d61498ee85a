"""A hash set of vectors of words: open addressing with linear probing, vectors numbered as they come.

Slots hold the number of a vector, or -1. Vector v is `keys[:, v, :]`: one or two planes of words, each plane
contiguous, so that a plane is a family of sets by itself. Vectors arrive as `words[plane * width + word, k]`.
The caller sees to it that there is room for all that may come; slots are a power of two, at most half full.
"""

from __future__ import annotations

import numpy as np

from lawful.evidence.words_kernels import Int32s, Int64s, Words, compiled, hash_of

FILTER_BITS = 12
"""The filter in front of the slots stays in the nearest cache: most vectors repeat recent ones."""

_WORD_BITS = 64
_FILTER_SHIFT = np.uint64(_WORD_BITS - FILTER_BITS)


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
def add_pairs(
    words: Words, left: Int32s, right: Int32s, slots: Int32s, shift: int, keys: Words, witnesses: Int32s, size: int
) -> int:
    """Add the vector of every pair; return how many vectors there are now. The first pair is the witness."""
    for k in range(left.size):
        mixed = hash_of(words, k)
        # The first look is here and not in the call: most vectors are known, and it is three times as fast.
        v = int(slots[mixed >> np.uint64(shift)])
        if v >= 0 and _is_vector(keys, v, words, k):
            continue
        v = find_or_place(words, k, mixed, slots, shift, keys, size)
        if v == size:
            witnesses[v, 0] = left[k]
            witnesses[v, 1] = right[k]
            size += 1
    return size


@compiled
def count_run(
    words: Words,
    row: int,
    first: int,
    pairs: int,
    counted: bool,
    recent: Int32s,
    slots: Int32s,
    shift: int,
    keys: Words,
    counts: Int64s,
    witnesses: Int32s,
    size: int,
) -> int:
    """Count the vectors of one row with the rows from `first` on; return how many there are now."""
    for k in range(pairs):
        mixed = hash_of(words, k)
        place = mixed >> _FILTER_SHIFT
        v = int(recent[place])
        if v < 0 or not _is_vector(keys, v, words, k):
            v = find_or_place(words, k, mixed, slots, shift, keys, size)
            recent[place] = v
            if v == size:
                witnesses[v, 0] = row
                witnesses[v, 1] = first + k
                size += 1
        if counted:
            counts[v] += 1
    return size


@compiled
def add_counted(
    words: Words,
    more: Int64s,
    pairs: Int32s,
    slots: Int32s,
    shift: int,
    keys: Words,
    counts: Int64s,
    witnesses: Int32s,
    size: int,
) -> int:
    """Add vectors with their counts; of two witnesses the first pair in the order of rows stays."""
    for k in range(more.size):
        v = find_or_place(words, k, hash_of(words, k), slots, shift, keys, size)
        if v == size:
            size += 1
            witnesses[v] = pairs[k]
        elif pairs[k, 0] < witnesses[v, 0] or (pairs[k, 0] == witnesses[v, 0] and pairs[k, 1] < witnesses[v, 1]):
            witnesses[v] = pairs[k]
        counts[v] += more[k]
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
