"""`lawful errors`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from damaged_tables import DAMAGED, NAMES, damaged, orders, typo

from cli.conftest import Lawful

HOSTILE = {"Wien": '=cmd|" /C calc"!A0', "Graz": 'a "quoted", one', "Linz": "two\nlines", "Salzburg": "\x1b[31mred"}


@pytest.fixture
def dirty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A table with typos, whose values of a column are hostile; the damage is beside them."""
    monkeypatch.chdir(tmp_path)
    rows = [[HOSTILE.get(value or "", value) for value in row] for row in orders()]
    rows = damaged(rows, DAMAGED, 0.02, typo)
    with Path("orders.csv").open("w", newline="") as out:
        csv.writer(out).writerows([NAMES, *rows])
    return [[value or "" for value in row] for row in rows]


def read(path: str) -> list[list[str]]:
    with Path(path).open(newline="") as lines:
        return list(csv.reader(lines))


def test_cells_as_json(dirty: list[list[str]], lawful: Lawful) -> None:
    done = lawful("errors", "orders.csv", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["format"] == "lawful/1"
    assert len(document["cells"]) > 50
    for cell in document["cells"]:
        assert dirty[cell["row"]][NAMES.index(cell["column"])] == cell["value"]
        assert 0.5 <= cell["probability"] <= 1.0
        assert cell["laws"]


def test_a_screen_of_cells_and_the_next_command(dirty: list[list[str]], lawful: Lawful) -> None:
    done = lawful("errors", "orders.csv")
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) <= 30
    assert lines[-1].startswith("mend a copy: lawful errors orders.csv --repair ")
    assert "\x1b" not in done.out
    everything = lawful("errors", "orders.csv", "--all")
    assert len(everything.out.splitlines()) > 60


def test_a_repair_writes_what_is_suggested_and_nothing_else(dirty: list[list[str]], lawful: Lawful) -> None:
    before = Path("orders.csv").read_bytes()
    done = lawful("errors", "orders.csv", "--repair", "mended.csv", "--json")
    assert done.code == 0
    assert "wrote mended.csv" in done.err
    assert Path("orders.csv").read_bytes() == before
    cells = json.loads(done.out)["cells"]
    changes = {(c["row"], c["column"]): c["suggested"] for c in cells if c["suggested"] is not None}
    header, *mended = read("mended.csv")
    assert header == NAMES
    expected = [
        [changes.get((number, name), value) for name, value in zip(NAMES, row, strict=True)]
        for number, row in enumerate(dirty)
    ]
    assert mended == expected
    log = [json.loads(line) for line in Path("mended.csv.log.jsonl").read_text().splitlines()]
    assert log == [cell for cell in cells if cell["suggested"] is not None]
    untouched = set(range(len(dirty))) - {row for row, _ in changes}
    assert untouched


def test_a_quarantine_has_the_suspicious_rows(dirty: list[list[str]], lawful: Lawful) -> None:
    done = lawful("errors", "orders.csv", "--quarantine", "apart.csv", "--json")
    rows = sorted({cell["row"] for cell in json.loads(done.out)["cells"]})
    assert read("apart.csv") == [NAMES, *(dirty[row] for row in rows)]
    assert Path("apart.csv.log.jsonl").exists()


@pytest.mark.parametrize("option", ["--repair", "--quarantine"])
def test_places_that_are_refused(dirty: list[list[str]], lawful: Lawful, option: str) -> None:
    before = Path("orders.csv").read_bytes()
    for place, words in (
        ("orders.csv", "the table itself"),
        ("./orders.csv", "the table itself"),
        ("nowhere/x.csv", "no folder"),
    ):
        done = lawful("errors", "orders.csv", option, place)
        assert done.code == 2
        assert words in done.err
    Path("folder").mkdir()
    Path("folder/a.csv").write_bytes(before)
    done = lawful("errors", "folder", option, "folder/b.csv")
    assert done.code == 2
    assert "inside the table" in done.err
    Path("there.csv").write_text("mine")
    done = lawful("errors", "orders.csv", option, "there.csv")
    assert done.code == 2
    assert "there is something already" in done.err
    assert Path("there.csv").read_text() == "mine"
    assert Path("orders.csv").read_bytes() == before


def test_a_limit_ends_it_with_its_own_code(dirty: list[list[str]], lawful: Lawful) -> None:
    done = lawful("errors", "orders.csv", "--time-limit", "0.000001")
    assert done.code == 3
    assert "incomplete" in done.out
