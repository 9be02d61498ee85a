"""Tables of pandas as Arrow tables, with the columns that Arrow alone refuses.

A column of Python's own numbers may hold what no type of Arrow does: integers of a hundred digits, decimals that are
infinite, both beside each other. Such a column becomes texts with a note of the type that they are to be read as.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType

_READ_AS = b"lawful.read_as"
_PANDAS_ERRORS = (pa.ArrowException, ValueError, TypeError, OverflowError, AttributeError)
_EXAMPLES = 60


def pandas_to_arrow(source: Any) -> pa.Table:
    """A DataFrame as an Arrow table, without its index; a Series as a table of one column."""
    if not hasattr(source, "columns"):
        if not hasattr(source, "to_frame") or not hasattr(source, "iloc"):  # an Index has no rows to take
            raise UsageError(f"cannot read a table from {type(source).__name__}", "Give a DataFrame or a Series.")
        source = source.to_frame()
    names = [str(name) for name in source.columns]
    refuse_repeated_columns(names)
    columns, fields = [], []
    for position, name in enumerate(names):
        column, read_as = _column(source.iloc[:, position], name)
        columns.append(column)
        fields.append(pa.field(name, column.type, metadata=None if read_as is None else {_READ_AS: read_as.value}))
    return pa.table(columns, schema=pa.schema(fields))


def refuse_repeated_columns(names: Sequence[str]) -> None:
    """A law names its columns: no two columns of a DataFrame may share a name."""
    for position, name in enumerate(names):
        if name in names[:position]:
            raise SourceError(
                f"columns {names.index(name) + 1} and {position + 1} of the DataFrame are both named {name!r}",
                "Give each a name of its own, for example by frame.columns = [...].",
            )


def read_as(field: pa.Field) -> ColumnType | None:
    """The type that the texts of a column are to be read as, where Arrow had none for its values."""
    noted = (field.metadata or {}).get(_READ_AS)
    return None if noted is None else ColumnType(noted.decode())


def _column(series: Any, name: str) -> tuple[pa.Array, ColumnType | None]:
    if hasattr(series.dtype, "sparse_index") or str(series.dtype).startswith("Sparse"):
        series = series.sparse.to_dense()
    try:
        column = pa.array(series, from_pandas=True)
    except _PANDAS_ERRORS as error:
        if series.dtype == object and (texts := _numbers_as_texts(series)) is not None:
            return texts
        raise _unreadable(series, name, error) from None
    return (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column), None


def _numbers_as_texts(series: Any) -> tuple[pa.Array, ColumnType] | None:
    """The decimal texts of a column of numbers alone, and the type that has them all; None for other columns."""
    values = series.tolist()
    texts: list[str | None] = []
    are_whole = True
    for value in values:
        if _is_missing(value):
            texts.append(None)
        elif isinstance(value, bool) or not isinstance(value, Real | Decimal):
            return None
        else:
            are_whole &= isinstance(value, Integral)
            texts.append(str(Decimal(int(value)) if isinstance(value, Integral) else value))
    return pa.array(texts, pa.string()), ColumnType.INTEGER if are_whole else ColumnType.DECIMAL


def _is_missing(value: Any) -> bool:
    """Whether a value means null: None, NaN of any kind, or pandas' own NA."""
    if isinstance(value, Decimal):
        return value.is_nan()
    is_nan = isinstance(value, float | np.floating) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _unreadable(series: Any, name: str, error: Exception) -> SourceError:
    """Say which column cannot be read, and by which values."""
    kinds: dict[str, str] = {}
    for value in series.tolist() if series.dtype == object else ():
        if not _is_missing(value):
            kinds.setdefault(type(value).__name__, repr(value)[:_EXAMPLES])
    if len(kinds) > 1:
        examples = " and ".join(f"{example} ({kind})" for kind, example in list(kinds.items())[:2])
        return SourceError(
            f"column {name!r} holds values of different types: {examples}",
            f"Give it values of one type, for example by frame[{name!r}].astype(str).",
        )
    said = error.args[0] if error.args else error
    return SourceError(f"column {name!r} of type {series.dtype} cannot be read: {said}", "Convert or drop it first.")
