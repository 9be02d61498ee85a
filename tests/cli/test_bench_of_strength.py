"""The cases of the strongest laws, on tiny tables: they run, and count what they say."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from cli.test_bench_of_living_tables import ROOT


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two spellings of a table of shops, one with typos, under the names of the catalogue."""
    shop = np.random.default_rng(6).integers(0, 12, 300)
    entries = []
    for name, typos in (("hospital_raha_clean", ()), ("hospital_raha_dirty", (5, 50)), ("tax_10k", ())):
        rows = [f"{i},{s},{'x' if i in typos else ''}n{s},{s % 4}" for i, s in enumerate(shop.tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(["visit,shop,name,town", *rows]) + "\n")
        entries.append({"name": name, "file": f"{name}.csv", "sep": ",", "header": True})
    (tmp_path / "datasets.json").write_text(json.dumps(entries))
    return tmp_path


def test_the_cases_run(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    harness, cases = (importlib.import_module(f"bench.{module}") for module in ("harness", "strength_cases"))
    monkeypatch.setattr(cases, "_DAMAGED", {"tax_10k": ("name", "town")})
    settings = harness.Settings(1, data, tmp_path)
    (hospital,) = cases.dirty_hospital(settings)
    # shop and name determine each other and town; a name is wrong twice
    assert hospital.answers["laws_of_clean"] == hospital.answers["of_these_follow"] == 4
    assert hospital.answers["first"] == hospital.answers["first_hold_on_clean"]
    (half,) = cases.halves(settings)
    assert half.answers["strong"] == half.answers["as_strong"] > 0
    (damaged,) = cases.damage(settings)
    assert damaged.answers["of_these_follow"] == damaged.answers["on_damaged_columns"] > 0


def test_damage_changes_one_cell_in_a_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(ROOT))
    cases = importlib.import_module("bench.strength_cases")
    clean = pd.DataFrame(
        {"a": [f"value {i}" for i in range(500)], "b": [f"other {i}" for i in range(500)]}, dtype="string"
    )
    wrong = cases.damaged(clean, ("a",), seed=1)
    assert 1 <= int((wrong["a"] != clean["a"]).sum()) <= 5
    assert (wrong["b"] == clean["b"]).all()
