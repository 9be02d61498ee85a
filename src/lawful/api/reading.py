"""Reading a table: once, for one of the verbs or for several."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.arguments import function, instance, mapping, text, texts, whole_number
from lawful.common.errors import LawfulWarning, UsageError
from lawful.runs.open_table import OpenTable
from lawful.runs.opened import open_source
from lawful.runs.run import EngineName, Progress, SparkSettings, Where, silent
from lawful.tables.advice import advice
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.options import CsvDialect, ReadOptions, parse_column_types

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.results import (
        TableProfile,
    )

_HERE = str(Path(__file__).parent)


def open(  # noqa: A001  # what it does to a table is what the other one does to a file
    source: Any,
    *,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> OpenTable:
    """Read a table once, to ask several things of it.

    Use it in a `with` block, or close it. See `check` for the arguments.

    Returns
    -------
    OpenTable
        The table, with `errors`, `discover`, `check`, `explain` and `profile`.
    """
    options = read_options(format, columns, types, limit, dialect)
    told = silent if progress is None else function("progress", progress)
    opened = open_source(source, options, Where.of(engine, spark), reuse=reuse, progress=told)
    _warn_of_table(opened.table)
    return OpenTable(opened, told)


def profile(
    source: Any,
    *,
    engine: EngineName = "auto",
    spark: SparkSession | SparkSettings | None = None,
    format: str | None = None,  # noqa: A002  # the name that the command line has for it
    columns: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: int | None = None,
    dialect: CsvDialect | None = None,
    reuse: bool = True,
    progress: Progress | None = None,
) -> TableProfile:
    """Read a table and describe its columns: types, distinct values, nulls, extremes. See `check`."""
    with open(
        source,
        engine=engine,
        spark=spark,
        format=format,
        columns=columns,
        types=types,
        limit=limit,
        dialect=dialect,
        reuse=reuse,
        progress=progress,
    ) as table:
        return table.profile()


def _warn_of_table(table: EncodedTable) -> None:
    """Warn at the line that called a verb, through however many functions of this package."""
    left_out = table.names.told()
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        depth, frame = depth + 1, frame.f_back
    for told in (*([left_out] if left_out else []), *advice(table)):
        warnings.warn(LawfulWarning(f"{table.name}: {told}"), stacklevel=depth)


def read_options(
    format_: str | None,
    columns: Sequence[str] | None,
    types: Mapping[str, str] | None,
    limit: int | None,
    dialect: CsvDialect | None,
) -> ReadOptions:
    """Gather the arguments that say how to read a source."""
    if isinstance(columns, str):  # a text is a sequence of characters too
        raise UsageError(f"columns must be a list of names, not {columns!r}", f"Write [{columns!r}].")
    if dialect is not None:
        instance("dialect", dialect, CsvDialect, 'lawful.CsvDialect(separator=";")')
    chosen = mapping("types", types or {}, '{"zip": "string"}')
    return ReadOptions(
        format=None if format_ is None else text("format", format_),
        dialect=dialect or CsvDialect(),
        columns=None if columns is None else texts("columns", columns),
        types=parse_column_types([f"{text('types', name)}={type_}" for name, type_ in chosen.items()]),
        limit=None if limit is None else whole_number("limit", limit),
    )
