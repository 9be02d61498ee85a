"""What a terminal sees that a pipe does not, and what Ctrl-C leaves."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from cli.commands import on_terminal
from cli.conftest import Lawful
from cli.result_documents import read_document

COLUMNS = [f"c{number}" for number in range(14)]


@pytest.fixture(scope="module")
def much_work(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table and so many laws on it that checking them takes minutes."""
    folder = tmp_path_factory.mktemp("much")
    random = np.random.default_rng(1)
    table = pa.table({name: random.integers(0, 3 + 7 * place, 200_000) for place, name in enumerate(COLUMNS)})
    csv.write_csv(table, folder / "wide.csv")
    laws = (f"{', '.join(lhs)} -> {rhs}" for lhs in combinations(COLUMNS, 4) for rhs in COLUMNS if rhs not in lhs)
    (folder / "laws.txt").write_text("\n".join(laws))
    return folder / "wide.csv", folder / "laws.txt"


def test_ctrl_c_shows_what_was_found(much_work: tuple[Path, Path], tmp_path: Path) -> None:
    table, laws = much_work
    result = tmp_path / "result.json"
    with on_terminal("check", table, "--laws", laws, "--engine", "local", "--out", result) as running:
        running.wait_for("encoding the table")
        running.wait_for(" of 10010 laws")
        running.wait_for("0:00:0")
        running.interrupt()
        code, out = running.finish()
    assert code == 3
    assert "stopping …" in running.text
    assert "Traceback" not in running.text
    document = read_document(result.read_text())
    found = document["stats"]["counts"]["checked"]
    assert document["complete"] is False
    assert document["stats"]["counts"]["asked"] == 10_010
    assert 1 <= found == len(document["dependencies"]) < 10_010
    lines = out.splitlines()
    assert lines[0] == "wide.csv: 200,000 rows, 14 columns, engine local"
    assert sum(line.startswith(("  broken", "  holds")) for line in lines) == min(found, 200)
    assert lines[-1].startswith(f"incomplete: stopped after {found} of 10,010 laws; ")


def test_ctrl_c_as_json_is_one_document_marked_incomplete(much_work: tuple[Path, Path]) -> None:
    table, laws = much_work
    with on_terminal("check", table, "--laws", laws, "--engine", "local", "--json") as running:
        running.wait_for(" of 10010 laws")
        running.interrupt()
        code, out = running.finish()
    assert code == 3
    assert read_document(out)["complete"] is False


def test_ctrl_c_while_reading_leaves_nothing_behind(much_work: tuple[Path, Path], own_cache: Path) -> None:
    table, laws = much_work
    with on_terminal("check", table, "--laws", laws, "--engine", "local") as running:
        running.wait_for("encoding the table")
        running.interrupt()
        code, out = running.finish()
    assert (code, out) == (3, "")
    assert "stopped before anything was found" in running.text
    assert "Traceback" not in running.text
    assert list((own_cache / "tables").glob("*")) == []


def test_a_terminal_has_colours_and_short_values(people: str) -> None:
    Path("long.csv").write_text(f"a,b\n1,{'x' * 300}\n1,y\n")
    with on_terminal("check", "long.csv", "--laws", "a -> b; b -> a", out_too=True) as running:
        assert running.finish()[0] == 1
    assert "\x1b[1;31m  broken  \x1b[0ma -> b" in running.text
    assert "\x1b[32m  holds   \x1b[0mb -> a" in running.text
    assert f"b = {'x' * 39}…" in running.text


def test_a_terminal_is_not_flooded_and_shows_broken_laws_first(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(20)]
    Path(tmp_path / "t.csv").write_text(f"{','.join(names)},z\n" + f"{'1,' * 20}1\n" + f"{'1,' * 20}2\n")
    laws = [f"{a}, {b}, {c} -> c0" for a, b, c in combinations(names[1:], 3)]
    (tmp_path / "laws.txt").write_text("\n".join([*laws, "c1 -> z"]))
    with on_terminal("check", tmp_path / "t.csv", "--laws", tmp_path / "laws.txt", out_too=True) as running:
        assert running.finish()[0] == 1
    assert "broken  \x1b[0mc1 -> z" in running.text
    assert running.text.count("  holds   ") == 199
    assert f"… and {len(laws) - 199} more: see them all with --all, --json or --out." in running.text


def test_a_pipe_sees_neither_progress_nor_colours(lawful: Lawful, people: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # asks for colours, and many continuous builds set it
    assert lawful("profile", people, "--json").err == ""
    monkeypatch.delenv("FORCE_COLOR")
    Path("long.csv").write_text(f"a,b\n1,{'x' * 300}\n1,y\n")
    for more, shown in (((), f"{'x' * 39}…"), (("--all",), "x" * 300)):
        done = lawful("check", "long.csv", "--laws", "a -> b", *more)
        assert done.err == ""
        assert "\x1b" not in done.out
        assert f"b = {shown}\n" in done.out


def test_rows_of_many_columns_are_cut_in_a_page(lawful: Lawful, people: str) -> None:
    names = [f"column{number}" for number in range(100)]
    Path("wide.csv").write_text(f"{','.join(names)}\n" + f"{'1,' * 99}1\n{'1,' * 99}2\n")
    law = f"{', '.join(names[:-1])} -> {names[-1]}"
    for verb in (("check", "wide.csv", "--laws", law), ("explain", "wide.csv", law)):
        page, whole = (lawful(*verb, *more).out for more in ((), ("--all",)))
        assert max(map(len, page.splitlines())) < 600
        assert "column50 = 1" not in page
        assert "column50 = 1" in whole


def test_a_pipe_sees_a_page_and_every_law_if_asked_for(lawful: Lawful, people: str) -> None:
    Path("laws.txt").write_text("".join(f"not(t.age = {age})\n" for age in range(1000, 1500)))
    page, everything = (lawful("check", people, "--laws", "laws.txt", *more).out for more in ((), ("--all",)))
    assert page.count("  holds   not(t.age = ") == 200
    assert "… and 300 more: see them all with --all, --json or --out.\n" in page
    assert everything.count("  holds   not(t.age = ") == 500


def test_json_on_a_terminal_is_still_json(people: str) -> None:
    with on_terminal("profile", people, "--json", "--out", "profile.json", out_too=True) as running:
        assert running.finish()[0] == 0
    shown = running.text[running.text.index("{") : running.text.rindex("}") + 1]
    assert json.loads(shown) == json.loads(Path("profile.json").read_text())


def test_the_strongest_laws_are_a_screen_with_what_to_type_next(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    shop = rng.integers(0, 20, 400)
    name = np.where(rng.random(400) < 0.02, 99, shop)
    table = tmp_path / "the visits.csv"
    table.write_text("shop;name\n" + "".join(f"{a};n{b}\n" for a, b in zip(shop, name, strict=True)))
    for columns in (80, 200):
        with on_terminal(
            "discover", table, "--sep", ";", "--engine", "local", out_too=True, columns=columns
        ) as running:
            code, _ = running.finish()
        assert code == 0
        assert "shop = name" in running.text
        assert f"lawful errors '{table}' --sep ';'" in running.text.replace("\r\n", "")
        assert f"lawful discover '{table}' --sep ';' --find fd --out laws.json" in running.text.replace("\r\n", "")
    with on_terminal("discover", table, "--sep", ";", "--engine", "local") as running:
        code, out = running.finish()
    assert code == 0
    assert "shop = name" in out
    assert "next:" not in out
