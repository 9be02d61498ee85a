"""Violating rows as Spark DataFrames: found by a worker whenever the frame is used, and never gathered here.

Rows of Spark's own tables and frames are joined to what they were read from, with all columns and their own types. A
join finds a row by the number that Spark gives it. Where Spark gives other numbers than when the rows were encoded, the
frame fails instead of showing other rows: a row that is gone, or that has other values in the columns of the law, is
an error that says what to do. Rows of files are given as they were read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s, Int64s
from lawful.dependencies import Law, columns_of
from lawful.engines.spark_worker import Finish, Runner, row_runner
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranking import typed_to_text
from lawful.tables.shown_rows import RowShower, Shown, with_own_names
from lawful.tables.spark_rows import RowPlaces, SourceRows
from lawful.tables.typed_values import typed_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.engines.spark import SparkEngine

_FEW_ROWS = 1_000_000
"""The ids of as many violating rows are sent to every task that reads the source; beyond, the source is shuffled."""
_SPARK_TYPES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float64, "double"),
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_date32, "date"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_null, "void"),
)


def joined_frame(engine: SparkEngine, law: Law, source: SourceRows, violating_rows: int) -> DataFrame:
    """Give the rows of a source that violate a law: `_group`, `_row` and all columns, lazily."""
    fields = source.frame.columns
    numbered = source.frame.toDF(*(f"c{place}" for place in range(len(fields)))).selectExpr(
        "*", "monotonically_increasing_id() as lawful_id", "true as lawful_is_there"
    )
    compared = source.comparable(columns_of(law))
    found = _found(engine, law, source.places, compared)
    if violating_rows <= _FEW_ROWS:
        numbered = numbered.join(found.select("lawful_id").hint("broadcast"), "lawful_id", "left_semi")
    # From the violating rows outwards, so that none can be missed without being noticed.
    joined = found.join(numbered, "lawful_id", "left").where(_is_the_same(compared, source))
    columns = [f"c{place}" for place in range(len(fields))]
    return joined.select("lawful_group", "lawful_row", *columns).toDF(*with_own_names(fields, ("group", "row")))


def _found(engine: SparkEngine, law: Law, places: RowPlaces, compared: Mapping[int, str]) -> DataFrame:
    """The violating rows by Spark's numbers, each with the values that it had in some columns."""
    named = {f"lawful_value_{column}": (column, _widened(type_)) for column, type_ in compared.items()}
    schema = "lawful_id bigint, lawful_group bigint, lawful_row bigint" + "".join(
        f", {name} {type_}" for name, (_, type_) in named.items()
    )

    def finisher(table: EncodedTable) -> Finish:
        types = {column: table.values(column).type for column, _ in named.values()}

        def finish(groups: Int64s, rows: Int32s) -> pa.RecordBatch:
            ids = rows.astype(np.int64)
            arrays = [pa.array(places.sparks_ids(ids)), pa.array(groups), pa.array(ids)]
            arrays += [typed_values(table, ids, column, type_) for column, type_ in types.items()]
            return pa.RecordBatch.from_arrays(arrays, names=["lawful_id", "lawful_group", "lawful_row", *named])

        return finish

    return _by_a_worker(engine, row_runner(law, engine.settings, finisher), schema)


def _widened(type_: str) -> str:
    return "double" if type_ == "float" else type_  # lawful keeps all floats so


def _is_the_same(compared: Mapping[int, str], source: SourceRows) -> str:
    """A condition that fails with an error where a row is not the one that was encoded."""
    conditions = ["lawful_is_there is not null"]
    for column, type_ in compared.items():
        value = f"c{source.kept[column]}"
        if type_ in ("float", "double"):  # lawful takes NaN for null
            value = f"if(isnan({value}), null, {value})"
        conditions.append(f"{value} <=> lawful_value_{column}")
    message = (
        "concat('lawful: Spark no longer gives row ', lawful_row, ' of the source as it was when laws were checked. "
        "Keep the rows, with .cache(), .localCheckpoint() or in a table, and check the laws on that.')"
    )
    return f"case when {' and '.join(conditions)} then true else raise_error({message}) end"


def encoded_frame(engine: SparkEngine, law: Law, names: list[str]) -> DataFrame:
    """Give the rows of a file that violate a law, as they were read: their group, id and place, and their values."""
    shown = Shown(tuple(range(len(names))))
    schema = engine.shown_schema(shown)
    named = ", ".join(f"l{place} {spark_type(type_)}" for place, type_ in enumerate(schema.types))

    def finisher(table: EncodedTable) -> Finish:
        shower = RowShower(table, shown)

        def finish(groups: Int64s, rows: Int32s) -> pa.RecordBatch:
            columns = shower.batch(groups, rows).columns
            arrays = [typed_to_text(array) if spark_type(array.type) == "string" else array for array in columns]
            return pa.RecordBatch.from_arrays(arrays, names=[f"l{place}" for place in range(len(arrays))])

        return finish

    runner = row_runner(law, engine.settings, finisher)
    return _by_a_worker(engine, runner, named).toDF(*with_own_names(names))


def spark_type(type_: pa.DataType) -> str:
    """The type of Spark that holds all values of an Arrow type; texts where there is none."""
    for matches, ours in _SPARK_TYPES:
        if matches(type_):
            return ours
    if pa.types.is_decimal128(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_) and type_.unit == "us":
        return "timestamp_ntz" if type_.tz is None else "timestamp"
    return "string"


def _by_a_worker(engine: SparkEngine, runner: Runner, schema: str) -> DataFrame:
    return engine.spark.range(0, 1, 1, 1).mapInArrow(runner, schema)
