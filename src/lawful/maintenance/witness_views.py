"""Rows of a living table as people want to see them: where each is from, and its values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.common.arrays import Int64s
from lawful.dependencies import Law, columns_of
from lawful.maintenance.evidence import Pair
from lawful.results.check_report import RowView
from lawful.tables.living.living_table import LivingTable

Views = tuple[RowView, RowView]
"""Two rows that break a law."""


def views_of_pair(table: LivingTable, law: Law, pair: Pair | None) -> Views | None:
    """Two rows that refute a law, with their values in its columns."""
    if pair is None:
        return None
    first, second = row_views(table, np.array(pair, np.int64), columns_of(law))
    return first, second


def row_views(table: LivingTable, rows: Int64s, columns: Sequence[int]) -> list[RowView]:
    """Some rows, with their values in some columns."""
    ids = table.ids_of(rows).tolist()
    texts = {table.names[column]: table.texts(rows, column).to_pylist() for column in columns}
    return [
        RowView(ids[n], table.place(row), {name: values[n] for name, values in texts.items()})
        for n, row in enumerate(rows.tolist())
    ]
