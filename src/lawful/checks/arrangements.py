"""Columns of a large table in the order of another column, so that the rows of a class stand side by side.

A partition grows from one column, its root, and classes only ever split. In the order of the table the rows of a class
stand anywhere, and a check waits for memory at each of them. With all columns in the order of the root, whatever is
read of a class stands close together, in every partition that grows from that root: memory is read from beginning to
end. Neighbouring checks mostly share their root (see `engines.packing`), so a column that was put in order for one of
them serves many.

Within a class of the root the order of the table is kept, so classes, their rows and the first rows that refute a law
are the same in both orders.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.checks.cache import Chain, PartitionCache
from lawful.checks.kernels import partitions as partition_kernels
from lawful.checks.partitions import Partition, SortedPartition, read_only
from lawful.common.arrays import Int32s, Ranks
from lawful.tables.ranked_table import RankedTable

Kept = Partition | SortedPartition | Ranks
"""What a workspace keeps: partitions of sets and lists, and columns in the order of a root."""

WORTH_ARRANGING = 1 << 19
"""From here on the columns of a check do not fit into a core's own caches. With 337,000 rows both orders took the same
time; with 2.7 million, checks took a quarter to a third less processor time in the order of the root."""
_RANK_BYTES = 4
_SHARE_OF_CACHE = 2
"""One part in so many of the cache is what all columns in one order may take: it is there for partitions."""


class Arrangements:
    """The columns of one table in the orders of its roots, kept in the cache beside the partitions.

    Parameters
    ----------
    table
        The table.
    cache
        Where columns in order are kept, under the root and a negative number: no partition has such a key.
    column
        Gives a column in the order of the table.
    grouped
        Gives the partition of a single column, in rows of the table.
    """

    def __init__(
        self,
        table: RankedTable,
        cache: PartitionCache[Kept],
        column: Callable[[int], Ranks],
        grouped: Callable[[int], Partition],
    ) -> None:
        self._cache, self._column, self._grouped = cache, column, grouped
        self._is_large = table.rows >= WORTH_ARRANGING
        self._bytes = _RANK_BYTES * table.rows * table.width
        self._places = np.empty(0, np.int32)

    @property
    def pay(self) -> bool:
        """Whether partitions should be made in the order of their roots."""
        return self._is_large and self._bytes * _SHARE_OF_CACHE <= self._cache.budget

    def root(self, i: int) -> Partition:
        """Return the partition of column `i` in its own order: all its rows, one after the other."""
        grouped = self._grouped(i)
        if self._places.size < grouped.size:
            self._places = np.arange(grouped.table_rows, dtype=np.int32)
        return Partition(self._places[: grouped.size], grouped.offsets, grouped.table_rows, i)

    def ranks(self, partition: Partition, i: int) -> Ranks:
        """Return column `i` in the order in which the rows of a partition are numbered."""
        root = partition.root
        if root is None:
            return self._column(i)
        key: Chain = (root, -1 - i)
        found = self._cache.get(key)
        if not isinstance(found, np.ndarray):
            rows, column = self._grouped(root).rows, self._column(i)
            arranged = np.empty(rows.size, column.dtype)
            partition_kernels.arrange(rows, column, arranged)
            found = read_only(arranged)
            self._cache.put(key, found)
        return found

    def table_rows(self, partition: Partition, rows: Int32s) -> Int32s:
        """Return the rows of the table that rows of a partition are."""
        return rows if partition.root is None else self._grouped(partition.root).rows[rows]
