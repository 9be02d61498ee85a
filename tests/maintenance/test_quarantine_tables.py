"""Rows that are put aside in a table of Spark's: each once, whatever is repeated or lost."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import lawful
from lawful.common.errors import LawfulError, SourceError, UsageError
from lawful.runs import quarantine_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = pa.table({"id": ["1"], "zip": ["a"], "city": ["x"]})


@pytest.fixture
def aside(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(quarantine_tables, "is_scratch", lambda _: False)  # the session outlives these tests
    name = f"aside_{uuid.uuid4().hex}"
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture
def state(tmp_path: Path, spark: SparkSession) -> Iterator[lawful.OpenState]:
    pins = ["zip -> city"]
    with lawful.make_state(tmp_path / "p.state", FIRST, row_key=["id"], pins=pins, engine="local", spark=None) as made:
        made.close()
    with lawful.open_state(tmp_path / "p.state", spark=spark) as opened:
        yield opened


def rows(spark: SparkSession, name: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in spark.table(name).orderBy("_version", "id").collect()]


def test_rows_come_once(spark: SparkSession, state: lawful.OpenState, aside: str) -> None:
    monday = pa.table({"id": ["2", "3", "1"], "zip": ["a", "b", "c"], "city": ["y", "z", "z"]})
    for _ in range(2):  # the second time it is known
        state.apply(monday, batch_id="monday", quarantine=f"table:{aside}")
    assert state.rows == 2
    first, second = rows(spark, aside)
    assert (first["id"], first["_law"], first["_version"], first["_batch"]) == ("1", None, 1, "monday")
    assert (second["id"], second["_law"], second["_state"]) == ("2", "zip -> city", str(state.folder))
    state.apply(pa.table({"id": ["9"], "zip": ["9"], "city": ["9"]}), quarantine=f"table:{aside}")
    assert len(rows(spark, aside)) == 2


def test_what_a_killed_process_did_not_write_comes_with_the_next_batch(
    spark: SparkSession, state: lawful.OpenState, aside: str, tmp_path: Path
) -> None:
    state.apply(pa.table({"id": ["2"], "zip": ["a"], "city": ["y"]}), quarantine=tmp_path / "folder")
    state.apply(pa.table({"id": ["3"], "zip": ["a"], "city": ["z"]}), quarantine=f"table:{aside}")
    assert [(row["id"], row["_version"]) for row in rows(spark, aside)] == [("2", 1), ("3", 2)]


def test_a_table_of_something_else_is_refused_before_anything_is_done(
    spark: SparkSession, state: lawful.OpenState, aside: str
) -> None:
    spark.range(3).write.saveAsTable(aside)
    with pytest.raises(SourceError, match="are not those of this quarantine"):
        state.apply(pa.table({"id": ["2"], "zip": ["a"], "city": ["y"]}), quarantine=f"table:{aside}")
    with pytest.raises(LawfulError, match="rows cannot be put aside in the table no such"):
        state.apply(pa.table({"id": ["2"], "zip": ["a"], "city": ["y"]}), quarantine="table:no such")
    assert (state.rows, state.version) == (1, 0)


def test_a_table_that_has_a_column_which_a_quarantine_needs_is_refused(
    spark: SparkSession, tmp_path: Path, aside: str
) -> None:
    own = pa.table({"id": ["1"], "_LAW": ["a"]})
    with (
        lawful.make_state(tmp_path / "p.state", own, row_key=["id"], spark=spark) as state,
        pytest.raises(UsageError, match="'_law'"),
    ):
        state.apply(own, quarantine=f"table:{aside}")


@pytest.mark.parametrize("again", [False, True])
def test_a_stream_puts_rows_aside_in_a_table(spark: SparkSession, tmp_path: Path, aside: str, again: bool) -> None:
    arriving = tmp_path / "in"
    arriving.mkdir()
    (arriving / "1.csv").write_text("id,zip,city\n1,a,x\n2,a,y\n")
    how: dict[str, Any] = {"row_key": ["id"], "pin": ["zip -> city"], "trigger": "available-now", "spark": spark}
    for _ in range(2):
        lawful.follow(str(arriving), tmp_path / "p.state", quarantine=f"table:{aside}", **how)
        if again:  # as if it had been killed before it knew that the batch was done
            for name in ("0", ".0.crc"):
                (tmp_path / "p.state.checkpoint" / "commits" / name).unlink(missing_ok=True)
    assert [(row["id"], row["_law"]) for row in rows(spark, aside)] == [("2", "zip -> city")]


def test_a_table_that_would_be_gone_with_the_session_is_refused(state: lawful.OpenState) -> None:
    with pytest.raises(UsageError, match="would be gone with the Spark"):
        state.apply(FIRST, quarantine="table:aside")
    assert state.version == 0


def test_rows_of_a_state_that_was_there_before_are_told_apart(
    spark: SparkSession, aside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    double = pa.table({"id": ["1"], "zip": ["b"], "city": ["y"]})
    for place in ("p.state", tmp_path / "q.state"):  # a name from here, and one from anywhere
        with lawful.make_state(place, FIRST, row_key=["id"], spark=spark) as state:
            state.apply(double, quarantine=f"table:{aside}")
    put_aside = sorted(row["_state"] for row in rows(spark, aside))  # a table of Spark's has no order
    assert put_aside == [str(tmp_path / "p.state"), str(tmp_path / "q.state")]
    shutil.rmtree(tmp_path / "p.state")
    with lawful.make_state("p.state", FIRST, row_key=["id"], spark=spark) as state:
        with pytest.raises(UsageError, match="has rows of version 1"):
            state.apply(double, quarantine=f"table:{aside}")
        assert state.version == 0
