"""Only laws that hold on every row justify anything."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

import lawful
from lawful.common.errors import LawfulError, SourceError, UsageError
from lawful.dependencies import FD, Key
from lawful.rewriting import KnownLaws, rewrite

ASKED = "select * from t order by a, b"


def document(*laws: dict[str, Any], **settings: Any) -> dict[str, Any]:
    columns = [
        {"name": "a", "type": "integer", "distinct": 3, "nulls": 0, "min": "1", "max": "3"},
        {"name": "b", "type": "integer", "distinct": 2, "nulls": 1, "min": "1", "max": "2"},
    ]
    return {
        "format": "lawful/1",
        "complete": True,
        "table": {"name": "t", "rows": 4, "columns": columns},
        "settings": {"null": "equal"} | settings,
        "dependencies": list(laws) or [{"kind": "fd", "lhs": ["a"], "rhs": "b"}],
    }


def test_a_document_brings_names_nulls_and_laws() -> None:
    known = KnownLaws.from_document(document())
    assert known.names == ["a", "b"]
    assert [column.may_be_null for column in known.columns] == [False, True]
    assert known.laws == (FD((0,), 1),)
    assert known.refused == ()
    assert rewrite(ASKED, document()).changed


@pytest.mark.parametrize(
    ("entry", "settings", "reason"),
    [
        ({"error": 0.01}, {"error": 0.1}, "true only within an error"),
        ({}, {"error": 0.1}, "true only within an error"),
        ({"error": "0"}, {}, "true only within an error"),
        ({"holds": False}, {}, "broken"),
        ({"holds": "yes"}, {}, "broken"),
        ({}, {"null": "ignore"}, "--null ignore"),
        ({}, {"limit": 4}, "the first rows only"),
        ({}, {"limit": "all"}, "the first rows only"),
    ],
)
def test_laws_that_do_not_hold_are_refused(entry: dict[str, Any], settings: dict[str, Any], reason: str) -> None:
    found = rewrite(ASKED, document({"kind": "fd", "lhs": ["a"], "rhs": "b"} | entry, **settings))
    assert found.sql == ASKED
    assert not found.changed
    assert len(found.refused) == 1
    assert reason in found.refused[0]
    assert "a -> b" in found.refused[0]


@pytest.mark.parametrize(
    ("entry", "settings"),
    [
        ({"error": 0}, {"error": 0.1}),
        ({"error": 0.0}, {}),
        ({"holds": True}, {}),
        ({}, {"limit": 5}),
        ({}, {"error": 0}),
    ],
)
def test_laws_that_hold_are_used(entry: dict[str, Any], settings: dict[str, Any]) -> None:
    found = rewrite(ASKED, document({"kind": "fd", "lhs": ["a"], "rhs": "b"} | entry, **settings))
    assert found.changed
    assert found.refused == ()


def test_one_broken_law_does_not_spoil_the_others() -> None:
    broken = {"kind": "key", "columns": ["a"], "holds": False}
    known = KnownLaws.from_document(document(broken, {"kind": "key", "columns": ["a", "b"], "holds": True}))
    assert known.laws == (Key((0, 1)),)
    assert known.refused == ("1 law is not used, because it is broken: key(a)",)


def test_documents_of_one_table_are_joined() -> None:
    other = document({"kind": "key", "columns": ["b"]})
    other["table"]["columns"][0]["nulls"] = 1
    known = KnownLaws.from_document(document()).with_more(KnownLaws.from_document(other))
    assert known.laws == (FD((0,), 1), Key((1,)))
    assert [column.may_be_null for column in known.columns] == [True, True]
    other["table"]["columns"][0]["name"] = "x"
    with pytest.raises(UsageError, match="different columns"):
        known.with_more(KnownLaws.from_document(other))


@pytest.mark.parametrize(
    "damage",
    [
        {"format": "other"},
        {"dependencies": None},
        {"table": None},
        {"table": {"columns": None}},
        {"table": {"columns": [{}]}},
        {"dependencies": [3]},
        {"dependencies": [{"kind": "fd", "lhs": ["z"], "rhs": "b"}]},
    ],
)
def test_what_is_no_document_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(SourceError):
        rewrite(ASKED, document() | damage)


def test_strange_facts_about_columns_are_taken_for_unknown() -> None:
    strange = document()
    strange["table"]["columns"] = [{"name": "a", "type": "colour", "nulls": "0"}, {"name": "b"}]
    known = KnownLaws.from_document(strange)
    assert [(column.type, column.may_be_null) for column in known.columns] == [(None, True), (None, True)]


def test_the_document_of_a_discovery(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,1,x\n2,1,y\n3,2,x\n3,2,y\n")
    found = lawful.discover(str(path), find=["key", "fd"], reuse=False)
    assert rewrite(ASKED, found.to_dict()).sql == "select * from t order by a"
    rough = lawful.discover(str(path), find=["fd"], error=0.5, reuse=False)
    assert any("within an error" in sentence for sentence in rewrite(ASKED, rough.to_dict()).refused)


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="names of the columns"):
        rewrite(ASKED, "a -> b")
    with pytest.raises(UsageError, match='no column named "z"'):
        rewrite(ASKED, "a -> b", ["a", "b"], not_null=["z"])
    with pytest.raises(UsageError, match="must be lists"):
        rewrite(ASKED, "a -> b", ["a", "b"], indexes="a, b")
    with pytest.raises(LawfulError, match='no column named "z"'):
        rewrite(ASKED, "a -> z", ["a", "b"])


def test_without_sqlglot_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without_sqlglot(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".")[0] == "sqlglot":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return imported(name, *arguments, **options)

    for name in [name for name in sys.modules if name.startswith("lawful.rewriting.") or name.startswith("sqlglot")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_sqlglot)
    with pytest.raises(UsageError) as refused:
        rewrite(ASKED, "a -> b", ["a", "b"])
    assert refused.value.hint == "Run: pip install 'lawful[sql]'"
