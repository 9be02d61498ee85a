"""The growing table of vectors and their counts, behind the exact multisets of long vectors."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.evidence.kernels import count_table as kernels

_WORD_BITS = 64
_FIRST_ROOM = 1024


class CountTable:
    """Distinct vectors of `width` words, how often each came, and the pair of rows with which it came first.

    There is room for `room` vectors at first.

    Attributes
    ----------
    size
        The number of distinct vectors; kernels that fill the table tell it.
    """

    def __init__(self, width: int, room: int = _FIRST_ROOM) -> None:
        self.size = 0
        self._table: Words = np.zeros((0, width + 1), np.uint64)
        self._witnesses: Int32s = np.empty((0, 2), np.int32)
        self._shift = _WORD_BITS
        self._grow(max(1, room))

    @property
    def arrays(self) -> tuple[Words, int, Int32s]:
        """What a kernel that counts needs: the table, its shift and the witnesses."""
        return self._table, self._shift, self._witnesses

    def reserve(self, more: int) -> None:
        """Make room for `more` vectors."""
        if 2 * (self.size + more) > len(self._witnesses):
            self._grow(max(self.size + more, 2 * self.size))

    def absorb(self, other: CountTable) -> None:
        """Add what another table of the same width holds."""
        self.reserve(other.size)
        self.size = kernels.add_entries(
            other._table, other._witnesses, self._table, self._shift, self._witnesses, self.size
        )

    def entries(self) -> tuple[Words, Int64s, Int32s]:
        """The vectors as `uint64[vectors, width]`, their counts and their witnesses, in no useful order."""
        taken = np.flatnonzero(self._table[:, -1])
        return self._table[taken, :-1], self._table[taken, -1].astype(np.int64), self._witnesses[taken]

    def _grow(self, room: int) -> None:
        old, pairs = self._table, self._witnesses
        bits = (2 * room - 1).bit_length()
        self._table = np.zeros((1 << bits, old.shape[1]), np.uint64)
        self._witnesses = np.empty((1 << bits, 2), np.int32)
        self._shift = _WORD_BITS - bits
        self.size = kernels.add_entries(old, pairs, self._table, self._shift, self._witnesses, 0)
