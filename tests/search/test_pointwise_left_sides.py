"""The search for left sides where lists are short of room, and its kernels uncompiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lawful.search.pods import goals, left_sides
from lawful.search.pods.left_sides import goals_of, pair_edges
from search.pointwise_goals import minimal_left_sides


def test_lists_grow_and_searches_are_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    columns = 7
    less = random.integers(0, 1 << columns, (40, 1)).astype(np.uint64)
    greater = random.integers(0, 1 << columns, (40, 1)).astype(np.uint64) & ~less
    edges = pair_edges(less, greater, columns)

    def found(edges_a_cell: int) -> list[set[int]]:
        monkeypatch.setattr(goals, "_EDGES_A_CELL", edges_a_cell)
        return [set(minimal_left_sides(edges, goal, columns, columns)[:, 0].tolist()) for goal in goals_of(columns)]

    at_once = found(1 << 30)
    assert sum(map(len, at_once)) > 100
    monkeypatch.setattr(left_sides, "_FIRST_ROOM", 1)
    for work in (1, 50):
        monkeypatch.setattr(left_sides, "_WORK", work)
        monkeypatch.setattr(goals, "_WORK", work)
        assert found(1 << 30) == at_once
        assert found(0) == at_once


def test_uncompiled_kernels_agree() -> None:
    script = Path(__file__).with_name("uncompiled_pointwise.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    told = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False, env=environment
    )
    assert told.returncode == 0, told.stderr
