"""One pair of rows for each distinct evidence among many pairs: all that the others would say again."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s
from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.denials.lanes import lanes_of
from lawful.evidence.vector_set import VectorSet
from lawful.tables.encoded_table import EncodedTable

_SIGN_BITS = 2
_SIGNS_A_WORD = 32
_LESS, _GREATER, _UNKNOWN = 1, 2, 3


class DistinctPairs:
    """Pairs (t, s) with evidence that no earlier pair had, over the lanes of a predicate space."""

    def __init__(self, table: EncodedTable, space: PredicateSpace, policy: NullPolicy) -> None:
        self._lanes = lanes_of(table, space, policy)
        self._words = max(1, -(-len(self._lanes) // _SIGNS_A_WORD))
        self._seen = VectorSet(1, self._words)

    def add_pairs(self, t: Int32s, s: Int32s) -> int:
        """Look at pairs; return how many of them say something new."""
        words = np.zeros((self._words, t.size), np.uint64)
        for number, lane in enumerate(self._lanes):
            left, right = lane.left[t], lane.right[s]
            # Without an order, only equal and different are told apart.
            sign = (left < right) * np.uint64(_LESS) + (left > right) * np.uint64(
                _GREATER if lane.is_ordered else _LESS
            )
            if lane.nulls is not None:
                sign[lane.nulls[t] | lane.nulls[s]] = _UNKNOWN
            word, place = divmod(number, _SIGNS_A_WORD)
            words[word] |= sign << np.uint64(_SIGN_BITS * place)
        return self._seen.add_pairs(words, np.ascontiguousarray(t), np.ascontiguousarray(s))

    @property
    def pairs(self) -> Int32s:
        """The pairs, `int32[pairs, 2]`, in the order in which they came."""
        return self._seen.witnesses
