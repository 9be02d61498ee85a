"""Finding sets in a family by a hash of their words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.compiled import compiled
from lawful.search.kernels.bits import ZERO

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)

Counts = npt.NDArray[np.int64]


@compiled
def find_places(sought: Words, family: Words) -> Counts:
    """For each of some distinct sets its place in a family, the last if there are several, or -1.

    The sought sets are hashed and the family is gone through once, so that few are found soon among many.
    """
    places = np.full(sought.shape[0], -1, dtype=np.int64)
    if sought.shape[0] == 0:
        return places
    slots = hashed(sought)
    for i in range(family.shape[0]):
        which = find_hashed(family[i], sought, slots)
        if which >= 0:
            places[which] = i
    return places


@compiled
def hashed(family: Words) -> Counts:
    """A table of the places of distinct sets, at least half of it empty (-1)."""
    size = 2
    while size < 2 * family.shape[0]:
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)
    for i in range(family.shape[0]):
        slot = _hash(family[i]) & (size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = i
    return slots


@compiled
def find_hashed(members: Words, family: Words, slots: Counts) -> int:
    """The place of a set in a family that was hashed, or -1."""
    slot = _hash(members) & (slots.size - 1)
    while slots[slot] >= 0:
        place = slots[slot]
        different = ZERO
        for w in range(members.size):
            different |= members[w] ^ family[place, w]
        if different == ZERO:
            return int(place)
        slot = (slot + 1) & (slots.size - 1)
    return -1


@compiled
def _hash(members: Words) -> int:
    mixed = ZERO
    for w in range(members.size):
        # np.multiply and not *: the product wraps on purpose, and only * warns of it when not compiled.
        mixed = np.multiply(mixed ^ members[w], _FACTOR)
        mixed ^= mixed >> _HALF
    return int(np.int64(mixed >> np.uint64(1)))
