"""A Spark DataFrame with other values in some cells, or some of its rows alone: lazily, and checked when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int64s
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.mending import Change, Rows, examples
from lawful.tables.ranking import typed_to_text
from lawful.tables.shuffled.data import functions_of
from lawful.tables.spark_rows import SourceRows
from lawful.tables.to_spark import frame_of
from lawful.tables.typed_values import typed_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_OTHER_ROWS = (
    "lawful: Spark no longer gives the rows of the source as it did when errors were searched for. "
    "Keep the rows, with .cache(), .localCheckpoint() or in a table, and search that."
)


def mended_spark(table: EncodedTable, source: SourceRows, changes: Sequence[Change], rows: Rows = None) -> DataFrame:
    """Give the DataFrame with other values in some cells, or with only some of its rows.

    A row is found by the number that Spark gives it. A cell that no longer has the value that is to be replaced is an
    error when the frame is used, so that no other row is changed.
    """
    from pyspark.sql import functions as f

    spark, fields = source.frame.sparkSession, source.frame.columns
    places = [f"c{place}" for place in range(len(fields))]
    numbered = source.frame.toDF(*places).select("*", f.monotonically_increasing_id().alias("lawful_id"))
    if rows is not None:
        chosen = np.array(sorted(rows), np.int64)
        wanted = frame_of(spark, pa.table({"lawful_id": source.places.sparks_ids(chosen)}))
        numbered = numbered.join(f.broadcast(wanted), "lawful_id", "left_semi")
    for column, taken in examples(changes).items():
        name = places[source.kept[column]]
        type_ = source.frame.schema.fields[source.kept[column]].dataType
        changed = np.array(list(taken), np.int64)
        given = pa.table(
            {
                "lawful_id": source.places.sparks_ids(changed),
                "lawful_was": _values(table, changed, column, source),
                "lawful_value": _values(table, np.array(list(taken.values()), np.int64), column, source),
                "lawful_is_new": pa.array([True] * len(changed)),
            }
        )
        is_compared = column not in source.retyped  # else its values are no longer those of the source
        numbered = with_values_changed(numbered, places, name, type_, frame_of(spark, given), is_compared=is_compared)
    return numbered.select(*places).toDF(*fields)


def with_values_changed(
    numbered: DataFrame, places: Sequence[str], name: str, type_: DataType, given: DataFrame, *, is_compared: bool
) -> DataFrame:
    """Numbered rows (`lawful_id`) with other values in one of their columns.

    `given` has the number of each row that changes, the value that it has and the one that it gets (`lawful_was`,
    `lawful_value`), and `lawful_is_new`. What it has is compared with the row's own, if asked.
    """
    f = functions_of(numbered.sparkSession)
    joined = numbered.join(given.hint("broadcast"), "lawful_id", "left")
    current = f.when(f.isnan(name), None).otherwise(f.col(name)) if _may_be_nan(type_) else f.col(name)
    is_same = current.eqNullSafe(f.col("lawful_was").cast(type_)) if is_compared else f.lit(True)
    new = f.when(is_same, f.col("lawful_value").cast(type_)).otherwise(f.raise_error(f.lit(_OTHER_ROWS)).cast(type_))
    mended = f.when(f.col("lawful_is_new"), new).otherwise(f.col(name)).alias(name)
    return joined.select("lawful_id", *(mended if place == name else place for place in places))


def _may_be_nan(type_: object) -> bool:
    return type(type_).__name__ in ("DoubleType", "FloatType")


def _values(table: EncodedTable, rows: Int64s, column: int, source: SourceRows) -> pa.Array:
    if column in source.retyped:
        return table.texts(rows, column)
    values = typed_values(table, rows, column, table.values(column).type)
    return typed_to_text(values) if pa.types.is_large_string(values.type) else values
