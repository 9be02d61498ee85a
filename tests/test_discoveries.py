"""A discovery from request to report: limits, the partial file, ranking, the document, and every way to run it."""

from __future__ import annotations

import json
import signal
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from discovered_tables import TABLE, slow_table
from opened_runs import open_run
from pyarrow import csv

import lawful
from lawful.common.errors import EngineError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.common.memory import resident_bytes
from lawful.dependencies import FD, NamedLaw
from lawful.dependencies.laws import OPERATORS
from lawful.discovery.own_families import operators_of
from lawful.results import DiscoveryReport
from lawful.runs import stopping
from lawful.runs.discover import discover_laws
from lawful.runs.partial_files import PartialFile
from lawful.runs.request import Request, families_of
from lawful.runs.run import Progress, Where
from lawful.runs.stopping import interrupt
from lawful.tables.options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("LAWFUL_CACHE", str(folder))
    return folder


def _discover(
    source: Any,
    request: Request,
    progress: Progress = lambda _: None,
    partial: PartialFile | None = None,
    null: NullPolicy = NullPolicy.EQUAL,
) -> DiscoveryReport:
    with open_run(source, ReadOptions(), Where("local"), null) as run:
        return discover_laws(run, request, progress, partial)


def _texts(report: DiscoveryReport) -> list[str]:
    return [found.text for found in report]


# What is asked


def test_families_are_read_from_texts_and_lists() -> None:
    assert families_of("key,fd") == families_of(["key", "fd"]) == families_of(" key , fd,key,") == ("key", "fd")
    assert families_of("") == families_of([]) == ()


def test_operators_are_read_for_all_columns_and_for_one() -> None:
    assert operators_of(["=, !=", "net salary:<,<=", "a:b:none"]) == (
        ("=", "!="),
        {"net salary": ("<", "<="), "a:b": ()},
    )
    assert operators_of(["none", "a:="]) == ((), {"a": ("=",)})
    assert operators_of(["=", "!="]) == operators_of("=,!=") == (("=", "!="), {})
    assert operators_of([]) == (OPERATORS, {})
    with pytest.raises(UsageError, match="salary:none"):
        operators_of(["salary:"])


def test_operators_of_single_columns_are_among_the_settings(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,1\n3,1\n")
    report = lawful.discover(tmp_path / "t.csv", "dc", operators=["=", "b:<"], reuse=False)
    assert report.to_dict()["settings"]["dc"]["operators"] == ["=", "b:<"]
    assert _texts(report) == ["not(t.a = s.a)"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"find": "pod", "strategy": "lattice"}, "no strategy for these laws"),
        ({"find": ["fds"]}, "unknown kind of law 'fds'"),
        ({"find": []}, "no kind of law is asked for"),
        ({"error": 1.0}, r"must lie in \[0, 1\)"),
        ({"error": 0.1, "strategy": "hybrid"}, "only for laws that hold"),
        ({"measure": "g5"}, "unknown measure"),
        ({"max_size": -1}, "must not be negative"),
        ({"min_interest": 1.5}, "least interest"),
        ({"time_limit": 0}, "must be positive"),
        ({"memory_limit": "64m"}, "too small"),
        ({"memory_limit": 1 << 20}, "too small"),
        ({"seed": -1}, "seed must not be negative"),
        ({"strategy": "fast"}, "an unknown strategy"),
        ({"null": "none"}, "unknown null policy"),
        ({"columns": ["c1", "c99"]}, "has no column 'c99'"),
        ({"max_siz": 3}, r"discover\(\) has no argument 'max_siz'\nDid you mean max_size"),
        ({"unidirectional": True}, "^unidirectional is for list-od only"),
    ],
)
def test_requests_that_make_no_sense_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        lawful.discover(TABLE, **wrong)


# What is found


def test_every_law_holds_and_is_minimal() -> None:
    for null in ("equal", "ignore"):
        report = lawful.discover(TABLE, null=null)
        laws = [found.law.on(TABLE.column_names) for found in report]
        assert report.complete
        assert "half" in {TABLE.column_names[law.rhs] for law in laws if isinstance(law, FD)}
        assert lawful.check(TABLE, report, null=null).holds
        smaller = {
            NamedLaw(FD(tuple(c for c in law.lhs if c != dropped), law.rhs), tuple(TABLE.column_names))
            for law in laws
            if isinstance(law, FD)
            for dropped in law.lhs
        }
        assert not any(outcome.holds for outcome in lawful.check(TABLE, smaller, null=null).outcomes)


