"""The cases of pointwise order dependencies, on tiny tables and in this process: they run, and both sides agree."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from cli.test_bench_of_living_tables import ROOT, _in_this_process


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A catalogue with one of the tables."""
    chance = np.random.default_rng(3)
    opened = chance.integers(100, 200, 240)
    closed = opened + chance.integers(-3, 4, 240)
    rows = zip(range(240), chance.integers(0, 9, 240), opened, closed, strict=True)
    lines = ["Date,Ticker,Open,Close", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "stocks.csv").write_text("\n".join(lines) + "\n")
    entry = {"name": "sp500_stocks_7c_122k", "file": "stocks.csv", "sep": ",", "header": True}
    (tmp_path / "datasets.json").write_text(json.dumps([entry]))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pods-living", "pods-growth", "pods-fetch", "pods-batch"])
def test_a_case_runs(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    harness, cases = (importlib.import_module(f"bench.{module}") for module in ("harness", "pod_cases"))
    monkeypatch.setattr(cases, "run_program", _in_this_process)
    monkeypatch.setattr(cases, "_STOCK_ROWS", 240)
    monkeypatch.setattr(cases, "_LETTERS", (80, 4))
    monkeypatch.setattr(cases, "_LETTER_ROWS", (40, 60, 80))
    monkeypatch.setattr(cases, "_LETTER_COLUMNS", (2, 4))
    monkeypatch.setattr(cases, "_GROWING_ROWS", (500, 1000, 10_000))
    monkeypatch.setattr(cases, "_GROWING_BATCH", 20)
    measurements = list(cases.CASES[name](harness.Settings(1, data, tmp_path, most_rows=1000)))
    harness.show(measurements)
    out = capsys.readouterr().out
    assert measurements
    assert all(measurement.median > 0 for measurement in measurements)
    if name == "pods-living":
        assert "tax_10k is passed over" in out
        assert "mean rank" in out
        assert len(measurements) == 2 * 3
    if name == "pods-growth":
        assert "at most 3" in out
    if name == "pods-fetch":
        assert "DuckDB" in out
        assert all(measurement.answers["pairs"] > 0 for measurement in measurements[::2])
    if name == "pods-batch":
        assert "grows with size to the power" in out
