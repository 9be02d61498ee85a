"""The sample r' on which list-based order dependencies are discovered before they are validated (FindOD, section V).

Some rows are drawn at random, and of these the ones that break a candidate with one column on each side are kept.
Later come the rows that broke candidates on the whole table. Departing from the paper, a table not larger than a
sample is its own sample, and at most so many rows are drawn: more would only repeat what few rows show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable, partitions
from lawful.common.arrays import Int32s
from lawful.discovery.list_ods.kernels import sample as kernels
from lawful.search.list_ods.od_tree import MarkedList, Node, State, column_set

_WHOLE_ROWS = 2_000
_SHARE = 0.01
_FEWEST, _MOST = 50, 100_000
_MET, _PARTNERS = 100, 2
_STATES = (State.VALID, State.SPLIT, State.SWAP)

ClassIds = tuple[Int32s, int]
"""The class of each row, numbered in the order of a list, and the number of classes."""


class Sample:
    """Some rows of a table, and what they say of candidates.

    Parameters
    ----------
    table
        The table.
    columns
        The columns that are searched; marks count them by their places here.
    rows
        The rows, by id.
    """

    def __init__(self, table: RankedTable, columns: Sequence[int], rows: Iterable[int]) -> None:
        self._table = table
        self._columns = tuple(columns)
        self._rows = np.unique(np.fromiter(rows, np.int64))
        self._rank()

    def __len__(self) -> int:
        return self._rows.size

    @property
    def rows(self) -> int:
        """The number of rows; with the next three this is a table of its own, its ranks from 0 on."""
        return self._rows.size

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self._columns)

    def column(self, i: int) -> Int32s:
        """The ranks of a column."""
        ranks: Int32s = self._ranks[i]
        return ranks

    def distinct(self, i: int) -> int:
        """The largest rank of a column."""
        return int(self._highest[i])

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the table that these are."""
        return self._columns

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """The rows of the table that these are, ascending."""
        return self._rows

    @property
    def is_whole(self) -> bool:
        """Whether all rows of the table are here."""
        return self._rows.size == self._table.rows

    def add(self, rows: Iterable[int]) -> None:
        """Add rows that break a candidate which held here."""
        self._rows = np.union1d(self._rows, np.fromiter(rows, np.int64))
        self._rank()

    def determined(self, marked: MarkedList) -> int:
        """The columns, as bits, that the columns of a list determine here, their own left out."""
        members = column_set(marked)
        found = self._determined.get(members)
        if found is None:
            flags = np.empty(len(self._columns), np.bool_)
            kernels.mark_determined(*self._class_ids(marked), self._ranks, flags)
            bits = sum(1 << int(column) for column in np.flatnonzero(flags))
            found = self._determined[members] = bits & ~members
        return found

    def refutes_fd(self, columns: int, rhs: int) -> bool:
        """Whether two rows here agree on the columns, given as bits, and not on the right side."""
        marked = tuple(2 * column for column in range(len(self._columns)) if columns >> column & 1)
        return not self.determined(marked) >> rhs & 1

    def states(self, node: Node, marks: list[int]) -> list[State]:
        """The states of the children that a node has with these marks."""
        if not marks:
            return []
        x, x_classes = self._class_ids(node.lhs)
        y, _ = self._class_ids(node.rhs)
        added, found = np.array(marks, np.int32), np.empty(len(marks), np.int8)
        if node.state is State.VALID:
            kernels.states_on_the_right(x, x_classes, y, self._ranks, self._highest, added, found)
        else:
            kernels.states_on_the_left(x, x_classes, y, self._ranks, self._orders, added, found)
        return [_STATES[state] for state in found.tolist()]

    def violating_rows(self, *, bidirectional: bool) -> list[int]:
        """Two rows for each candidate A -> B that does not hold here (algorithm Sample)."""
        marked = np.zeros(len(self), np.bool_)
        kernels.mark_violations(self._ranks, self._orders, bidirectional, marked)
        return [int(row) for row in self._rows[marked]]

    def _class_ids(self, marked: MarkedList) -> ClassIds:
        found = self._partitions.get(marked)
        if found is None:
            ids, classes = self._class_ids(marked[:-1])
            column, out = marked[-1] >> 1, np.empty_like(ids)
            ranks, order = self._ranks[column], self._orders[column]
            classes = kernels.expand(ids, classes, ranks, order, marked[-1] & 1 == 1, out)
            found = self._partitions[marked] = (out, classes)
        return found

    def _rank(self) -> None:
        """Rank the rows that are here, and forget what fewer rows said."""
        shape = (len(self._columns), self._rows.size)
        self._ranks, self._orders = np.empty(shape, np.int32), np.empty(shape, np.int32)
        self._highest = np.zeros(len(self._columns), np.int32)
        for place, column in enumerate(self._columns):
            values = np.asarray(self._table.column(column)[self._rows])
            order = np.argsort(values, kind="stable")
            rises = np.diff(values[order], prepend=values[order[:1]]) != 0
            self._ranks[place, order] = np.cumsum(rises)
            self._orders[place] = order
            self._highest[place] = self._ranks[place].max(initial=0)
        self._partitions: dict[MarkedList, ClassIds] = {(): (np.zeros(self._rows.size, np.int32), 1)}
        self._determined: dict[int, int] = {}


def draw_rows(table: RankedTable, columns: Sequence[int], seed: int) -> Sample:
    """Draw rows at random, and for some of them rows that agree with them or are next to them in a column.

    Only such rows split a candidate, and in a large table two random rows hardly ever do (a departure).
    """
    if table.rows <= _WHOLE_ROWS:
        return Sample(table, columns, range(table.rows))
    size = int(np.clip(_SHARE * table.rows, _FEWEST, _MOST))
    # Not `choice` without replacement, which takes as long as the table is; a row drawn twice is one row.
    drawn = [np.random.default_rng(seed).integers(0, table.rows, size)]
    met = drawn[0][: int(np.clip(size, 0, _MET))]
    for column in columns:
        ranks = partitions.read_only(table.column(column))
        left = np.zeros(table.distinct(column) + 2, np.int8)
        left[ranks[met]] = left[ranks[met] + 1] = _PARTNERS
        partners = np.empty(2 * _PARTNERS * met.size, np.int32)
        found = kernels.draw_partners(ranks, int(drawn[0][0]), left, partners)
        drawn.append(partners[:found].astype(np.int64))
    return Sample(table, columns, np.concatenate(drawn))
