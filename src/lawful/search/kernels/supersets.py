"""Weighing sets by the supersets that they have in another family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ALL, ONE, ZERO, lowest, popcount


@compiled
def superset_weights(sets: Words, family: Words, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each set, the summed weights of the members of `family` that contain it."""
    out = np.zeros(sets.shape[0], np.int64)
    for i in range(sets.shape[0]):
        total = 0
        for j in range(family.shape[0]):
            contained = True
            for word in range(sets.shape[1]):
                if sets[i, word] & ~family[j, word] != 0:
                    contained = False
                    break
            if contained:
                total += weights[j]
        out[i] = total
    return out


@compiled
def count_supersets(sets: Words, holders: Words) -> npt.NDArray[np.int64]:
    """For each set, how many members of a family contain it; `holders[c]` is the bitmap of those that hold column c.

    Quicker than `superset_weights` for many members: it takes as many steps as the set has columns for 64 of them.
    """
    counts = np.zeros(sets.shape[0], np.int64)
    agreeing = np.empty(holders.shape[1], np.uint64)
    for i in range(sets.shape[0]):
        agreeing[:] = ALL
        for word in range(sets.shape[1]):
            rest = sets[i, word]
            while rest != ZERO:
                held = holders[word * 64 + lowest(rest)]
                rest &= rest - ONE
                for k in range(agreeing.size):
                    agreeing[k] &= held[k]
        total = 0
        for k in range(agreeing.size):
            total += popcount(agreeing[k])
        counts[i] = total
    return counts