@pytest.mark.parametrize("strategy", ["full", "hybrid"])
@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_every_seed_and_strategy_gives_the_same_laws(strategy: Any, null: str) -> None:
    expected = set(_texts(lawful.discover(TABLE, null=null)))
    for seed in (0, 1, 99):
        assert set(_texts(lawful.discover(TABLE, null=null, strategy=strategy, seed=seed))) == expected


def test_the_same_seed_gives_the_same_order() -> None:
    full, hybrid = (lawful.discover(TABLE, strategy=strategy, seed=5) for strategy in ("full", "hybrid"))
    assert list(full) == list(hybrid)


_WITHIN_AN_ERROR = {"error": 0.02, "measure": "g3", "max_size": 3}


@pytest.mark.parametrize("more", [{}, {"null": "ignore"}, pytest.param(_WITHIN_AN_ERROR, marks=pytest.mark.cluster)])
def test_spark_finds_what_this_process_finds(spark: SparkSession, tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "t.csv"
    csv.write_csv(TABLE, path)
    strategies = [{}] if "error" in more else [{"strategy": "full"}, {"strategy": "hybrid"}]
    for strategy in strategies:
        here = lawful.discover(path, engine="local", **more, **strategy)
        there = lawful.discover(path, spark=spark, **more, **strategy)
        assert (here.settings["engine"], there.settings["engine"]) == ("local", "spark")
        assert here.to_dict()["dependencies"] == there.to_dict()["dependencies"]
        assert len(here) > 5
        assert here.complete
        assert there.complete


def test_a_spark_dataframe(spark: SparkSession) -> None:
    report = lawful.discover(spark.createDataFrame(TABLE), "fd", max_size=1)
    assert report.settings["engine"] == "spark"
    assert _texts(report) == _texts(lawful.discover(TABLE, "fd", max_size=1))


# Ranking


def test_interest_is_the_coverage() -> None:
    for found in lawful.discover(TABLE):
        names = found.law.columns if found.law.kind == "key" else found.law.to_dict()["lhs"]
        sizes = TABLE.group_by(names).aggregate([([], "count_all")])["count_all"].to_numpy().astype(float)
        assert found.interest == pytest.approx((sizes**2).sum() / TABLE.num_rows**2, rel=0.2, abs=2e-4)


def test_a_report_is_in_the_order_of_the_ranking() -> None:
    report = lawful.discover(TABLE, error=0.01)
    ranks = [
        (
            found.law.kind == "fd",
            -found.strength,
            -found.interest,
            len(found.law.columns) - (found.law.kind == "fd"),
            found.error,
        )
        for found in report
    ]
    assert all(first <= second for first, second in pairwise(ranks))
    assert {found.error for found in report} > {0.0}


def test_less_interesting_laws_are_left_out() -> None:
    everything, some = lawful.discover(TABLE), lawful.discover(TABLE, min_interest=0.01)
    assert _texts(some) == [found.text for found in everything if found.interest >= 0.01]
    assert 0 < len(some) < len(everything)
    counts = dict(some.counts)
    assert counts.pop("left_out") == len(everything) - len(some)
    assert counts == everything.counts


# Limits


AT_ONCE = {"{} -> constant", "c11 -> twin", "twin -> c11"}


@pytest.mark.parametrize("strategy", ["full", "hybrid"])
def test_a_time_limit(strategy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_GRACE", 200.0)  # however busy the machine is, what is certain at once is stated
    report = _discover(slow_table(), Request(time_limit=0.05, strategy=strategy))
    assert not report.complete
    assert report.stopped_because == "the time limit of 0.05 s is reached"
    assert set(_texts(report)) >= AT_ONCE
    assert report.to_dict()["stopped"] == report.stopped_because
    assert lawful.check(slow_table(), _texts(report)).holds


def test_a_memory_limit() -> None:
    # More than the table and the allowance for work, less than this process has in use already.
    limit = (60_000 * 14 * 4) + (64 << 20)
    assert resident_bytes() > limit
    report = _discover(slow_table(), Request(memory_limit=limit))
    assert report.stopped_because == f"the memory limit of {limit >> 20} MB is reached"
    assert set(_texts(report)) >= AT_ONCE


def test_generous_limits_change_nothing() -> None:
    limited = _discover(TABLE, Request(time_limit=1e9, memory_limit=1 << 50, max_size=99))
    assert limited.complete
    assert _texts(limited) == _texts(lawful.discover(TABLE))


def test_the_first_ctrl_c_ends_with_what_is_certain() -> None:
    before = signal.getsignal(signal.SIGINT)
    told: list[str] = []

    def interrupt_when_searching(words: str) -> None:
        told.append(words)
        if "comparing all pairs" in words:
            signal.raise_signal(signal.SIGINT)

    report = _discover(slow_table(), Request(strategy="full"), interrupt_when_searching)
    assert (report.complete, report.stopped_because) == (False, "the user stopped it")
    assert set(_texts(report)) == AT_ONCE
    assert signal.getsignal(signal.SIGINT) is before
    assert told[-1] == "ranking what was found"


@pytest.mark.parametrize("is_interrupt", [True, False])
def test_a_sigterm_ends_as_ctrl_c_does_where_it_interrupts(is_interrupt: bool) -> None:
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, interrupt if is_interrupt else lambda number, _: told.append(number))

    def terminate_when_searching(words: str) -> None:
        if "comparing all pairs" in words:
            signal.raise_signal(signal.SIGTERM)
            while not told and signal.getsignal(signal.SIGTERM) is not interrupt:  # until the main thread has seen it
                time.sleep(0.01)

    try:
        report = _discover(slow_table(2_000), Request(strategy="full"), terminate_when_searching)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert report.stopped_because == ("the user stopped it" if is_interrupt else None)
    assert told == ([] if is_interrupt else [signal.SIGTERM])


def test_ctrl_c_while_spark_compares_pairs(spark: SparkSession) -> None:
    before = signal.getsignal(signal.SIGINT)
    main = threading.get_ident()

    def interrupt_soon(words: str) -> None:
        if "comparing all pairs" in words:
            threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT)).start()

    with open_run(slow_table(90_000), ReadOptions(), Where(spark=spark)) as run:
        report = discover_laws(run, Request(strategy="full"), interrupt_soon)
    assert (report.complete, report.stopped_because) == (False, "the user stopped it")
    assert set(_texts(report)) == AT_ONCE
    assert report.seconds["discover"] < 60
    assert spark.range(3).count() == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_ctrl_c_breaks_off() -> None:
    before = signal.getsignal(signal.SIGINT)

    def interrupt_twice(words: str) -> None:
        if "comparing all pairs" in words:
            signal.raise_signal(signal.SIGINT)
            while signal.getsignal(signal.SIGINT) is not before:  # until the main thread has seen the first
                time.sleep(0.01)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        _discover(slow_table(), Request(strategy="full"), interrupt_twice)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_discovery_in_another_thread() -> None:
    found: list[DiscoveryReport] = []
    thread = threading.Thread(target=lambda: found.append(lawful.discover(TABLE)))
    thread.start()
    thread.join()
    assert _texts(found[0]) == _texts(lawful.discover(TABLE))


