"""Encoding by shuffles: no task ever holds a column, however large or skewed it is.

Of whole numbers and dates the distance from the least one is the rank, with 64 bits where it needs them: no value has
to meet another. Else the distinct values of a column are found by hashing, sorted by range, and written; the rank of
a value is its place in what was written. Rows then get the ranks of their values by joins: small dictionaries are
broadcast, large ones are sorted and merged by Spark, which splits the partitions of frequent values where adaptive
execution is on. A row's id is its place in the files of the source; what is no file, and so may come in another order
when it is read again, is written first.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import Column
from lawful.tables.files import format_of
from lawful.tables.left_out import choose_ordered_columns
from lawful.tables.local_pipeline import refuse_repeated_names
from lawful.tables.options import ReadOptions
from lawful.tables.origins import NO_ORIGINS, Origins
from lawful.tables.ranking import column_type, typed_to_text
from lawful.tables.shuffled.data import Coding, ShuffledData, functions_of, numbered_values, with_offsets
from lawful.tables.shuffled.storage import (
    Place,
    discard_dataset,
    document_of,
    find_dataset,
    open_dataset,
    write_word,
)
from lawful.tables.shuffled.table import ShuffledTable
from lawful.tables.spark_errors import translated
from lawful.tables.spark_files import SparkFiles, list_on_spark, parquet_rows
from lawful.tables.spark_pipeline import HOW_TO_RENAME, unordered_types
from lawful.tables.spark_tasks import decoded_path
from lawful.tables.storage import table_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_JOBS_AT_ONCE = 3
_WIDEST_RANGE = 2**61
"""Ranks have 62 bits at most, so that one of them always fits a word of a key."""
_OUTERMOST = 2**62
_BROADCAST_VALUES = 200_000
"""A dictionary of so many values is sent to every task."""
_BROADCAST_IN_ALL = 1_000_000
"""All dictionaries that are sent have no more values together."""
_PART = re.compile(r"part-(\d+)")


class ShuffledEncoding:
    """One encoding under way.

    Parameters
    ----------
    spark
        The session.
    place
        Where the dataset is written.
    """

    def __init__(self, spark: SparkSession, place: Place) -> None:
        self._spark, self._place = spark, place

    def columns(self, rows: DataFrame, names: Sequence[str]) -> tuple[list[Column], list[Coding], int]:
        """Find what is known of all columns, and write the dictionaries that they need."""
        facts, count = self._facts(rows, len(names))
        with ThreadPoolExecutor(_JOBS_AT_ONCE, thread_name_prefix="lawful-encode") as pool:
            found = list(pool.map(self._coded(rows), range(len(names)), facts))
        columns = [
            Column(name, fact.type, distinct, fact.nulls, fact.least, fact.greatest)
            for name, fact, (_, distinct) in zip(names, facts, found, strict=True)
        ]
        return columns, [coding for coding, _ in found], count

    def write_ranks(self, rows: DataFrame, columns: Sequence[Column], codings: Sequence[Coding]) -> None:
        """Bring the ranks to the rows and write them; large dictionaries last, when rows have become short."""
        direct = [_direct(n, columns[n].type, coding) for n, coding in enumerate(codings)]
        frame = rows.selectExpr("row", *direct)
        distinct, sent = [column.distinct for column in columns], 0
        dictionaries = [column for column, coding in enumerate(codings) if coding.low is None]
        for column in sorted(dictionaries, key=lambda column: distinct[column]):
            location = f"{self._place.folder}/values/{column}"
            values = numbered_values(self._spark, location, codings[column].files)
            values = values.selectExpr(f"value as v{column}", f"rank as r{column}")
            if distinct[column] <= _BROADCAST_VALUES and sent + distinct[column] <= _BROADCAST_IN_ALL:
                sent += distinct[column]
                values = values.hint("broadcast")
            frame = frame.withColumnRenamed(f"c{column}", f"v{column}").join(values, f"v{column}", "left")
            type_ = "bigint" if codings[column].is_wide else "int"
            others = [name for name in frame.columns if name not in (f"v{column}", f"r{column}")]
            frame = frame.selectExpr(*others, f"cast(coalesce(r{column}, 0) as {type_}) as c{column}")
        in_order = ["row", *(f"c{column}" for column in range(len(codings)))]
        frame.select(*in_order).write.parquet(f"{self._place.folder}/ranks")

    def _facts(self, rows: DataFrame, width: int) -> tuple[list[_Fact], int]:
        """Count the rows, the nulls, and find the extremes of all columns by one pass."""
        expr = functions_of(self._spark).expr
        asked = [expr("count(*) as n")]
        for column in range(width):
            asked += [expr(f"{name}(c{column}) as {name}_{column}") for name in ("count", "min", "max")]
        found = rows.agg(*asked).toArrow()
        count = int(found.column("n")[0].as_py())
        facts = []
        for column in range(width):
            least, greatest = (found.column(f"{name}_{column}").combine_chunks() for name in ("min", "max"))
            nulls = count - int(found.column(f"count_{column}")[0].as_py())
            facts.append(_Fact.of(least, greatest, nulls))
        return facts, count

    def _coded(self, rows: DataFrame) -> Callable[[int, _Fact], tuple[Coding, int]]:
        def coded(column: int, fact: _Fact) -> tuple[Coding, int]:
            with translated():
                values = rows.selectExpr(f"c{column} as value").where("value is not null").distinct()
                if fact.is_direct and fact.low is not None and fact.high is not None:
                    return Coding(fact.high - fact.low + 1, fact.low), values.count()
                if fact.least is None:  # nothing but nulls
                    return Coding(0, 0), 0
                location = f"{self._place.folder}/values/{column}"
                values.sort("value").write.parquet(location)
                files = rows_of_files(self._spark.read.parquet(location))
                distinct = sum(size for _, size in files)
                return Coding(distinct, None, tuple(files)), distinct

        return coded


@dataclass(frozen=True)
class _Fact:
    """What one pass tells of a column; `low` and `high` are its extremes as whole numbers, where it has such."""

    type: ColumnType
    nulls: int
    least: str | None
    greatest: str | None
    low: int | None
    high: int | None

    @property
    def is_direct(self) -> bool:
        """Whether values are ranks but for the least one; SQL cannot write the outermost numbers."""
        if self.low is None or self.high is None:
            return False
        return self.high - self.low <= _WIDEST_RANGE and abs(self.low) < _OUTERMOST

    @staticmethod
    def of(least: pa.Array, greatest: pa.Array, nulls: int) -> _Fact:
        """Read the extremes of a column."""
        type_ = column_type(least.type)
        if type_ is None:
            raise SourceError(f"values of type {least.type} have no order")
        texts = [typed_to_text(array)[0].as_py() for array in (least, greatest)]
        low, high = (_whole_number(array) for array in (least, greatest))
        return _Fact(type_, nulls, texts[0], texts[1], low, high)


def _whole_number(array: pa.Array) -> int | None:
    if array[0].as_py() is None:
        return None
    if pa.types.is_integer(array.type):
        return int(array[0].as_py())
    return int(array.cast(pa.int32())[0].as_py()) if pa.types.is_date32(array.type) else None


def _direct(column: int, type_: ColumnType, coding: Coding) -> str:
    """The rank of a direct column; others stay as they are for now."""
    if coding.low is None:
        return f"c{column}"
    number = f"unix_date(c{column})" if type_ is ColumnType.DATE else f"cast(c{column} as bigint)"
    width = "bigint" if coding.is_wide else "int"
    return f"cast(coalesce({number} - ({coding.low}L) + 1, 0) as {width}) as c{column}"


@dataclass(frozen=True)
class ShuffledSource:
    """A source that is read by shuffles: what people call it, its rows, and its files if it has such."""

    name: str
    frame: DataFrame
    options: ReadOptions
    files: SparkFiles | None = None

    @staticmethod
    def of(spark: SparkSession, source: Any, options: ReadOptions) -> ShuffledSource:
        """Parquet files, `table:NAME`, `sql:QUERY` or a Spark DataFrame."""
        if options.types:
            raise UsageError(
                "types cannot be chosen for tables that are shuffled", "Cast the columns in a query: sql:…"
            )
        text = str(source) if isinstance(source, str | Path) else ""
        if text.startswith("table:"):
            return ShuffledSource(text[6:], spark.table(text[6:]), options)
        if text.startswith("sql:"):
            return ShuffledSource("query", spark.sql(text[4:]), options)
        if not text:
            return ShuffledSource("dataframe", source, options)
        files = list_on_spark(spark, text)
        options = options.with_format(format_of(files.paths, options, text))
        if options.format != "parquet":
            raise UsageError(
                f"{text}: tables that are shuffled are read from Parquet files or from Spark's own tables and frames",
                "Write it as Parquet first, or use --placement replicate.",
            )
        return ShuffledSource(Path(text).name, parquet_rows(spark, files), options, files)

    def columns(self) -> ColumnNames:
        """The columns that are kept."""
        where = self.name if self.files is None else self.files.source
        refuse_repeated_names(list(self.frame.columns), where, HOW_TO_RENAME)
        return choose_ordered_columns(list(self.frame.columns), unordered_types(self.frame), self.options, where)

    def numbered(self, spark: SparkSession, kept: ColumnNames, folder: str) -> NumberedRows:
        """The rows with their ids; what is no file is written into a folder first."""
        found = _numbered(spark, self.frame, kept, folder, self.files)
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


def encode_by_shuffles(spark: SparkSession, source: Any, options: ReadOptions, *, reuse: bool = True) -> ShuffledTable:
    """Encode Parquet files, `table:NAME`, `sql:QUERY` or a Spark DataFrame into a dataset."""
    with translated():
        given = ShuffledSource.of(spark, source, options)
        key = uuid.uuid4().hex
        if given.files is not None and reuse:
            key = table_key([*given.files.identity, "shuffled"], given.options.to_dict())
            if (known := find_dataset(spark, key)) is not None:
                return known
        return _encode(spark, given, key)


def _encode(spark: SparkSession, source: ShuffledSource, key: str) -> ShuffledTable:
    kept = source.columns()
    place = Place.new(key)
    try:
        numbered = source.numbered(spark, kept, place.folder)
        encoding = ShuffledEncoding(spark, place)
        columns, codings, count = encoding.columns(numbered.values, kept)
        encoding.write_ranks(numbered.rows, columns, codings)
        types = [column.type for column in columns]
        data = ShuffledData(spark, place.folder, types, codings, count)
        document = document_of(data, source.name, columns, kept, source.options.to_dict(), numbered.origins)
        return open_dataset(spark, write_word(spark, place, document), verify=False)
    except BaseException:
        discard_dataset(place.folder)
        raise


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
        frame.selectExpr(*values).write.parquet(f"{folder}/rows")
        frame, values = spark.read.parquet(f"{folder}/rows"), [f"c{n}" for n in range(len(kept))]
    what = "_metadata.file_name" if files is None else "_metadata.file_path"
    counts = rows_of_files(frame) if files is None else _counted(frame, what, decoded_path)
    placed = frame.selectExpr(*values, f"{what} as file", "_metadata.row_index as place")
    numbered = with_offsets(placed, counts).selectExpr("first + place as row", *(f"c{n}" for n in range(len(kept))))
    return NumberedRows(frame.selectExpr(*values), numbered, NO_ORIGINS if files is None else _origins(counts, files))


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
