"""Looking at encoded tables in tests: their cells, places and statistics as plain values."""

from __future__ import annotations

from typing import Any

from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import EncodedTable


def ranks_of(table: EncodedTable) -> list[list[int]]:
    """The ranks, a list for each column."""
    return [table.column(position).tolist() for position in range(table.width)]


def cells_of(table: EncodedTable) -> list[list[str | None]]:
    """The values as texts, a list for each row."""
    return [[table.value(row, position) for position in range(table.width)] for row in range(table.rows)]


def types_of(table: EncodedTable) -> list[ColumnType]:
    return [column.type for column in table.columns]


def places_of(table: EncodedTable) -> list[tuple[str | None, int]]:
    """The file (its name alone) and the number of every row."""
    places = [table.place(row) for row in range(table.rows)]
    return [(None if place.file is None else place.file.rpartition("/")[2], place.number) for place in places]


def lines_of(table: EncodedTable) -> list[int]:
    return [table.place(row).number for row in range(table.rows)]


def everything_of(table: EncodedTable) -> dict[str, Any]:
    """All that two encodings of one source must have in common."""
    return {
        "rows": table.rows,
        "columns": [column.to_dict() for column in table.columns],
        "ranks": ranks_of(table),
        "cells": cells_of(table),
        "places": [str(table.place(row)) for row in range(table.rows)],
    }
