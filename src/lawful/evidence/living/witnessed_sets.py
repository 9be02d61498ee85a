"""Agree sets that some pair of live rows has, with a few such pairs each.

*A refutation stands until its pair leaves.* Of each agree set a few pairs are kept, without rows in common where that
can be had: a row that leaves then seldom costs a set its last witness.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.kernels.vector_set import refill
from lawful.evidence.living.kernels.witnesses import add_witnessed, drop_witnesses
from lawful.evidence.signs import WORD_BITS, words_for

WITNESSES = 4
"""Pairs that are kept of each agree set."""
_FIRST_ROOM = 256
_WASTE = 2
"""Sets without a witness are cleared away once there are so many times as many as others."""


class Family(NamedTuple):
    """Distinct agree sets: where pairs agree and, if nulls are ignored, where they are known to differ."""

    agree: Words
    differ: Words | None

    def __len__(self) -> int:
        return len(self.agree)


class WitnessedSets:
    """Distinct agree sets with witnesses.

    Parameters
    ----------
    width
        The number of columns that pairs are compared on.
    policy
        What null means. Where it is ignored, pairs that agree alike and differ otherwise have two sets.
    """

    def __init__(self, width: int, policy: NullPolicy) -> None:
        self.width, self.policy = width, policy
        self._planes = 2 if policy is NullPolicy.IGNORE else 1
        self._clear()

    def _clear(self) -> None:
        self._size = 0
        self._keys: Words = np.empty((self._planes, 0, words_for(self.width)), np.uint64)
        self._pairs: Int32s = np.empty((0, WITNESSES, 2), np.int32)
        self._grow(_FIRST_ROOM)

    def __len__(self) -> int:
        """How many sets have a witness."""
        return int(np.count_nonzero(self._has_witness()))

    def family(self) -> Family:
        """All sets that have a witness."""
        return self._family(self._has_witness())

    @property
    def pairs(self) -> Int32s:
        """The witnesses of the sets of `family`, `int32[sets, places, 2]`; -1 where a place is empty."""
        return self._pairs[: self._size][self._has_witness()]

    def add(self, words: Words, left: Int32s, right: Int32s) -> Family:
        """Add the agree sets of pairs of live rows; return those that had no witness before.

        `words[plane * width + word, k]` is the set of the pair `(left[k], right[k])`.
        """
        if self._size + left.size > len(self._pairs):
            self._grow(max(self._size + left.size, 2 * self._size))
        had = self._has_witness()
        self._size = add_witnessed(words, left, right, self._slots, self._shift, self._keys, self._pairs, self._size)
        now = self._has_witness()
        now[: len(had)] &= ~had
        return self._family(now)

    def drop(self, is_live: Flags) -> Family:
        """Let go of pairs that lost a row; return the sets that have no witness any more."""
        lost = self._family(drop_witnesses(self._pairs[: self._size], is_live))
        if self._size > _FIRST_ROOM and self._size > (1 + _WASTE) * len(self):
            family, pairs = self.family(), self.pairs
            self._clear()
            self.restore(family, pairs)
        return lost

    def restore(self, family: Family, pairs: Int32s) -> None:
        """Take in sets with all of their witnesses, as `family` and `pairs` gave them."""
        planes = [family.agree] if family.differ is None else [family.agree, family.differ]
        words = np.ascontiguousarray(np.concatenate(planes, axis=1).T)
        for place in range(pairs.shape[1]):
            there = pairs[:, place, 0] >= 0
            one, other = np.ascontiguousarray(pairs[there, place].T)
            self.add(np.ascontiguousarray(words[:, there]), one, other)

    def same_as(self, other: WitnessedSets) -> bool:
        """Whether both hold the same sets."""
        return self._in_order() == other._in_order()

    def _in_order(self) -> list[bytes]:
        family = self.family()
        planes = [family.agree] if family.differ is None else [family.agree, family.differ]
        return sorted(line.tobytes() for line in np.concatenate(planes, axis=1))

    def refuting(self, columns: Words, goal: int) -> tuple[int, int] | None:
        """A pair of rows that agrees on some columns and, if the goal is a column, differs there; None if none is kept.

        A goal below 0 asks for agreement alone.
        """
        agree = self._keys[0, : self._size]
        refutes = ((agree & columns) == columns).all(axis=1) & self._has_witness()
        if goal >= 0:
            word, bit = goal // WORD_BITS, np.uint64(1) << np.uint64(goal % WORD_BITS)
            if self._planes == 1:
                refutes &= (agree[:, word] & bit) == 0
            else:
                refutes &= (self._keys[1, : self._size, word] & bit) != 0
        found = np.flatnonzero(refutes)
        return None if not len(found) else (int(self._pairs[found[0], 0, 0]), int(self._pairs[found[0], 0, 1]))

    def _has_witness(self) -> Flags:
        has: Flags = self._pairs[: self._size, 0, 0] >= 0
        return has

    def _family(self, chosen: Flags) -> Family:
        places = np.flatnonzero(chosen)
        return Family(self._keys[0, places], self._keys[1, places] if self._planes == 2 else None)

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
