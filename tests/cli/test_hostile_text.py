"""Names and values are anyone's: whatever they hold, a terminal and a reader are safe."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.commands import on_terminal
from cli.conftest import Lawful
from cli.result_documents import read_document
from lawful.results.json_files import harmless_json
from lawful.results.texts.shown_text import (
    aligned,
    counted,
    shown_name,
    shown_value,
    visible,
    visible_lines,
)

HOSTILE = {
    "markup": "[red]x[/red]",
    "unclosed markup": "[/]",
    "escape sequence": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "eight-bit control": "\x9b31m",
    "newline": "one\n2 of 2 laws hold",
    "carriage return": "shown\rhidden",
    "backspace": "abc\b\b\b",
    "right to left": "\u202egnp.exe",
    "no width": "a\u200bb",
    "quotes": 'say "hi", it\'s',
    "emoji code": ":smile:",
    "long": "x" * 3_000,
}
PIECES = st.text(st.characters(codec=None), max_size=30)


@pytest.fixture(params=HOSTILE, ids=str)
def hostile(request: pytest.FixtureRequest) -> str:
    return HOSTILE[request.param]


def _table(folder: Path, text: str) -> Path:
    """A table with the text as a column's name, as values and as the file's name where a file can have it."""
    name = text.replace("/", "-")[:40] + ".parquet"
    pq.write_table(pa.table({"id": [1, 1], text: [text, text + "2"]}), folder / name)
    return folder / name


def _law(text: str) -> str:
    return 'id -> "' + text.replace('"', '""') + '"'


def test_text_holds_no_character_that_does_not_print(lawful: Lawful, tmp_path: Path, hostile: str) -> None:
    table = _table(tmp_path, hostile)
    checked = lawful("check", table, "--laws", _law(hostile), "--violations", tmp_path / "bad", "--all")
    profiled = lawful("profile", table, "--all")
    assert (checked.code, profiled.code) == (1, 0)
    assert _is_harmless(checked.out + checked.err + profiled.out + profiled.err)
    assert len(checked.out.splitlines()) == 6
    assert len(profiled.out.splitlines()) == 4
    assert checked.out.count(visible(hostile)) + checked.out.count(visible(hostile.replace('"', '""'))) >= 4


def test_errors_hold_no_character_that_does_not_print(lawful: Lawful, tmp_path: Path, hostile: str) -> None:
    table = _table(tmp_path, hostile)
    for arguments in (
        ("check", table, "--laws", _law(hostile) + " -> x"),
        ("check", table, "--laws", 'id -> "no' + hostile.replace('"', '""') + '"'),
        ("check", table, "--laws", f"{hostile[:50]}.json"),
        ("profile", table, "--columns", '"' + hostile.replace('"', '""') + 'x"'),
        ("profile", tmp_path / hostile[:50]),
        ("check", table, "--laws", "id -> id", "--out", tmp_path / hostile[:50] / "out.json"),
    ):
        done = lawful(*arguments)
        assert (done.code, done.out) == (2, "")
        assert _is_harmless(done.err)
        assert "mistake in lawful" not in done.err


def test_json_is_harmless_and_exact(lawful: Lawful, tmp_path: Path, hostile: str) -> None:
    table = _table(tmp_path, hostile)
    done = lawful("check", table, "--laws", _law(hostile), "--json")
    assert _is_harmless(done.out)
    first, second = read_document(done.out)["dependencies"][0]["witness"]
    assert first["values"] == {"id": "1", hostile: hostile}
    assert second["values"] == {"id": "1", hostile: hostile + "2"}


@pytest.mark.parametrize("kind", ["markup", "escape sequence", "long"])
def test_on_a_terminal(tmp_path: Path, kind: str) -> None:
    table = _table(tmp_path, HOSTILE[kind])
    with on_terminal("check", table, "--laws", _law(HOSTILE[kind]), out_too=True) as shown:
        assert shown.finish()[0] == 1
    ours = ("\x1b[1;31m", "\x1b[1m", "\x1b[0m")
    lines = shown.text[shown.text.index("\x1b[1;31m  broken") :]
    for style in ours:
        lines = lines.replace(style, "")
    assert _is_harmless(lines.replace("\r\n", "\n"))
    assert max(map(len, lines.splitlines())) < 600


def _is_harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@given(PIECES)
def test_visible_text_prints(text: str) -> None:
    assert visible(text).isprintable()
    assert visible_lines(text).count("\n") == text.count("\n")
    if text.isprintable():
        assert visible(text) == text


@given(st.lists(st.one_of(st.none(), PIECES), min_size=1, max_size=4))
def test_one_sees_where_values_end(values: list[str | None]) -> None:
    """What is shown can be taken apart again: no two lists of printable values look alike."""
    shown = ", ".join(f"c = {shown_value(value)}" for value in values)
    assert shown.isprintable()
    if all(value is None or value.isprintable() for value in values):
        assert _taken_apart(shown) == values


def _taken_apart(shown: str) -> list[str | None]:
    values: list[str | None] = []
    rest = shown
    while rest:
        rest = rest.removeprefix(", ").removeprefix("c = ")
        if rest.startswith("'"):
            end = 1
            while rest[end] != "'" or rest[end : end + 2] == "''":
                end += 2 if rest[end] == "'" else 1
            values.append(rest[1:end].replace("''", "'"))
            rest = rest[end + 1 :]
        else:
            word, comma, after = rest.partition(", c = ")
            values.append(None if word == "null" else word)
            rest = comma + after
    return values


@given(st.dictionaries(PIECES, PIECES, max_size=3))
def test_json_stays_the_same_document(document: dict[str, str]) -> None:
    text = harmless_json(json.dumps(document, ensure_ascii=False))
    assert json.loads(text) == document
    assert not any(0x7F <= ord(character) < 0xA0 or 0xD800 <= ord(character) < 0xE000 for character in text)


@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=5))
def test_aligned_lines(rows: list[tuple[str, str]]) -> None:
    shown = [tuple(map(visible, row)) for row in rows]
    lines = aligned(shown, right=(1,))
    assert len(lines) == len(rows)
    for line, row in zip(lines, shown, strict=True):
        assert line.startswith(row[0].rstrip() if row[1] == "" else row[0])
        assert line.endswith(row[1].rstrip())


def test_names_are_written_as_in_laws() -> None:
    assert [shown_name(name) for name in ("zip", "unit price", "asc", 'a"b', "x" * 50)] == [
        "zip",
        '"unit price"',
        '"asc"',
        '"a""b"',
        "x" * 50,
    ]
    assert shown_name("x" * 50, 40) == "x" * 39 + "…"


def test_counts_have_their_nouns() -> None:
    assert [counted(number, "row") for number in (0, 1, 2, 1_000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]


def test_violations_round_trip(lawful: Lawful, tmp_path: Path, hostile: str) -> None:
    table = _table(tmp_path, hostile)
    lawful("check", table, "--laws", _law(hostile), "--violations", tmp_path / "bad")
    (path,) = (tmp_path / "bad").iterdir()
    assert path.name.isascii()
    assert len(path.name) < 80
    assert set(path.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    text = path.read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["_group", "_row", "_file", "_number", "id", hostile]
    assert [row[-1] for row in rows[1:]] == [hostile, hostile + "2"]
