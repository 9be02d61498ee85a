"""One contract for all engines: local, and Spark in the four ways that people run it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clusters import EVERY_KIND, Cluster

from engines.conformance import CONTRACT, EngineFactory, encoded, random_tasks, write_table
from lawful.common.machine import memory_bytes
from lawful.common.meanings import NullPolicy
from lawful.engines.local import LocalEngine
from lawful.tables.encoded_table import EncodedTable

SCRIPT = Path(__file__).parent / "spark_conformance.py"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> EncodedTable:
    folder = tmp_path_factory.mktemp("conformance")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWFUL_CACHE", str(folder / "cache"))
        return encoded(write_table(folder, 3_000))


IN_REASONABLE_TIME = [
    pytest.param(
        *kind.values, id=kind.id, marks=[*kind.marks, *([pytest.mark.slow] if kind.id == "local-cluster" else [])]
    )
    for kind in EVERY_KIND
]
"""Every kind; a standalone master has two processes of executors already, so those of local-cluster may wait."""


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("requirement", CONTRACT, ids=lambda requirement: requirement.__name__)
def test_the_local_engine_keeps_the_contract(
    requirement: Callable[[EngineFactory, EncodedTable], None], threads: int, table: EncodedTable
) -> None:
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


@pytest.mark.parametrize("kind", IN_REASONABLE_TIME)
def test_spark_keeps_the_contract(
    kind: str, cluster_of: Callable[[str], Cluster], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    done: dict[str, Any] = cluster_of(kind).run(SCRIPT, "contract", timeout=280)
    assert done["contract"] == [requirement.__name__ for requirement in CONTRACT]


@pytest.mark.cluster
@pytest.mark.parametrize("kind", ["standalone", pytest.param("local-cluster", marks=pytest.mark.slow)])
def test_a_lost_executor_costs_no_verdict(
    kind: str, cluster_of: Callable[[str], Cluster], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    done: dict[str, Any] = cluster_of(kind).run(SCRIPT, "kill", timeout=280)
    assert done["kill"]["still_running_when_killed"]
    assert done["kill"]["gone"]
    assert done["kill"]["verdicts"] == 1_500
