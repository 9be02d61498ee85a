"""The cells of a table, for those who look for wrong ones: held by this process, or asked of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from lawful.checks import Workspace
from lawful.common.arrays import Ints
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.repairs.columns import HeldValues, Values
from lawful.runs.run import Run
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranking import typed_to_text


class Cells(Values, Protocol):
    """What can be asked about the cells of a table."""

    def ranks(self, rows: Ints) -> Ints:
        """The ranks of some rows that rise, a line per column."""

    def rows_with(self, column: int, ranks: Sequence[int], most: int) -> dict[int, list[int]] | None:
        """For each of some values the rows that have it, in their order; None if these are more than so many."""


class _HeldCells(HeldValues):
    """The cells of a table that this process holds."""

    def __init__(self, table: EncodedTable) -> None:
        workspace = Workspace(table, NullPolicy.EQUAL)
        super().__init__([workspace.frequencies(column) for column in range(table.width)], self._text_of)
        self._table = table
        self._values: dict[int, pa.Array] = {}

    def _text_of(self, column: int, rank: int) -> str | None:
        if rank == NULL_RANK:
            return None
        if column not in self._values:
            self._values[column] = self._table.values(column)
        found: str = typed_to_text(self._values[column].slice(rank - 1, 1))[0].as_py()
        return found

    def ranks(self, rows: Ints) -> Ints:
        return np.stack([np.asarray(self._table.column(column))[rows] for column in range(self._table.width)])

    def rows_with(self, column: int, ranks: Sequence[int], most: int) -> dict[int, list[int]] | None:
        held = np.asarray(self._table.column(column))
        return {rank: np.flatnonzero(held == rank).tolist() for rank in ranks}


def cells_of(run: Run) -> Cells:
    """The cells of the table of a run."""
    elsewhere: Any = getattr(run.engine, "value_facts", None)
    return _HeldCells(run.table) if elsewhere is None else elsewhere
