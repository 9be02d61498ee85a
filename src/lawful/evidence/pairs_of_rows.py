"""The pairs of some rows of a table with all of its rows, each once: what a batch brings, or takes away.

The rows are moved to the front. Their pairs then are the tile of the first rows, which is walked and cut as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.evidence.exact import ShouldStop, Tile, agree_sets_of_tile
from lawful.evidence.multisets import AgreeSets
from lawful.tables.ranked_table import ChosenRows, RankedTable

Rows = range | Int64s
"""Rows of a table by their numbers, in any order."""


def tile_of_rows(table: RankedTable, rows: Rows) -> Tile:
    """The pairs of so many rows, once they stand in front."""
    return Tile(table.rows, 0, max(0, min(len(rows), table.rows - 1)))


def agree_sets_of_rows(
    table: RankedTable,
    policy: NullPolicy,
    rows: Rows,
    tile: Tile,
    columns: Sequence[int] | None = None,
    threads: int | None = 1,
    should_stop: ShouldStop | None = None,
    *,
    counted: bool = True,
) -> AgreeSets:
    """The agree sets of the pairs of some rows: those of `tile`, which is `tile_of_rows` or a part of it.

    Raises
    ------
    UsageError
        If a row is not there or comes twice.
    """
    order = in_front(rows, np.arange(table.rows, dtype=np.int32))
    moved = ChosenRows(table, order)
    found = agree_sets_of_tile(moved, policy, tile, columns, should_stop, threads=threads, counted=counted)
    return replace(found, witnesses=np.sort(order[found.witnesses], axis=1))


def in_front(rows: Rows, order: Int32s) -> Int32s:
    """All rows in an order, those in front that are asked for."""
    first = np.asarray(rows, np.int64)
    if first.size and (first.min() < 0 or first.max() >= order.size):
        raise UsageError(f"the table has rows 0 to {order.size - 1}, and others are asked for")
    is_first = np.zeros(order.size, np.bool_)
    is_first[first] = True
    if np.count_nonzero(is_first) < first.size:
        raise UsageError("a row is asked for twice")
    in_order = is_first[order]
    return np.concatenate([order[in_order], order[~in_order]])
