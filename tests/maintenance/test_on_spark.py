"""States on Spark: the same laws, counts and changes as this process finds, wherever rows come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from clusters import Cluster

import lawful
from lawful.common.meanings import NullPolicy
from lawful.engines.local import LocalEngine
from lawful.engines.spark import SparkEngine
from lawful.maintenance import engine_pairs
from lawful.runs.state_engines import _OnViews
from lawful.tables.shown_rows import Shown
from maintenance.states_on_spark import compared_batches, rows_of_numbers, same_states

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.cluster  # takes long

SCRIPT = Path(__file__).parent / "states_on_spark.py"
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def every_batch_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Let Spark compare every batch; gives how many rows it was asked to compare with all, call by call."""
    monkeypatch.setattr(engine_pairs, "WORTH_THE_ENGINE", 0)
    asked: list[int] = []
    compare = SparkEngine.agree_sets

    def told(self: SparkEngine, *arguments: Any, **named: Any) -> Any:
        asked.append(len(named["rows"]) if named.get("rows") is not None else -1)
        return compare(self, *arguments, **named)

    monkeypatch.setattr(SparkEngine, "agree_sets", told)
    return asked


def frame_of(spark: SparkSession, rows: list[tuple[int | None, ...]]) -> DataFrame:
    return spark.createDataFrame(rows, ", ".join(f"{name} bigint" for name in NAMES))


@pytest.mark.parametrize("null", [policy.value for policy in NullPolicy])
@pytest.mark.parametrize("evidence", ["counted", "witnesses"])
def test_a_state_on_spark_is_the_state_of_this_process(
    evidence: str, null: str, spark: SparkSession, tmp_path: Path, every_batch_is_large: list[int]
) -> None:
    compared_batches(spark, tmp_path, evidence, null)
    assert every_batch_is_large  # Spark did compare


@pytest.mark.parametrize("null", [policy.value for policy in NullPolicy])
@pytest.mark.parametrize("find", [("pod",), ("key", "fd", "pod")])
def test_a_state_on_spark_has_the_pointwise_laws_of_this_process(
    find: tuple[str, ...], null: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_pairs, "WORTH_THE_ENGINE", 0)
    asked: list[int] = []
    compare = SparkEngine.refuting_pairs

    def told(self: SparkEngine, laws: Any, rows: Any, should_stop: Any) -> Any:
        asked.append(len(rows))
        return compare(self, laws, rows, should_stop)

    monkeypatch.setattr(SparkEngine, "refuting_pairs", told)
    compared_batches(spark, tmp_path, "witnesses" if len(find) > 1 else "auto", null, find)
    assert asked  # Spark did compare


