"""How many pairs of rows satisfy a left side, one way round or the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ONE, ZERO, lowest, popcount

Counts = npt.NDArray[np.int64]


@compiled
def count_missed(sets: Words, turned: Words, missed: Words) -> Counts:
    """For each set of literals how many pairs do not satisfy it in either order.

    `missed` has for each literal the bitmap of the pairs that do not satisfy it, and `turned` the literals that say
    the same of the rows exchanged.
    """
    counts = np.zeros(sets.shape[0], np.int64)
    one, other = np.empty(missed.shape[1], np.uint64), np.empty(missed.shape[1], np.uint64)
    for i in range(sets.shape[0]):
        _join(sets[i], missed, one)
        _join(turned[i], missed, other)
        total = 0
        for k in range(one.size):
            total += popcount(one[k] & other[k])
        counts[i] = total
    return counts


@compiled
def _join(literals: Words, missed: Words, out: Words) -> None:
    out[:] = ZERO
    for word in range(literals.size):
        rest = literals[word]
        while rest != ZERO:
            own = missed[word * 64 + lowest(rest)]
            rest &= rest - ONE
            for k in range(out.size):
                out[k] |= own[k]
