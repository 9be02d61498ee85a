"""Ranks of typed columns: brute force, in this process and on Spark give the same."""

from __future__ import annotations

import tempfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import one_in
from hypothesis import given

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.options import ReadOptions
from tables.conftest import encode_locally
from tables.looking import everything_of, ranks_of, types_of
from tables.typed_tables import OTHER_TYPES, SPARK_TYPES, expected_ranks, typed_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@given(typed_tables(SPARK_TYPES + OTHER_TYPES))
def test_ranks_in_this_process_are_those_of_brute_force(table: pa.Table) -> None:
    encoded = encode_locally(table)
    assert ranks_of(encoded) == [expected_ranks(column) for column in table.columns]
    for position, column in enumerate(encoded.columns):
        ranks = ranks_of(encoded)[position]
        assert (column.nulls, column.distinct) == (ranks.count(0), max(ranks, default=0))


@one_in(100)  # Spark takes seconds for each
@given(typed_tables(SPARK_TYPES))
def test_spark_gives_the_same_table_from_a_file_and_from_a_frame(spark: SparkSession, table: pa.Table) -> None:
    from lawful.tables.spark_pipeline import encode_on_spark

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(table, path, row_group_size=4)
        here = encode_locally(path, reuse=False)
        there = encode_on_spark(spark, str(path), ReadOptions(), reuse=False)
        assert everything_of(there) == everything_of(here)
        frame = encode_on_spark(spark, spark.read.parquet(str(path)).repartition(1), ReadOptions())
    expected = [expected_ranks(column) for column in table.columns]
    assert ranks_of(here) == expected
    assert types_of(frame) == types_of(here)
    # A shuffle may bring the rows into another order: compare the columns as sets of rows.
    assert sorted(zip(*ranks_of(frame), strict=True)) == sorted(zip(*expected, strict=True))


def test_a_categorical_column_is_ordered_by_its_values() -> None:
    kinds = pd.CategoricalDtype(["never used", "b", "a", "also never"], ordered=True)
    frame = pd.DataFrame({"kind": pd.Series(["a", None, "b", "a"], dtype=kinds), "number": [1, 2, 3, 4]})
    table = encode_locally(frame)
    assert ranks_of(table)[0] == [1, 0, 2, 1]
    assert (table.columns[0].distinct, table.columns[0].minimum) == (2, "a")
    assert ranks_of(encode_locally(frame, limit=2)) == [[1, 0], [1, 2]]


@pytest.mark.parametrize(
    "values", [[2.5, None, -0.0, 0.0], [True, None, False, False], [Decimal("1.5"), None, Decimal("-1"), Decimal("-1")]]
)
def test_a_categorical_column_may_hold_any_ordered_type(values: list[object]) -> None:
    column = pa.array(values).dictionary_encode()
    table = encode_locally(pa.table({"c": column}))
    assert ranks_of(table) == [[2, 0, 1, 1]]


def test_a_dictionary_may_repeat_a_value_or_hold_null() -> None:
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None], pa.int8()), pa.array(["x", "x", "a"]))
    with_null = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 2]), pa.array(["x", None, "a"]))
    table = encode_locally(pa.table({"repeated": repeated, "with null": with_null}))
    assert ranks_of(table) == [[2, 2, 1, 0], [2, 0, 1, 1]]


def test_the_limit_holds_for_an_ordered_dictionary_with_wide_codes() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0], pa.int32()), pa.array(["x", "y", "z"]), ordered=True)
    assert ranks_of(encode_locally(pa.table({"c": column}), limit=2)) == [[2, 1]]


def test_chunks_with_dictionaries_of_their_own() -> None:
    first, second = pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b", None]).dictionary_encode()
    table = encode_locally(pa.table({"c": pa.chunked_array([first, second])}))
    assert ranks_of(table) == [[2, 1, 3, 2, 0]]


def test_pandas_polars_and_arrow_give_the_same() -> None:
    columns = {
        "number": [3, 1, 2, 1],
        "float": [1.5, float("nan"), -0.0, 0.0],
        "text": ["b", None, "ä", "a"],
        "flag": [True, False, None, True],
    }
    arrow = encode_locally(pa.table({name: pa.array(values, from_pandas=False) for name, values in columns.items()}))
    pandas_table = encode_locally(pd.DataFrame(columns, index=[9, 8, 7, 6]))
    polars_table = encode_locally(pl.DataFrame(columns).with_columns(pl.col("text").cast(pl.Categorical)))
    assert ranks_of(arrow) == [[3, 1, 2, 1], [2, 0, 1, 1], [2, 0, 3, 1], [2, 1, 0, 2]]
    assert ranks_of(pandas_table) == ranks_of(polars_table) == ranks_of(arrow)
    assert types_of(pandas_table) == types_of(polars_table) == types_of(arrow)


