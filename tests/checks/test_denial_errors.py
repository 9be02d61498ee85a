"""Errors planted in the tax table are what its denial constraints list: all of them, and only they."""

from __future__ import annotations

import pytest

from lawful.checks import CheckTask, Workspace, check
from lawful.checks.denials.pairs import violating_pairs
from lawful.common.meanings import NullPolicy
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, parse_laws
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions


@pytest.mark.parametrize(
    ("constraint", "broken_by"),
    [
        ("not(t.state = s.state and t.salary <= s.salary and t.rate > s.rate)", "state, salary -> rate"),
        ("not(t.state = s.state and t.salary < s.salary and t.rate > s.rate)", "{state}: salary asc ~ rate asc"),
        (
            "not(t.state = s.state and t.has_child = s.has_child and t.child_exemption < s.child_exemption)",
            "state, has_child -> child_exemption",
        ),
        ("not(t.zip = s.zip and t.city != s.city and t.state != s.state)", "zip -> state"),
        ("not(t.zip <= s.zip and s.zip <= t.zip and t.city < s.city)", "zip -> city"),
        ("not(t.area_code = s.area_code and t.phone >= s.phone and s.phone >= t.phone)", "key(area_code, phone)"),
    ],
)
def test_all_planted_errors_and_only_they_violate(constraint: str, broken_by: str) -> None:
    made = make_tax_table(12_000, errors=24, seed=11)
    table = encode_in_process(made.table, ReadOptions())
    workspace = Workspace(table, NullPolicy.EQUAL)
    (law,) = parse_laws(constraint, table.names)
    assert isinstance(law, DC)
    planted = {error.row for error in made.errors if broken_by in error.breaks}
    assert planted
    pairs = [pair for t, s in violating_pairs(law, workspace) for pair in zip(t.tolist(), s.tolist(), strict=True)]
    assert planted <= {row for pair in pairs for row in pair}
    assert all(planted & set(pair) for pair in pairs)
    assert check(CheckTask(0, law, "g1"), table, workspace).violations == len(pairs)
    clean = encode_in_process(make_tax_table(12_000, errors=0, seed=11).table, ReadOptions())
    assert check(CheckTask(0, law), clean, Workspace(clean, NullPolicy.EQUAL)).holds
