"""Whether two columns always agree and differ together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.meanings import NULL_RANK
from lawful.search.bits_kernels import compiled

Int32s = npt.NDArray[np.int32]

_LOOKED_AT_FIRST = 64


@compiled
def are_twins(a: Int32s, b: Int32s, distinct: int) -> bool:
    """Whether one value of `a` always meets one of `b`, and null meets null; both have `distinct` values."""
    for row in range(min(_LOOKED_AT_FIRST, a.size)):  # most differ at once
        if (a[row] == a[0]) != (b[row] == b[0]):
            return False
    partner = np.full(distinct + 1, -1, np.int32)
    partner[NULL_RANK] = NULL_RANK
    for row in range(a.size):
        if partner[a[row]] < 0 and b[row] != NULL_RANK:
            partner[a[row]] = b[row]
        elif partner[a[row]] != b[row]:
            return False
    return True
