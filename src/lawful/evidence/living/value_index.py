"""Counting a batch by the values that it shares: an inverted attribute index (end of section 4 of the paper).

For each value of each column there is the cluster of rows that have it. Only rows that share a value with a
row of the batch are looked at; all others have the empty agree set with it, which is counted by arithmetic (Y10:
the paper drops it, and would find the key {} in a table where all values differ). Under `NullPolicy.IGNORE` such pairs
are known to differ in different columns, so the rows are counted for each pattern of nulls.

This is cheaper than comparing with all rows where all columns have many values, and dearer where one has few.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.errors import StoppedError
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.count_table import CountTable
from lawful.evidence.exact import ShouldStop
from lawful.evidence.living.kernels import value_index as kernels
from lawful.evidence.living.live_rows import LiveRows, null_words
from lawful.evidence.living.numbered_vectors import NumberedVectors
from lawful.evidence.living.tally import Tally
from lawful.evidence.signs import all_columns, words_for

_CODE_BITS = np.uint64(32)
_LEAST_ROOM = 4
_ROWS_A_CALL = 256
"""Rows of a batch between two looks at whether to stop."""
_MOST_WASTE = 8
"""Room in the pool, in cells of the table, beyond which the index is made anew: values that are gone leave theirs."""


class ValueIndex:
    """The live rows by their values. See `kernels.value_index` for the arrays."""

    def __init__(self, rows: LiveRows, policy: NullPolicy) -> None:
        self._rows = rows
        self._policy = policy
        self._clear()

    def appended(self, rows: int) -> None:
        """Put new rows into the clusters of their values."""
        if self._used > _LEAST_ROOM + _MOST_WASTE * self._cluster.shape[0] * self._rows.count:
            self._clear()
            return
        self._reserve_rows()
        first, last = self._rows.count - rows, self._rows.count
        codes = self._rows.codes[:, first:last]
        cluster = self._cluster[:, first:last]
        for column, values in enumerate(codes):
            cluster[column] = self._clusters_of(column, values)
            if self._policy is NullPolicy.IGNORE:
                cluster[column, values == NULL_RANK] = -1
        cluster[-1] = self._clusters_of(self._rows.width, self._patterns_of(codes))
        self._reserve_clusters(cluster[cluster >= 0])
        kernels.link_rows(self._cluster, self._place, first, last, self._start, self._size, self._pool)

    def exchanged(self, one: Int64s, other: Int64s) -> None:
        """Exchange the numbers of rows."""
        for lines in (self._cluster, self._place):
            lines[:, one], lines[:, other] = lines[:, other], lines[:, one]
        both = np.concatenate([one, other])
        kernels.rename_rows(self._cluster, self._place, both, self._start, self._pool)

    def dropping(self, rows: int) -> None:
        """Take the last rows out of their clusters."""
        last = self._rows.count
        kernels.unlink_rows(self._cluster, self._place, last - rows, last, self._start, self._size, self._pool)

    def pairs_of_last(self, rows: int, should_stop: ShouldStop | None = None) -> Tally:
        """Count the pairs of the last rows with all before them."""
        count, words = self._rows.count, words_for(self._rows.width)
        # Clusters and patterns lead to each other: the clusters of the last line are those of patterns.
        keys = np.uint64(self._rows.width) << _CODE_BITS | np.arange(self._patterns.size, dtype=np.uint64)
        pattern_clusters = self._values.numbers(keys[:, None], adds=False)
        pattern_of = np.zeros(self._values.size, np.int64)
        pattern_of[pattern_clusters] = np.arange(self._patterns.size)
        earlier = self._size[pattern_clusters]
        earlier -= np.bincount(pattern_of[self._cluster[-1, count - rows : count]], minlength=earlier.size)
        shared, seen_by = np.empty((count, words), np.uint64), np.full(count, -1, np.int32)
        found = CountTable(words * (1 if self._policy is NullPolicy.EQUAL else 2))
        row = count - rows
        patterns = (self._patterns.vectors, pattern_clusters, pattern_of, earlier)
        clusters = (self._cluster, self._start, self._size, self._pool)
        while row < count:
            if should_stop is not None and should_stop():
                raise StoppedError("counting the pairs of a batch was stopped")
            row, found.size, needed = kernels.count_pairs(
                *clusters,
                row,
                min(row + _ROWS_A_CALL, count),
                all_columns(self._rows.width),
                *patterns,
                shared,
                seen_by,
                *found.arrays,
                found.size,
            )
            found.reserve(needed)
        return Tally(*found.entries())

    def _clear(self) -> None:
        """Begin with no value and put all rows in."""
        self._values = NumberedVectors(1)
        self._patterns = NumberedVectors(words_for(self._rows.width))
        self._cluster: Int32s = np.empty((self._rows.width + 1, 0), np.int32)
        self._place: Int32s = np.empty((self._rows.width + 1, 0), np.int32)
        self._start, self._size, self._room = (np.zeros(0, np.int64) for _ in range(3))
        self._pool: Int32s = np.empty(0, np.int32)
        self._used = 0
        self.appended(self._rows.count)

    def _clusters_of(self, column: int, values: Int32s | Int64s) -> Int64s:
        keys = np.uint64(column) << _CODE_BITS | values.astype(np.uint64)
        return self._values.numbers(keys[:, None], adds=True)

    def _patterns_of(self, codes: Int32s) -> Int64s:
        """The number of the null pattern of every row; there is but one where null is a value."""
        nulls = null_words(codes)
        return self._patterns.numbers(nulls if self._policy is NullPolicy.IGNORE else np.zeros_like(nulls), adds=True)

    def _reserve_rows(self) -> None:
        missing = self._rows.count - self._cluster.shape[1]
        if missing > 0:
            more = ((0, 0), (0, max(missing, self._cluster.shape[1])))
            self._cluster, self._place = np.pad(self._cluster, more), np.pad(self._place, more)

    def _reserve_clusters(self, coming: Int32s) -> None:
        """Give clusters to which rows come the room for them."""
        missing = self._values.size - self._start.size
        if missing > 0:
            more = (0, max(missing, self._start.size))
            self._start, self._size, self._room = (np.pad(a, more) for a in (self._start, self._size, self._room))
        clusters, amounts = np.unique(coming, return_counts=True)
        needed = self._size[clusters] + amounts
        is_full = needed > self._room[clusters]
        moving = clusters[is_full].astype(np.int64)
        rooms = np.maximum(_LEAST_ROOM, 2 * needed[is_full])
        total = self._used + int(rooms.sum())
        if total > self._pool.size:
            self._pool = np.pad(self._pool, (0, max(total, 2 * self._pool.size) - self._pool.size))
        self._used = kernels.move_clusters(moving, rooms, self._start, self._size, self._room, self._pool, self._used)
