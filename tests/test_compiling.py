"""Kernels are compiled when they are called, once; meanwhile the clock of limits stands still, and people are told."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import holds, minimal_fds, minimal_keys, violating_pairs

import lawful
from lawful.common import compiling, small_work
from lawful.common.compiled import ALL_KERNELS, compiled
from lawful.common.meanings import NULL_RANK, Measure, NullPolicy
from lawful.dependencies import FD, Key, Law, format_law
from lawful.discovery.families import discoverable
from lawful.discovery.questions import Watch
from lawful.search.kernels.sets import count_members

REPORTED = """
import atexit, json, os, sys
from lawful.cli.main import run
from lawful.common.compiled import ALL_KERNELS

def report():
    made = {f"{kernel.__module__}.{kernel.__name__}": kernel._compiled for kernel in ALL_KERNELS if kernel._compiled}
    signatures = {name: [[str(kind) for kind in each] for each in kernel.signatures] for name, kernel in made.items()}
    compiled = {name: count for name, kernel in made.items() if (count := sum(kernel.stats.cache_misses.values()))}
    with open(os.environ["REPORT"], "w") as file:
        loaded = {name: name in sys.modules for name in ("numba", "pandas")}
        json.dump({**loaded, "signatures": signatures, "compiled": compiled}, file)

