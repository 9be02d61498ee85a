"""Parquet files and folders, on both engines."""

from __future__ import annotations

from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.options import ReadOptions
from lawful.tables.spark_files import SparkFiles, parquet_rows
from lawful.tables.spark_pipeline import encode_on_spark
from tables.conftest import Encode, encode_locally
from tables.looking import cells_of, places_of, ranks_of, types_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_a_folder_with_folders_in_it(tmp_path: Path, encode: Encode) -> None:
    write(tmp_path / "t/b.parquet", n=[3, 1])
    write(tmp_path / "t/a/deep [1] %41.parquet", n=[2])
    write(tmp_path / "t/_hidden/x.parquet", other=[2])
    write(tmp_path / "t/z.parquet", n=pa.array([], pa.int64()))
    table = encode(str(tmp_path / "t"))
    assert ranks_of(table) == [[2, 3, 1]]
    assert places_of(table) == [("deep [1] %41.parquet", 1), ("b.parquet", 1), ("b.parquet", 2)]


def test_a_partitioned_folder(tmp_path: Path, encode: Encode) -> None:
    for year in ("10.5", "9", "__HIVE_DEFAULT_PARTITION__"):
        for day in ("2024-01-02", "2023-01-01"):
            write(tmp_path / f"t/y={year}/d={day}/p.parquet", n=[1])
    table = encode(str(tmp_path / "t"))
    assert table.names == ["n", "y", "d"]
    assert types_of(table) == [ColumnType.INTEGER, ColumnType.FLOAT, ColumnType.DATE]
    assert ranks_of(table) == [[1] * 6, [2, 2, 1, 1, 0, 0], [1, 2] * 3]
    single = encode(str(tmp_path / "t/y=9/d=2023-01-01/p.parquet"))
    assert single.names == ["n"]


def test_partitions_of_words_and_of_hidden_looking_names(tmp_path: Path) -> None:
    write(tmp_path / "t/_k=a b/p.parquet", n=[1])
    write(tmp_path / "t/_k=1/p.parquet", n=[2])
    assert cells_of(encode_locally(tmp_path / "t")) == [["2", "1"], ["1", "a b"]]


def test_no_rows_keep_their_types(tmp_path: Path, encode: Encode) -> None:
    schema = {"i": pa.int32(), "f": pa.float64(), "d": pa.date32(), "s": pa.string()}
    path = write(tmp_path / "t.parquet", **{name: pa.array([], type_) for name, type_ in schema.items()})
    table = encode(str(path))
    assert table.rows == 0
    assert [type_.value for type_ in types_of(table)] == ["integer", "float", "date", "string"]


def test_columns_types_and_limit(tmp_path: Path, encode: Encode) -> None:
    path = write(tmp_path / "t.pq", a=[1, 2, 3], b=["x", "5", "y"])
    table = encode(str(path), columns=("b", "a"), types={"a": ColumnType.STRING}, limit=2)
    assert (table.names, table.rows, types_of(table)) == (["b", "a"], 2, [ColumnType.STRING, ColumnType.STRING])
    with pytest.raises(SourceError) as refused:
        encode(str(path), types={"b": ColumnType.INTEGER})
    assert refused.value.message == f"{path}, row 1: column 'b' holds 'x', which is not of type integer"
    with pytest.raises(UsageError) as unknown:
        encode(str(path), columns=("z",))
    assert str(unknown.value) == f"{path} has no column 'z'\nIts columns: 'a', 'b'."


def test_broken_files(tmp_path: Path, encode: Encode) -> None:
    whole = write(tmp_path / "t.parquet", a=list(range(1000)))
    truncated = tmp_path / "truncated.parquet"
    truncated.write_bytes(whole.read_bytes()[:-100])
    with pytest.raises(SourceError) as refused:
        encode(str(truncated))
    assert refused.value.message.startswith(f"{truncated}: cannot be read as Parquet: ")
    no_parquet = tmp_path / "no.parquet"
    no_parquet.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"no\.parquet: cannot be read as Parquet"):
        encode(str(no_parquet))


def test_files_with_other_columns(tmp_path: Path, encode: Encode) -> None:
    write(tmp_path / "t/a.parquet", n=[1])
    second = write(tmp_path / "t/b.parquet", n=[1], m=[1])
    with pytest.raises(SourceError) as refused:
        encode(str(tmp_path / "t"))
    assert refused.value.message.startswith(f"{second}: its columns are not those of the first file")


NOON = datetime(2024, 5, 1, 12, 30)
LATER = datetime(2024, 5, 2, 1, 0, tzinfo=UTC)
DIFFERING = [
    (pa.array([1, 2], pa.int8()), pa.array([1000, 257], pa.int32())),
    (pa.array([1], pa.int32()), pa.array([5], pa.uint32())),
    (pa.array([True]), pa.array([2])),
    (pa.array([NOON.date()]), pa.array([NOON])),
    (pa.array([1]), pa.array([NOON.date()], pa.date32())),
    (pa.array([NOON]), pa.array([LATER])),
    (pa.array(["a"]), pa.array([b"a"])),
    (pa.array([1.5], pa.float32()), pa.array([1.5])),
    (pa.array([Decimal("1.5")]), pa.array([Decimal("100.5")])),
    (pa.array([None]), pa.array(["a"])),
]
"""What a reader that takes the first type for both would read as something else, or not at all."""
FITTING = [
    (pa.array([1, 2]), pa.array([3], pa.int16()), ["1", "2", "3"]),
    (pa.array([1.5]), pa.array([0.25], pa.float32()), ["1.5", "0.25"]),
    (pa.array([Decimal("10.50")]), pa.array([Decimal("1.5")]), ["10.50", "1.50"]),
    (pa.array(["a"]), pa.array(["b"]).dictionary_encode(), ["a", "b"]),
    (pa.array(["a"]), pa.array(["b"], pa.large_string()), ["a", "b"]),
]


