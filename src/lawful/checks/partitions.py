"""Stripped partitions: which rows of a table agree on a set of columns.

A row that agrees with no other row is left out (DISTOD, section 6.1.2), so a partition shrinks as columns
join.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lawful.checks.kernels import orders as order_kernels
from lawful.checks.kernels import partitions as partition_kernels
from lawful.common.arrays import Int32s, Ranks

_Ranks = TypeVar("_Ranks", bound=Ranks)
_OBJECT_BYTES = 512
"""What the Python objects around the arrays of a partition take, so that empty partitions are not free."""


@dataclass(frozen=True, eq=False, slots=True)
class Partition:
    """Classes of rows that agree, two rows or more each, in CSR form.

    Attributes
    ----------
    rows
        The rows, class by class, ascending within a class.
    offsets
        Class `c` is `rows[offsets[c]:offsets[c + 1]]`.
    table_rows
        The number of rows of the table.
    root
        The column by whose order rows are numbered; see `arrangements`. None numbers them as the table does.
    """

    rows: Int32s
    offsets: Int32s
    table_rows: int
    root: int | None = None

    def __post_init__(self) -> None:
        # Partitions are shared by threads, and kernels see one array type for them and for memory maps.
        self.rows.flags.writeable = False
        self.offsets.flags.writeable = False

    @property
    def size(self) -> int:
        """The number of rows that agree with some other row."""
        return self.rows.size

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.offsets.size - 1

    @property
    def error(self) -> int:
        """The fewest rows to remove so that no two agree: e(X) of DISTOD's section 6.3.1."""
        return self.size - self.classes

    @property
    def nbytes(self) -> int:
        """The memory that the partition takes."""
        return self.rows.nbytes + self.offsets.nbytes + _OBJECT_BYTES

    def beginning(self, rows: int) -> Partition:
        """Return the first classes, as few as hold at least `rows` rows between them, or all."""
        last = min(int(np.searchsorted(self.offsets, rows)), self.classes)
        return Partition(self.rows[: self.offsets[last]], self.offsets[: last + 1], self.table_rows, self.root)

    def __iter__(self) -> Iterator[Int32s]:
        for c in range(self.classes):
            yield self.rows[self.offsets[c] : self.offsets[c + 1]]


@dataclass(frozen=True, eq=False, slots=True)
class SortedPartition:
    """The class of each row, numbered in the order of a list of columns; see `list_ods.orders`.

    Attributes
    ----------
    ids
        A number below `classes` for each row, the same for rows that agree; not all need to occur.
    classes
        The bound of the numbers.
    """

    ids: Int32s
    classes: int

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.ids.nbytes + _OBJECT_BYTES


class Scratch(threading.local):
    """Working memory of one thread, kept between calls and grown when a call needs more."""

    def __init__(self) -> None:
        self._buffers: dict[str, Int32s] = {}
        self._keys: NDArray[np.int64] = np.empty(0, np.int64)
        self._extremes: Int32s = np.empty((0, 2), np.int32)

    def buffer(self, name: str, size: int) -> Int32s:
        """Return at least `size` integers of any content."""
        found = self._buffers.get(name)
        if found is None or found.size < size:
            found = self._buffers[name] = np.empty(size, np.int32)
        return found

    def zeros(self, name: str, size: int) -> Int32s:
        """Return at least `size` zeros; whoever writes to them writes the zeros back."""
        found = self._buffers.get(name)
        if found is None or found.size < size:
            found = self._buffers[name] = np.zeros(size, np.int32)
        return found

    def keys(self, size: int) -> NDArray[np.int64]:
        """Return at least `size` sort keys of any content."""
        if self._keys.size < size:
            self._keys = np.empty(size, np.int64)
        return self._keys

    def extremes(self, size: int) -> Int32s:
        """Return a table of at least `size` empty extremes; whoever writes to them empties them again."""
        if len(self._extremes) < size:
            self._extremes = np.empty((size, 2), np.int32)
            self._extremes[:, 0] = order_kernels.NO_LOW
            self._extremes[:, 1] = order_kernels.NO_HIGH
        return self._extremes


def read_only(column: _Ranks) -> _Ranks:
    """Return a plain read-only view, so that kernels are compiled once for arrays and memory maps alike."""
    if type(column) is np.ndarray and not column.flags.writeable:
        return column
    view = np.asarray(column).view()
    view.flags.writeable = False
    return cast(_Ranks, view)


def all_rows(table_rows: int) -> Partition:
    """Return the partition of the empty set of columns: all rows agree on nothing."""
    if table_rows < 2:
        return _empty(table_rows)
    offsets = np.array([0, table_rows], np.int32)
    return Partition(np.arange(table_rows, dtype=np.int32), offsets, table_rows)


def single(column: Int32s, distinct: int, lowest: int, scratch: Scratch) -> Partition:
    """Return the partition of one column; ranks below `lowest` are dropped."""
    rows = scratch.buffer("rows", column.size)
    offsets = scratch.buffer("offsets", column.size // 2 + 1)
    slots = scratch.zeros("slots", distinct + 1)
    size, classes = partition_kernels.group_column(read_only(column), distinct, lowest, slots, rows, offsets)
    return Partition(rows[:size].copy(), offsets[: classes + 1].copy(), column.size)


def refine(
    partition: Partition,
    column: Ranks,
    distinct: int,
    lowest: int,
    scratch: Scratch,
    *,
    first_only: bool = False,
) -> Partition:
    """Return the product of a partition with one column, whose rows are numbered as those of the partition.

    Ranks below `lowest` are dropped. With `first_only` the result holds no more than the parts of the first class
    that leaves any, which begin with the first class of the whole product.
    """
    if partition.size == 0:
        return partition
    rows = scratch.buffer("rows", partition.size + 1)
    offsets = scratch.buffer("offsets", partition.size // 2 + 1)
    size, classes = partition_kernels.refine(
        partition.rows,
        partition.offsets,
        read_only(column),
        lowest,
        first_only,
        scratch.zeros("slots", distinct + 1),
        scratch.buffer("ranks", partition.size),
        scratch.buffer("seen", min(partition.size, distinct + 1) + 1),
        rows,
        offsets,
    )
    return Partition(rows[:size].copy(), offsets[: classes + 1].copy(), partition.table_rows, partition.root)


def product(first: Partition, second: Partition, scratch: Scratch) -> Partition:
    """Return the partition of the rows that agree in both (DISTOD, section 6.2.2).

    The classes of `second` serve as one more column, in which a row without a class has rank 0.
    """
    labels = labels_of(second)
    return refine(first, labels, second.classes, 1, scratch)


def labels_of(partition: Partition) -> Int32s:
    """Return for each row of the table the number of its class, from 1 on; 0 where it has none."""
    labels = np.zeros(partition.table_rows, np.int32)
    partition_kernels.label_rows(partition.rows, partition.offsets, labels)
    return labels


def _empty(table_rows: int) -> Partition:
    return Partition(np.empty(0, np.int32), np.zeros(1, np.int32), table_rows)
