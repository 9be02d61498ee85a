"""Looking for two rows that are equal, by hashes of whole rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Int32s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import hash_of_next

_HASH_BITS = 64
_FREE = -1


@compiled
def mix_column(ranks: Int32s, hashes: Words) -> None:
    """Hash one more column into the hashes of the rows."""
    for row in range(ranks.size):
        hashes[row] = hash_of_next(hashes[row], np.uint64(ranks[row]))


@compiled
def first_equal(hashes: Words, left_out: npt.NDArray[np.bool_], bits: int) -> tuple[int, int]:
    """The first two rows, of those not left out, with the same hash, or (-1, -1).

    There are 2 to the `bits` slots, which must be more than there are rows.
    """
    slots = np.full(1 << bits, _FREE, np.int32)
    shift = np.uint64(_HASH_BITS - bits)
    for row in range(hashes.size):
        if left_out[row]:
            continue
        slot = np.int64(hashes[row] >> shift)
        while slots[slot] != _FREE:
            if hashes[slots[slot]] == hashes[row]:
                return int(slots[slot]), row
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = row
    return _FREE, _FREE
