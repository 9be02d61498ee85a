"""A family is one thing: what is registered is found, checked, explained, written, read and listed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import lawful as package
from cli.conftest import Lawful
from lawful.checks import CheckTask, LawChecks, Violations, Workspace
from lawful.common.errors import LawfulError
from lawful.dependencies import LawForm
from lawful.discovery.families import Family, FamilySearch, Option, forget, register
from lawful.discovery.findings import Findings, ListedLaws
from lawful.discovery.search import Search


@dataclass(frozen=True)
class Rising:
    """The rows stand in the order of a column."""

    column: int


class RisingChecks(LawChecks):
    def witness(self, law: Rising, workspace: Workspace) -> tuple[int, int] | None:
        falls = np.flatnonzero(np.diff(workspace.column(law.column)) < 0)
        return (int(falls[0]), int(falls[0]) + 1) if falls.size else None

    def violations(self, law: Rising, workspace: Workspace) -> Violations:
        falls = np.flatnonzero(np.diff(workspace.column(law.column)) < 0).astype(np.int32)
        rows = np.stack([falls, falls + 1], axis=1).ravel()
        return Violations(rows, np.arange(0, rows.size + 1, 2, dtype=np.int32), falls.size, falls.size)

    def parts(self, law: Rising) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (), (law.column,)


def find_rising(search: Search, skip: int) -> Findings:
    with search.to_the_end():
        laws = [Rising(column) for column in range(skip, search.table.width)]
        verdicts = search.checks.check([CheckTask(place, law) for place, law in enumerate(laws)])
        held = tuple(laws[place] for place in sorted(verdict.id for verdict in verdicts if verdict.holds))
        search.state(ListedLaws("rising", held, np.ones(len(held))))
    return search.findings


RISING = Family(
    LawForm(
        "rising",
        ("rising column", "rising columns"),
        Rising,
        columns=lambda law: (law.column,),
        text=lambda law, names: f"rising({names[law.column]})",
        fields=lambda law, names: {"columns": [names[law.column]]},
        read=lambda reader, document: Rising(*reader.columns(document, "columns")),
        call=lambda columns: Rising(*columns),
    ),
    FamilySearch(
        lambda wishes, null_policy: wishes.options["skip"], find_rising, options=(Option("skip", 0, "Skip some.", "N"),)
    ),
    RisingChecks(),
)


TEXTS = ["rising(zip)", "rising(city)", "rising(age)"]


@pytest.fixture(autouse=True)
def rising() -> Iterator[None]:
    register(RISING)
    yield
    forget("rising")


def test_a_family_of_thirty_lines_is_discovered(lawful: Lawful, people: str) -> None:
    done = lawful("discover", people, "--find", "rising,key", "--out", "laws.json")
    assert (done.code, done.err) == (0, "")
    assert "3 rising columns" in done.out
    assert "rising(age)" in done.out
    found = json.loads(Path("laws.json").read_text())
    assert found["settings"]["rising"] == {"skip": 0}
    assert [law["text"] for law in found["dependencies"] if law["kind"] == "rising"] == TEXTS
    assert [law.text for law in package.discover(people, "rising", skip=2)] == TEXTS[1:]


def test_it_is_checked(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "rising(zip); rising(name)")
    assert done.code == 1
    assert "holds   rising(zip)" in done.out
    assert "broken  rising(name)" in done.out
    assert "line 4: name = Eve" in done.out
    lawful("discover", people, "--find", "rising", "--out", "laws.json")
    assert lawful("check", people, "--laws", "laws.json").code == 0
    report = package.check(people, ["rising(name)"])
    assert [(outcome.rows, outcome.pairs, outcome.removals) for outcome in report.broken] == [(2, 1, 1)]
    assert report.violations("rising(name)").num_rows == 2


def test_it_is_explained(lawful: Lawful, people: str) -> None:
    broken = lawful("explain", people, "rising(name)")
    assert broken.code == 1
    assert "name = Eve: line 4" in broken.out
    holds = lawful("explain", people, "rising(zip)")
    assert holds.code == 0
    assert "holds   rising(zip)" in holds.out


def test_it_is_listed_in_the_help(lawful: Lawful) -> None:
    shown = " ".join(lawful("discover", "--help").out.split())
    assert "All laws of these kinds, separated by commas: key, fd, canonical-od, list-od, pod, dc, rising." in shown
    assert "rising: Skip some." in shown


def test_a_family_that_can_only_be_written_says_so(people: str) -> None:
    forget("rising")
    register(Family(RISING.form))
    try:
        with pytest.raises(LawfulError, match=r"not checked yet: rising\(zip\)"):
            package.check(people, "rising(zip)")
        with pytest.raises(LawfulError, match="kind rising cannot be discovered yet"):
            package.discover(people, "rising")
    finally:
        forget("rising")
        register(RISING)


def test_what_is_forgotten_is_unknown(people: str) -> None:
    forget("rising")
    try:
        for ask in (lambda: package.discover(people, "rising"), lambda: package.check(people, "rising(zip)")):
            with pytest.raises(LawfulError, match=r"unknown kind|no form of law"):
                ask()
    finally:
        register(RISING)
