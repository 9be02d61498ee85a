"""The AStree: a prefix tree of the agree sets of a multiset (DynASt, section 6).

A path from the root spells the bits of a set in their order, and a flag says that a set ends at a node. How many pairs
have the set is kept beside the tree in a hash table, so that a batch changes the tree only where sets are new. Sets
that are gone stay, with no pairs, as section 7.5 suggests.

Departures: the flag is the number of the set in the hash table, so that no set is hashed again to find its count. Under
`NullPolicy.IGNORE` the bits of where rows are known to differ follow those of where they agree.

It is kept to compare with: `packed_agree_sets`, which has the figures, answers faster.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.living.kernels import agree_set_tree as kernels
from lawful.evidence.living.numbered_vectors import NumberedVectors
from lawful.evidence.living.violation_masks import violation_masks
from lawful.evidence.signs import WORD_BITS, words_for

_FIRST_ROOM = 1024


class AgreeSetTree:
    """Agree sets of `width` columns, as the keys of a `Tally`, and their counts."""

    def __init__(self, width: int, policy: NullPolicy) -> None:
        words = words_for(width) * (1 if policy is NullPolicy.EQUAL else 2)
        self._policy = policy
        self._numbers = NumberedVectors(words)
        self._counts: Int64s = np.zeros(0, np.int64)
        self._label, self._child, self._sibling, self._flag = (np.zeros(_FIRST_ROOM, np.int32) for _ in range(4))
        self._flag[0] = -1
        self.nodes = 1
        """The number of nodes, the root included."""

    def __len__(self) -> int:
        return int(np.count_nonzero(self._counts))

    def change(self, keys: Words, amounts: Int64s) -> None:
        """Add amounts, which may be negative, to the counts of distinct sets."""
        known = self._numbers.size
        numbers = self._numbers.numbers(keys, adds=True)
        fresh = self._numbers.vectors[known:]
        self._counts = np.concatenate([self._counts, np.zeros(len(fresh), np.int64)])
        self._counts[numbers] += amounts
        assert (self._counts[numbers] >= 0).all(), "more pairs were taken away than there were"
        added = 0
        while added < len(fresh):
            self._reserve(self.nodes + WORD_BITS * fresh.shape[1])
            arrays = (self._label, self._child, self._sibling, self._flag)
            added, self.nodes = kernels.add_sets(fresh, added, known + added, *arrays, self.nodes)

    def violating(self, left: Words, right: int) -> tuple[Words, Int64s]:
        """The sets whose pairs break one candidate, `uint64[words]`, and how many pairs each of them has."""
        masks, wanted = violation_masks(left[None], np.array([right]), self._policy)
        numbers = self._find(masks[0], wanted[0])
        numbers = numbers[self._counts[numbers] > 0]
        return self._numbers.vectors[numbers], self._counts[numbers]

    def violations(self, left: Words, right: Int64s) -> Int64s:
        """The number of pairs that break each candidate: see `ViolationCounts`."""
        masks, wanted = violation_masks(left, right, self._policy)
        totals = [self._counts[self._find(*asked)].sum() for asked in zip(masks, wanted, strict=True)]
        return np.array(totals, np.int64)

    def _find(self, mask: Words, wanted: Words) -> Int32s:
        required, absent = _bits(wanted), _bits(mask & ~wanted)
        found = np.empty(self._numbers.size, np.int32)
        forbidden = int(absent[0]) if absent.size else -1
        arrays = (self._label[: self.nodes], self._child, self._sibling, self._flag)
        return found[: kernels.find_sets(required, forbidden, *arrays, found)]

    def _reserve(self, nodes: int) -> None:
        if nodes > self._label.size:
            more = (0, max(nodes, 2 * self._label.size) - self._label.size)
            lines = (self._label, self._child, self._sibling, self._flag)
            self._label, self._child, self._sibling, self._flag = (np.pad(line, more) for line in lines)


def _bits(words: Words) -> Int64s:
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).astype(np.int64)
