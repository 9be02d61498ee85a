"""Rows by their row key: where many batches come to a large table, none of them should read all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.evidence.living.pinned.counted_rows import BOTH, AgreeingRows
from lawful.evidence.living.pinned.groups import Groups
from lawful.evidence.living.pinned.row_codes import RowCodes
from lawful.tables.living.living_table import LivingTable
from lawful.tables.living.matching import matching_rows

_LARGE = 50_000
"""Rows from which on an index is made; one pass over fewer takes less than a millisecond."""
_WORTH_IT = 2
"""Batches that read the table before an index is made: it costs as much as some tens of passes."""


class KeyRows:
    """Finds the rows of a table by the columns that tell them apart; whoever changes the table calls `change`."""

    def __init__(self, table: LivingTable, key: tuple[int, ...]) -> None:
        self._table, self._key = table, key
        self._index: AgreeingRows | None = None
        self._batches = 0

    def change(self, gone: Int64s, new: range) -> None:
        """Follow a batch that the table has taken in."""
        self._batches += 1
        if self._index is not None:
            self._change(self._index, gone, -1)
            self._change(self._index, np.arange(new.start, new.stop), 1)

    def find(self, columns: Sequence[int], wanted: Int32s) -> list[list[int]]:
        """For each combination of codes, the live rows that have it in these columns, as `matching_rows` gives them."""
        found = self._find(columns, wanted)
        if found is None:
            return matching_rows(self._table, columns, wanted)
        return [[row] if row >= 0 else [] for row in found.tolist()]

    def are_new(self, columns: Sequence[int], wanted: Int32s) -> bool:
        """Whether it is known that no live row has one of some combinations, and none is there twice."""
        found = self._find(columns, wanted)
        if found is None or (found >= 0).any():
            return False
        in_order = wanted[:, np.lexsort(wanted)]
        return not (in_order[:, 1:] == in_order[:, :-1]).all(axis=0).any()

    def _find(self, columns: Sequence[int], wanted: Int32s) -> Int64s | None:
        """The row of each combination, -1 where there is none; None if there is no index."""
        if sorted(columns) != sorted(self._key) or not self._is_worth_it():
            return None
        if self._index is None:
            self._index = AgreeingRows(self._key, Groups())
            self._change(self._index, self._table.live_rows(), 1)
        codes = np.zeros((self._table.width, wanted.shape[1]), np.int32)
        codes[list(columns)] = wanted
        roles = np.where((wanted < 0).any(axis=0), -1, BOTH).astype(np.int32)
        not_in = np.full(wanted.shape[1], -1, np.int64)
        return self._index.partners(not_in, RowCodes.of_matrix(codes), roles)

    def _is_worth_it(self) -> bool:
        return self._index is not None or (self._batches >= _WORTH_IT and self._table.rows >= _LARGE)

    def _change(self, index: AgreeingRows, rows: Int64s, change: int) -> None:
        if len(rows):
            roles = np.full(len(rows), BOTH, np.int32)
            index.change(rows, RowCodes.of_table(self._table, rows), roles, change)
