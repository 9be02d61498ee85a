"""The generated table: the same for the same seed, lawful without errors, broken exactly where errors are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import UsageError
from lawful.demo.tax_table import LAWS, make_tax_table

SEEDS = st.integers(0, 2**32)


@given(rows=st.integers(0, 3_000), seed=SEEDS)
def test_all_laws_hold_without_errors(rows: int, seed: int) -> None:
    made = make_tax_table(rows, 0, seed)
    assert made.table.num_rows == rows
    assert made.errors == ()
    assert lawful.check(made.table, list(LAWS)).holds


@given(rows=st.integers(6_000, 12_000), errors=st.integers(1, 12), seed=SEEDS)
def test_exactly_the_planted_errors_break_laws(rows: int, errors: int, seed: int) -> None:
    """Each error takes the removal of one row to mend, and is itself among the violating rows."""
    made = make_tax_table(rows, errors, seed)
    assert len(made.errors) == errors
    assert len({error.row for error in made.errors}) == errors
    report = lawful.check(made.table, list(LAWS))
    planted = Counter(law for error in made.errors for law in error.breaks)
    assert {outcome.text: outcome.removals for outcome in report.broken} == planted
    for error in made.errors:
        assert all(error.row in report.violating_row_ids(law) for law in error.breaks)


@given(rows=st.integers(0, 1_500), errors=st.integers(0, 60), seed=SEEDS)
def test_small_tables_are_refused_or_right(rows: int, errors: int, seed: int) -> None:
    refusal = None
    try:
        made = make_tax_table(rows, errors, seed)
    except UsageError as error:
        refusal = error.message
    if refusal is not None:
        assert refusal == "the table is too small to plant that many errors"
        return
    report = lawful.check(made.table, list(LAWS))
    planted = Counter(law for error in made.errors for law in error.breaks)
    assert {outcome.text: outcome.removals for outcome in report.broken} == planted


@given(seed=SEEDS)
def test_the_same_seed_gives_the_same_table(seed: int) -> None:
    first, again, other = (make_tax_table(2_000, 6, number) for number in (seed, seed, seed + 1))
    assert first.table.equals(again.table)
    assert first.errors == again.errors
    assert not first.table.equals(other.table)


@given(seed=SEEDS)
def test_an_error_changes_the_cell_that_it_names_and_no_other(seed: int) -> None:
    clean, dirty = make_tax_table(2_000, 0, seed), make_tax_table(2_000, 6, seed)
    changed = {
        (row, name, str(before), str(after))
        for name in clean.table.column_names
        for row, (before, after) in enumerate(
            zip(clean.table[name].to_pylist(), dirty.table[name].to_pylist(), strict=True)
        )
        if before != after
    }
    assert changed == {(error.row, error.column, error.was, error.now) for error in dirty.errors}


def test_errors_take_their_kinds_in_turn() -> None:
    made = make_tax_table(20_000, 12, 7)
    columns = [error.column for error in made.errors]
    assert columns == ["zip", "city", "phone", "area_code", "rate", "child_exemption"] * 2
    assert {law for error in made.errors for law in error.breaks} <= set(LAWS)


@pytest.mark.parametrize(("rows", "errors"), [(-1, 0), (10, -1)])
def test_negative_numbers_are_refused(rows: int, errors: int) -> None:
    with pytest.raises(UsageError, match="must not be negative"):
        make_tax_table(rows, errors)


def test_written_and_read_again_the_laws_still_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import csv

    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))
    csv.write_csv(make_tax_table(2_000).table, tmp_path / "tax.csv")
    assert lawful.check(tmp_path / "tax.csv", list(LAWS)).holds
