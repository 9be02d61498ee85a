"""Files that arrived in a folder, read as one batch by lawful's own readers: rows keep their files and lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa

from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.files import format_of
from lawful.tables.local_pipeline import encode_arrow, encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.origins import NO_ORIGINS, Origins, join_runs, runs_of_lines


class ArrivedRows(NamedTuple):
    """Rows of a batch, and whether they are texts whose types are still to be found, as in CSV."""

    table: EncodedTable
    is_text: bool


def local_path(address: str) -> Path:
    """The path of a file that Spark names by an address."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    if parts.scheme:
        raise SourceError(
            f"{address} is not on this machine", "Read it as a stream of Spark: lawful.maintain in Python."
        )
    return Path(address)


def read_arrived(paths: Sequence[Path], options: ReadOptions, names: Sequence[str]) -> ArrivedRows:
    """Read files in the order of their names; each must have the columns `names`, and maybe more that tell changes."""
    files = sorted(paths)
    format_ = format_of([str(file) for file in files], options, str(files[0].parent)) if files else "csv"
    is_text = format_ != "parquet"
    types = dict.fromkeys(names, ColumnType.STRING) if is_text else {}
    read = replace(options, format=format_, types=types, columns=None)
    with ExitStack():
        tables = [encode_in_process(os.fspath(file), read, reuse=False) for file in files]
    tables = [table for table in tables if table.rows]
    if not tables:
        return ArrivedRows(_empty(names), is_text)
    for table in tables[1:]:
        if set(table.names) != set(tables[0].names):
            raise SourceError(
                f"{table.name} has the columns {', '.join(table.names)}, and {tables[0].name} has "
                f"{', '.join(tables[0].names)}",
                "Nothing was changed. Files that arrive together have the same columns.",
            )
    return ArrivedRows(_joined(tables), is_text)


def _empty(names: Sequence[str]) -> EncodedTable:
    return encode_arrow(pa.table({name: pa.nulls(0) for name in names}), ReadOptions(), "batch")


def _joined(tables: Sequence[EncodedTable]) -> EncodedTable:
    if len(tables) == 1:
        return tables[0]
    columns = {
        name: pa.chunked_array(_of_one_type([_values(table, table.names.index(name)) for table in tables]))
        for name in tables[0].names
    }
    whole = encode_arrow(pa.table(columns), ReadOptions(), tables[0].name)
    return replace(whole, _origins=_joined_origins(tables))


def _values(table: EncodedTable, position: int) -> pa.Array:
    ranks = np.asarray(table.column(position)).astype(np.int64)
    return table.values(position).take(pa.array(ranks - 1, mask=ranks == 0))


def _of_one_type(arrays: list[pa.Array]) -> list[pa.Array]:
    """Columns of one name; where Parquet files do not agree on a type, their texts are fitted to the pinned one."""
    types = {array.type for array in arrays}
    if len(types) == 1:
        return arrays
    from lawful.tables.ranking import typed_to_text

    return [pa.array(typed_to_text(array).to_pylist(), pa.string()) for array in arrays]


def _joined_origins(tables: Sequence[EncodedTable]) -> Origins:
    files: list[str] = []
    pieces = []
    unit = "row"
    for table in tables:
        of_file, numbers = table.origins.places(np.arange(table.rows))
        if table.origins is not NO_ORIGINS and table.origins.files:
            unit = table.origins.unit
        pieces.append((len(files), table.rows, runs_of_lines(numbers)))
        files.append(table.origins.files[int(of_file[0])] if table.origins.files else table.name)
    return Origins(tuple(files), unit, join_runs(pieces))


def named_rows(table: EncodedTable, what: str) -> EncodedTable:
    """Rows that came from no file get a name for where they came from."""
    runs = np.array([[0, 0, 1]], np.int64) if table.rows else np.zeros((0, 3), np.int64)
    return replace(table, name=what, _origins=Origins((what,), "row", runs))
