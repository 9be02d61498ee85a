"""Loops over pairs of rows that were drawn: how each column orders them, and how often two columns agree on that."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, popcount


@compiled
def mark_signs(column: Int32s, left: Int32s, right: Int32s, lowest: int, less: Words, greater: Words) -> None:
    """Set bit i of `less` or of `greater` where the i-th pair is so ordered; of neither where a value is unknown."""
    for i in range(left.size):
        t, s = column[left[i]], column[right[i]]
        if t >= lowest and s >= lowest and t != s:
            bit = ONE << np.uint64(i & 63)
            if t < s:
                less[i >> 6] |= bit
            else:
                greater[i >> 6] |= bit


@compiled
def count_orders(less: Words, greater: Words, rising: Int64s, falling: Int64s) -> None:
    """For each two columns: how many pairs both order alike, and how many they order against each other."""
    for a in range(less.shape[0]):
        for b in range(a + 1, less.shape[0]):
            alike = 0
            against = 0
            for k in range(less.shape[1]):
                alike += popcount((less[a, k] & less[b, k]) | (greater[a, k] & greater[b, k]))
                against += popcount((less[a, k] & greater[b, k]) | (greater[a, k] & less[b, k]))
            rising[a, b] = alike
            falling[a, b] = against
