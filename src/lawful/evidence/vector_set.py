"""The growing set of distinct vectors with a witness each, which the pool and the exact multisets share."""

from __future__ import annotations

import numpy as np

from lawful.evidence import vector_set_kernels as kernels
from lawful.evidence.words_kernels import Int32s, Int64s, Words

_FIRST_ROOM = 1024
_WORD_BITS = 64


class VectorSet:
    """Distinct vectors of one or two planes of words, numbered in the order in which they came.

    Parameters
    ----------
    planes, width
        A vector is `planes` times `width` words.
    counted
        Whether the set counts how often each vector came.
    """

    def __init__(self, planes: int, width: int, *, counted: bool = False) -> None:
        self.size = 0
        self.counted = counted
        self._keys: Words = np.empty((planes, 0, width), np.uint64)
        self._witnesses: Int32s = np.empty((0, 2), np.int32)
        self._counts: Int64s = np.zeros(0, np.int64)
        self._slots: Int32s = np.empty(0, np.int32)
        self._shift = _WORD_BITS
        self._recent: Int32s = np.full(1 << kernels.FILTER_BITS, -1, np.int32)
        self.reserve(1)

    @property
    def room(self) -> int:
        """How many more vectors fit before the set has to grow."""
        return self._witnesses.shape[0] - self.size

    @property
    def witnesses(self) -> Int32s:
        """One pair of rows for each vector, as `int32[vectors, 2]`."""
        return self._witnesses[: self.size]

    @property
    def counts(self) -> Int64s:
        """How often each vector came, if they are counted."""
        return self._counts[: self.size]

    def plane(self, plane: int) -> Words:
        """One plane of all vectors, as a contiguous `uint64[vectors, width]`."""
        return self._keys[plane, : self.size]

    def reserve(self, more: int) -> None:
        """Make room for `more` vectors."""
        needed = self.size + more
        if needed > self._witnesses.shape[0]:
            self._grow(max(needed, 2 * self.size, _FIRST_ROOM))

    def add_pairs(self, words: Words, left: Int32s, right: Int32s) -> int:
        """Add `words[:, k]` with the witness `(left[k], right[k])` for every k; return how many were new."""
        self.reserve(left.size)
        before = self.size
        self.size = kernels.add_pairs(
            words, left, right, self._slots, self._shift, self._keys, self._witnesses, self.size
        )
        return self.size - before

    def add_counted(self, words: Words, counts: Int64s, witnesses: Int32s) -> None:
        """Add vectors that were counted elsewhere; the witness that comes first in the order of rows stays."""
        self.reserve(counts.size)
        self.size = kernels.add_counted(
            words, counts, witnesses, self._slots, self._shift, self._keys, self._counts, self._witnesses, self.size
        )

    def absorb(self, other: VectorSet) -> None:
        """Add everything that another counting set of the same shape holds."""
        words = np.concatenate([other.plane(plane).T for plane in range(other._keys.shape[0])])
        self.add_counted(np.ascontiguousarray(words), other.counts, other.witnesses)

    @property
    def arrays(self) -> tuple[Int32s, Int32s, int, Words, Int64s, Int32s]:
        """What a kernel that counts needs: filter, slots, shift, keys, counts and witnesses."""
        return self._recent, self._slots, self._shift, self._keys, self._counts, self._witnesses

    def _grow(self, room: int) -> None:
        planes, _, width = self._keys.shape
        bits = (2 * room - 1).bit_length()
        room = 1 << (bits - 1)
        keys = np.empty((planes, room, width), np.uint64)
        keys[:, : self.size] = self._keys[:, : self.size]
        witnesses = np.empty((room, 2), np.int32)
        witnesses[: self.size] = self.witnesses
        if self.counted:
            counts = np.zeros(room, np.int64)
            counts[: self.size] = self.counts
            self._counts = counts
        self._keys, self._witnesses = keys, witnesses
        self._slots = np.full(1 << bits, -1, np.int32)
        self._shift = _WORD_BITS - bits
        kernels.refill(keys, self.size, self._slots, self._shift)
