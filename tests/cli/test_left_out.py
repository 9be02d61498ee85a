from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Lawful
from cli.result_documents import read_document

NOTE = "orders.jsonl: 2 columns are left out, since laws are about single values: 'items' (list), 'to' (object)\n"


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("orders.jsonl").write_text(
        '{"id": 1, "items": ["pen"], "total": 3, "to": {"zip": "10001"}}\n{"id": 2, "items": [], "total": 3}\n'
    )
    return "orders.jsonl"


def test_a_note_is_printed_beside_the_result(lawful: Lawful, orders: str) -> None:
    for _ in range(2):  # the second time the table is found in the cache
        done = lawful("profile", orders)
        assert (done.code, done.err) == (0, NOTE)
        assert done.out.splitlines()[0] == "orders.jsonl: 2 rows, 2 columns"


@pytest.mark.parametrize(
    "command", [("profile",), ("discover",), ("check", "--laws", "key(id)"), ("explain", "total -> id")]
)
def test_every_command_that_reads_a_table_prints_it(lawful: Lawful, orders: str, command: tuple[str, ...]) -> None:
    done = lawful(command[0], orders, *command[1:], "--json")
    assert done.err == NOTE
    assert [column["name"] for column in read_document(done.out)["table"]["columns"]] == ["id", "total"]


def test_documents_carry_it(lawful: Lawful, orders: str) -> None:
    for command in ("profile", "discover"):
        table = read_document(lawful(command, orders, "--json").out)["table"]
        assert table["left_out"] == [{"name": "items", "type": "list"}, {"name": "to", "type": "object"}]


def test_a_law_or_a_choice_that_names_such_a_column(lawful: Lawful, orders: str) -> None:
    Path("laws.json").write_text(
        '{"format": "lawful/1", "dependencies": [{"kind": "fd", "lhs": ["id"], "rhs": "items"}]}'
    )
    for laws in ("id -> items", "laws.json"):
        done = lawful("check", orders, "--laws", laws)
        assert (done.code, done.out) == (2, "")
        assert 'The column "items" is left out: it has type list, and laws are about single values.' in done.err
    done = lawful("discover", orders, "--find", "dc", "--operators", "items:=")
    assert done.code == 2
    assert 'The column "items" is left out: it has type list' in done.err
    done = lawful("profile", orders, "--columns", "id,to")
    assert (done.code, done.out) == (2, "")
    assert "orders.jsonl: column 'to' is left out: it has type object, and laws are about single values" in done.err
    assert "Flatten it first, or choose other columns." in done.err


def test_names_cannot_play_with_the_terminal(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"id": 1, "\\u001b[31m": []}\n')
    done = lawful("profile", table)
    assert done.code == 0
    assert "\x1b" not in done.err
