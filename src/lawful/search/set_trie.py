"""A growing and shrinking collection of sets that answers which of them lie in, or around, a given set."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Words
from lawful.search.kernels.set_trie import (
    NODE_SLOTS,
    SETS_BELOW,
    STATE_SLOTS,
    USED,
    add_sets,
    find_any,
    has_set,
    match_sets,
    remove_sets,
)
from lawful.search.sets import as_family, set_sizes, words_for


class SetTrie:
    """Sets of columns, stored by their common beginnings.

    Single sets are `uint64[words]`. The methods whose names end in `_each` take a family and answer for each
    of its sets in one compiled call.

    Parameters
    ----------
    universe
        The number of columns.
    """

    def __init__(self, universe: int) -> None:
        self._words = words_for(universe)
        self._nodes = np.zeros((64, NODE_SLOTS), dtype=np.int32)
        self._state = np.zeros(STATE_SLOTS, dtype=np.int64)
        self._state[USED] = 1  # the root

    def __len__(self) -> int:
        return int(self._nodes[0, SETS_BELOW])

    def __contains__(self, members: Words) -> bool:
        return bool(has_set(self._nodes, self._one(members)[0]))

    def add(self, members: Words) -> bool:
        """Store a set, and say whether it was not there."""
        return bool(self.add_each(self._one(members))[0])

    def add_each(self, family: Words) -> Flags:
        """Store the sets of a family, and say which were not there."""
        family = as_family(family)
        needed = int(self._state[USED] + set_sizes(family).sum())
        if needed > len(self._nodes):
            grown = np.zeros((2 * needed, NODE_SLOTS), dtype=np.int32)
            grown[: len(self._nodes)] = self._nodes
            self._nodes = grown
        return add_sets(self._nodes, self._state, family)

    def remove(self, members: Words) -> bool:
        """Forget a set, and say whether it was there."""
        return bool(self.remove_each(self._one(members))[0])

    def remove_each(self, family: Words) -> Flags:
        """Forget the sets of a family, and say which were there."""
        return remove_sets(self._nodes, self._state, as_family(family))

    def has_subset_of(self, members: Words) -> bool:
        """Whether a stored set lies in the given one, or equals it."""
        return bool(self.has_subset_of_each(self._one(members))[0])

    def has_subset_of_each(self, family: Words) -> Flags:
        """For each set of a family, whether a stored set lies in it, or equals it."""
        return find_any(self._nodes, as_family(family), False)

    def has_superset_of(self, members: Words) -> bool:
        """Whether a stored set contains the given one, or equals it."""
        return bool(self.has_superset_of_each(self._one(members))[0])

    def has_superset_of_each(self, family: Words) -> Flags:
        """For each set of a family, whether a stored set contains it, or equals it."""
        return find_any(self._nodes, as_family(family), True)

    def subsets_of(self, members: Words) -> Words:
        """The stored sets that lie in the given one, or equal it."""
        return self._matches(members, supersets=False)

    def supersets_of(self, members: Words) -> Words:
        """The stored sets that contain the given one, or equal it."""
        return self._matches(members, supersets=True)

    def all_sets(self) -> Words:
        """All stored sets."""
        return self.supersets_of(np.zeros(self._words, dtype=np.uint64))

    def _matches(self, members: Words, *, supersets: bool) -> Words:
        query = self._one(members)[0]
        nothing = np.empty((0, self._words), dtype=np.uint64)
        out = np.empty((match_sets(self._nodes, query, supersets, len(self), nothing), self._words), np.uint64)
        match_sets(self._nodes, query, supersets, len(self), out)
        return out

    def _one(self, members: Words) -> Words:
        return as_family(members[np.newaxis])
