"""The demonstration as a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import run_process
from cli.conftest import Lawful
from cli.result_documents import read_document
from lawful.demo.tax_table import make_tax_table


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.cluster  # starts a Spark of its own
def test_on_spark_all_planted_errors_are_found(place: Path) -> None:
    """As a stranger runs it: a process of its own, a Spark of its own."""
    done = run_process("demo", "--json", "--master", "local[2]", "--driver-memory", "1g")
    assert (done.code, done.err) == (0, "")
    document = read_document(done.out)
    planted = make_tax_table(20_000, 6, 7).errors
    assert [(error["row"], error["found"]) for error in document["planted"]] == [(e.row, True) for e in planted]
    assert sum(error["named"] for error in document["planted"]) >= 3
    assert document["settings"]["engine"] == "spark"
    assert {"zip -> city", "area_code -> state"} <= {entry["text"] for entry in document["dependencies"]}
    assert {path.name for path in (place / "lawful-demo").iterdir()} == {"tax.csv", "laws.json", "report.html"}


def test_text_compares_what_was_found_with_what_was_planted(lawful: Lawful, place: Path) -> None:
    done = lawful("demo", "--engine", "local", "--rows", "3000")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("tax.csv: 3,000 rows, 15 columns, engine local\n")
    assert "6 errors planted, " in done.out
    assert "MISSED" not in done.out
    for error in make_tax_table(3_000, 6, 7).errors:
        assert f" line {error.row + 2}: {error.column} {error.was} -> {error.now}" in done.out
    assert (place / "lawful-demo" / "report.html").resolve().as_uri() in done.out


def test_without_errors_nothing_is_named(lawful: Lawful) -> None:
    done = lawful("demo", "--engine", "local", "--errors", "0", "--rows", "1000")
    assert done.code == 0
    assert "0 errors planted, 0 named by their cell, 0 found by the laws above:\n" in done.out


def test_nothing_is_written_over(lawful: Lawful, place: Path) -> None:
    (place / "lawful-demo").mkdir()
    assert lawful("demo", "--engine", "local", "--rows", "1000", "--errors", "0").code == 0
    assert list((place / "lawful-demo").iterdir()) == []
    assert (place / "lawful-demo-2" / "report.html").is_file()


def test_the_table_alone_can_be_kept(lawful: Lawful, place: Path) -> None:
    demo = lawful("demo", "--engine", "local", "--rows", "3000", "--keep", "tax.csv", "--json")
    assert demo.code == 0
    assert [path.name for path in place.iterdir()] == ["tax.csv"]
    found = read_document(lawful("discover", "tax.csv", "--json").out)
    assert found["dependencies"] == read_document(demo.out)["dependencies"]
    error = read_document(demo.out)["planted"][0]
    assert f",{error['now']}," in (place / "tax.csv").read_text().splitlines()[error["line"] - 1]
