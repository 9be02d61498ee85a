"""A table that is opened once and asked again and again."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from discovered_tables import slow_table
from discovered_tables import table as table_with_laws

import lawful
from lawful.common.errors import LawfulError, UsageError
from lawful.engines.local import LocalEngine
from lawful.engines.spark import SparkEngine
from lawful.runs import stopping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = pa.table(
    {
        "id": [1, 2, 3, 4],
        "zip": ["10001", "10001", "94105", None],
        "city": ["New York", "Newark", "San Francisco", None],
        "county": ["x", "y", None, None],
    }
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(params=["local", "spark"])
def where(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments that say where to run."""
    return {} if request.param == "local" else {"spark": request.getfixturevalue("spark")}


def test_everything_can_be_asked_of_one_table(where: dict[str, Any]) -> None:
    with lawful.open(DATA, **where) as table:
        assert table.check("zip -> city").outcomes == lawful.check(DATA, "zip -> city").outcomes
        assert [law.text for law in table.discover()] == [law.text for law in lawful.discover(DATA)]
        assert table.profile().columns == lawful.profile(DATA).columns
        assert table.explain("city -> zip").minimal == lawful.explain(DATA, "city -> zip").minimal
        assert table.check(["key(id)", "key(zip)"]).holds is False
        found = table.discover("dc,list-od,canonical-od", max_size=2, null="equal")
        assert found.complete


def test_null_may_mean_something_else_in_each_call(where: dict[str, Any]) -> None:
    rows = pa.table({"a": [None, None, 1], "b": [1, 2, 3]})
    with lawful.open(rows, **where) as table:
        reports = [table.check("a -> b", null=null) for null in ("equal", "ignore", "equal", "ignore")]
        assert [report.holds for report in reports] == [False, True, False, True]
        assert [report.violating_row_ids(0).tolist() for report in reports] == [[0, 1], [], [0, 1], []]
        with pytest.raises(UsageError, match="Use equal or ignore"):
            table.check("a -> b", null="never")


def test_arguments_say_how_to_read(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("1;x\n2;y\n")
    with lawful.open(path, format="csv", dialect=lawful.CsvDialect(separator=";", header=False), limit=1) as table:
        assert table.profile().rows == 1
    with pytest.raises(UsageError, match="columns must be a list"):
        lawful.open(path, columns="c1")


def test_a_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n1,3\n")
    with lawful.open(path, reuse=False) as table:
        path.unlink()
        report = table.check("a -> b")
        assert report.outcomes[0].rows == 2
        assert table.explain("a -> b").group_count() == 1
    assert report.violations(0)["b"].to_pylist() == [2, 3]


def test_it_shows_itself() -> None:
    table = lawful.open(DATA)
    assert repr(table) == "<lawful table 'table': 4 rows, 4 columns, engine local>"
    table.close()
    table.close()
    assert repr(table) == "<lawful table 'table': 4 rows, 4 columns, closed>"
    with pytest.raises(UsageError, match="was closed"):
        table.check("key(id)")


def test_results_outlive_the_table(where: dict[str, Any]) -> None:
    with lawful.open(DATA, **where) as table:
        report, why = table.check("zip -> city"), table.explain("zip -> city")
    assert report.violating_row_ids(0).tolist() == [0, 1]
    assert [len(group.rows) for group in why.groups()] == [2]
    assert [group.rows for group in why.summary(5)] == [2]
    assert report.violations(0).num_rows == 2


def test_reading_is_told_by_the_first_result_alone() -> None:
    with lawful.open(DATA) as table:
        first, second = table.check("key(id)"), table.check("key(id)")
    assert {"encode", "open", "check", "total"} == set(first.seconds)
    assert {"open", "check", "total"} == set(second.seconds)
    assert first.seconds["total"] >= first.seconds["encode"]


def test_an_error_in_one_call_leaves_the_next_one_alone(where: dict[str, Any]) -> None:
    with lawful.open(DATA, **where) as table:
        for wrong in ("zip -> town", "{id<} -> {town<}"):
            with pytest.raises(LawfulError):
                table.check(wrong)
        assert table.check("key(id)").holds


def test_limits_of_one_call_are_not_those_of_the_next(where: dict[str, Any]) -> None:
    source = table_with_laws(rows=1_200)
    with lawful.open(source, **where) as table:
        cut = table.discover("canonical-od", time_limit=1e-6)
        assert not cut.complete
        whole = table.discover("canonical-od", memory_limit="2g", partition_chain=1)
        assert whole.complete
        again = table.discover("canonical-od")
        assert [law.text for law in again] == [law.text for law in whole]


@contextmanager
def _ctrl_c_after_a_verdict(engine: type[Any]) -> Iterator[None]:
    """Send Ctrl-C once the engine has given its first verdict: a clock would bet on the machine's speed."""
    check, sent = engine.check, threading.Event()

    def interrupted(self: Any, tasks: Any) -> Iterator[Any]:
        for verdict in check(self, tasks):
            if not sent.is_set():
                sent.set()
                os.kill(os.getpid(), signal.SIGINT)
            yield verdict

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "check", interrupted)
        yield
    assert sent.is_set()


@pytest.mark.parametrize("verb", ["check", "discover"])
def test_ctrl_c_ends_one_call_and_the_next_is_served(where: dict[str, Any], verb: str) -> None:
    source = slow_table(20_000)
    names = source.column_names
    many = [f"[{a}, {b}] -> [{c}]" for a in names for b in names for c in names if len({a, b, c}) == 3]
    few = [f"{name} -> {names[0]}" for name in names[1:]]
    with lawful.open(source, **where) as table:
        table.check(many[:2])  # so that nothing is left to be compiled or started
        with _ctrl_c_after_a_verdict(SparkEngine if where else LocalEngine):
            report: Any = table.check(many * 3) if verb == "check" else table.discover()
        assert not report.complete
        after = table.check(few)
        assert after.complete
        assert after.outcomes == lawful.check(source, few).outcomes


def test_a_cancel_that_comes_late_cannot_reach_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first Ctrl-C has the engine cancelled by another thread, which a slow cluster holds up."""
    cancelled = threading.Event()

    def slow_cancel() -> None:
        time.sleep(0.3)
        cancelled.set()

    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    watch = stopping.UserWatch(None, None)
    with stopping.ctrl_c_ends(watch, slow_cancel):
        os.kill(os.getpid(), signal.SIGINT)
        while watch.reason() is None:
            time.sleep(0.01)
    assert cancelled.is_set()


def test_a_session_of_the_users_is_left_alone(spark: SparkSession) -> None:
    with lawful.open(spark.createDataFrame(DATA)) as table:
        assert repr(table) == "<lawful table 'dataframe': 4 rows, 4 columns, engine spark>"
        assert not table.check("zip -> city").holds
    assert spark.range(3).count() == 3