@pytest.mark.parametrize(("first", "second"), DIFFERING, ids=lambda array: str(array.type))
def test_files_whose_types_differ_are_refused(
    first: pa.Array, second: pa.Array, tmp_path: Path, encode: Encode
) -> None:
    write(tmp_path / "t/a.parquet", n=first)
    other = write(tmp_path / "t/b.parquet", n=second)
    with pytest.raises(SourceError) as refused:
        encode(str(tmp_path / "t"))
    assert refused.value.message == f"{other}: column 'n' is {second.type}, and {first.type} in the first file"
    assert "--columns" in str(refused.value.typed_hint)


@pytest.mark.parametrize(("first", "second", "expected"), FITTING, ids=lambda value: str(getattr(value, "type", "")))
def test_a_wider_type_holds_what_a_narrower_one_has(
    first: pa.Array, second: pa.Array, expected: list[str], tmp_path: Path, encode: Encode
) -> None:
    write(tmp_path / "t/a.parquet", n=first)
    write(tmp_path / "t/b.parquet", n=second)
    assert cells_of(encode(str(tmp_path / "t"))) == [[text] for text in expected]


def test_types_of_columns_that_are_not_read_may_differ(tmp_path: Path, encode: Encode) -> None:
    write(tmp_path / "t/a.parquet", n=[1], m=[1])
    write(tmp_path / "t/b.parquet", n=[2], m=["x"])
    assert cells_of(encode(str(tmp_path / "t"), columns=("n",))) == [["1"], ["2"]]


def test_a_file_without_values_in_a_column_fits_in_one_process(tmp_path: Path) -> None:
    write(tmp_path / "t/a.parquet", n=["x"])
    write(tmp_path / "t/b.parquet", n=[None])
    assert cells_of(encode_locally(str(tmp_path / "t"))) == [["x"], [None]]


@pytest.mark.parametrize(("first", "second"), [case for case in DIFFERING if case[0].type != pa.null()])
def test_files_that_only_spark_sees_are_refused_too(
    first: pa.Array, second: pa.Array, spark: SparkSession, tmp_path: Path
) -> None:
    paths = [str(write(tmp_path / f"t/{name}.parquet", n=array)) for name, array in (("a", first), ("b", second))]
    there = SparkFiles(str(tmp_path / "t"), paths, [])
    with pytest.raises(SourceError, match=r"different (types|files)"):
        parquet_rows(spark, there)
    assert parquet_rows(spark, there, only_counted=True).columns == ["n"]


def test_files_that_only_spark_sees_must_have_the_same_columns(spark: SparkSession, tmp_path: Path) -> None:
    paths = [str(write(tmp_path / "t/a.parquet", n=[1])), str(write(tmp_path / "t/b.parquet", n=[1], m=[2]))]
    with pytest.raises(SourceError, match="not all files have the column 'm'"):
        parquet_rows(spark, SparkFiles(str(tmp_path / "t"), paths, []))
    alike = [paths[0], str(write(tmp_path / "u/a.parquet", n=[1]))]
    assert parquet_rows(spark, SparkFiles(str(tmp_path / "u"), alike, [])).count() == 1


@pytest.mark.parametrize(
    ("column", "advice"),
    [
        (pa.array([NOON], pa.timestamp("ns")), "nanosAsLong=true"),
        (pa.array([time(1, 2)], pa.time64("us")), "another type"),
        (pa.array([Decimal(10**40)], pa.decimal256(50, 2)), "another type"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_what_spark_does_not_read_is_named(column: pa.Array, advice: str, spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", id=[1], when=column)
    with pytest.raises(SourceError) as refused:
        encode_on_spark(spark, str(path), ReadOptions(), reuse=False)
    assert refused.value.message == f"{path}: Spark does not read column 'when', whose type is {column.type}"
    assert advice in str(refused.value.typed_hint)
    assert encode_locally(str(path), columns=("id",)).rows == 1


@pytest.mark.parametrize(("names", "told"), [(("a", "A"), "caseSensitive"), (("_metadata", "b"), "Rename that column")])
def test_names_that_spark_has_trouble_with(
    names: tuple[str, str], told: str, spark: SparkSession, tmp_path: Path
) -> None:
    path = write(tmp_path / "t.parquet", **{name: [1] for name in names})
    with pytest.raises(SourceError) as refused:
        encode_on_spark(spark, str(path), ReadOptions(), reuse=False)
    assert told in str(refused.value.typed_hint)
