"""Numbers that order the values of a column, and stay as they are when new values come.

The codes of a living table are in the order in which values came. Dense ranks would be in the order of the values, but
one new value shifts all ranks above it. So every code gets a *label*, an int64 with wide gaps between neighbours, and a
new value gets one in the gap that it falls into. Labels are copied into the indexes, which is what makes these quick.

What a batch with k new values costs, in a column that has n: finding their places compares about 15 k texts with each
other, log16(n) times; the list of all values in their order is moved once, 4 bytes each. Nothing else is looked at.
When a gap has no room left, all labels are given out anew, n of them, and the indexes copy them again. New values leave
a third of their gap free on either side, so a gap lasts for 20 batches and more even if all values of all batches fall
between the same two, as dates do that come one after the other below 9999-12-31; values beyond both ends never use up
a gap.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.evidence.living.orders.kernels.order_keys import insert_codes, labels_between
from lawful.tables.living.canonical import canonical_order
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.living.living_table import LivingTable

_SPAN = 1 << 61
_FARTHEST = 1 << 62
"""Labels lie between both; at first they take half of that, so that values beyond the ends have room."""
_NULL_LABEL = -_FARTHEST - 1
"""Null is the smallest value."""
_WIDEST_GAP = 1 << 41
_PIVOTS = 15
_MANY = 4
"""All values are sorted instead if new ones are more than one in this many."""


class OrderKeys:
    """The labels of a column's codes.

    Attributes
    ----------
    known
        How many codes have a label, null not counted.
    labelled
        Grows when all labels are given out anew; the order of the values is still the same.
    ordered
        Grows when values changed their order, as they do where a column of numbers becomes text.
    """

    def __init__(self, table: LivingTable, column: int) -> None:
        self._table, self._column = table, column
        self.labelled = self.ordered = 0
        self._sort_all()

    @property
    def labels(self) -> Int64s:
        """The label of every code, null's first; the labels of two codes compare as their values do."""
        return self._labels[: self.known + 1]

    @property
    def order(self) -> Int32s:
        """The codes of all values in the order of the values."""
        return self._order[: self.known]

    def ranks(self) -> Int32s:
        """The dense rank of every code's value, 0 for null."""
        ranks = np.full(self.known + 1, NULL_RANK, np.int32)
        ranks[self.order] = np.arange(1, self.known + 1, dtype=np.int32)
        return ranks

    def catch_up(self) -> None:
        """Take in the values that have come."""
        column = self._table.columns[self._column]
        new = len(column.dictionary) - self.known
        if (column.type, column.dictionary) != (self._type, self._dictionary) or new < 0:
            self.ordered += 1
            self._sort_all()
        elif new * _MANY > self.known:
            before = self.order.copy()
            self._sort_all()
            self.ordered += not np.array_equal(self.order[self.order <= len(before)], before)
        elif new:
            self._take_in(np.arange(self.known + 1, self.known + new + 1, dtype=np.int32))

    def _sort_all(self) -> None:
        column = self._table.columns[self._column]
        self._type: ColumnType = column.type
        self._dictionary: Dictionary = column.dictionary
        ranks = column.dictionary.ranks(column.type)
        self.known = len(ranks) - 1
        self._order: Int32s = np.empty(self.known, np.int32)
        self._order[ranks[1:] - 1] = np.arange(1, len(ranks), dtype=np.int32)
        self._labels: Int64s = np.empty(self.known + 1, np.int64)
        self._label_all()

    def _label_all(self) -> None:
        self._gap = min(_WIDEST_GAP, _SPAN // (self.known + 1))
        self._labels[0] = _NULL_LABEL
        self._labels[self.order] = (np.arange(self.known, dtype=np.int64) - self.known // 2) * self._gap
        self.labelled += 1

    def _take_in(self, codes: Int32s) -> None:
        texts = self._dictionary.texts(codes)
        in_order = canonical_order(texts, self._type)
        codes, places = codes[in_order], self._places(texts.take(pa.array(in_order)))
        labels = labels_between(self.order, self.labels, places, self._gap)
        self._make_room(self.known + len(codes))
        insert_codes(self._order, self.known, codes, places)
        self.known += len(codes)
        if labels.size and labels[0] > -_FARTHEST and labels[-1] < _FARTHEST:
            self._labels[codes] = labels
        else:
            self._label_all()

    def _make_room(self, codes: int) -> None:
        if codes > len(self._order):
            more = max(codes - len(self._order), self.known // 8)
            self._order, self._labels = np.pad(self._order, (0, more)), np.pad(self._labels, (0, more))

    def _places(self, texts: pa.Array) -> Int64s:
        """How many of the known values are smaller than each of some new ones, which are in their order.

        A search for all of them at once: every round compares them with some of the values that are still between the
        bounds of each, by sorting both together.
        """
        low = np.zeros(len(texts), np.int64)
        high = np.full(len(texts), self.known, np.int64)
        if self.known and self._are_behind_all(texts):
            return high
        steps = np.arange(1, _PIVOTS + 1)[:, None]
        while (open_ := low < high).any():
            between = low[open_] + (high - low)[open_] * steps // (_PIVOTS + 1)
            pivots = np.unique(between)
            both = pa.concat_arrays([self._dictionary.texts(self.order[pivots]), texts])
            is_pivot = canonical_order(both, self._type) < len(pivots)
            smaller = np.cumsum(is_pivot)[~is_pivot]
            low = np.maximum(low, np.append(-1, pivots)[smaller] + 1)
            high = np.minimum(high, np.append(pivots, self.known)[smaller])
        return low

    def _are_behind_all(self, texts: pa.Array) -> bool:
        """Whether all of some values are greater than those that are known, as numbers and times that grow are."""
        two = pa.concat_arrays([texts.slice(0, 1), self._dictionary.texts(self.order[-1:])])
        return bool(canonical_order(two, self._type)[0] == 1)


class TableKeys:
    """The order keys of a table's columns, made when somebody asks for one and shared by all indexes."""

    def __init__(self, table: LivingTable) -> None:
        self.table = table
        self._columns: dict[int, OrderKeys] = {}

    def column(self, column: int) -> OrderKeys:
        """The keys of a column, as they were at the last `catch_up`."""
        if column not in self._columns:
            self._columns[column] = OrderKeys(self.table, column)
        return self._columns[column]

    @property
    def ordered(self) -> int:
        """Grows when the values of a column that was asked for changed their order."""
        return sum(keys.ordered for keys in self._columns.values())

    def catch_up(self) -> None:
        """Take in the values that have come, in every column that was asked for."""
        for keys in self._columns.values():
            keys.catch_up()

    def forget_new_values(self) -> None:
        """Forget values that dictionaries have lost again."""
        for column, keys in self._columns.items():
            if keys.known > len(self.table.columns[column].dictionary):
                keys.catch_up()

    def of_rows(self, column: int, rows: Int64s) -> Int64s:
        """The labels of some rows in a column."""
        return np.asarray(self.column(column).labels[self.table.codes.column_of_rows(column, rows)])

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return sum(12 * keys.known for keys in self._columns.values())
