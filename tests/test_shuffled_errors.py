"""Wrong cells of a table that no node holds: found, suggested and mended as where one process has all rows."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from damaged_tables import DAMAGED, arrow, damaged, orders, typo
from shuffled_tables import write_parts

import lawful
from lawful.results import ErrorsReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("cache_of_module"),
    pytest.mark.cluster,
    pytest.mark.timeout(900),
]  # dozens of jobs, on a machine that may be busy
COLUMNS = ["customer", "name", "city", "zip", "kind"]
ASKED: dict[str, Any] = {"max_size": 1}


def small_table(rows: int = 250) -> pa.Table:
    """Some columns of orders with typos, one that has a usual value, and a number for each row."""
    table = arrow(damaged(orders(rows), DAMAGED, 0.02, typo)).select(COLUMNS)
    usual = ["Austria"] * rows
    usual[11], usual[200] = "Austrja", "Austrla"
    return table.append_column("country", pa.array(usual)).append_column("number", pa.array(range(rows)))


def told(report: ErrorsReport) -> list[dict[str, Any]]:
    return [{name: value for name, value in cell.to_dict().items() if name not in ("file", "line")} for cell in report]


def shuffled(spark: SparkSession) -> dict[str, Any]:
    return {"spark": lawful.SparkSettings(session=spark, placement="shuffle"), **ASKED}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return small_table()


@pytest.fixture(scope="module")
def here(table: pa.Table) -> ErrorsReport:
    return lawful.errors(table, engine="local", **ASKED)


def test_wrong_cells_of_text_files_are_those_of_one_place(spark: SparkSession, table: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    pa.csv.write_csv(table, source)
    here, there = lawful.errors(source, engine="local", **ASKED), lawful.errors(source, **shuffled(spark))
    assert there.complete
    assert there.settings["placement"] == "shuffle"
    assert there.laws == here.laws
    assert [cell.to_dict() for cell in there] == [cell.to_dict() for cell in here]
    assert {cell.value for cell in there} >= {"Austrja", "Austrla"}
    for report, name in ((here, "here"), (there, "there")):
        report.write_repaired(tmp_path / f"{name}.csv")
        report.write_suspicious_rows(tmp_path / f"{name}-rows.csv")
    for ending in (".csv", "-rows.csv", ".csv.log.jsonl"):
        assert (tmp_path / f"there{ending}").read_text() == (tmp_path / f"here{ending}").read_text()
    repaired = here.repaired().to_pylist()
    assert [row.asDict() for row in there.repaired().collect()] == repaired
    assert there.suspicious_rows().count() == len(here.rows)


def test_wrong_cells_of_parquet_files_are_mended_by_spark(
    spark: SparkSession, table: pa.Table, here: ErrorsReport, tmp_path: Path
) -> None:
    source = write_parts(table, tmp_path / "table", 3)
    there = lawful.errors(source, **shuffled(spark))
    assert told(there) == told(here)
    there.write_repaired(tmp_path / "mended")
    mended = pq.read_table(tmp_path / "mended").sort_by("number")
    assert mended.equals(here.repaired().sort_by("number"))
    there.write_suspicious_rows(tmp_path / "rows")
    rows = pq.read_table(tmp_path / "rows").sort_by("number")
    assert rows.equals(here.suspicious_rows().sort_by("number"))
    assert len((tmp_path / "mended.log.jsonl").read_text().splitlines()) == len(here.changes())


def test_wrong_cells_of_frames_are_mended_by_spark(spark: SparkSession, table: pa.Table, here: ErrorsReport) -> None:
    frame = spark.createDataFrame(table).repartition(3, "number").localCheckpoint()
    there = lawful.errors(frame, **shuffled(spark))
    numbers = [row["number"] for row in frame.collect()]
    found = {(numbers[cell.row], cell.column): (cell.suggested, round(cell.probability, 9)) for cell in there}
    assert found == {(cell.row, cell.column): (cell.suggested, round(cell.probability, 9)) for cell in here}
    mended = pa.Table.from_pylist([row.asDict() for row in there.repaired().collect()]).sort_by("number")
    assert mended.equals(here.repaired().sort_by("number"))
    assert {row["number"] for row in there.suspicious_rows().collect()} == set(here.rows)


def test_limits_and_ctrl_c_end_the_search_with_what_is_certain(
    spark: SparkSession, table: pa.Table, here: ErrorsReport, tmp_path: Path
) -> None:
    source = write_parts(table, tmp_path / "table", 1)
    late = lawful.errors(source, time_limit=0.01, **shuffled(spark))
    assert not late.complete
    assert "time limit" in str(late.stopped_because)

    def press(line: str) -> None:
        if line.startswith("settling"):
            os.kill(os.getpid(), signal.SIGINT)

    ended = lawful.errors(source, progress=press, **shuffled(spark))
    assert not ended.complete
    assert {cell.value for cell in ended} == {"Austrja", "Austrla"}  # known before the laws were heard
    again = lawful.errors(source, **shuffled(spark))
    assert told(again) == told(here)


def test_too_many_suspicious_rows_are_said_to_be_so(spark: SparkSession, table: pa.Table, tmp_path: Path) -> None:
    source = write_parts(table, tmp_path / "table", 1)
    with patch("lawful.engines.shuffle.opinions.MOST_SUSPICIOUS", 1):
        report = lawful.errors(source, **shuffled(spark))
    assert not report.complete
    assert "look wrong to a law" in str(report.stopped_because)
    assert {cell.value for cell in report} >= {"Austrja", "Austrla"}
