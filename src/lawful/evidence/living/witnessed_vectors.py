"""Distinct vectors of words that some pair of live rows has, with a few such pairs each.

*A refutation stands until its pair leaves.* Of each vector a few pairs are kept, without rows in common where that
can be had: a row that leaves then seldom costs a vector its last witness.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Words
from lawful.evidence.kernels.vector_set import refill
from lawful.evidence.living.kernels.witnesses import add_witnessed, drop_witnesses
from lawful.evidence.signs import WORD_BITS, words_for

WITNESSES = 4
"""Pairs that are kept of each vector."""
_FIRST_ROOM = 256
_WASTE = 2
"""Vectors without a witness are cleared away once there are so many times as many as others."""


class WitnessedVectors:
    """Distinct vectors of one or two planes, with witnesses.

    Parameters
    ----------
    width
        The number of columns that pairs are compared on.
    planes
        How many planes of words a vector has.
    """

    def __init__(self, width: int, planes: int) -> None:
        self.width, self._planes = width, planes
        self._clear()

    def _clear(self) -> None:
        self._size = 0
        self._keys: Words = np.empty((self._planes, 0, words_for(self.width)), np.uint64)
        self._pairs: Int32s = np.empty((0, WITNESSES, 2), np.int32)
        self._grow(_FIRST_ROOM)

    def __len__(self) -> int:
        """How many vectors have a witness."""
        return int(np.count_nonzero(self._has_witness()))

    @property
    def pairs(self) -> Int32s:
        """The witnesses of all vectors that have one, `int32[vectors, places, 2]`; -1 where a place is empty."""
        return self._pairs[: self._size][self._has_witness()]

    def _vectors(self, chosen: Flags) -> Words:
        """The planes of some vectors, `uint64[planes, vectors, words]`."""
        return self._keys[:, np.flatnonzero(chosen)]

    def _add(self, words: Words, left: Int32s, right: Int32s) -> Flags:
        """Add the vectors of pairs of live rows; tell which vectors had no witness before.

        `words[plane * width + word, k]` is the vector of the pair `(left[k], right[k])`.
        """
        if self._size + left.size > len(self._pairs):
            self._grow(max(self._size + left.size, 2 * self._size))
        had = self._has_witness()
        self._size = add_witnessed(words, left, right, self._slots, self._shift, self._keys, self._pairs, self._size)
        now = self._has_witness()
        now[: len(had)] &= ~had
        return now

    def _drop(self, is_live: Flags) -> Words:
        """Let go of pairs that lost a row; return the vectors that have no witness any more."""
        lost = self._vectors(drop_witnesses(self._pairs[: self._size], is_live))
        if self._size > _FIRST_ROOM and self._size > (1 + _WASTE) * len(self):
            vectors, pairs = self._vectors(self._has_witness()), self.pairs
            self._clear()
            self._restore(vectors, pairs)
        return lost

    def _restore(self, vectors: Words, pairs: Int32s) -> None:
        """Take in vectors with all of their witnesses."""
        words = np.ascontiguousarray(np.concatenate([*vectors], axis=1).T)
        for place in range(pairs.shape[1]):
            there = pairs[:, place, 0] >= 0
            one, other = np.ascontiguousarray(pairs[there, place].T)
            self._add(np.ascontiguousarray(words[:, there]), one, other)

    def same_as(self, other: WitnessedVectors) -> bool:
        """Whether both hold the same vectors."""
        return self._in_order() == other._in_order()

    def _in_order(self) -> list[bytes]:
        return sorted(line.tobytes() for line in np.concatenate([*self._vectors(self._has_witness())], axis=1))

    def _has_witness(self) -> Flags:
        has: Flags = self._pairs[: self._size, 0, 0] >= 0
        return has

    def _grow(self, room: int) -> None:
        bits = (2 * room - 1).bit_length()
        room = 1 << (bits - 1)
        keys = np.empty((self._planes, room, self._keys.shape[2]), np.uint64)
        keys[:, : self._size] = self._keys[:, : self._size]
        pairs = np.empty((room, WITNESSES, 2), np.int32)
        pairs[: self._size] = self._pairs[: self._size]
        self._keys, self._pairs = keys, pairs
        self._slots = np.full(1 << bits, -1, np.int32)
        self._shift = WORD_BITS - bits
        refill(keys, self._size, self._slots, self._shift)
