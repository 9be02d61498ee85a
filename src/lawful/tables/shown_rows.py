"""Rows of an encoded table as batches to show or to write: their group, their place, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Origins
from lawful.tables.typed_values import typed_values, value_type

OWN_COLUMNS = ("group", "row", "file", "number")
"""What stands before the values of a row; `row` is its id from 0, `number` its line or row in its file from 1."""
_IDS = [("group", pa.int64()), ("row", pa.int64())]
_PLACES = [("file", pa.string()), ("number", pa.int64())]


@dataclass(frozen=True)
class Shown:
    """Which values to show beside the place of a row: those of some columns, as values or as the source writes them."""

    columns: tuple[int, ...]
    as_text: bool = False


class RowShower:
    """Makes batches of rows of one table; columns are named by their numbers, which clash with nothing."""

    def __init__(self, table: EncodedTable, shown: Shown | None) -> None:
        self._table, self._shown = table, shown
        columns = () if shown is None else shown.columns
        is_text = shown is not None and shown.as_text
        types = [pa.string() if is_text else value_type(table, column) for column in columns]
        self.schema = row_schema(columns, types, has_places=shown is not None)
        self._typed = () if is_text else tuple(zip(columns, types, strict=True))

    def batch(self, groups: npt.NDArray[np.int64], rows: npt.NDArray[Any]) -> pa.RecordBatch:
        """Show some rows, each with the number of its group."""
        ids = np.asarray(rows, np.int64)
        arrays: list[pa.Array] = [pa.array(groups, pa.int64()), pa.array(ids)]
        if self._shown is not None:
            arrays += places_of(self._table.origins, ids)
            if self._shown.as_text:
                arrays += [self._table.texts(ids, column) for column in self._shown.columns]
            arrays += [typed_values(self._table, ids, column, type_) for column, type_ in self._typed]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def row_schema(columns: Sequence[int], types: Sequence[pa.DataType], *, has_places: bool) -> pa.Schema:
    """The schema of rows with the values of some columns, and with their places in files if these are shown."""
    named = [(str(column), type_) for column, type_ in zip(columns, types, strict=True)]
    return pa.schema([*_IDS, *(_PLACES if has_places else []), *named])


def places_of(origins: Origins, rows: npt.NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
    """The files that rows came from, and their lines or rows in these."""
    files, numbers = origins.places(rows)
    named = pa.array(origins.files, pa.string()).take(pa.array(files, mask=files < 0))
    return named, pa.array(numbers)


def with_own_names(names: Sequence[str], own: Sequence[str] = OWN_COLUMNS) -> list[str]:
    """Name lawful's own columns and those of the table: `_group`, or with more underscores where one is taken.

    Spark takes `_Row` and `_row` for one name, so capitals do not tell names apart here.
    """
    taken = {name.lower() for name in names}
    underscores = "_"
    while taken & {underscores + name for name in own}:
        underscores += "_"
    return [*(underscores + name for name in own), *names]
