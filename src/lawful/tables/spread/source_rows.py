"""The rows of a source as canonical texts with ids, made by Spark: what a spread state keeps of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.living.canonical import canonical_values
from lawful.tables.options import ReadOptions
from lawful.tables.origins import Origins
from lawful.tables.ranking import column_type
from lawful.tables.shuffled.sources import ShuffledSource
from lawful.tables.spark_errors import translated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SourceTexts:
    """A source: its columns with their types, and its rows (`row`, `c0`, `c1`, …) as canonical texts.

    `settled` says of each column of timestamps whether they have a zone.
    """

    name: str
    names: ColumnNames
    types: tuple[ColumnType, ...]
    settled: tuple[bool | None, ...]
    rows: DataFrame
    count: int
    origins: Origins


def read_texts(spark: SparkSession, source: Any, options: ReadOptions, folder: str) -> SourceTexts:
    """Read Parquet files, `table:NAME`, `sql:QUERY` or a Spark DataFrame; `folder` is for what is no file."""
    with translated():
        if options.types:
            raise UsageError("types cannot be chosen for such a state", "Cast the columns in a query: sql:…")
        given = ShuffledSource.of(spark, source, options)
        names = given.columns()
        numbered = given.numbered(spark, names, folder)
        stored = [field.type for field in numbered.rows.limit(0).toArrow().schema][1:]
        types = tuple(_type(name, type_) for name, type_ in zip(names, stored, strict=True))
        settled = tuple(type_.tz is not None if pa.types.is_timestamp(type_) else None for type_ in stored)
        schema = ", ".join(["row bigint", *(f"c{column} string" for column in range(len(names)))])
        rows = numbered.rows.mapInArrow(_canonical(types, settled), schema)
    return SourceTexts(given.name, names, types, settled, rows, numbered.rows.count(), numbered.origins)


def _type(name: str, stored: pa.DataType) -> ColumnType:
    type_ = column_type(stored)
    if type_ is None:
        raise SourceError(f"column {name!r}: values of type {stored} have no order", "Leave it out with --columns.")
    return type_


def _canonical(
    types: Sequence[ColumnType], settled: Sequence[bool | None]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            texts = [
                canonical_values(values, type_, settled=zoned).texts
                for values, type_, zoned in zip(batch.columns[1:], types, settled, strict=True)
            ]
            yield pa.RecordBatch.from_arrays([batch.column(0), *texts], names=batch.schema.names)

    return run