def test_want_of_memory_keeps_what_was_found() -> None:
    def out_of_memory(words: str) -> None:
        if "comparing all pairs" in words:
            raise MemoryError

    report = _discover(slow_table(), Request(strategy="full"), out_of_memory)
    assert (report.complete, report.stopped_because) == (False, "there is not enough memory")
    assert set(_texts(report)) == AT_ONCE


def test_a_job_that_was_cut_off_is_a_stop_and_any_other_failure_is_not() -> None:
    def fail(words: str) -> None:
        if "comparing all pairs" in words:
            raise EngineError("the job was cut off")

    def stop_and_fail(words: str) -> None:
        if "comparing all pairs" in words:
            signal.raise_signal(signal.SIGINT)
        fail(words)

    report = _discover(slow_table(), Request(strategy="full"), stop_and_fail)
    assert report.stopped_because == "the user stopped it"
    assert set(_texts(report)) == AT_ONCE
    with pytest.raises(EngineError, match="cut off"):
        _discover(slow_table(), Request(strategy="full"), fail)


# The partial file


@pytest.mark.parametrize("request_", [Request(), Request(strategy="hybrid"), Request(error=0.01)])
def test_the_partial_file_grows_to_all_laws(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "laws.json.partial"
    lengths: list[int] = []
    with PartialFile(tmp_path / "laws.json") as partial:
        report = _discover(TABLE, request_, lambda _: lengths.append(path.read_text().count("\n")), partial)
    assert lengths == sorted(lengths)
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(written) == sorted(_texts(report))
