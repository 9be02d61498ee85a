"""Sources that Spark reads in parts: files, its own tables and queries, and frames; typed ones with ids for their rows.

A row's id is its place in the files of the source; what is no file, and so may come in another order when it is read
again, is written first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lawful.common.column_names import ColumnNames
from lawful.common.errors import UsageError
from lawful.tables.files import format_of
from lawful.tables.left_out import choose_ordered_columns
from lawful.tables.local_pipeline import refuse_repeated_names
from lawful.tables.options import ReadOptions
from lawful.tables.origins import NO_ORIGINS, Origins
from lawful.tables.shuffled.data import with_offsets
from lawful.tables.spark_files import SparkFiles, list_on_spark, parquet_rows
from lawful.tables.spark_pipeline import HOW_TO_RENAME, unordered_types
from lawful.tables.spark_tasks import decoded_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = "rows"
"""The folder for rows that are no files, while they are encoded."""
_PART = re.compile(r"part-(\d+)")


@dataclass(frozen=True)
class ShuffledSource:
    """A source: what people call it, how to read it, its typed rows unless it is text, and its files if it has such."""

    name: str
    options: ReadOptions
    frame: DataFrame | None
    files: SparkFiles | None = None

    @staticmethod
    def of(spark: SparkSession, source: Any, options: ReadOptions) -> ShuffledSource:
        """Files, `table:NAME`, `sql:QUERY` or a Spark DataFrame."""
        text = str(source) if isinstance(source, str | Path) else ""
        if text.startswith("table:"):
            return ShuffledSource(text[6:], options, spark.table(text[6:]))
        if text.startswith("sql:"):
            return ShuffledSource("query", options, spark.sql(text[4:]))
        if not text:
            return ShuffledSource("dataframe", options, source)
        files = list_on_spark(spark, text)
        options = options.with_format(format_of(files.paths, options, text))
        frame = parquet_rows(spark, files, options.columns) if options.format == "parquet" else None
        return ShuffledSource(Path(text).name, options, frame, files)

    def typed(self) -> DataFrame:
        """The typed rows.

        Raises
        ------
        UsageError
            If the source is text.
        """
        if self.frame is None:
            raise UsageError(
                f"{self.name}: this needs Parquet files or Spark's own tables and frames", "Write it as Parquet first."
            )
        return self.frame

    def columns(self) -> ColumnNames:
        """The columns that are kept."""
        frame, where = self.typed(), self.name if self.files is None else self.files.source
        refuse_repeated_names(list(frame.columns), where, HOW_TO_RENAME)
        return choose_ordered_columns(list(frame.columns), unordered_types(frame), self.options, where)

    def numbered(self, spark: SparkSession, kept: ColumnNames, folder: str) -> NumberedRows:
        """The rows with their ids; what is no file is written into a folder first."""
        found = _numbered(spark, self.typed(), kept, folder, self.files)
        limit = self.options.limit
        if limit is None:
            return found
        rows, runs = found.rows.where(f"row < {limit}"), found.origins.runs
        return NumberedRows(rows, rows, found.origins._replace(runs=runs[runs[:, 0] < limit]))


class NumberedRows(NamedTuple):
    """The values of columns as `c0`, `c1`, …, the same with the ids of rows (`row`), and where rows are from."""

    values: DataFrame
    rows: DataFrame
    origins: Origins


def _numbered(
    spark: SparkSession, frame: DataFrame, kept: ColumnNames, folder: str, files: SparkFiles | None
) -> NumberedRows:
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    if files is None:
        frame = frame.toDF(*(f"n{position}" for position in range(len(frame.columns))))
        read = [f"n{position}" for name in kept for position, own in enumerate(types) if own == name]
    else:
        read = ["`" + name.replace("`", "``") + "`" for name in kept]
    values = [_normal(name, types[own], n) for n, (name, own) in enumerate(zip(read, kept, strict=True))]
    if files is None:
        frame.selectExpr(*values).write.parquet(f"{folder}/{ROWS}")
        frame, values = spark.read.parquet(f"{folder}/{ROWS}"), [f"c{n}" for n in range(len(kept))]
    what = "_metadata.file_name" if files is None else "_metadata.file_path"
    counts = rows_of_files(frame) if files is None else _counted(frame, what, decoded_path)
    placed = frame.selectExpr(*values, f"{what} as file", "_metadata.row_index as place")
    numbered = with_offsets(placed, counts).selectExpr("first + place as row", *(f"c{n}" for n in range(len(kept))))
    return NumberedRows(frame.selectExpr(*values), numbered, NO_ORIGINS if files is None else _origins(counts, files))


def numbered_files(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The rows of files under other names for their columns, with the ids that they were encoded with (`lawful_id`)."""
    what = "_metadata.file_path"
    counts = _counted(frame, what, decoded_path)
    read = ["`" + own.replace("`", "``") + "`" for own in frame.columns]
    values = [f"{own} as {name}" for own, name in zip(read, names, strict=True)]
    placed = frame.selectExpr(*values, f"{what} as file", "_metadata.row_index as place")
    return with_offsets(placed, counts).selectExpr(*names, "first + place as lawful_id")


def _normal(name: str, type_: str, position: int) -> str:
    """A column whose equal values are equal: NaN is null, and there is one zero."""
    if type_ in ("float", "double"):
        return f"if(isnan({name}), null, cast({name} as double) + 0.0D) as c{position}"
    return f"{'cast(null as int)' if type_ == 'void' else name} as c{position}"


def rows_of_files(frame: DataFrame) -> list[tuple[str, int]]:
    """The files that Spark wrote for a frame, in the order of its partitions, with how many rows each has."""

    def number(name: str) -> int:
        found = _PART.search(name)
        return int(found[1]) if found else 0

    return _counted(frame, "_metadata.file_name", number)


def _counted(frame: DataFrame, what: str, order: Callable[[str], Any]) -> list[tuple[str, int]]:
    found = frame.selectExpr(f"{what} as file").groupBy("file").count().collect()
    return sorted(((row["file"], row["count"]) for row in found), key=lambda file: order(file[0]))


def _origins(counts: Sequence[tuple[str, int]], files: SparkFiles) -> Origins:
    names = tuple(files.shown(decoded_path(path)) for path, _ in counts)
    sizes = np.array([size for _, size in counts], np.int64)
    numbers = np.arange(len(counts), dtype=np.int64)
    runs = np.stack([np.cumsum(sizes) - sizes, numbers, np.ones_like(numbers)], axis=1)
    return Origins(names, "row", runs.reshape(-1, 3))
