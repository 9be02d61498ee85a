"""The rows of a source as canonical texts with ids, made by Spark: what a spread state keeps of a table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.tables.living.canonical import canonical_values
from lawful.tables.options import ReadOptions
from lawful.tables.origins import Origins
from lawful.tables.ranking import column_type
from lawful.tables.shuffled.reading import TEXTS, forget, parsed_rows, retyped, settled_readings
from lawful.tables.shuffled.sources import ROWS, ShuffledSource
from lawful.tables.shuffled.storage import local_path
from lawful.tables.spark_errors import translated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lawful.tables.spark_files import SparkFiles


@dataclass(frozen=True)
class SourceTexts:
    """A source: its columns with their types, and its rows (`row`, `c0`, `c1`, …) as canonical texts.

    `settled` says of each column of timestamps whether they have a zone, and of dates with slashes whether the day
    comes first. `copies` are folders that were written on the way, which rows are read from.
    """

    name: str
    names: ColumnNames
    types: tuple[ColumnType, ...]
    settled: tuple[bool | None, ...]
    rows: DataFrame
    count: int
    origins: Origins
    copies: tuple[str, ...] = ()


def read_texts(spark: SparkSession, source: Any, options: ReadOptions, folder: str) -> SourceTexts:
    """Read files, `table:NAME`, `sql:QUERY` or a Spark DataFrame; copies that are needed go below a folder."""
    with translated():
        given = ShuffledSource.of(spark, source, options)
        if given.files is not None and given.frame is None:
            return _of_text_files(spark, given, given.files, folder)
        return _of_values(spark, given, folder)


def forget_copies(spark: SparkSession, source: SourceTexts) -> None:
    """Free the room of what was written on the way, once the rows are elsewhere."""
    for folder in source.copies:
        if (local := local_path(folder)) is not None:
            shutil.rmtree(local, ignore_errors=True)
        else:
            forget(spark, folder)


def _of_values(spark: SparkSession, given: ShuffledSource, folder: str) -> SourceTexts:
    names = given.columns()
    numbered = given.numbered(spark, names, folder)
    stored = [field.type for field in numbered.rows.limit(0).toArrow().schema][1:]
    types = [_type(name, type_) for name, type_ in zip(names, stored, strict=True)]
    settled = [type_.tz is not None if pa.types.is_timestamp(type_) else None for type_ in stored]
    if asked := retyped(numbered.rows, names, given.options):
        for column, reading in settled_readings(numbered.rows, names, asked, numbered.origins).items():
            types[column], settled[column] = reading.type, reading.settled
    rows = _canonical_rows(numbered.rows, types, settled)
    copies = () if given.files is not None else (f"{folder}/{ROWS}",)
    count = numbered.rows.count()
    return SourceTexts(given.name, names, tuple(types), tuple(settled), rows, count, numbered.origins, copies)


def _type(name: str, stored: pa.DataType) -> ColumnType:
    type_ = column_type(stored)
    if type_ is None:
        raise SourceError(f"column {name!r}: values of type {stored} have no order", "Leave it out with --columns.")
    return type_


def _of_text_files(spark: SparkSession, given: ShuffledSource, files: SparkFiles, folder: str) -> SourceTexts:
    parsed, layout, origins = parsed_rows(spark, files, given.options, folder)
    names = layout.kept_names
    asked = {column: given.options.types.get(name) for column, name in enumerate(names)}
    readings = settled_readings(parsed, names, asked, origins, is_json=layout.is_json)
    types = tuple(readings[column].type for column in asked)
    settled = tuple(readings[column].settled for column in asked)
    rows = _canonical_rows(parsed, types, settled, is_json=layout.is_json)
    return SourceTexts(given.name, names, types, settled, rows, parsed.count(), origins, (f"{folder}/{TEXTS}",))


def _canonical_rows(
    rows: DataFrame, types: Sequence[ColumnType], settled: Sequence[bool | None], *, is_json: bool = False
) -> DataFrame:
    schema = ", ".join(["row bigint", *(f"c{column} string" for column in range(len(types)))])
    return rows.mapInArrow(_canonical(tuple(types), tuple(settled), is_json=is_json), schema)


def _canonical(
    types: Sequence[ColumnType], settled: Sequence[bool | None], *, is_json: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A task that makes canonical texts; those of JSON lines have a mark in front that tells what they were."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [pc.utf8_slice_codeunits(each, 1) if is_json else each for each in batch.columns[1:]]
            texts = [
                canonical_values(values, type_, settled=zoned).texts
                for values, type_, zoned in zip(columns, types, settled, strict=True)
            ]
            yield pa.RecordBatch.from_arrays([batch.column(0), *texts], names=batch.schema.names)

    return run
