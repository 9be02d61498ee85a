"""The growing set of distinct vectors with a witness each, numbered as they come: what a pool keeps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.memory import make_room
from lawful.evidence.kernels import class_pairs as class_pair_kernels
from lawful.evidence.kernels import swaps as swap_kernels
from lawful.evidence.kernels import vector_set as kernels
from lawful.evidence.kernels.compare import Masks

_FIRST_ROOM = 1024
_PAIRS_AT_ONCE = 2048
"""Pairs of classes that are listed, compared and looked up together, so that all of it stays in the nearest cache."""
_PAIRS_A_CALL = 1 << 21
"""Pairs of classes between two looks at whether to stop: a few hundredths of a second."""
_WORD_BITS = 64


class VectorSet:
    """Distinct vectors of one or two planes of words, numbered in the order in which they came.

    Parameters
    ----------
    planes, width
        A vector is `planes` times `width` words.
    """

    def __init__(self, planes: int, width: int) -> None:
        self.size = 0
        self._keys: Words = np.empty((planes, 0, width), np.uint64)
        self._witnesses: Int32s = np.empty((0, 2), np.int32)
        self._slots: Int32s = np.empty(0, np.int32)
        self._shift = _WORD_BITS
        self.reserve(1)

    @property
    def witnesses(self) -> Int32s:
        """One pair of rows for each vector, as `int32[vectors, 2]`."""
        return self._witnesses[: self.size]

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

    def absorb(self, other: VectorSet) -> int:
        """Add the vectors of another set of the same shape, with their witnesses; return how many were new."""
        words = np.concatenate([plane[: other.size].T for plane in other._keys])
        left, right = np.ascontiguousarray(other.witnesses.T)
        return self.add_pairs(words, left, right)

    def add_pairs_of_classes(
        self, rows: Int32s, offsets: Int32s, matrix: Int32s, masks: Masks, should_stop: Callable[[], bool]
    ) -> bool:
        """Compare all pairs of rows of each class `rows[offsets[c]:offsets[c + 1]]`; say whether it came to the end."""
        state = np.zeros(class_pair_kernels.STATE_SLOTS, np.int64)
        while state[class_pair_kernels.CLASS] < offsets.size - 1:
            if should_stop():
                return False
            self.reserve(_PAIRS_AT_ONCE)
            state[class_pair_kernels.SIZE] = self.size
            class_pair_kernels.add_pairs_of_classes(
                rows,
                offsets,
                matrix,
                masks,
                _PAIRS_AT_ONCE,
                _PAIRS_A_CALL,
                self._slots,
                self._shift,
                self._keys,
                self._witnesses,
                state,
            )
            self.size = int(state[class_pair_kernels.SIZE])
        return True

    def add_swaps(
        self, signs: Words, everything: Words, left: Int32s, right: Int32s, refuted: Words, recent: Words
    ) -> Int32s:
        """Add the agree sets of pairs given by their signs, and note their swaps; see `kernels.swaps`.

        Returns which pairs told something new. There must be room, here and in `refuted`.
        """
        told = np.empty(left.size + 1, np.int32)
        self.size, news = swap_kernels.note_swaps(
            signs,
            everything,
            left,
            right,
            self._slots,
            self._shift,
            self._keys,
            self._witnesses,
            self.size,
            refuted,
            recent,
            told,
        )
        return told[:news]

    def _grow(self, room: int) -> None:
        planes, _, width = self._keys.shape
        bits = (2 * room - 1).bit_length()
        room = 1 << (bits - 1)
        make_room(8 * room * (planes * width + 2))
        keys = np.empty((planes, room, width), np.uint64)
        keys[:, : self.size] = self._keys[:, : self.size]
        witnesses = np.empty((room, 2), np.int32)
        witnesses[: self.size] = self.witnesses
        self._keys, self._witnesses = keys, witnesses
        self._slots = np.full(1 << bits, -1, np.int32)
        self._shift = _WORD_BITS - bits
        kernels.refill(keys, self.size, self._slots, self._shift)