def test_a_record_batch_and_a_lazy_polars_column_of_dates() -> None:
    batch = pa.record_batch({"n": [2, 1]})
    assert ranks_of(encode_locally(batch)) == [[2, 1]]
    days = pl.DataFrame({"d": ["2024-05-01", "2023-05-01"]}).with_columns(pl.col("d").str.to_date())
    assert types_of(encode_locally(days)) == [ColumnType.DATE]


def test_a_chosen_type_converts_typed_columns() -> None:
    table = pa.table({"code": [10, 9, None], "text": ["10", "9", "9.0"]})
    encoded = encode_locally(table, types={"code": ColumnType.STRING, "text": ColumnType.DECIMAL})
    assert types_of(encoded) == [ColumnType.STRING, ColumnType.DECIMAL]
    assert ranks_of(encoded) == [[1, 2, 0], [2, 1, 1]]


def test_a_value_without_the_chosen_type_is_named_with_its_row() -> None:
    table = pa.table({"n": pa.chunked_array([["1", "2"], ["2", "two"]])})
    with pytest.raises(SourceError, match=r"^row 4: column 'n' holds 'two', which is not of type integer"):
        encode_locally(table, types={"n": ColumnType.INTEGER})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (pa.table([[1], [2]], ["a", "a"]), "table: columns 1 and 2 are both named 'a'"),
        (pa.table([[1], [2]], ["a", ""]), "table: column 2 has no name"),
        (pa.table({"a": [[1]]}), r"table: no column is left, since laws are about single values: 'a' \(list<"),
        (pd.DataFrame({"a": [1, "x"]}), r"column 'a' holds values of different types: 1 \(int\) and 'x' \(str\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1 and 2 of the DataFrame are both named 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "columns 1 and 2 of the DataFrame are both named '1'"),
        (pd.DataFrame({"a": [1j]}), "column 'a' of type complex128 cannot be read"),
    ],
)
def test_a_table_that_cannot_be_encoded_says_why(source: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        encode_locally(source)


@pytest.mark.parametrize(
    ("values", "type_", "ranks"),
    [
        ([10**30, 1, -(10**90)], ColumnType.INTEGER, [3, 2, 1]),
        ([10**30, None, pd.NA, 2], ColumnType.INTEGER, [2, 0, 0, 1]),
        ([10**30, 1.5, 2, np.float64(2)], ColumnType.DECIMAL, [3, 1, 2, 2]),
        ([Decimal("Infinity"), Decimal("NaN"), Decimal("-inf"), Decimal(2)], ColumnType.DECIMAL, [3, 0, 1, 2]),
        ([Decimal("1e80"), Decimal("1.5e-40"), Decimal("sNaN")], ColumnType.DECIMAL, [2, 1, 0]),
        ([Decimal("1.5"), 2.5, 10**400], ColumnType.DECIMAL, [1, 2, 3]),
        (pd.arrays.SparseArray([0, 0, 1, 2]), ColumnType.INTEGER, [1, 1, 2, 3]),
        (pd.arrays.SparseArray([np.nan, 0, 1.5]), ColumnType.FLOAT, [0, 1, 2]),
    ],
)
def test_columns_of_pandas_that_arrow_alone_refuses(values: Any, type_: ColumnType, ranks: list[int]) -> None:
    encoded = encode_locally(pd.DataFrame({"a": values}))
    assert (encoded.type(0), ranks_of(encoded)) == (type_, [ranks])


def test_a_series_is_a_table_of_one_column() -> None:
    assert encode_locally(pd.Series([3, 1], name="n")).names == ["n"]
    assert ranks_of(encode_locally(pd.Series([3, 1]))) == [[2, 1]]
    with pytest.raises(UsageError, match="cannot read a table from Index\nGive a DataFrame or a Series"):
        encode_locally(pd.Index([1]))


def test_a_table_needs_columns_and_a_kind_that_is_known() -> None:
    with pytest.raises(UsageError, match="no columns to read from table"):
        encode_locally(pa.table({}))
    with pytest.raises(UsageError, match="cannot read a table from int"):
        encode_locally(5)


def test_tables_of_this_process_are_encoded_into_a_folder_for_spark(spark: SparkSession) -> None:
    from lawful.tables.spark_pipeline import encode_on_spark

    nanoseconds = np.array(["2024-01-01T00:00:00.000000002", "2024-01-01T00:00:00.000000001"], "datetime64[ns]")
    frame = pd.DataFrame({"moment": nanoseconds, "unsigned": np.array([2**64 - 1, 0], np.uint64)})
    table = encode_on_spark(spark, frame, ReadOptions())
    assert table.folder is not None
    assert everything_of(table) == everything_of(encode_locally(frame))
    assert ranks_of(table) == [[2, 1], [2, 1]]