def test_small_batches_are_compared_here(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a small batch was sent to Spark")

    monkeypatch.setattr(SparkEngine, "agree_sets", refuse)
    compared_batches(spark, tmp_path, "counted", "equal")


def test_batches_come_from_frames_tables_and_queries(
    spark: SparkSession, tmp_path: Path, every_batch_is_large: list[int]
) -> None:
    first, second, third = (rows_of_numbers(seed, count) for seed, count in ((1, 60), (2, 20), (3, 15)))
    frame_of(spark, second).createOrReplaceTempView("come")
    frame_of(spark, first[10:14]).createOrReplaceTempView("leave")
    changes = [*((*row, "+") for row in third), *((*row, "-") for row in second[:5])]
    columns = ", ".join(f"{name} bigint" for name in NAMES)
    spark.createDataFrame(changes, f"{columns}, _op string").createOrReplaceTempView("changes")
    with (
        lawful.make_state(tmp_path / "there", frame_of(spark, first), spark=spark) as there,
        lawful.make_state(tmp_path / "here", table_of(first), engine="local") as here,
    ):
        same_states(there, here)
        there.apply(frame_of(spark, second), frame_of(spark, first[:7]))
        here.apply(table_of(second), table_of(first[:7]))
        same_states(there, here)
        there.apply("table:come", "table:leave")
        here.apply(table_of(second), table_of(first[10:14]))
        same_states(there, here)
        there.apply("sql:select * from come where a > 1", "sql:select * from come where b > 1")
        here.apply(
            table_of([row for row in second if (row[0] or 0) > 1]),
            table_of([row for row in second if (row[1] or 0) > 1]),
        )
        same_states(there, here)
        there.apply(changes="sql:select * from changes")
        here.apply(table_of(third), table_of(second[:5]))
        same_states(there, here)
    assert every_batch_is_large


def test_a_frame_brings_its_session_where_none_is_named(
    spark: SparkSession, tmp_path: Path, every_batch_is_large: list[int]
) -> None:
    rows = rows_of_numbers(4, 40)
    with lawful.make_state(tmp_path / "state", table_of(rows[:30]), evidence="counted") as state:
        state.apply(table_of(rows[30:35]))
        assert every_batch_is_large == []
        state.apply(frame_of(spark, rows[35:]))
        assert every_batch_is_large == [5]
        assert state.described(verify=True).differences == []


def table_of(rows: list[tuple[int | None, ...]]) -> pa.Table:
    return pa.table({name: pa.array([row[n] for row in rows], pa.int64()) for n, name in enumerate(NAMES)})


@pytest.mark.cluster  # takes long
def test_pins_of_other_families_are_checked_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    pins = [
        "{c}: a ~ b",
        "not(t.a = s.a and t.b < s.b and t.d > s.d)",
        "not(t.a > t.b)",
        "key(a, b, d)",
    ]
    first = [(n // 4, n // 3, n % 2, n) for n in range(24)]
    with (
        lawful.make_state(tmp_path / "there", table_of(first), pins=pins, engine="spark", spark=spark) as there,
        lawful.make_state(tmp_path / "here", table_of(first), pins=pins, engine="local") as here,
    ):
        for come in ([(6, 8, 0, 24)], [(0, 9, 0, 1), (9, 0, 0, 2), (7, 8, 1, 0)]):
            there_pins, here_pins = (state.apply(table_of(come)).pins for state in (there, here))
            assert [(pin.law, pin.holds, pin.violating) for pin in there_pins] == [
                (pin.law, pin.holds, pin.violating) for pin in here_pins
            ]
        assert [pin.holds for pin in there_pins] == [False, False, False, True]


def test_places_values_and_types_survive_the_way_to_workers(spark: SparkSession, tmp_path: Path) -> None:
    """A view that is written for workers shows what the state's own view does, and every row at its file and line."""
    head = "when,amount,name,flag\n"
    (tmp_path / "first.csv").write_text(head + "2024-01-02,1.50,ä,true\n2024-01-01,-2,b,false\n2024-01-01,,b,true\n")
    (tmp_path / "more.csv").write_text(head + "2023-12-31,10,a,true\n2024-01-01,2.25,,false\n")
    with lawful.make_state(tmp_path / "state", tmp_path / "first.csv", engine="local") as state:
        state.apply(tmp_path / "more.csv", delete_ids=[0])
        view, everything = state.table, Shown((0, 1, 2, 3), True)
        for null in NullPolicy:
            engine = _OnViews(SparkEngine(spark))
            engine.open(view, null)
            written = engine._engine._jobs.table
            assert written.columns == view.columns
            assert [written.place(row) for row in range(4)] == [view.place(row) for row in range(4)]
            for position in range(view.width):
                assert np.array_equal(written.column(position), view.column(position))
                assert written.values(position).equals(view.values(position))
            here = LocalEngine(threads=1)
            here.open(view, null)
            law = lawful.read_laws("when -> amount").laws(view.names)[0]
            shown, expected = (pa.Table.from_batches(each.violations(law, everything)) for each in (engine, here))
            assert shown.to_pylist() == expected.to_pylist()
            places = {(Path(row["file"]).name, row["number"]) for row in shown.to_pylist()}
            assert (
                {("first.csv", 3), ("more.csv", 3)} <= places <= {("first.csv", 3), ("first.csv", 4), ("more.csv", 3)}
            )
            engine.close()


@pytest.mark.cluster
@pytest.mark.parametrize("kind", ["connect", pytest.param("local-cluster", marks=pytest.mark.slow)])
def test_states_on_clusters_and_on_connect(kind: str, cluster_of: Callable[[str], Cluster]) -> None:
    assert cluster_of(kind).run(SCRIPT, "batches", timeout=280) == {"batches": "the same"}


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local-cluster", "connect"])
def test_laws_of_a_spread_state_on_clusters_and_on_connect(kind: str, cluster_of: Callable[[str], Cluster]) -> None:
    assert cluster_of(kind).run(SCRIPT, "spread", timeout=580) == {"spread": "the same"}


@pytest.mark.cluster
@pytest.mark.slow
def test_a_lost_executor_costs_no_law(cluster_of: Callable[[str], Cluster]) -> None:
    done = cluster_of("local-cluster").run(SCRIPT, "kill", timeout=280)
    assert done["kill"]["still_running_when_killed"]
    assert done["kill"]["gone"]
    assert done["kill"]["differences"] == []
