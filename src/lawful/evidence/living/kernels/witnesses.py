"""Agree sets with a few witness pairs each.

Set v is `keys[:, v, :]` (see `evidence.kernels.vector_set`), its witnesses are `pairs[v]`: places for pairs of rows,
-1 where a place is empty.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.vector_set import find_or_place
from lawful.evidence.kernels.words import hash_of


@compiled
def add_witnessed(
    words: Words, left: Int32s, right: Int32s, slots: Int32s, shift: int, keys: Words, pairs: Int32s, size: int
) -> int:
    """Add the set of every pair with the pair as a witness, as long as it has room; return how many sets there are now.

    A set prefers witnesses that share no row: one row that leaves then takes one witness with it.
    """
    places = pairs.shape[1]
    for k in range(left.size):
        v = find_or_place(words, k, hash_of(words, k), slots, shift, keys, size)
        if v == size:
            size += 1
            pairs[v, :, :] = -1
        elif pairs[v, places - 1, 0] >= 0:
            continue
        one, other = left[k], right[k]
        for place in range(places):
            first, second = pairs[v, place]
            if first < 0:
                pairs[v, place, 0] = one
                pairs[v, place, 1] = other
                break
            if first in (one, other) or second in (one, other):
                break
    return size


@compiled
def drop_witnesses(pairs: Int32s, is_live: Flags) -> Flags:
    """Drop the pairs that lost a row, and move the others to the front; tell which sets have just lost their last."""
    lost = np.zeros(pairs.shape[0], np.bool_)
    for v in range(pairs.shape[0]):
        if pairs[v, 0, 0] < 0:
            continue
        kept = 0
        for place in range(pairs.shape[1]):
            one, other = pairs[v, place]
            if one >= 0 and is_live[one] and is_live[other]:
                pairs[v, kept, 0] = one
                pairs[v, kept, 1] = other
                kept += 1
        for place in range(kept, pairs.shape[1]):
            pairs[v, place, :] = -1
        lost[v] = kept == 0
    return lost
