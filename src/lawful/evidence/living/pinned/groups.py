"""Numbers of groups: rows that agree on some columns have the same one, for ever.

A group over one column is the code of its value. One over several is told by the group over all but the last and the
code of the last, so that laws share what they have in common. Such a group takes 16 to 24 bytes.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.evidence.living.pinned.kernels.pair_ids import add_ids, fill_ids, find_ids
from lawful.evidence.living.pinned.row_codes import RowCodes

_FEWEST = 64
_SLOTS_PER_ID = 2


class PairIds:
    """Gives out 0, 1, 2 and so on for pairs of numbers."""

    def __init__(self) -> None:
        self._keys: Int64s = np.empty(_FEWEST, np.int64)
        self._slots: Int32s = np.full(_SLOTS_PER_ID * _FEWEST, -1, np.int32)
        self._known = 0

    def __len__(self) -> int:
        """How many ids are given out."""
        return self._known

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return self._keys.nbytes + self._slots.nbytes

    def find(self, pairs: Int64s) -> Int32s:
        """The id of each pair, -1 for those that never came."""
        ids = np.empty(len(pairs), np.int32)
        find_ids(pairs, self._slots, self._keys, ids)
        return ids

    def add(self, pairs: Int64s) -> Int32s:
        """The id of each pair, a new one for those that never came."""
        ids = np.empty(len(pairs), np.int32)
        start = 0
        while True:
            start, self._known = add_ids(pairs, start, self._slots, self._keys, self._known, ids)
            if start == len(pairs):
                return ids
            self._grow()

    def _grow(self) -> None:
        self._keys = np.concatenate([self._keys, np.empty(len(self._keys), np.int64)])
        self._slots = np.full(_SLOTS_PER_ID * len(self._keys), -1, np.int32)
        fill_ids(self._slots, self._keys, self._known)


class Groups:
    """The groups of a table's rows over any columns."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[int, ...], PairIds] = {}

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return sum(pairs.memory for pairs in self._pairs.values())

    def ids(self, columns: tuple[int, ...], codes: RowCodes, *, add: bool = True) -> Int32s:
        """The groups of rows; -1 for one that never came, unless it is added."""
        if not columns:
            return np.zeros(codes.rows, np.int32)
        if len(columns) == 1:
            return codes.column(columns[0])
        first = self.ids(columns[:-1], codes, add=add)
        pairs = self._pairs.setdefault(columns, PairIds())
        keys = pair_keys(first, codes.column(columns[-1]))
        if add:
            return pairs.add(keys)
        return np.where(first < 0, np.int32(-1), pairs.find(keys))


def pair_keys(first: Int32s, second: Int32s) -> Int64s:
    """Two numbers as one."""
    return (first.astype(np.int64) << 32) | second.astype(np.int64)
