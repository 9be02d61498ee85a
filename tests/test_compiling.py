"""Kernels are compiled when they are called, once; meanwhile the clock of limits stands still, and people are told."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lawful.common import compiling, small_work
from lawful.common.compiled import ALL_KERNELS, compiled, compiled_here
from lawful.discovery.questions import Watch
from lawful.search.kernels.sets import count_members
from oracle import minimal_keys_and_fds

import lawful

REPORT = """
import atexit, json, sys
def report():
    from lawful.common.compiled import ALL_KERNELS
    made = {f"{kernel.__module__}.{kernel.__name__}": kernel._compiled for kernel in ALL_KERNELS if kernel._compiled}
    signatures = {name: [str(each) for each in kernel.signatures] for name, kernel in made.items()}
    compiled = {name: sum(kernel.stats.cache_misses.values()) for name, kernel in made.items()}
    with open(sys.argv.pop(), "w") as file:
        json.dump({"numba": "numba" in sys.modules, "signatures": signatures, "compiled": compiled}, file)
"""
SMALL = "name,zip,city\nann,1,x\nbob,1,x\ncy,2,y\ndan,3,y\n"
LARGER = "a,b,c,d\n" + "".join(f"{n},{n % 7},{n % 7 % 3},{n * 5 % 11}\n" for n in range(300))


@compiled
def _doubled(number: int) -> int:
    return 2 * number


@compiled
def _doubled_twice(number: int) -> int:
    return _doubled(_doubled(number))


def run_and_report(folder: Path, *arguments: str) -> dict[str, dict[str, int]]:
    """Run a command in a process of its own, with a kernel cache in the folder; tell what it compiled."""
    told = folder / "told.json"
    program = f"{REPORT}\ntold = sys.argv.pop()\nsys.argv.append(told)\natexit.register(report)\n"
    program = program.replace("sys.argv.pop(), ", "told, ") + "sys.argv.pop()\nfrom lawful.cli.main import run\nrun()"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "kernels"), "LAWFUL_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", program, *arguments, str(told)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=900)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(told.read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.csv").write_text(SMALL)
    (tmp_path / "larger.csv").write_text(LARGER)
    return tmp_path


def test_kernels_that_call_each_other_are_compiled_at_the_first_call() -> None:
    assert _doubled_twice._compiled is None  # type: ignore[attr-defined]
    before = compiled_here()
    assert _doubled_twice(3) == 12
    assert compiled_here() == before + 2
    assert _doubled_twice(4) == 16
    assert compiled_here() == before + 2


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
    "arguments", [("discover", "small.csv"), ("check", "small.csv", "--laws", "zip -> name"), ("profile", "small.csv")]
)
def test_small_tables_need_no_compiler(folder: Path, arguments: tuple[str, ...]) -> None:
    assert run_and_report(folder, *arguments)["numba"] is False


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


def test_what_takes_long_in_python_is_compiled_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_work, "most_cells", 10)
    monkeypatch.setattr(small_work, "_SECONDS", 0.01)
    with small_work.of(1, 1, runs_in_python=True):
        small_work.run_in_python(time.sleep, (0.02,), {})
        assert not small_work.is_small()
    with small_work.of(1, 1, runs_in_python=True):
        assert small_work.is_small()


def tables() -> st.SearchStrategy[pa.Table]:
    def table(columns: list[list[int | None]]) -> pa.Table:
        return pa.table({f"c{number}": pa.array(column, pa.int64()) for number, column in enumerate(columns)})

    value = st.one_of(st.none(), st.integers(0, 3))
    return st.tuples(st.integers(0, 12), st.integers(1, 6)).flatmap(
        lambda shape: st.lists(
            st.lists(value, min_size=shape[0], max_size=shape[0]), min_size=shape[1], max_size=shape[1]
        ).map(table)
    )
