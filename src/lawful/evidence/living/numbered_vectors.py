"""Vectors of words and their numbers: what multisets, values and null patterns of a living table are looked up in."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.evidence.living.kernels import numbered_vectors as kernels

_WORD_BITS = 64
_FIRST_ROOM = 256


class NumberedVectors:
    """Distinct vectors of `width` words, numbered from 0 on as they come."""

    def __init__(self, width: int) -> None:
        self.size = 0
        self._keys: Words = np.empty((0, width), np.uint64)
        self._slots: Int32s = np.empty(0, np.int32)
        self._shift = _WORD_BITS
        self._grow(_FIRST_ROOM)

    @property
    def vectors(self) -> Words:
        """All vectors in the order of their numbers."""
        return self._keys[: self.size]

    def numbers(self, vectors: Words, *, adds: bool) -> Int64s:
        """The number of each vector. A vector not seen before gets the next one if `adds`, else it has -1."""
        if adds and self.size + len(vectors) > len(self._keys):
            self._grow(max(self.size + len(vectors), 2 * self.size))
        numbers = np.empty(len(vectors), np.int64)
        vectors = np.ascontiguousarray(vectors)
        self.size = kernels.number_vectors(vectors, adds, self._slots, self._shift, self._keys, self.size, numbers)
        return numbers

    def _grow(self, room: int) -> None:
        bits = (2 * room - 1).bit_length()
        held = self.vectors
        self._keys = np.empty((1 << (bits - 1), held.shape[1]), np.uint64)
        self._slots = np.full(1 << bits, -1, np.int32)
        self._shift = _WORD_BITS - bits
        numbers = np.empty(len(held), np.int64)
        self.size = kernels.number_vectors(held, True, self._slots, self._shift, self._keys, 0, numbers)


class Multiset:
    """How often each vector of `width` words occurs.

    A vector that occurs no more keeps its place for a while: it may come back, and taking it out of a hash table costs
    more than passing it over (section 7.5 of the paper leaves it in its tree likewise).
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._vectors = NumberedVectors(width)
        self._counts: Int64s = np.zeros(0, np.int64)
        self._occurring = 0

    def __len__(self) -> int:
        return self._occurring

    def change(self, vectors: Words, amounts: Int64s) -> tuple[Int64s, Int64s]:
        """Add amounts, which may be negative, to the counts of distinct vectors; return the counts before and after.

        No count may fall below zero: the paper's subtraction stops there (section 3), which would hide a wrong
        count (Y9).
        """
        numbers = self._vectors.numbers(vectors, adds=True)
        if self._vectors.size > self._counts.size:
            more = max(self._vectors.size, 2 * self._counts.size) - self._counts.size
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
        before = self._counts[numbers]
        after = before + amounts
        assert (after >= 0).all(), "more pairs were taken away than there were"
        self._counts[numbers] = after
        self._occurring += int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        if self._vectors.size > max(_FIRST_ROOM, 2 * self._occurring):
            self._drop_the_gone()
        return before, after

    def counts_of(self, vectors: Words) -> Int64s:
        """The count of each vector, 0 of one that does not occur."""
        numbers = self._vectors.numbers(vectors, adds=False)
        counts = np.zeros(len(vectors), np.int64)
        counts[numbers >= 0] = self._counts[numbers[numbers >= 0]]
        return counts

    @property
    def arrays(self) -> tuple[Words, Int64s]:
        """All vectors that have a place, and how often they occur, which may be 0; good until the next change."""
        return self._vectors.vectors, self._counts[: self._vectors.size]

    def entries(self) -> tuple[Words, Int64s]:
        """The vectors that occur, and how often, in no useful order."""
        counts = self._counts[: self._vectors.size]
        there = np.flatnonzero(counts)
        return self._vectors.vectors[there], counts[there]

    def _drop_the_gone(self) -> None:
        vectors, counts = self.entries()
        self._vectors = NumberedVectors(self._width)
        self._vectors.numbers(vectors, adds=True)
        self._counts = counts
