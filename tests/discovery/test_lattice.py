"""Canonical order dependencies by the lattice: against brute force, against the other strategy, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canonical_oracle import minimal_canonical_laws
from checks.tables import POLICIES, ArrayTable, large_table, tables, with_twins
from clusters import Cluster
from discovered_tables import TABLE, slow_table
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import NullPolicy
from lawful.common.memory import resident_bytes
from lawful.dependencies import FD, Law
from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.lattice import discover_by_lattice
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.search import pack_sets
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZES = st.sampled_from([None, 0, 1, 2])


def run(table: ArrayTable, question: CanonicalQuestion, samples: bool = True, engine: Engine | None = None) -> Findings:
    engine = engine or LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    emitted = []
    found = discover_by_lattice(Search(table, engine, emit=emitted.append), question, samples=samples)
    engine.close()
    stated = [*found.blocks, *found.listings]
    assert sorted(map(id, emitted)) == sorted(map(id, stated))
    assert found.complete
    return found


def by_evidence(table: ArrayTable, question: CanonicalQuestion) -> list[Law]:
    engine = LocalEngine(threads=2)
    engine.open(table, question.null_policy)
    return laws(discover_by_evidence(Search(table, engine), question))


def laws(found: Findings) -> list[Law]:
    stated = [law for part in (*found.blocks, *found.listings) for law in part.laws()]
    assert len(stated) == len(set(stated))
    return stated


def context_of(law: Law) -> tuple[int, ...]:
    return law.lhs if isinstance(law, FD) else law.context


@given(st.data(), POLICIES, st.booleans(), SIZES)
def test_exactly_the_minimal_laws_are_found(
    data: st.DataObject, policy: NullPolicy, samples: bool, largest: int | None
) -> None:
    table = with_twins(data.draw(tables(max_rows=8, max_width=4)), data.draw)
    found = laws(run(table, CanonicalQuestion(policy, largest), samples))
    assert set(found) == minimal_canonical_laws(table.as_rows(), table.width, policy, largest=largest)


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("samples", [True, False])
def test_both_strategies_find_the_same_laws(policy: NullPolicy, samples: bool) -> None:
    table = large_table(seed=5, rows=3_000)
    question = CanonicalQuestion(policy)
    found = run(table, question, samples)
    assert set(laws(found)) == set(by_evidence(table, question))
    assert found.counts["checks"] > 20
    assert found.counts["refuted"] > 0 or samples


@given(st.data(), POLICIES, st.sampled_from([0.05, 0.2, 0.4, 0.8]))
def test_an_interest_threshold_takes_away_the_laws_below_it_and_no_others(
    data: st.DataObject, policy: NullPolicy, least: float
) -> None:
    table = data.draw(tables(max_rows=8, max_width=4))
    found = set(laws(run(table, CanonicalQuestion(policy, min_interest=least))))
    everything = sorted(minimal_canonical_laws(table.as_rows(), table.width, policy), key=repr)
    covered = Coverage(table, policy, range(table.width)).of(pack_sets(map(context_of, everything), table.width))
    assert found == {law for law, share in zip(everything, covered.tolist(), strict=True) if share >= least}


def test_a_limit_ends_the_search_with_laws_that_are_all_right() -> None:
    table = encode_in_process(slow_table(), ReadOptions())
    engine = LocalEngine(threads=2)
    engine.open(table, NullPolicy.EQUAL)
    question = CanonicalQuestion()
    cut = discover_by_lattice(Search(table, engine, Watch(1.0)), question)
    assert not cut.complete
    assert cut.stopped_because == "the time limit of 1 s is reached"
    stated = laws(cut)
    assert len(stated) > 2
    assert set(stated) < set(laws(run(table, question)))


def test_little_memory_takes_partitions_and_no_laws() -> None:
    table = encode_in_process(slow_table(2_000), ReadOptions())
    roomy = LocalEngine(threads=2)
    expected = set(laws(run(table, CanonicalQuestion(), samples=False, engine=roomy)))
    tight = LocalEngine(threads=2)
    tight.open(table, NullPolicy.EQUAL)
    # So close to the limit from the start that partitions are dropped all the time, but the limit is not reached.
    watch = Watch(None, int(1.1 * resident_bytes()) + (16 << 20))
    question = CanonicalQuestion(partition_chain=2)
    found = discover_by_lattice(Search(table, tight, watch), question, samples=False)
    assert tight._cache_bytes < 64 << 20 < roomy._cache_bytes
    if found.complete:  # other tests of this process may have left it little room
        assert set(laws(found)) == expected
    else:
        assert "memory limit" in found.stopped_because
        assert set(laws(found)) < expected


def test_no_memory_ends_the_search_with_what_is_known() -> None:
    table = encode_in_process(slow_table(2_000), ReadOptions())
    engine = LocalEngine(threads=2)
    engine.open(table, NullPolicy.EQUAL)
    found = discover_by_lattice(Search(table, engine, Watch(None, 1 << 20)), CanonicalQuestion())
    assert not found.complete
    assert found.stopped_because == "the memory limit of 1 MB is reached"
    assert set(laws(found)) >= {FD((), 13), FD((11,), 12), FD((12,), 11)}  # a constant and twins


def test_cancelling_the_engine_ends_the_search() -> None:
    table = encode_in_process(slow_table(), ReadOptions())
    engine = LocalEngine(threads=2)
    engine.open(table, NullPolicy.EQUAL)

    def cancel_once_busy(message: str) -> None:
        if "jobs done" in message:
            engine.cancel()

    found = discover_by_lattice(Search(table, engine, progress=cancel_once_busy), CanonicalQuestion())
    assert not found.complete
    assert found.stopped_because == "the checks were cancelled"


def test_spark_finds_what_this_process_finds(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lawful.engines.spark import SparkEngine
    from lawful.tables.spark_pipeline import encode_on_spark

    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    table = encode_on_spark(spark, spark.createDataFrame(TABLE.to_pandas()), ReadOptions(), reuse=False)
    question = CanonicalQuestion(max_size=2)
    found = run(table, question, samples=False, engine=SparkEngine(spark))
    assert found.counts["refuted"] > 0
    assert set(laws(found)) == set(by_evidence(table, question))


FAULTS = Path(__file__).parent / "lattice_faults.py"


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.parametrize("kind", ["standalone", "local-cluster"])
def test_a_lost_executor_costs_no_law(
    kind: str, cluster_of: Callable[[str], Cluster], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    told: dict[str, Any] = cluster_of(kind).run(FAULTS, "executor", timeout=280)
    assert told["same"]
    assert told["found"] > 20
    assert told["gone"]
    assert told["killed_after"] < told["jobs"]


@pytest.mark.slow
@pytest.mark.cluster
def test_a_worker_may_join_and_leave(
    cluster_of: Callable[[str], Cluster], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    told: dict[str, Any] = cluster_of("standalone").run(FAULTS, "worker", timeout=280)
    assert told["same"]
    assert told["executors"] == [2, 3, 2]
    assert told["joined_after"] < told["left_after"] < told["jobs"]


@pytest.mark.slow
@pytest.mark.cluster
def test_a_killed_driver_of_a_cluster_is_resumed(
    cluster_of: Callable[[str], Cluster], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    told: dict[str, Any] = cluster_of("standalone").run(FAULTS, "driver", timeout=280)
    assert told["same"]
    assert told["was_running"]
    assert told["remembered"] > 50
