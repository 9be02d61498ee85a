"""Numbers for pairs of numbers, by open addressing."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import hash_of_word

_HALF = np.uint64(32)


@compiled
def _slot(key: int, slots: Int32s, keys: Int64s) -> int:
    """The slot that has a key, or the free one where it would stand; there are 2^k slots, and some are free."""
    mask = slots.size - 1
    slot = np.int64((hash_of_word(np.uint64(key)) >> _HALF) & np.uint64(mask))
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + 1) & mask
    return int(slot)


@compiled
def find_ids(wanted: Int64s, slots: Int32s, keys: Int64s, ids: Int32s) -> None:
    """Write the id of each key, -1 for those that have none."""
    for place in range(wanted.size):
        ids[place] = slots[_slot(wanted[place], slots, keys)]


@compiled
def add_ids(wanted: Int64s, start: int, slots: Int32s, keys: Int64s, known: int, ids: Int32s) -> tuple[int, int]:
    """Write the id of each key from `start` on, and give new ones out while there is room for them.

    Returns
    -------
    Where it stopped for want of room, and how many ids are given out.
    """
    for place in range(start, wanted.size):
        slot = _slot(wanted[place], slots, keys)
        if slots[slot] < 0:
            if known == keys.size:
                return place, known
            keys[known] = wanted[place]
            slots[slot] = known
            known += 1
        ids[place] = slots[slot]
    return wanted.size, known


@compiled
def fill_ids(slots: Int32s, keys: Int64s, known: int) -> None:
    """Put all keys that have an id into free slots."""
    for number in range(known):
        slots[_slot(keys[number], slots, keys)] = number
