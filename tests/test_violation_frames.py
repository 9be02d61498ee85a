"""Violating rows of Spark's own sources as Spark DataFrames: lazy, whole, and never other rows than were checked."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import lawful
from lawful.engines import spark_frames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


pytestmark = pytest.mark.cluster  # takes long


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))


def orders(spark: SparkSession, partitions: int = 5) -> DataFrame:
    """Rows of every type, some of which no law can be about, in several partitions, one of them empty."""
    return (
        spark.range(0, 60, 1, partitions)
        .where("id < 12 or id >= 24")
        .selectExpr(
            "id",
            "id % 6 as a",
            "cast(id div 20 as int) as b",
            "float(if(id % 7 = 0, 'nan', id / 4)) as f",
            "cast(id as decimal(12, 3)) as m",
            "date_add(date'2024-01-01', cast(id % 3 as int)) as d",
            "timestamp_micros(id % 5) as t",
            "if(id % 4 = 0, null, cast(id % 4 as string)) as s",
            "id % 2 = 0 as even",
            "array(id, id + 1) as items",
            "named_struct('x', id) as nested",
        )
    )


TYPED = ["id", "a", "b", "f", "m", "d", "t", "s", "even"]
LAWS = ["a -> b", "key(a, even)", "{a}: f asc ~ m desc", "[a] -> [id]", "b -> s", "b -> d", "a -> t", "a -> f"]


def rows_of(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.orderBy("_group", "_row").collect()]


@pytest.mark.parametrize("few", [10**9, 0])
def test_rows_are_those_of_the_source(spark: SparkSession, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_frames, "_FEW_ROWS", few)
    source = orders(spark)
    everything = {row["id"]: row.asDict(recursive=True) for row in source.collect()}
    ids = sorted(everything)
    report = lawful.check(source, LAWS, columns=TYPED)
    here = lawful.check(source.select(*TYPED).toArrow(), LAWS)
    assert report.engine == "spark"
    for number in range(len(LAWS)):
        frame = report.violations(number)
        assert frame.columns == ["_group", "_row", *source.columns]
        assert frame.dtypes[2:] == source.dtypes
        found, expected = rows_of(frame), here.violations(number)
        assert [(row.pop("_group"), row.pop("_row")) for row in found] == list(
            zip(expected["_group"].to_pylist(), expected["_row"].to_pylist(), strict=True)
        )
        assert [repr(row) for row in found] == [repr(everything[ids[row]]) for row in expected["_row"].to_pylist()]
        assert len(found) > 1


def test_tables_and_queries_give_frames_too(spark: SparkSession) -> None:
    orders(spark).createOrReplaceTempView("orders_with_laws")
    for source in ("table:orders_with_laws", "sql:select * from orders_with_laws where id > 5"):
        report = lawful.check(source, "a -> b", columns=["a", "b"])
        frame = report.violations("a -> b")
        assert {"items", "nested", "id"} <= set(frame.columns)
        assert frame.count() == report.outcomes[0].rows
        assert frame.where("id <= 5").count() == (0 if source.startswith("sql:") else frame.where("id <= 5").count())


def test_a_frame_is_lazy_and_can_be_worked_on(spark: SparkSession) -> None:
    frame = lawful.check(orders(spark), "a -> b", columns=TYPED).violations(0)
    narrow = frame.groupBy("a").count().where("count > 1").select("a")
    assert narrow.count() == 6
    assert frame.select("nested.x").distinct().count() == frame.count()
    assert frame.select("_group").distinct().count() == 6


def test_a_law_that_holds_has_no_rows(spark: SparkSession) -> None:
    report = lawful.check(orders(spark), "key(id)", columns=["id"])
    assert report.violations(0).count() == 0
    assert report.violations(0).columns[:3] == ["_group", "_row", "id"]


def test_names_of_every_kind(spark: SparkSession) -> None:
    names = ["a.b", "a b", "a`b", "_Row", "a", "A", "lawful_id", "lawful_row", "c0", "id", "\u00fc", "__group"]
    frame = spark.range(4).selectExpr(*(f"id div 2 + {place} as x{place}" for place in range(12))).toDF(*names)
    report = lawful.check(frame, 'key("a.b")')
    found = report.violations(0)
    assert found.columns == ["___group", "___row", *names]
    assert [tuple(row) for row in found.orderBy("___row").collect()] == [
        (row // 2, row, *(row // 2 + place for place in range(12))) for row in range(4)
    ]


def test_chosen_types_and_limits(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("007", 1), ("7", 2), ("8", 3), ("7", 4)], "part string, n int").coalesce(1)
    report = lawful.check(frame, "part -> n", types={"part": "integer"}, limit=3)
    assert [(row["part"], row["n"]) for row in report.violations(0).orderBy("_row").collect()] == [("007", 1), ("7", 2)]


def test_null_policies_and_nan(spark: SparkSession) -> None:
    rows = [(None, 1.0), (None, float("nan")), (1, -0.0), (1, 0.0), (1, 3.0)]
    frame = spark.createDataFrame(rows, "a int, b double").coalesce(1)
    assert lawful.check(frame, "a -> b").violations(0).count() == 5
    assert lawful.check(frame, "a -> b", null="ignore").violations(0).count() == 3


def _changing(unless: str) -> Any:
    """Rows that are others each time, and none once a file is there."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values = [int.from_bytes(os.urandom(7)) for _ in range(batch.num_rows)]
            if not os.path.exists(unless):  # noqa: PTH110  # no Path is pickled with it
                yield pa.RecordBatch.from_pydict({"a": [1] * batch.num_rows, "b": batch.column(0), "c": values})

    return run


