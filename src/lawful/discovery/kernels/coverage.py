"""Marking which pairs of rows agree on a column."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.common.meanings import NULL_RANK


@compiled
def mark_agreeing(ranks: Int32s, left: Int32s, right: Int32s, ignores_nulls: bool, marks: Words) -> None:
    """Set bit k of `marks`, which has none, for every pair k whose rows have the same rank."""
    for word in range(marks.size):
        bits = np.uint64(0)
        first = word * 64
        for k in range(first, min(first + 64, left.size)):
            rank = ranks[left[k]]
            agrees = (rank == ranks[right[k]]) & ((rank != NULL_RANK) | (not ignores_nulls))
            bits |= np.uint64(agrees) << np.uint64(k - first)
        marks[word] = bits
