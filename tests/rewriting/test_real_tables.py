"""Rewritten queries over tables with real values, on DuckDB and on Spark, by the laws that lawful finds on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow.parquet as pq
import pytest

import lawful
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import ListOD
from lawful.rewriting import KnownLaws
from rewriting.queried_tables import Judged, RunQuery, judge, real_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REAL = {
    "wp_20k_7": None,
    "ncvoter_1001r_19c": 2,
    "hospital_10k": 2,
    "flights_10k": 2,
    "adult": None,
    "sp500_stocks_7c_122k": None,
    "nycflights13": 2,
}
"""Tables, and the most columns of a list or a left side for which laws are looked for."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))
    return tmp_path


def known_laws(path: Path, max_size: int | None) -> KnownLaws:
    report = lawful.discover(path, ["key", "fd", "list-od"], max_size=max_size, engine="local")
    assert report.complete
    return KnownLaws.from_document(report.to_dict())


def on_duckdb(path: Path) -> RunQuery:
    connection = duckdb.connect()
    connection.execute(f"create table t as select * from read_parquet('{path}')")
    return lambda sql: connection.sql(sql).to_arrow_table()


def on_spark(path: Path, spark: SparkSession) -> RunQuery:
    spark.read.parquet(str(path)).createOrReplaceTempView("t")
    return lambda sql: spark.sql(sql).toArrow()


def judge_both_ways(known: KnownLaws, run: RunQuery, dialect: str, wanted: int) -> list[Judged]:
    """By all laws, and by lists alone, which otherwise would often give way to simpler proofs."""
    lists = replace(known, laws=tuple(law for law in known.laws if isinstance(law, ListOD)))
    return [judge(some, run, dialect, wanted) for some in (known, lists) if some.laws]


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("name", REAL)
def test_real_tables(name: str, cache: Path, spark: SparkSession) -> None:
    table = real_table(name)
    if table is None:
        pytest.skip(f"{name} is not at hand")
    path = cache / "t.parquet"
    pq.write_table(table, path)
    known = known_laws(path, REAL[name])
    for dialect, run, wanted in (("duckdb", on_duckdb(path), 50), ("spark", on_spark(path, spark), 12)):
        for judged in judge_both_ways(known, run, dialect, wanted):
            assert judged.queries > 0


def test_the_generated_table(cache: Path, spark: SparkSession) -> None:
    """The same on the table of the demonstration, which is always at hand."""
    path = cache / "t.parquet"
    pq.write_table(make_tax_table(400).table, path)
    known = known_laws(path, 2)
    for dialect, run, wanted in (("duckdb", on_duckdb(path), 20), ("spark", on_spark(path, spark), 2)):
        assert [judged.queries for judged in judge_both_ways(known, run, dialect, wanted)] == [wanted, wanted]
