"""One contract for all engines: local, and Spark in the four ways that people run it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clusters import Cluster

from engines.contract import CONTRACT
from engines.contract.spark import SHIPPED, encodes_like_this_process, gives_frames
from engines.contract.tables import EngineFactory, encoded, random_tasks, write_table
from lawful.common.machine import memory_bytes
from lawful.common.meanings import NullPolicy
from lawful.engines.local import LocalEngine
from lawful.engines.spark import SparkEngine
from lawful.tables.encoded_table import EncodedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Requirement = Callable[[EngineFactory, EncodedTable], None]

SCRIPT = Path(__file__).parent / "spark_conformance.py"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> EncodedTable:
    folder = tmp_path_factory.mktemp("conformance")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWFUL_CACHE", str(folder / "cache"))
        return encoded(write_table(folder, 3_000))


EXECUTORS = ["standalone", pytest.param("local-cluster", marks=pytest.mark.slow)]
"""The kinds with executors of their own; a standalone master has two processes of them, so local-cluster may wait."""


@pytest.fixture(scope="module")
def done_on(
    cluster_of: Callable[[str], Cluster], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, Any]]:
    """Run the whole script on a cluster, once: sessions, executors and their workers take long to start."""

    @cache
    def run(kind: str) -> dict[str, Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp(f"cache-{kind}")))
            parts = ["contract"] if kind == "connect" else ["contract", "kill"]
            return cluster_of(kind).run(SCRIPT, *parts, timeout=280)

    return run


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("requirement", CONTRACT, ids=lambda requirement: requirement.__name__)
def test_the_local_engine_keeps_the_contract(requirement: Requirement, threads: int, table: EncodedTable) -> None:
    requirement(lambda: LocalEngine(threads), table)


@pytest.mark.parametrize("cache_bytes", [0, 50_000])
def test_a_small_cache_changes_no_verdict(cache_bytes: int, table: EncodedTable) -> None:
    CONTRACT[0](lambda: LocalEngine(2, cache_bytes), table)


def test_a_budget_that_was_asked_for_is_never_exceeded() -> None:
    assert LocalEngine(cache_bytes=50_000).most_cache_bytes == 50_000
    assert LocalEngine().most_cache_bytes == memory_bytes() // 4


def test_relief_drops_all_partitions_and_halves_what_is_kept(table: EncodedTable) -> None:
    engine = LocalEngine(2, cache_bytes=2_000_000)
    engine.open(table, NullPolicy.EQUAL)
    list(engine.check(random_tasks(table.width, 60, seed=6)))
    assert engine._workspace is not None
    cache = engine._workspace.cache
    assert cache.stats.entries > 0
    engine.relieve()
    assert cache.stats.entries == 0
    list(engine.check(random_tasks(table.width, 240, seed=6)))
    assert 0 < cache.stats.bytes <= 1_000_000


@pytest.fixture(scope="module")
def table_on_spark(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> EncodedTable:
    folder = tmp_path_factory.mktemp("conformance")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWFUL_CACHE", str(folder / "cache"))
        return encodes_like_this_process(spark, write_table(folder, 3_000))


@pytest.mark.parametrize("requirement", CONTRACT, ids=lambda requirement: requirement.__name__)
def test_spark_below_this_process_keeps_the_contract(
    requirement: Requirement, spark: SparkSession, table_on_spark: EncodedTable
) -> None:
    requirement(lambda: SparkEngine(spark), table_on_spark)


@pytest.mark.parametrize("requirement", SHIPPED, ids=lambda requirement: requirement.__name__)
def test_so_it_does_where_workers_do_not_see_the_files_of_the_driver(
    requirement: Requirement, spark: SparkSession, table_on_spark: EncodedTable
) -> None:
    requirement(lambda: SparkEngine(spark, shares_files=False), table_on_spark)


def test_frames_of_spark_below_this_process(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    gives_frames(spark)


@pytest.mark.cluster
@pytest.mark.parametrize("kind", [*EXECUTORS, "connect"])
def test_spark_elsewhere_keeps_the_contract(kind: str, done_on: Callable[[str], dict[str, Any]]) -> None:
    assert done_on(kind)["contract"] == [requirement.__name__ for requirement in CONTRACT]


@pytest.mark.cluster
@pytest.mark.parametrize("kind", EXECUTORS)
def test_a_lost_executor_costs_no_verdict(kind: str, done_on: Callable[[str], dict[str, Any]]) -> None:
    told = done_on(kind)["kill"]
    assert told["jobs"] > 5  # so that it was killed, at the first verdict, with jobs under way and to come
    assert told["gone"]
    assert told["verdicts"] == 1_500


@pytest.mark.cluster
@pytest.mark.parametrize("kind", EXECUTORS)
def test_a_lost_executor_costs_no_pair_that_refutes(kind: str, done_on: Callable[[str], dict[str, Any]]) -> None:
    told = done_on(kind)["kill pairs"]
    assert told["jobs"] > 3  # so that it was killed with jobs under way and to come
    assert told["gone"]
    assert told["pairs"]
    assert told["same"]
