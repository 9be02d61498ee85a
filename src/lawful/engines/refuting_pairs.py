"""Comparing some rows with all rows of a table, for pairs that refute pointwise order dependencies."""

from __future__ import annotations

from collections.abc import Callable

from lawful.common.arrays import Int32s
from lawful.common.meanings import NullPolicy
from lawful.evidence import Rows, Tile
from lawful.evidence.denials.evidence import signs_of_rows
from lawful.search.pods.kept_left_sides import LeftSides, broken_by
from lawful.tables.ranked_table import RankedTable


def refuting_pairs_of_rows(
    table: RankedTable,
    policy: NullPolicy,
    laws: LeftSides,
    rows: Rows,
    tile: Tile,
    threads: int | None = 1,
    should_stop: Callable[[], bool] | None = None,
) -> Int32s:
    """A pair for each distinct vector of signs that refutes one of some laws, `int32[pairs, 2]`.

    `tile` is `tile_of_rows` or a part of it.
    """
    found = signs_of_rows(table, policy, rows, tile, threads, should_stop)
    return found.witnesses[broken_by(found.signs, laws, table.width).refutes]
