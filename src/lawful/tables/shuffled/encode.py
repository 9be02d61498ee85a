"""Encoding by shuffles: no task ever holds a column, however large or skewed it is.

Of whole numbers and dates the distance from the least one is the rank, with 64 bits where it needs them: no value has
to meet another. Else the distinct values of a column are found by hashing, sorted by range, and written; the rank of
a value is its place in what was written. Texts are read first (`reading`), and what is sorted then are their keys.
Rows then get the ranks of their values by joins: small dictionaries are
broadcast, large ones are sorted and merged by Spark, which splits the partitions of frequent values where adaptive
execution is on.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import Column
from lawful.tables.options import ReadOptions
from lawful.tables.origins import Origins
from lawful.tables.ranking import column_type, typed_to_text
from lawful.tables.shuffled.data import Coding, ShuffledData, functions_of, numbered_values
from lawful.tables.shuffled.order_keys import Reading
from lawful.tables.shuffled.reading import KEYS, TEXTS, forget, keyed_rows, parsed_rows, retyped, settled_readings
from lawful.tables.shuffled.sources import ROWS, ShuffledSource, rows_of_files
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
from lawful.tables.spark_files import SparkFiles
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

    def columns(
        self, rows: DataFrame, names: Sequence[str], readings: Mapping[int, Reading]
    ) -> tuple[list[Column], list[Coding], int]:
        """Find what is known of all columns, and write the dictionaries that they need.

        `readings` tell which columns are keys of texts, and of which type these are.
        """
        facts, count = self._facts(rows, len(names))
        facts = [fact.read_as(readings.get(column)) for column, fact in enumerate(facts)]
        with ThreadPoolExecutor(_JOBS_AT_ONCE, thread_name_prefix="lawful-encode") as pool:
            found = list(pool.map(self._coded(rows), range(len(names)), facts))
        columns = [
            Column(name, fact.type, distinct, fact.nulls, *extremes)
            for name, fact, (_, distinct, extremes) in zip(names, facts, found, strict=True)
        ]
        return columns, [coding for coding, _, _ in found], count

    def write_ranks(self, rows: DataFrame, columns: Sequence[Column], codings: Sequence[Coding]) -> None:
        """Bring the ranks to the rows and write them; large dictionaries last, when rows have become short."""
        direct = [_direct(n, columns[n].type, coding) for n, coding in enumerate(codings)]
        frame = rows.selectExpr("row", *direct)
        distinct, sent = [column.distinct for column in columns], 0
        dictionaries = [column for column, coding in enumerate(codings) if coding.low is None]
        for column in sorted(dictionaries, key=lambda column: distinct[column]):
            location = f"{self._place.folder}/values/{column}"
            values = numbered_values(self._spark, location, codings[column].files)
            what = "key" if "key" in values.columns else "value"
            values = values.selectExpr(f"{what} as v{column}", f"rank as r{column}")
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

    def _coded(self, rows: DataFrame) -> Callable[[int, _Fact], _Coded]:
        def coded(column: int, fact: _Fact) -> _Coded:
            with translated():
                known = rows.where(f"c{column} is not null")
                values = known.selectExpr(f"c{column} as value").distinct()
                if fact.is_empty:
                    return Coding(0, 0), 0, (None, None)
                if fact.is_direct and fact.low is not None and fact.high is not None:
                    return Coding(fact.high - fact.low + 1, fact.low), values.count(), (fact.least, fact.greatest)
                if not fact.is_keyed:
                    files = self._written(column, values.sort("value"))
                    distinct = sum(size for _, size in files)
                    return Coding(distinct, None, tuple(files)), distinct, (fact.least, fact.greatest)
                # Of the texts of a value, the one that comes first is shown.
                first = functions_of(self._spark).expr(f"min_by(t{column}, row) as value")
                files = self._written(column, known.groupBy(f"c{column}").agg(first).toDF("key", "value").sort("key"))
                distinct = sum(size for _, size in files)
                return Coding(distinct, None, tuple(files), fact.day_first), distinct, self._extremes(column)

        return coded

    def _written(self, column: int, values: DataFrame) -> list[tuple[str, int]]:
        """Write a dictionary in its order; its files with how many values each has."""
        location = f"{self._place.folder}/values/{column}"
        values.write.parquet(location)
        return rows_of_files(self._spark.read.parquet(location))

    def _extremes(self, column: int) -> tuple[str | None, str | None]:
        expr = functions_of(self._spark).expr
        values = self._spark.read.parquet(f"{self._place.folder}/values/{column}")
        least, greatest = values.agg(expr("min_by(value, key)"), expr("max_by(value, key)")).collect()[0]
        return least, greatest


_Coded = tuple[Coding, int, tuple[str | None, str | None]]
"""How a column became ranks, how many values it has, and the least and the greatest of them."""


@dataclass(frozen=True)
class _Fact:
    """What one pass tells of a column; `low` and `high` are its extremes as whole numbers, where it has such."""

    type: ColumnType
    nulls: int
    least: str | None
    greatest: str | None
    low: int | None
    high: int | None
    is_empty: bool
    is_keyed: bool = False
    day_first: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether values are ranks but for the least one; SQL cannot write the outermost numbers."""
        if self.low is None or self.high is None or self.is_keyed:
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
        return _Fact(type_, nulls, texts[0], texts[1], low, high, is_empty=texts[0] is None)

    def read_as(self, reading: Reading | None) -> _Fact:
        """The same of a column whose values are keys of texts."""
        if reading is None:
            return self
        return replace(self, type=reading.type, is_keyed=not reading.is_plain, day_first=reading.day_first)


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


