"""A shuffled table with other values in some cells, or some of its rows alone: a lazy frame, whatever its size.

Rows of Parquet files are found by their places in the files, those of frames by the numbers that Spark gives them. Of
text files, which keep their spelling only where they are copied line by line, the values are given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.tables.mending import Change, Rows
from lawful.tables.options import ReadOptions
from lawful.tables.shuffled.data import functions_of
from lawful.tables.shuffled.sources import ShuffledSource, numbered_files
from lawful.tables.shuffled.table import ShuffledTable
from lawful.tables.spark_mending import with_values_changed
from lawful.tables.spark_rows import RowPlaces
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TYPED = ("parquet", None)
"""The formats whose values are not texts; what is no file has none."""


def is_text(table: ShuffledTable) -> bool:
    """Whether a table was read from text files."""
    return table.settings.get("format") not in _TYPED


def mended_shuffled(table: ShuffledTable, given: Any, changes: Sequence[Change], rows: Rows = None) -> DataFrame:
    """Give the table with other values in some cells, or with only some of its rows.

    A cell that no longer has the value that is to be replaced is an error when the frame is used, so that no other row
    is changed.
    """
    data, spark = table.dataset, table.dataset.spark
    if is_text(table):
        return _of_texts(table, changes, rows)
    source = ShuffledSource.of(spark, given, ReadOptions(format=table.settings.get("format")))
    frame, f = source.typed(), functions_of(spark)
    fields, types = frame.columns, [field.dataType for field in frame.schema.fields]
    places = [f"p{place}" for place in range(len(fields))]
    if source.files is None:
        numbered = frame.toDF(*places).select("*", f.monotonically_increasing_id().alias("lawful_id"))
        counts = frame.select(f.spark_partition_id().alias("place")).groupBy("place").count().collect()
        row_places = RowPlaces.of(sorted((line["place"], line["count"]) for line in counts))
    else:
        numbered = numbered_files(frame, places)
        row_places = None

    def ids(of: Sequence[int]) -> pa.Array:
        wanted = np.array(of, np.int64)
        return pa.array(wanted if row_places is None else row_places.sparks_ids(wanted))

    if rows is not None:
        wanted = frame_of(spark, pa.table({"lawful_id": ids(sorted(rows))}))
        numbered = numbered.join(wanted.hint("broadcast"), "lawful_id", "left_semi")
    retyped = set(table.settings.get("types") or ())
    for column, some in _by_column(changes).items():
        place, numbers = fields.index(table.names[column]), [change.row for change in some]
        new = {"row": pa.array(numbers, pa.int64()), "lawful_id": ids(numbers)}
        new["rank"] = pa.array([change.rank for change in some], pa.int64())
        wanted = frame_of(spark, pa.table(new)).hint("broadcast")
        own = data.ranks.select("row", f"c{column}").join(wanted, "row")
        was = data.valued(own, column).withColumnRenamed(f"v{column}", "lawful_was").drop(f"c{column}", "row")
        cells = data.valued(was.withColumnRenamed("rank", f"c{column}"), column)
        cells = cells.selectExpr("lawful_id", "lawful_was", f"v{column} as lawful_value", "true as lawful_is_new")
        is_compared = table.names[column] not in retyped
        numbered = with_values_changed(numbered, places, places[place], types[place], cells, is_compared=is_compared)
    return numbered.select(*places).toDF(*fields)


def _of_texts(table: ShuffledTable, changes: Sequence[Change], rows: Rows) -> DataFrame:
    data = table.dataset
    frame = data.ranks
    if rows is not None:
        wanted = frame_of(data.spark, pa.table({"row": pa.array(sorted(rows), pa.int64())}))
        frame = frame.join(wanted.hint("broadcast"), "row", "left_semi")
    columns = [f"c{column}" for column in range(data.width)]
    for column, some in _by_column(changes).items():
        numbers, ranks = [change.row for change in some], [change.rank for change in some]
        new = pa.table({"row": pa.array(numbers, pa.int64()), "rank": pa.array(ranks, pa.int64())})
        joined = frame.join(frame_of(data.spark, new).hint("broadcast"), "row", "left")
        kept = [name for name in columns if name != f"c{column}"]
        frame = joined.selectExpr("row", *kept, f"coalesce(rank, c{column}) as c{column}")
    for column in range(data.width):
        frame = data.valued(frame, column)
    return frame.sort("row").select(*(f"v{column}" for column in range(data.width))).toDF(*table.names)


def _by_column(changes: Sequence[Change]) -> dict[int, list[Change]]:
    found: dict[int, list[Change]] = defaultdict(list)
    for change in changes:
        found[change.column].append(change)
    return found
