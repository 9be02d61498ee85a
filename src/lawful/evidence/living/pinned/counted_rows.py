"""Indexes of keys and functional dependencies: a row costs a few steps, however many rows there are.

What breaks a key are the pairs within a group; what breaks a functional dependency are those that differ there. Both
follow from how many rows each group, and each group with a value on the right, has. A key takes 12 bytes for each
group, a functional dependency 12 for each group and 12 for each group with a value, beside the groups themselves.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.evidence.living.pinned.groups import Groups
from lawful.evidence.living.pinned.kernels.counts import (
    BOTH,
    NONE,
    ONLY_S,
    ONLY_T,
    UNKNOWN,
    change_agreeing,
    change_differing,
    find_agreeing,
    find_differing,
)
from lawful.evidence.living.pinned.row_codes import RowCodes

__all__ = ["BOTH", "ONLY_S", "ONLY_T", "UNKNOWN", "AgreeingRows", "DifferingRows"]

_NEW = -2
_ROOM = 8
"""Arrays grow by one in so many."""


def with_room(array: Int32s, groups: int, filler: int) -> Int32s:
    """The same array, or a longer one if there are more groups than it has room for."""
    if groups <= len(array):
        return array
    more = np.full((groups + groups // _ROOM - len(array), *array.shape[1:]), filler, np.int32)
    return np.concatenate([array, more])


class AgreeingRows:
    """Counts the pairs of rows that agree on some columns and can be the two rows of a denied pair.

    Parameters
    ----------
    columns
        The columns.
    roles
        1 if every row is both or neither; 3 if some may be only the first (t) or the second (s).
    """

    def __init__(self, columns: tuple[int, ...], groups: Groups, roles: int = 1) -> None:
        self._columns, self._groups = columns, groups
        self._counts: Int32s = np.zeros((0, roles), np.int32)
        self._known: Int32s = np.full((0, 2 * roles), NONE, np.int32)
        self._totals: Int64s = np.zeros(2, np.int64)

    @property
    def tally(self) -> tuple[int, int]:
        """How many rows are in violating pairs, and how many such pairs there are."""
        return int(self._totals[1]), int(self._totals[0])

    @property
    def memory(self) -> int:
        """Bytes in use, without the groups."""
        return self._counts.nbytes + self._known.nbytes

    def change(self, rows: Int64s, codes: RowCodes, roles: Int32s, change: int) -> None:
        """Let rows come (1) or go (-1)."""
        ids = self._groups.ids(self._columns, codes)
        groups = int(ids.max(initial=-1)) + 1
        self._counts = with_room(self._counts, groups, 0)
        self._known = with_room(self._known, groups, NONE)
        change_agreeing(ids, roles, rows, change, self._counts, self._known, self._totals)

    def partners(self, rows: Int64s, codes: RowCodes, roles: Int32s) -> Int64s:
        """For each row another that it breaks the law with, -1 if there is none, -2 if it has to be looked for."""
        found = np.empty(len(rows), np.int64)
        ids = self._groups.ids(self._columns, codes, add=False)
        find_agreeing(ids, roles, rows, self._counts, self._known, found)
        return found

    def conflicts(self, codes: RowCodes, roles: Int32s) -> Flags:
        """Which of some rows break the law with each other."""
        ids = self._groups.ids(self._columns, codes)
        t, s = np.isin(roles, (BOTH, ONLY_T)), np.isin(roles, (BOTH, ONLY_S))
        one_way = (ids[:, None] == ids[None, :]) & t[:, None] & s[None, :]
        return _without_itself(one_way | one_way.T)

    def broken_group(self) -> int:
        """A group that has violating pairs."""
        if self._counts.shape[1] == 1:
            return int(np.argmax(self._counts[:, BOTH] > 1))
        counts = self._counts.astype(np.int64)
        both = counts[:, BOTH]
        t, s = counts[:, ONLY_T], counts[:, ONLY_S]
        return int(np.argmax((both > 1) | (t * s > 0) | (both * (t + s) > 0)))


class DifferingRows:
    """Counts the pairs of rows that agree on some columns and differ on another."""

    def __init__(self, columns: tuple[int, ...], right: int, groups: Groups) -> None:
        self._columns, self._groups = columns, groups
        self._with_right = (*columns, right)
        self._sizes: Int32s = np.zeros(0, np.int32)
        self._kinds: Int32s = np.zeros(0, np.int32)
        self._first: Int32s = np.full(0, NONE, np.int32)
        self._both_sizes: Int32s = np.zeros(0, np.int32)
        self._both_known: Int32s = np.full(0, NONE, np.int32)
        self._after: Int32s = np.full(0, _NEW, np.int32)
        self._totals: Int64s = np.zeros(2, np.int64)

    @property
    def tally(self) -> tuple[int, int]:
        """How many rows are in violating pairs, and how many such pairs there are."""
        return int(self._totals[1]), int(self._totals[0])

    @property
    def memory(self) -> int:
        """Bytes in use, without the groups."""
        arrays = (self._sizes, self._kinds, self._first, self._both_sizes, self._both_known, self._after)
        return sum(array.nbytes for array in arrays)

    def change(self, rows: Int64s, codes: RowCodes, roles: Int32s, change: int) -> None:
        """Let rows come (1) or go (-1)."""
        if (roles < 0).any():
            rows, codes = rows[roles >= 0], codes.some(roles >= 0)
        ids, both = self._groups.ids(self._columns, codes), self._groups.ids(self._with_right, codes)
        groups, kinds = int(ids.max(initial=-1)) + 1, int(both.max(initial=-1)) + 1
        self._sizes, self._kinds = with_room(self._sizes, groups, 0), with_room(self._kinds, groups, 0)
        self._first = with_room(self._first, groups, NONE)
        self._both_sizes = with_room(self._both_sizes, kinds, 0)
        self._both_known = with_room(self._both_known, kinds, NONE)
        self._after = with_room(self._after, kinds, _NEW)
        change_differing(
            ids, both, rows, change, self._sizes, self._kinds, self._first,
            self._both_sizes, self._both_known, self._after, self._totals,
        )  # fmt: skip

    def partners(self, rows: Int64s, codes: RowCodes, roles: Int32s) -> Int64s:
        """For each row another that it breaks the law with, -1 if there is none, -2 if it has to be looked for."""
        found = np.empty(len(rows), np.int64)
        ids = self._groups.ids(self._columns, codes, add=False)
        both = self._groups.ids(self._with_right, codes, add=False)
        find_differing(ids, both, self._first, self._both_sizes, self._both_known, self._after, found)
        found[roles < 0] = NONE
        return found

    def conflicts(self, codes: RowCodes, roles: Int32s) -> Flags:
        """Which of some rows break the law with each other."""
        ids, both = self._groups.ids(self._columns, codes), self._groups.ids(self._with_right, codes)
        takes_part = roles >= 0
        found = (ids[:, None] == ids[None, :]) & (both[:, None] != both[None, :])
        return np.asarray(found & takes_part[:, None] & takes_part[None, :])

    def broken_group(self) -> int:
        """A group that has violating pairs."""
        return int(np.argmax(self._kinds > 1))


def _without_itself(found: Flags) -> Flags:
    np.fill_diagonal(found, False)
    return found
