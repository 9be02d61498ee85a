"""Which columns always agree and differ together."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.common.meanings import NULL_RANK

BEGINNING = 64


@compiled
def beginnings(ranks: Int32s) -> Words:
    """For each line of ranks which of the first 64 have the value of the first, a bit each: twins begin alike."""
    alike = np.zeros(ranks.shape[0], np.uint64)
    for line in range(ranks.shape[0]):
        for row in range(min(BEGINNING, ranks.shape[1])):
            alike[line] |= np.uint64(ranks[line, row] == ranks[line, 0]) << np.uint64(row)
    return alike


@compiled
def are_twins(a: Int32s, b: Int32s, distinct: int) -> bool:
    """Whether one value of `a` always meets one of `b`, and null meets null; both have `distinct` values."""
    partner = np.full(distinct + 1, -1, np.int32)
    partner[NULL_RANK] = NULL_RANK
    for row in range(a.size):
        if partner[a[row]] < 0 and b[row] != NULL_RANK:
            partner[a[row]] = b[row]
        elif partner[a[row]] != b[row]:
            return False
    return True


@compiled
def determines(a: Int32s, b: Int32s, distinct: int, ignores_nulls: bool) -> bool:
    """Whether one value of `a`, which has `distinct` values, always meets one of `b`; nulls are values or ignored."""
    partner = np.full(distinct + 1, -1, np.int32)
    for row in range(a.size):
        if ignores_nulls and (a[row] == NULL_RANK or b[row] == NULL_RANK):
            continue
        if partner[a[row]] < 0:
            partner[a[row]] = b[row]
        elif partner[a[row]] != b[row]:
            return False
    return True
