"""Parquet files that are read together: whether one schema fits all of them, and whether Spark reads it.

A reader takes the schema of one file for all. What the others have more is lost without a word, or turned into
something else: of a number that is too wide only the last bits stay, of a timestamp the date.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from lawful.common.errors import SourceError

_MOST_DIGITS = 38
"""Spark's decimals have no more."""


def partition_names(path: Path, files: Sequence[Path]) -> list[str]:
    """The columns that stand in the names of folders, as in `year=2024/part-0.parquet`."""
    folders = [part for file in files[:1] if file != path for part in file.relative_to(path).parent.parts]
    return [part.partition("=")[0] for part in folders if "=" in part]


def refuse_differing_files(files: Sequence[Path], columns: Collection[str] | None) -> None:
    """Refuse files that are not all of the same columns, or whose types the first file's do not hold.

    A column without any value has no type in files that Arrow writes, so it may come after one that has.
    """
    _refuse_differing(_schemas(files), columns, lambda first, other: pa.types.is_null(other) or holds(first, other))


def refuse_for_spark(files: Sequence[Path], columns: Collection[str] | None, *, nanoseconds: bool) -> None:
    """Refuse the same files, and types that Spark does not read; `nanoseconds` if it reads these as numbers."""
    schemas = _schemas(files)
    _refuse_differing(schemas, columns, holds)
    for file, schema in schemas.items():
        for column in schema:
            if not _is_read_by_spark(column.type, nanoseconds=nanoseconds):
                raise SourceError(
                    f"{file}: Spark does not read column {column.name!r}, whose type is {column.type}",
                    "Write it with microseconds, or use --engine local. Or read it as a number: "
                    "--conf spark.sql.legacy.parquet.nanosAsLong=true"
                    if pa.types.is_timestamp(column.type)
                    else "Write it as another type, or use --engine local.",
                )


def _refuse_differing(
    schemas: Mapping[Path, pa.Schema],
    columns: Collection[str] | None,
    fits: Callable[[pa.DataType, pa.DataType], bool],
) -> None:
    first: pa.Schema = next(iter(schemas.values()), pa.schema([]))
    for file, schema in schemas.items():
        if differing := set(schema.names) ^ set(first.names):
            raise SourceError(
                f"{file}: its columns are not those of the first file: they differ at {min(differing)!r}",
                "All files of a folder must have the same columns.",
            )
        if len(set(schema.names)) < len(schema):
            continue  # which is refused when they are read
        for name in schema.names if columns is None else columns:
            if name in schema.names and not fits(first.field(name).type, schema.field(name).type):
                types = schema.field(name).type, first.field(name).type
                raise SourceError(
                    f"{file}: column {name!r} is {types[0]}, and {types[1]} in the first file",
                    "All files of a folder must have the same types. Write them anew with one, or name the columns to "
                    "read with --columns.",
                )


def _schemas(files: Sequence[Path]) -> dict[Path, pa.Schema]:
    from pyarrow.parquet import read_schema  # brings all file systems along, which takes its time

    found: dict[Path, pa.Schema] = {}
    for file in files:
        try:
            found[file] = read_schema(file)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise SourceError(f"{file}: cannot be read as Parquet: {error}") from None
    return found


def holds(first: pa.DataType, other: pa.DataType) -> bool:
    """Whether a column of the first type has room for all values of the other one, which stay what they are."""
    first, other = _plain(first), _plain(other)
    if first.equals(other):
        return True
    for are_alike in (pa.types.is_signed_integer, pa.types.is_floating):
        if are_alike(first) and are_alike(other):
            return bool(first.bit_width > other.bit_width)
    if pa.types.is_decimal(first) and pa.types.is_decimal(other):
        return bool(first.scale >= other.scale and first.precision - first.scale >= other.precision - other.scale)
    if pa.types.is_timestamp(first) and pa.types.is_timestamp(other):
        return (first.tz is None) == (other.tz is None)  # a unit that is too coarse is an error of its own
    return False


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type of the values, whichever way Arrow holds them."""
    if pa.types.is_dictionary(type_):
        return _plain(type_.value_type)
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_) else type_


def _is_read_by_spark(type_: pa.DataType, *, nanoseconds: bool) -> bool:
    if pa.types.is_timestamp(type_):
        return type_.unit != "ns" or nanoseconds
    if pa.types.is_decimal(type_):
        return bool(type_.precision <= _MOST_DIGITS)
    return not (pa.types.is_time(type_) or pa.types.is_float16(type_))