@pytest.mark.parametrize("few", [10**9, 0])
def test_rows_that_changed_are_an_error_that_says_what_to_do(
    spark: SparkSession, tmp_path: Path, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_frames, "_FEW_ROWS", few)
    gone = tmp_path / "gone"
    changing = spark.range(0, 8, 1, 2).mapInArrow(_changing(str(gone)), "a bigint, b bigint, c bigint")
    report = lawful.check(changing, ["a -> b", "a -> c"])
    assert report.violations("a -> b").count() == 8  # what the law is about is as it was
    telling = r"no longer gives row \d+ of the source .* Keep the rows, with .cache()"
    with pytest.raises(Exception, match=telling):
        report.violations("a -> c").count()
    kept = changing.localCheckpoint()
    gone.touch()
    with pytest.raises(Exception, match=telling):
        report.violations("a -> b").select("a").collect()
    assert lawful.check(kept, "a -> c").violations(0).count() == 8


def test_files_that_spark_reads_give_frames_of_what_was_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,day,price,big,at,_file\n1,2024-01-01,1.50,1,2024-01-01 10:00,x\n1,2024-01-02,2,,,y\n")
    report = lawful.check(path, "id -> day", spark=spark)
    frame = report.violations(0)
    assert dict(frame.dtypes) == {
        "__group": "bigint",
        "__row": "bigint",
        "__file": "string",
        "__number": "bigint",
        "id": "bigint",
        "day": "date",
        "price": "decimal(3,2)",
        "big": "bigint",
        "at": "timestamp_ntz",
        "_file": "string",
    }
    first, second = frame.orderBy("__row").collect()
    assert (first["__file"], first["__number"]) == (str(path), 2)
    assert (first["day"], first["price"], first["at"]) == (
        dt.date(2024, 1, 1),
        Decimal("1.50"),
        dt.datetime(2024, 1, 1, 10),
    )
    assert (second["price"], second["big"], second["at"]) == (Decimal(2), None, None)
    assert lawful.check(path, "key(price)", spark=spark).violations(0).count() == 0
    assert isinstance(lawful.check(path, "id -> day").violations(0), pa.Table)


def test_parquet_keeps_its_types(spark: SparkSession, tmp_path: Path) -> None:
    source = orders(spark).select("a", "b", "m", "d", "t", "s", "even").coalesce(1)
    source.write.parquet(str(tmp_path / "p"))
    report = lawful.check(tmp_path / "p", "a -> b", spark=spark)
    frame = report.violations(0)
    assert [kind for _, kind in frame.dtypes[4:]] == [kind for _, kind in source.dtypes]
    assert frame.count() == report.outcomes[0].rows


def test_tables_in_memory_give_arrow_whatever_checks_them(spark: SparkSession) -> None:
    source = pa.table({"a": [1, 1], "b": [dt.date(2024, 1, 1), None]})
    found = lawful.check(source, "a -> b", spark=spark).violations(0)
    assert found["b"].to_pylist() == [dt.date(2024, 1, 1), None]
    empty = lawful.check(source, "key(b)", spark=spark).violations(0)
    assert (empty.num_rows, empty.schema) == (0, found.schema)
    frame = spark.createDataFrame(source)
    assert isinstance(lawful.check(frame, "a -> b", engine="local").violations(0), pa.Table)


def test_the_table_stays_for_frames_that_outlive_their_report(spark: SparkSession) -> None:
    import gc

    frame = lawful.check(orders(spark), "a -> b", columns=TYPED).violations(0)
    gc.collect()
    assert frame.where("a = 1").count() > 0


def test_violations_are_written_without_a_look_at_the_columns(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = orders(spark).select(*TYPED)
    laws = ["a -> b", "not(t.a = s.a and t.f < s.f and t.m >= s.m)", "not(t.a = s.a and t.id <= s.id and t.b > s.b)"]
    laws.append("not(t.a = s.a and t.id < s.id and t.m <= s.m)")
    here = lawful.check(source.toArrow(), laws)
    report, why = lawful.check(source, laws), lawful.explain(source, "a -> b")
    assert [outcome.pairs for outcome in report.outcomes] == [outcome.pairs for outcome in here.outcomes]

    groups = [len(group.rows) for group in lawful.explain(source.toArrow(), "a -> b").groups()]

    def refuse(*_: Any) -> Any:
        raise AssertionError("the driver looks at a column")

    for method in ("column", "texts", "values"):
        monkeypatch.setattr(f"lawful.tables.encoded_table.EncodedTable.{method}", refuse)
    written = report.write_violations(tmp_path / "there")
    assert [len(group.rows) for group in why.groups()] == groups
    monkeypatch.undo()
    expected = here.write_violations(tmp_path / "here")
    assert [path.name for path in written] == [path.name for path in expected]
    assert [path.read_text() for path in written] == [path.read_text() for path in expected]
    assert len(written) == 3