def encode_by_shuffles(spark: SparkSession, source: Any, options: ReadOptions, *, reuse: bool = True) -> ShuffledTable:
    """Encode files, `table:NAME`, `sql:QUERY` or a Spark DataFrame into a dataset."""
    with translated():
        given = ShuffledSource.of(spark, source, options)
        key = uuid.uuid4().hex
        if given.files is not None and reuse:
            key = table_key([*given.files.identity, "shuffled"], given.options.to_dict())
            if (known := find_dataset(spark, key)) is not None:
                return known
        with _new_place(key) as place:
            if given.files is not None and given.frame is None:
                rows = _read_texts(spark, given.files, given.options, place)
            else:
                rows = _read_values(spark, given, place)
            return _written(spark, place, rows, given)


def _read_values(spark: SparkSession, source: ShuffledSource, place: Place) -> _Rows:
    kept = source.columns()
    values, rows, origins = source.numbered(spark, kept, place.folder)
    readings: dict[int, Reading] = {}
    staged = [ROWS] if source.files is None else []
    if asked := retyped(rows, kept, source.options):
        readings = settled_readings(rows, kept, asked, origins)
        values = rows = keyed_rows(spark, rows, readings, place.folder)
        staged.append(KEYS)
    return _Rows(values, rows, kept, origins, readings, staged)


def _read_texts(spark: SparkSession, files: SparkFiles, options: ReadOptions, place: Place) -> _Rows:
    parsed, layout, origins = parsed_rows(spark, files, options, place.folder)
    names = layout.kept_names
    asked = {column: options.types.get(name) for column, name in enumerate(names)}
    readings = settled_readings(parsed, names, asked, origins, is_json=layout.is_json)
    rows = keyed_rows(spark, parsed, readings, place.folder, is_json=layout.is_json)
    return _Rows(rows, rows, names, origins, readings, [TEXTS, KEYS])


@contextmanager
def _new_place(key: str) -> Iterator[Place]:
    """A place for a dataset, whose files go if it does not become whole."""
    place = Place.new(key)
    try:
        yield place
    except BaseException:
        discard_dataset(place.folder)
        raise


class _Rows(NamedTuple):
    """Rows that are numbered: their values, the same with their ids, and what is known of the source.

    `staged` names what was written on the way to them, and is not needed once they have ranks.
    """

    values: DataFrame
    numbered: DataFrame
    names: ColumnNames
    origins: Origins
    readings: Mapping[int, Reading]
    staged: Sequence[str]


def _written(spark: SparkSession, place: Place, rows: _Rows, source: ShuffledSource) -> ShuffledTable:
    encoding = ShuffledEncoding(spark, place)
    columns, codings, count = encoding.columns(rows.values, rows.names, rows.readings)
    encoding.write_ranks(rows.numbered, columns, codings)
    for folder in rows.staged:
        forget(spark, f"{place.folder}/{folder}")
    types = [column.type for column in columns]
    data = ShuffledData(spark, place.folder, types, codings, count)
    document = document_of(data, source.name, columns, rows.names, source.options.to_dict(), rows.origins)
    return open_dataset(spark, write_word(spark, place, document), verify=False)
