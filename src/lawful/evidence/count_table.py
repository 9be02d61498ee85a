"""The growing table of vectors and their counts, behind the exact multisets of long vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.errors import StoppedError
from lawful.common.memory import make_room
from lawful.evidence.kernels import count_table as kernels

_WORD_BITS = 64
_FIRST_ROOM = 1024
_SLOTS_AT_ONCE = 1 << 20
"""Slots of another table that are added between two looks at whether to stop: some tenths of a second at most."""

ShouldStop = Callable[[], bool]


def _never() -> bool:
    return False


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

    def reserve(self, more: int, should_stop: ShouldStop = _never) -> None:
        """Make room for `more` vectors."""
        if 2 * (self.size + more) > len(self._witnesses):
            self._grow(max(self.size + more, 2 * self.size), should_stop)

    def absorb(self, other: CountTable, should_stop: ShouldStop = _never) -> None:
        """Add what another table of the same width holds."""
        self.reserve(other.size, should_stop)
        self._add(other._table, other._witnesses, should_stop)

    def entries(self) -> tuple[Words, Int64s, Int32s]:
        """The vectors as `uint64[vectors, width]`, their counts and their witnesses, in no useful order."""
        make_room(self.size * (self._table.shape[1] + 2) * self._table.itemsize)
        taken = np.flatnonzero(self._table[:, -1])
        return self._table[taken, :-1], self._table[taken, -1].astype(np.int64), self._witnesses[taken]

    def _grow(self, room: int, should_stop: ShouldStop = _never) -> None:
        old, pairs = self._table, self._witnesses
        bits = (2 * room - 1).bit_length()
        make_room((old.shape[1] + 1) * old.itemsize << bits)
        self._table = np.zeros((1 << bits, old.shape[1]), np.uint64)
        self._witnesses = np.empty((1 << bits, 2), np.int32)
        self._shift = _WORD_BITS - bits
        self.size = 0
        self._add(old, pairs, should_stop)

    def _add(self, entries: Words, pairs: Int32s, should_stop: ShouldStop) -> None:
        """Add the entries of another table, some slots at a time."""
        for first in range(0, len(entries), _SLOTS_AT_ONCE):
            if should_stop():
                raise StoppedError("counting pairs of rows was stopped")
            some = slice(first, first + _SLOTS_AT_ONCE)
            self.size = kernels.add_entries(
                entries[some], pairs[some], self._table, self._shift, self._witnesses, self.size
            )
