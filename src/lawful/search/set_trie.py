"""A growing collection of sets that answers whether one of them lies in a given set."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Words
from lawful.search.kernels.set_trie import add_set, empty_nodes, has_subset, with_room
from lawful.search.sets import set_sizes


class SetTrie:
    """Sets of columns, stored by their common beginnings; each is given as `uint64[words]`."""

    def __init__(self) -> None:
        self._nodes, self._used = empty_nodes(), 1

    def add(self, members: Words) -> None:
        """Store a set."""
        self._nodes = with_room(self._nodes, self._used + int(set_sizes(members[np.newaxis])[0]))
        self._used = add_set(self._nodes, self._used, members)

    def has_subset_of(self, members: Words) -> bool:
        """Whether a stored set lies in the given one, or equals it."""
        return bool(has_subset(self._nodes, members))
