"""Weighing sets by the supersets that they have in another family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.search.bits_kernels import compiled

Words = npt.NDArray[np.uint64]


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
