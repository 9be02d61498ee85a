"""Index(A^=) of IncPOD: the rows that have the value of a new row in one column."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.living.orders.fetches import Fetch
from lawful.evidence.living.orders.ranges import Ranges
from lawful.evidence.living.row_clusters import RowClusters
from lawful.tables.living.living_table import LivingTable


class EqualityIndex:
    """The clusters of a column, and the rows that are too new to be in these, sorted by their codes."""

    def __init__(self, table: LivingTable, clusters: RowClusters, column: int, policy: NullPolicy) -> None:
        self._table, self._clusters, self._policy = table, clusters, policy
        self.column = column
        self.catch_up()

    @property
    def columns(self) -> tuple[int, ...]:
        """The column that rows are looked up by."""
        return (self.column,)

    @property
    def within(self) -> None:
        """No other column has to be the same."""
        return None

    @property
    def rank(self) -> int:
        """Rows that have a value stand side by side, as in one chain."""
        return 1

    @property
    def memory(self) -> int:
        """Bytes of the rows beside the clusters, which many share."""
        return self._recent.nbytes + self._codes.nbytes

    def catch_up(self) -> None:
        """Take in the rows that have come, after the clusters have done so."""
        self._followed = self._clusters.end, self._table.end
        recent = np.arange(*self._followed)
        codes = self._table.codes.column_of_rows(self.column, recent)
        order = np.argsort(codes, kind="stable")
        self._recent: Int32s = recent[order].astype(np.int32)
        self._codes: Int32s = codes[order]

    def ranges(self, rows: Int64s, fetch: Fetch) -> list[Ranges]:
        """Where the rows are that have the value of each of some rows."""
        if not fetch.is_equality or (fetch.first, fetch.within) != (self.column, None):
            raise ValueError(f"an index of equal values in column {self.column} cannot answer {fetch}")
        if self._followed != (self._clusters.end, self._table.end):  # somebody else has sorted the clusters anew
            self.catch_up()
        codes = self._table.codes.column_of_rows(self.column, rows)
        order, first, last = self._clusters.ranges(self.column, codes)
        recent = [np.searchsorted(self._codes, codes, side) for side in ("left", "right")]
        is_null = (codes == NULL_RANK) & (self._policy is NullPolicy.IGNORE)
        found = [Ranges(order, *_as_column(first, last)), Ranges(self._recent, *_as_column(*recent))]
        return [part.without(is_null) for part in found]


def _as_column(*bounds: Int64s) -> tuple[Int32s, ...]:
    return tuple(bound.astype(np.int32)[:, None] for bound in bounds)
