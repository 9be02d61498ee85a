"""The cases of tables that change, on tiny tables and in this process: they run, agree and tell what is missing."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = 400


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue with two of the four tables."""
    folder = tmp_path_factory.mktemp("data")
    entries = []
    for name, width, header in (("adult", 6, False), ("flight_1k", 12, True)):
        chance = np.random.default_rng(width)
        codes = chance.integers(0, 1 + 2 * np.arange(width), (ROWS, width))
        lines = [[f"c{n}" for n in range(width)]] if header else []
        lines += codes.tolist()
        (folder / f"{name}.csv").write_text("".join(";".join(map(str, line)) + "\n" for line in lines))
        entries.append({"name": name, "file": f"{name}.csv", "sep": ";", "header": header})
    (folder / "datasets.json").write_text(json.dumps(entries))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["living-batch", "living-growth", "living-curves", "living-share", "living-tree"])
def test_a_case_runs(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    harness = importlib.import_module("bench.harness")
    cases: dict[str, Any] = {}
    for module in map(importlib.import_module, ("bench.living_cases", "bench.living_paper_cases")):
        monkeypatch.setattr(module, "run_program", _in_this_process)
        cases |= module.CASES
    measurements = list(cases[name](harness.Settings(1, data, tmp_path, most_rows=1000)))
    harness.show(measurements)
    out = capsys.readouterr().out
    assert measurements
    assert all(measurement.median > 0 for measurement in measurements)
    if name == "living-growth":
        assert "disk_over_codes" in out
    else:
        assert "passed over" in out
    if name == "living-share":
        assert "Table 5" in out
        assert "(439.1)" in out
        with_batches = [measurement for measurement in measurements if measurement.case == "delete 50 % of adult"]
        assert [measurement.contestant for measurement in with_batches][-1] == "Dep-Miner"
    if name == "living-tree":
        assert "(3.2)" in out


def test_the_baseline_finds_the_agree_sets_of_all_couples_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    depminer = importlib.import_module("bench.depminer_program")
    for width in (1, 3, 70):
        codes = np.random.default_rng(width).integers(0, 1 + np.arange(width)[:, None] * 3, (width, 40), dtype=np.int32)
        agree = {
            tuple(np.flatnonzero(codes[:, i] == codes[:, j]).tolist()) for j in range(codes.shape[1]) for i in range(j)
        }
        found = depminer.agree_sets(codes)
        bits = np.unpackbits(found.view(np.uint8), axis=1, bitorder="little")
        sets = [tuple(np.flatnonzero(line).tolist()) for line in bits]
        assert len(sets) == len(set(sets))
        assert set(sets) == agree - {()}


def _in_this_process(command: Sequence[str], limit: float = 0.0) -> Any:
    """What `run_program` does, without the half second that a process takes."""
    _, _, module, *arguments = command
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        importlib.import_module(module).main(*arguments)
    return importlib.import_module("bench.harness").Ran(1.0, 1.0, json.loads(out.getvalue().splitlines()[-1]))
