"""`lawful cover`: the same said in fewer functional dependencies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lawful as package
from cli.conftest import Lawful
from lawful.common.errors import UsageError
from lawful.dependencies import FD, closure, parse_law


def test_a_cover_of_a_document(lawful: Lawful, people: str) -> None:
    lawful("discover", people, "--find", "key,fd", "--out", "laws.json")
    shown = lawful("cover", "laws.json")
    document = json.loads(lawful("cover", "laws.json", "--json").out)
    found = package.discover(people)
    assert shown.code == 0
    assert document["cover"] == found.canonical_cover() == shown.out.splitlines()[:-1]
    assert document["of"] == len(found.fds())
    names = found.table.names
    rules = [law for law in (parse_law(text, names) for text in document["cover"]) if isinstance(law, FD)]
    for each in found.fds():
        law = parse_law(each.text, names)
        assert isinstance(law, FD)
        assert law.rhs in closure(law.lhs, rules)


@pytest.mark.parametrize("more", [("--max-size", "1"), ("--null", "ignore"), ("--find", "key"), ("--error", "0.1")])
def test_documents_that_lack_fds_are_refused(lawful: Lawful, people: str, more: tuple[str, str]) -> None:
    lawful("discover", people, "--exact", "--out", "laws.json", *more)
    done = lawful("cover", "laws.json")
    assert done.code == 2
    assert done.err.startswith("error: a canonical cover cannot be told: ")
    with pytest.raises(UsageError):
        package.load("laws.json").canonical_cover()


def test_a_document_that_is_not_there(lawful: Lawful, tmp_path: Path) -> None:
    assert "there is no such file of laws" in lawful("cover", tmp_path / "none.json").err
