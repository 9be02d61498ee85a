"""Which columns are swapped under each agree set of a pool, and the pairs of rows that showed it."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.memory import make_room
from lawful.evidence.kernels import swaps as swap_kernels
from lawful.evidence.signs import WORD_BITS
from lawful.evidence.vector_set import VectorSet

_FIRST_ROOM = 1024


class Swaps:
    """The swaps seen under each agree set, by its number in the set of agree sets; growing.

    Parameters
    ----------
    width, words
        The columns that are compared, and the words that a set of them takes.
    """

    def __init__(self, width: int, words: int) -> None:
        # At first signs that tell nothing: unknown in every column.
        self._recent: Words = np.full((1 << swap_kernels.RECENT_BITS, 2 * words), ~np.uint64(0))
        self._refuted: Words = np.zeros((0, width, 2, words), np.uint64)
        self._pairs: Int32s = np.empty((_FIRST_ROOM, 2), np.int32)
        self._kept = 0

    @property
    def pairs(self) -> Int32s:
        """The pairs of rows that showed an agree set or a swap first, `int32[pairs, 2]`."""
        return self._pairs[: self._kept]

    def refuted(self, sets: int) -> Words:
        """The columns swapped with each column under each of the first agree sets; see `kernels.swaps`."""
        return self._refuted[:sets]

    def differ(self, sets: int) -> Words:
        """The columns on which some pair with each agree set is known to differ: swapped with themselves."""
        width, words = self._refuted.shape[1], self._refuted.shape[3]
        differing = np.zeros((sets, words), np.uint64)
        for column in range(width):
            word, bit = column // WORD_BITS, np.uint64(1) << np.uint64(column % WORD_BITS)
            differing[:, word] |= self._refuted[:sets, column, swap_kernels.DESC, word] & bit
        return differing

    def take_in(self, agree: VectorSet, signs: Words, everything: Words, left: Int32s, right: Int32s) -> None:
        """Add the agree sets of pairs given by their signs, note their swaps, and keep the pairs that told any."""
        agree.reserve(left.size)
        if len(self._refuted) < agree.size + left.size:
            self._grow(agree.size, max(agree.size + left.size, 2 * agree.size))
        told = agree.add_swaps(signs, everything, left, right, self._refuted, self._recent)
        if self._kept + told.size > len(self._pairs):
            pairs = np.empty((2 * (self._kept + told.size), 2), np.int32)
            pairs[: self._kept] = self.pairs
            self._pairs = pairs
        self._pairs[self._kept : self._kept + told.size, 0] = left[told]
        self._pairs[self._kept : self._kept + told.size, 1] = right[told]
        self._kept += told.size

    def replace(self, refuted: Words, pairs: Int32s) -> None:
        """Take swaps that are known for all agree sets now, and keep the pairs that come with them."""
        self._refuted = np.ascontiguousarray(refuted)
        self._pairs = np.concatenate([self.pairs, pairs])
        self._kept = len(self._pairs)

    def _grow(self, sets: int, room: int) -> None:
        make_room(room * self._recent.itemsize * int(np.prod(self._refuted.shape[1:])))
        refuted = np.zeros((room, *self._refuted.shape[1:]), np.uint64)
        refuted[:sets] = self._refuted[:sets]
        self._refuted = refuted