atexit.register(report)
run()
"""
SMALL = "name,zip,city\nann,1,x\nbob,1,x\ncy,2,y\ndan,3,y\n"
LARGER = "a,b,c,d\n" + "".join(f"{n},{n % 7},{n % 7 % 3},{n * 5 % 11}\n" for n in range(300))


@compiled
def _doubled(number: int) -> int:
    return 2 * number


@compiled
def _doubled_twice(number: int) -> int:
    return _doubled(_doubled(number))


def run_and_report(folder: Path, *arguments: str) -> Any:
    """Run a command in a process of its own, with a kernel cache in the folder; tell what it compiled."""
    report = folder / "report.json"
    places = {"NUMBA_CACHE_DIR": "kernels", "LAWFUL_CACHE": "cache", "REPORT": report.name}
    environment = os.environ | {name: str(folder / place) for name, place in places.items()}
    command = [sys.executable, "-c", REPORTED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(report.read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.csv").write_text(SMALL)
    (tmp_path / "larger.csv").write_text(LARGER)
    return tmp_path


def test_kernels_that_call_each_other_are_compiled_at_the_first_call() -> None:
    kernel = next(kernel for kernel in ALL_KERNELS if kernel is _doubled_twice)
    assert kernel._compiled is None
    assert _doubled_twice(3) == 12
    assert len(kernel._compiled.signatures) == 1
    assert _doubled_twice(4) == 16
    assert len(kernel._compiled.signatures) == 1


def test_a_kernel_is_sent_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(count_members)) is count_members


def test_the_clock_stands_still_while_kernels_are_compiled() -> None:
    count_members(np.zeros((1, 1), np.uint64))  # with it comes Numba
    from numba.core.event import trigger_event

    first, told = compiling.working_seconds(), []
    with compiling.told_of_compiling(told.append):
        with trigger_event("numba:compile"):
            begun = compiling.working_seconds()
            time.sleep(0.002)
            with trigger_event("numba:compile"):
                time.sleep(0.002)
            compiled_by = compiling.working_seconds()
        assert told == [True, False]
    time.sleep(0.002)
    assert first <= begun
    assert compiled_by == pytest.approx(begun, abs=1e-9)
    assert compiling.working_seconds() >= compiled_by + 0.002


def test_compiling_does_not_count_against_a_limit() -> None:
    watch = Watch(seconds=0.05)
    compiling.begin()
    try:
        time.sleep(0.1)
        assert watch.reason() is None
    finally:
        compiling.end()
    assert watch.reason() is None
    time.sleep(0.06)
    assert watch.reason() == "the time limit of 0.05 s is reached"


@pytest.mark.parametrize(
    "arguments",
    [
        ("discover", "small.csv"),
        ("discover", "larger.csv"),
        ("check", "small.csv", "--laws", "zip -> name"),
        ("profile", "small.csv"),
    ],
)
def test_small_tables_need_neither_a_compiler_nor_pandas(folder: Path, arguments: tuple[str, ...]) -> None:
    report = run_and_report(folder, *arguments)
    assert (report["numba"], report["pandas"]) == (False, False)


def test_while_something_large_is_done_nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_work, "most_cells", 10)
    with small_work.of(2, 5, runs_in_python=True):
        assert small_work.is_small()
        with small_work.of(3, 5, runs_in_python=True):
            assert not small_work.is_small()
        assert small_work.is_small()
        with small_work.of(1, 1, runs_in_python=False):
            assert not small_work.is_small()
    assert not small_work.is_small()


def _work(seconds: float) -> None:
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        pass


def test_what_takes_long_in_python_is_compiled_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_work, "most_cells", 10)
    monkeypatch.setattr(small_work, "_SECONDS", 0.01)
    with small_work.of(1, 1, runs_in_python=True):
        small_work.run_in_python(_work, (0.02,), {})
        assert not small_work.is_small()
    with small_work.of(1, 1, runs_in_python=True):
        assert small_work.is_small()


WAYS = st.sampled_from(
    [("auto", 0.0, "g1"), ("full", 0.0, "g1"), ("hybrid", 0.0, "g1"), ("auto", 0.1, "g1"), ("auto", 0.1, "g3")]
)
CELL = st.one_of(st.none(), st.integers(0, 3))
Shape = tuple[int, list[tuple[int | None, ...]]]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """The number of columns, and rows."""
    width = draw(st.integers(1, 6))
    return width, draw(st.lists(st.tuples(*[CELL] * width), max_size=12))


@contextmanager
def in_python() -> Iterator[None]:
    """Run the kernels of small tables in Python, also those that this process has compiled."""
    made = [(kernel, kernel._compiled) for kernel in ALL_KERNELS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_work, "most_cells", 600)
        patch.setattr(small_work, "_SECONDS", 1e9)
        for kernel, _ in made:
            kernel._compiled = None
        try:
            yield
            assert [kernel.py_func.__name__ for kernel in ALL_KERNELS if kernel._compiled is not None] == []
        finally:
            for kernel, dispatcher in made:
                kernel._compiled = dispatcher


@given(shapes(), st.sampled_from(NullPolicy), WAYS)
@settings(max_examples=150, deadline=None)
def test_small_tables_have_the_same_laws_in_python(
    shape: Shape, policy: NullPolicy, way: tuple[str, float, Measure]
) -> None:
    (width, rows), (strategy, error, measure) = shape, way
    names = [f"c{number}" for number in range(width)]
    columns = {name: pa.array([row[number] for row in rows], pa.int64()) for number, name in enumerate(names)}
    with in_python():
        found = lawful.discover(
            pa.table(columns), null=policy.value, error=error, measure=measure, strategy=strategy
        ).to_dict()
    ranks = [[NULL_RANK if cell is None else cell + 1 for cell in row] for row in rows]
    expected: dict[Any, float] = minimal_keys(ranks, width, policy, allowed=error, measure=measure)  # type: ignore[assignment]
    expected |= minimal_fds(ranks, width, policy, allowed=error, measure=measure)
    assert {law["text"] for law in found["dependencies"]} == {format_law(law, names) for law in expected}


@given(shapes(), st.sampled_from(NullPolicy))
@settings(max_examples=60, deadline=None)
def test_small_tables_have_the_same_strongest_laws_in_python(shape: Shape, policy: NullPolicy) -> None:
    width, rows = shape
    columns = {f"c{n}": pa.array([row[n] for row in rows], pa.int64()) for n in range(width)}
    with in_python():
        found = lawful.strongest(pa.table(columns), null=policy.value).to_dict()["dependencies"]
    assert found == lawful.strongest(pa.table(columns), null=policy.value).to_dict()["dependencies"]


@pytest.mark.parametrize("policy", NullPolicy)
def test_a_hundred_rows_have_the_same_strongest_laws_in_python(policy: NullPolicy) -> None:
    random = np.random.default_rng(3)
    group = random.integers(0, 9, 120)
    numbers = {"id": np.arange(120), "day": np.arange(120) // 4, "group": group, "town": group // 2, "x": group * 3}
    columns = {name: pa.array(values) for name, values in numbers.items()}
    columns["y"] = pa.array(np.where(random.random(120) < 0.03, 0, group * 5), mask=random.random(120) < 0.1)
    with in_python():
        found = lawful.strongest(pa.table(columns), null=policy.value).to_dict()["dependencies"]
    assert found == lawful.strongest(pa.table(columns), null=policy.value).to_dict()["dependencies"] != []


@given(shapes(), st.sampled_from(NullPolicy), st.data())
@settings(max_examples=100, deadline=None)
def test_laws_on_small_tables_are_judged_the_same_in_python(
    shape: Shape, policy: NullPolicy, data: st.DataObject
) -> None:
    width, rows = shape
    names = [f"c{number}" for number in range(width)]
    some = st.lists(st.integers(0, width - 1), max_size=width, unique=True).map(lambda each: tuple(sorted(each)))
    right = data.draw(st.integers(0, width - 1))
    left = tuple(column for column in data.draw(some) if column != right)
    laws: list[Law] = [Key(data.draw(some)), FD(left, right)]
    columns = {name: pa.array([row[number] for row in rows], pa.int64()) for number, name in enumerate(names)}
    with in_python():
        judged = lawful.check(pa.table(columns), [format_law(law, names) for law in laws], null=policy.value)
    ranks = [[NULL_RANK if cell is None else cell + 1 for cell in row] for row in rows]
    assert [outcome.holds for outcome in judged.outcomes] == [holds(law, ranks, policy) for law in laws]
    assert [outcome.pairs for outcome in judged.outcomes] == [len(violating_pairs(law, ranks, policy)) for law in laws]


def test_no_kernel_is_compiled_twice_for_one_kind_of_arrays(folder: Path) -> None:
    """Arrays that differ only in their layout, or in whether they may be written to, are made alike before."""
    signatures = run_and_report(folder, "discover", "larger.csv", "--exact")["signatures"]
    assert signatures
    for kernel, each in signatures.items():
        alike = Counter(re.sub(r"'[ACF]', (True|False)", "", str(kinds)) for kinds in each)
        assert set(alike.values()) <= {1}, (kernel, each)


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_warm_up_leaves_nothing_to_compile(folder: Path) -> None:
    assert run_and_report(folder, "warm-up")["compiled"]
    assert run_and_report(folder, "warm-up")["compiled"] == {}
    for kind in discoverable():
        assert run_and_report(folder, "discover", "larger.csv", "--find", kind)["compiled"] == {}, kind
    laws = ["--laws", "b -> c", "--laws", "key(a)", "--laws", "{b}: a asc ~ d asc", "--laws", "[a] -> [c]"]
    assert run_and_report(folder, "check", "larger.csv", *laws)["compiled"] == {}
    assert run_and_report(folder, "explain", "larger.csv", "b -> d")["compiled"] == {}
