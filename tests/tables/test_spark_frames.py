"""What only Spark has: its tables, queries and DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from lawful.common.errors import EngineError, SourceError
from lawful.common.meanings import ColumnType
from lawful.tables.options import ReadOptions
from lawful.tables.spark_pipeline import encode_on_spark
from lawful.tables.to_spark import frame_of
from tables.looking import cells_of, ranks_of, types_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTHING = ReadOptions()


def test_tables_and_queries(spark: SparkSession) -> None:
    spark.createDataFrame([(2, "x"), (1, None)], "n int, s string").createOrReplaceTempView("letters")
    table = encode_on_spark(spark, "table:letters", NOTHING)
    assert (table.name, cells_of(table)) == ("letters", [["2", "x"], ["1", None]])
    query = encode_on_spark(spark, "sql:select n * 10 as ten from letters where n > 1", NOTHING)
    assert (query.name, query.names, cells_of(query)) == ("query", ["ten"], [["20"]])
    assert str(query.place(0)) == "row 1"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("table:no_such_table", "Spark cannot read the source: .*no_such_table"),
        ("sql:select from where", "Spark cannot read the source: .*"),
        ("sql:select 1 as a, 2 as a", "query: columns 1 and 2 are both named 'a'\nRename one first: frame.toDF"),
        ("sql:select array(1) as a", r"query: no column is left, since .*: 'a' \(array<int>\)"),
        ("sql:select 1 as ``", "query: column 1 has no name"),
    ],
)
def test_tables_and_queries_that_cannot_be_read(spark: SparkSession, source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        encode_on_spark(spark, source, NOTHING)


def test_a_query_that_fails_while_it_runs(spark: SparkSession) -> None:
    with pytest.raises(EngineError, match="DIVIDE_BY_ZERO"):
        encode_on_spark(spark, "sql:select 1 div (id - 1) as d from range(3)", NOTHING)


def test_column_names_of_every_kind(spark: SparkSession) -> None:
    names = ["a.b", "a b", "a`b", "a'b", 'a"b', "a", "A", "file", "start", "_metadata", "c0", "\u00fc"]
    frame = spark.range(1).selectExpr(*(f"{position} as x{position}" for position in range(12))).toDF(*names)
    table = encode_on_spark(spark, frame, NOTHING)
    assert table.names == names
    assert cells_of(table) == [[str(position) for position in range(12)]]
    chosen = encode_on_spark(spark, frame, ReadOptions(columns=("A", "a.b")))
    assert cells_of(chosen) == [["6", "0"]]


def test_rows_keep_the_order_of_their_partitions(spark: SparkSession) -> None:
    frame = spark.range(0, 50, 1, 7).selectExpr("id", "cast(id % 3 as string) as s", "cast(null as void) as v")
    table = encode_on_spark(spark, frame, NOTHING)
    assert ranks_of(table) == [list(range(1, 51)), [row % 3 + 1 for row in range(50)], [0] * 50]
    assert types_of(table) == [ColumnType.INTEGER, ColumnType.STRING, ColumnType.NULL]
    assert encode_on_spark(spark, frame, ReadOptions(limit=10)).rows == 10


def test_a_frame_without_rows_keeps_its_types(spark: SparkSession) -> None:
    frame = spark.range(0).selectExpr("cast(id as double) f", "date(null) d", "cast(id as decimal(9, 2)) m")
    table = encode_on_spark(spark, frame, NOTHING)
    assert table.rows == 0
    assert types_of(table) == [ColumnType.FLOAT, ColumnType.DATE, ColumnType.DECIMAL]


def test_a_frame_is_encoded_anew_each_time(spark: SparkSession) -> None:
    frame = spark.range(3)
    first, second = encode_on_spark(spark, frame, NOTHING), encode_on_spark(spark, frame, NOTHING)
    assert first.folder != second.folder
    assert ranks_of(first) == ranks_of(second)


def test_intervals_of_days_have_an_order_and_those_of_months_are_refused(spark: SparkSession) -> None:
    days = spark.sql("select make_dt_interval(id) as d from range(3, 0, -1)")
    assert types_of(encode_on_spark(spark, days, NOTHING)) == [ColumnType.DURATION]
    with pytest.raises(SourceError, match=r"no column is left, .*: 'm' \(interval month\)"):
        encode_on_spark(spark, "sql:select interval 1 month as m", NOTHING)


def test_tables_whose_columns_are_cut_at_different_places_keep_their_rows(spark: SparkSession) -> None:
    numbers = pa.chunked_array([pa.array([1, 2, 3]), pa.array([4])])
    texts = pa.chunked_array([pa.array(["a"]), pa.array(["b", "c", "d"])])
    frame = frame_of(spark, pa.table({"n": numbers, "t": texts}))
    assert sorted((row.n, row.t) for row in frame.collect()) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
