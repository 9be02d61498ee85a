"""Vectors of signs that some pair of live rows has, with a few such pairs each.

Of the two vectors of a pair, one for each order of its rows, one is kept: that whose first column with an order rises.
Whoever thinks about them makes the other (I12: with one of the two alone, laws are missed).
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.living.kernels.signs import add_signs, turn_falling
from lawful.evidence.living.orders.order_keys import TableKeys
from lawful.evidence.living.witnessed_vectors import WitnessedVectors
from lawful.evidence.signs import CHUNK, WORD_BITS, SignVectors, words_for

_PLANES = 2


class WitnessedSigns(WitnessedVectors):
    """Distinct vectors of signs with witnesses.

    Parameters
    ----------
    keys
        The numbers that order the values of each column, up to date whenever pairs are added.
    policy
        What null means.
    """

    def __init__(self, keys: TableKeys, policy: NullPolicy) -> None:
        super().__init__(keys.table.width, _PLANES)
        self._order_keys, self._ignore = keys, policy is NullPolicy.IGNORE

    def signs(self) -> SignVectors:
        """All vectors that have a witness, in the order of `pairs`."""
        return _as_signs(self._vectors(self._has_witness()))

    def add(self, pairs: Int32s) -> SignVectors:
        """Compare pairs of rows, `int32[pairs, 2]`; return the vectors that had no witness before."""
        came = [np.empty((_PLANES, 0, words_for(self.width)), np.uint64)]
        for start in range(0, len(pairs), CHUNK):
            left, right = np.array(pairs[start : start + CHUNK].T, np.int32, order="C")  # a copy: pairs are turned
            came.append(self._vectors(self._add(self._compared(left, right), left, right)))
        return _as_signs(np.concatenate(came, axis=1))

    def drop(self, is_live: Flags) -> SignVectors:
        """Let go of pairs that lost a row; return the vectors that have no witness any more."""
        return _as_signs(self._drop(is_live))

    def each_pair(self) -> Int32s:
        """All witnesses, `int32[pairs, 2]`, each with its rows in the order of its vector."""
        pairs = self.pairs.reshape(-1, 2)
        return pairs[pairs[:, 0] >= 0]

    def _compared(self, left: Int32s, right: Int32s) -> Words:
        """The vectors of pairs, which are turned to the order that is kept."""
        base, tail = self._order_keys.table.codes.segments
        words = np.zeros((_PLANES, words_for(self.width), left.size), np.uint64)
        for column in range(self.width):
            word, bit = divmod(column, WORD_BITS)
            labels = self._order_keys.column(column).labels
            add_signs(base[column], tail[column], left, right, labels, bit, self._ignore, words[:, word])
        flat = words.reshape(-1, left.size)
        turn_falling(flat, left, right)
        return flat


def _as_signs(vectors: Words) -> SignVectors:
    return SignVectors(np.ascontiguousarray(vectors[0]), np.ascontiguousarray(vectors[1]))
