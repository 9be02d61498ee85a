"""Which pairs refute which laws, for 64 pairs at a time.

A literal is a row of bits, one for each pair: whether the pair satisfies it. The pairs that refute a law are those in
the rows of all of its literals and in that of what breaks its right side.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, lowest
from lawful.search.pods.kernels.left_sides import AT_LEAST, AT_MOST, COLUMN_BITS, GREATER, LESS

_AT_A_TIME = 512
"""Words of each row that are looked at for all laws before the next ones: they stay at hand then."""


@compiled
def satisfied_literals(less: Words, greater: Words, columns: int) -> Words:
    """The pairs that satisfy each literal, `uint64[literals, words]`; an unknown sign satisfies none."""
    pairs = less.shape[0]
    satisfied = np.zeros((COLUMN_BITS * columns, (pairs + 63) // 64), np.uint64)
    for start in range(0, pairs, 64):
        stop = min(start + 64, pairs)
        there = ~ZERO >> np.uint64(64 - (stop - start))
        for column in range(columns):
            word, place = column >> 6, np.uint64(column & 63)
            is_less = is_greater = ZERO
            for i in range(start, stop):
                own = np.uint64(i - start)
                is_less |= ((less[i, word] >> place) & ONE) << own
                is_greater |= ((greater[i, word] >> place) & ONE) << own
            at, first = start >> 6, COLUMN_BITS * column
            satisfied[first + AT_MOST, at] = there & ~is_greater
            satisfied[first + AT_LEAST, at] = there & ~is_less
            satisfied[first + LESS, at] = is_less & ~is_greater
            satisfied[first + GREATER, at] = is_greater & ~is_less
    return satisfied


@compiled
def mark_refuting(satisfied: Words, sets: Words, breaking: Words, refutes: Words) -> bool:
    """Add the pairs to `refutes` that satisfy any of some left sides and break the right side; tell if any does."""
    words = breaking.size
    members = np.empty(satisfied.shape[0], np.int64)
    left = np.empty(_AT_A_TIME, np.uint64)
    found = False
    for start in range(0, words, _AT_A_TIME):
        size = min(_AT_A_TIME, words - start)
        for j in range(sets.shape[0]):
            count = 0
            for w in range(sets.shape[1]):
                rest = sets[j, w]
                while rest != ZERO:
                    members[count] = w * 64 + lowest(rest)
                    count += 1
                    rest &= rest - ONE
            for b in range(size):
                left[b] = breaking[start + b]
            for m in range(count):
                row = members[m]
                for b in range(size):
                    left[b] &= satisfied[row, start + b]
            any_left = ZERO
            for b in range(size):
                any_left |= left[b]
            if any_left != ZERO:
                found = True
                for b in range(size):
                    refutes[start + b] |= left[b]
    return found
