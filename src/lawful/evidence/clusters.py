"""The rows of a column in clusters of equal values, in the order of the values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.evidence.kernels import sampling as sampling_kernels
from lawful.tables.ranked_table import RankedTable


@dataclass(frozen=True, eq=False, slots=True)
class Clusters:
    """Cluster c is `rows[starts[c]:starts[c + 1]]`. Under `NullPolicy.IGNORE` rows with null are in none."""

    rows: Int32s
    starts: Int64s

    @staticmethod
    def of(table: RankedTable, column: int, policy: NullPolicy, order: Int32s) -> Clusters:
        """Cluster a column; rows of a cluster stay in the given order."""
        return Clusters.at(*sorted_by(table, column, order), policy)

    @staticmethod
    def at(rows: Int32s, starts: Int64s, policy: NullPolicy) -> Clusters:
        """The clusters of rows that are sorted by a column; see `sorted_by`."""
        if policy is NullPolicy.IGNORE:
            nulls = starts[NULL_RANK + 1]
            rows, starts = rows[nulls:], starts[NULL_RANK + 1 :] - nulls
        return Clusters(rows, starts)

    @property
    def largest(self) -> int:
        """The number of rows of the largest cluster."""
        return int(np.diff(self.starts).max(initial=0))

    def without_singles(self) -> Clusters:
        """Only the clusters of two rows or more."""
        sizes = np.diff(self.starts)
        kept = sizes > 1
        return Clusters(self.rows[np.repeat(kept, sizes)], np.concatenate([[0], np.cumsum(sizes[kept])]))


def sorted_by(table: RankedTable, column: int, order: Int32s) -> tuple[Int32s, Int64s]:
    """Rows sorted by a column, equal ones staying in their order, and where each of its ranks starts."""
    ranks = np.asarray(table.column(column)).view()
    ranks.flags.writeable = False  # one array type for the kernel, for arrays and memory maps alike
    out = np.empty_like(order)
    return out, sampling_kernels.sort_by(ranks, table.distinct(column), order, out)
