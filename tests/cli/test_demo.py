"""The demonstration as a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import run_process
from cli.conftest import Lawful
from cli.result_documents import read_document
from lawful.demo.tax_table import LAWS, make_tax_table


def test_on_spark_all_planted_errors_are_found() -> None:
    """As a stranger runs it: a process of its own, a Spark of its own."""
    done = run_process("demo", "--json", "--master", "local[2]", "--driver-memory", "1g")
    assert (done.code, done.err) == (0, "")
    document = read_document(done.out)
    planted = make_tax_table(20_000, 6, 7).errors
    assert [(error["row"], error["found"]) for error in document["planted"]] == [(e.row, True) for e in planted]
    broken = {entry["text"] for entry in document["dependencies"] if not entry["holds"]}
    assert broken == {law for error in planted for law in error.breaks}
    assert document["settings"]["engine"] == "spark"
    assert [entry["text"] for entry in document["dependencies"]] == list(LAWS)


def test_text_compares_what_was_found_with_what_was_planted(lawful: Lawful) -> None:
    done = lawful("demo", "--engine", "local")
    assert (done.code, done.err) == (0, "")
    assert "tax.csv: 20,000 rows, 15 columns, engine local\n" in done.out
    assert "2 of 9 laws hold\n\n6 errors planted:\n" in done.out
    assert done.out.count("  found  line ") == 6
    assert "MISSED" not in done.out
    assert "broken without" not in done.out
    error = make_tax_table(20_000, 6, 7).errors[0]
    assert f"  found  line {error.row + 2}: zip {error.was} -> {error.now}, which breaks zip -> city and" in done.out
    assert done.out.splitlines()[-1].startswith("local: start ")


def test_without_errors_all_laws_hold(lawful: Lawful) -> None:
    done = lawful("demo", "--engine", "local", "--errors", "0", "--rows", "500")
    assert done.code == 0
    assert "9 of 9 laws hold\n\n0 errors planted:\n" in done.out


def test_kept_table_is_the_one_that_was_checked(lawful: Lawful, tmp_path: Path) -> None:
    kept = tmp_path / "tax.csv"
    demo = lawful("demo", "--engine", "local", "--rows", "3000", "--errors", "6", "--keep", kept, "--json")
    again = lawful("check", kept, "--json", *(word for law in LAWS for word in ("--laws", law)))
    assert (demo.code, again.code) == (0, 1)
    assert read_document(demo.out)["dependencies"] == read_document(again.out)["dependencies"]
    error = read_document(demo.out)["planted"][0]
    line = kept.read_text().splitlines()[error["line"] - 1]
    assert f",{error['now']}," in line


def test_nothing_is_left_behind(lawful: Lawful, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "here")
    assert lawful("demo", "--engine", "local", "--rows", "2000").code == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
