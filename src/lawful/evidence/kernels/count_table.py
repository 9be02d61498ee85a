"""A hash table of vectors of words and their counts, side by side: open addressing with linear probing.

An entry is `table[slot]`: the words of a vector, then its count, which is zero where a slot is free. So a vector
that is there costs one access to memory, half of what numbered vectors would. The caller sees to it that there is
room for all that may come; slots are a power of two, at most half of them taken.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ONE, ZERO, hash_of, hash_of_word


@compiled
def slot_of(words: Words, k: int, table: Words, shift: int) -> int:
    """Return where a vector is, or the free slot where it belongs."""
    slot = np.int64(hash_of(words, k) >> np.uint64(shift))
    last = table.shape[1] - 1
    while table[slot, last] != ZERO:
        is_here = True
        for w in range(last):
            is_here &= table[slot, w] == words[w, k]
        if is_here:
            break
        slot = (slot + 1) & (table.shape[0] - 1)
    return int(slot)


@compiled
def _count_known(words: Words, vectors: int, table: Words, shift: int, missed: Int32s) -> int:
    """Count the vectors that are in their first slot; list the others and return how many they are.

    There is no jump in the loops, so that the accesses of many vectors overlap, none of which the processor
    could guess. This made it faster than any filter of recent vectors in front of the table.
    """
    misses = 0
    last = table.shape[1] - 1
    shift_bits = np.uint64(shift)
    if last == 1:
        # The same as below for vectors of one word, which most are: no loop within the loop.
        only = words[0]
        for k in range(vectors):
            slot = hash_of_word(only[k]) >> shift_bits
            is_here = (table[slot, 0] == only[k]) & (table[slot, 1] != ZERO)
            table[slot, 1] += np.uint64(is_here)
            missed[misses] = k
            misses += is_here ^ 1
        return misses
    for k in range(vectors):
        slot = hash_of(words, k) >> shift_bits
        is_here = table[slot, last] != ZERO
        for w in range(last):
            is_here &= table[slot, w] == words[w, k]
        table[slot, last] += np.uint64(is_here)
        missed[misses] = k
        misses += is_here ^ 1
    return misses


@compiled
def count_run(
    words: Words,
    row: int,
    first: int,
    pairs: int,
    table: Words,
    shift: int,
    witnesses: Int32s,
    size: int,
    missed: Int32s,
) -> int:
    """Count the vectors of one row with the rows from `first` on; return how many distinct ones there are."""
    last = table.shape[1] - 1
    misses = _count_known(words, pairs, table, shift, missed)
    for k in missed[:misses]:
        slot = slot_of(words, k, table, shift)
        if table[slot, last] == ZERO:
            for w in range(last):
                table[slot, w] = words[w, k]
            witnesses[slot, 0] = row
            witnesses[slot, 1] = first + k
            size += 1
        table[slot, last] += ONE
    return size


@compiled
def add_entries(entries: Words, pairs: Int32s, table: Words, shift: int, witnesses: Int32s, size: int) -> int:
    """Add all taken slots of another table; of two witnesses the first pair in the order of the walk stays."""
    last = table.shape[1] - 1
    words = np.empty((last, 1), np.uint64)
    for other in range(entries.shape[0]):
        if entries[other, last] == ZERO:
            continue
        for w in range(last):
            words[w, 0] = entries[other, w]
        slot = slot_of(words, 0, table, shift)
        is_new = table[slot, last] == ZERO
        if is_new:
            for w in range(last):  # not by a slice, which takes seconds to compile
                table[slot, w] = entries[other, w]
            size += 1
        i, j = pairs[other]
        if is_new or i < witnesses[slot, 0] or (i == witnesses[slot, 0] and j < witnesses[slot, 1]):
            witnesses[slot, 0] = i
            witnesses[slot, 1] = j
        table[slot, last] += entries[other, last]
    return size
