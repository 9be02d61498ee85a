"""A hash table that numbers vectors of words: open addressing with linear probing, at most half of the slots taken."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ONE, ZERO, hash_of_next, hash_of_word

_PAIRS, _NIBBLES, _BYTES = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
_ONES, _TOP_BYTE = np.uint64(0x0101010101010101), np.uint64(56)
_TWO, _FOUR = np.uint64(2), np.uint64(4)


@compiled
def _hash(vectors: Words, k: int) -> np.uint64:
    mixed = hash_of_word(vectors[k, 0])
    for w in range(1, vectors.shape[1]):
        mixed = hash_of_next(mixed, vectors[k, w])
    return mixed


@compiled
def number_vectors(
    vectors: Words, adds: bool, slots: Int32s, shift: int, keys: Words, size: int, numbers: Int64s
) -> int:
    """Write the number of each of `vectors[vector, word]`; return how many vectors are numbered now.

    One that has no number gets the next if `adds`, for which there must be room, and -1 otherwise.
    """
    for k in range(vectors.shape[0]):
        slot = np.int64(_hash(vectors, k) >> np.uint64(shift))
        number = np.int64(-1)
        while slots[slot] >= 0:
            held = slots[slot]
            is_here = True
            for w in range(vectors.shape[1]):
                is_here &= keys[held, w] == vectors[k, w]
            if is_here:
                number = np.int64(held)
                break
            slot = (slot + 1) & (slots.size - 1)
        if number < 0 and adds:
            slots[slot] = size
            keys[size] = vectors[k]
            number = np.int64(size)
            size += 1
        numbers[k] = number
    return size


@compiled
def popcount(word: np.uint64) -> int:
    """How many bits of a word are set."""
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> _TWO) & _NIBBLES)
    word = (word + (word >> _FOUR)) & _BYTES
    return int(np.multiply(word, _ONES) >> _TOP_BYTE)


@compiled
def agreements(agree: Words, counts: Int64s) -> tuple[int, int]:
    """How many cells pairs with these agree sets share, and how many of the pairs share any."""
    cells, pairs = 0, 0
    for k in range(agree.shape[0]):
        shared = 0
        for w in range(agree.shape[1]):
            if agree[k, w] != ZERO:
                shared += popcount(agree[k, w])
        cells += shared * counts[k]
        if shared > 0:
            pairs += counts[k]
    return cells, pairs
