"""Agree sets that some pair of live rows has, with a few such pairs each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.living.witnessed_vectors import WitnessedVectors
from lawful.evidence.signs import WORD_BITS


class Family(NamedTuple):
    """Distinct agree sets: where pairs agree and, if nulls are ignored, where they are known to differ."""

    agree: Words
    differ: Words | None

    def __len__(self) -> int:
        return len(self.agree)


class WitnessedSets(WitnessedVectors):
    """Distinct agree sets with witnesses.

    Parameters
    ----------
    width
        The number of columns that pairs are compared on.
    policy
        What null means. Where it is ignored, pairs that agree alike and differ otherwise have two sets.
    """

    def __init__(self, width: int, policy: NullPolicy) -> None:
        super().__init__(width, 2 if policy is NullPolicy.IGNORE else 1)
        self.policy = policy

    def family(self) -> Family:
        """All sets that have a witness, in the order of `pairs`."""
        return self._family(self._has_witness())

    def add(self, words: Words, left: Int32s, right: Int32s) -> Family:
        """Add the agree sets of pairs of live rows; return those that had no witness before.

        `words[plane * width + word, k]` is the set of the pair `(left[k], right[k])`.
        """
        return self._family(self._add(words, left, right))

    def drop(self, is_live: Flags) -> Family:
        """Let go of pairs that lost a row; return the sets that have no witness any more."""
        return _as_family(self._drop(is_live))

    def restore(self, family: Family, pairs: Int32s) -> None:
        """Take in sets with all of their witnesses, as `family` and `pairs` gave them."""
        planes = [family.agree] if family.differ is None else [family.agree, family.differ]
        self._restore(np.stack(planes), pairs)

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

    def _family(self, chosen: Flags) -> Family:
        return _as_family(self._vectors(chosen))


def _as_family(vectors: Words) -> Family:
    return Family(vectors[0], vectors[1] if len(vectors) == 2 else None)
