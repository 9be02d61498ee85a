"""What a discovery gives back: its document, its tables, and what follows from the FDs in it."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cli.result_documents import check_document
from discovered_tables import TABLE, slow_table
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import UsageError
from lawful.dependencies import FD, Key, NamedLaw, columns_of, format_law, implies, parse_law
from lawful.discovery.questions import Watch
from lawful.results.packed_laws import NO_RIGHT_SIDE, LawWriter
from lawful.results.texts.discovery_text import discovery_summary


@pytest.mark.parametrize("more", [{}, {"error": 0.05}, {"find": "key"}, {"max_size": 0}, {"null": "ignore"}])
def test_the_json_contract(more: dict[str, Any]) -> None:
    report = lawful.discover(TABLE, **more)
    document = report.to_dict()
    assert json.loads(json.dumps(document)) == document
    check_document(document)
    assert len(document["dependencies"]) == len(report)
    for entry, found in zip(document["dependencies"], report, strict=True):
        assert entry["text"] == found.text == found.law.text
        assert entry["interest"] == pytest.approx(found.interest)
        assert entry.get("error") == found.error
        assert parse_law(found.text, TABLE.column_names) == found.law.on(TABLE.column_names)
    settings = document["settings"]
    assert settings.keys() >= {"find", "max_size", "error", "measure", "min_interest", "seed", "null", "engine"}
    counts = document["stats"]["counts"]
    assert counts["keys"] + counts["fds"] == len(report)
    streamed = report.streamed()
    assert {**streamed, "dependencies": list(streamed["dependencies"])} == document


NAMES = st.lists(st.text(min_size=1, max_size=5), min_size=3, max_size=3, unique=True)


@given(NAMES, st.sets(st.integers(0, 1)))
def test_laws_are_written_as_everywhere(names: list[str], columns: set[int]) -> None:
    writer, ordered = LawWriter(names), tuple(sorted(columns))
    assert writer.text(ordered, NO_RIGHT_SIDE) == format_law(Key(ordered), names)
    assert writer.text(ordered, 2) == format_law(FD(ordered, 2), names)


def test_tables_of_a_report() -> None:
    report = lawful.discover(TABLE, max_size=2)
    frame = report.to_dataframe()
    assert list(frame.columns) == ["law", "kind", "strength", "interest"]
    assert frame["law"].tolist() == [found.text for found in report]
    assert "error" in lawful.discover(TABLE, max_size=1, error=0.01).to_dataframe().columns
    nothing = lawful.discover(TABLE, "key", max_size=0)
    assert list(nothing.to_dataframe().columns) == ["law", "kind", "strength", "interest"]
    assert "0 laws" in nothing._repr_html_()
    assert f"{TABLE.num_rows}" not in report._repr_html_()[:20]
    assert "<td>" in report._repr_html_()
    assert "incomplete: the time limit" in lawful.discover(slow_table(), time_limit=0.01)._repr_html_()


def test_a_stopped_search_for_lists_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that all rise with the same number, each in its own steps, obey laws in most of their orders."""
    number = np.arange(400)
    steps = {f"c{share}": number // share for share in (1, 3, 5, 7, 11, 13, 17, 19)}
    place = number * 37 % 100
    table = pa.table({**steps, "place": place, "region": place // 10})
    looks = iter(range(100))
    monkeypatch.setattr(Watch, "reason", lambda _: None if next(looks, None) is not None else "looked often enough")
    report = lawful.discover(table, "list-od")
    monkeypatch.undo()
    columns = report.counts["lists_complete_to"]
    assert columns > 1
    said = discovery_summary(report)
    assert said.startswith("incomplete: looked often enough; ")
    assert said.endswith(f" by then, with all list-based order dependencies of up to {columns} columns")
    stated = {found.text for found in report}
    others = lawful.discover(table, "list-od", max_size=columns - 1)
    short = {found.text for found in others if len(columns_of(found.law.positional)) <= columns}
    assert "[place asc] -> [region asc]" in short
    assert short <= stated


def test_keys_and_fds_apart() -> None:
    report = lawful.discover(TABLE.slice(1), max_size=6)
    keys, fds = report.keys(), report.fds()
    assert keys == [found for found in report if found.law.kind == "key"]
    assert fds == [found for found in report if found.law.kind == "fd"]
    assert keys
    assert fds


def test_closures_are_those_of_the_data() -> None:
    report = lawful.discover(TABLE)
    names = TABLE.column_names
    for chosen in [*combinations(names, 1), ("c4", "c6"), ("c5", "c6", "gaps"), ()]:
        lhs = [names.index(name) for name in chosen]
        checked = lawful.check(
            TABLE, [NamedLaw(FD(lhs, column), names) for column in range(len(names)) if column not in lhs]
        )
        determined = {outcome.text.rpartition(" ")[2] for outcome in checked.outcomes if outcome.holds}
        assert report.closure(chosen) == [name for name in names if name in determined | set(chosen)]
    assert report.closure(names) == names
    with pytest.raises(UsageError, match="no column named"):
        report.closure(["c99"])
    with pytest.raises(UsageError, match="takes a list"):
        report.closure("c1")


def test_candidate_keys_are_the_keys_without_repeated_rows() -> None:
    with_repeats, without = lawful.discover(TABLE), lawful.discover(TABLE.slice(1))
    assert with_repeats.keys() == []
    keys = without.keys()
    assert sorted(with_repeats.candidate_keys()) == sorted(found.text for found in keys)
    assert len(with_repeats.candidate_keys(most=2)) == 2


def test_a_canonical_cover_implies_all() -> None:
    report = lawful.discover(TABLE)
    cover = [parse_law(text, report.table.names) for text in report.canonical_cover()]
    assert len(cover) < len(report.fds())
    assert all(implies(cover, found.law.on(TABLE.column_names)) for found in report.fds())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"find": "key"}, "were not asked for"),
        ({"null": "ignore"}, "not transitive where nulls are ignored"),
        ({"error": 0.1}, "within an error are not transitive"),
        ({"min_interest": 0.1}, "less interesting laws were left out"),
        ({"max_size": 2}, "left sides larger than 2 were left out"),
    ],
)
def test_theory_is_refused_where_it_does_not_hold(more: dict[str, Any], words: str) -> None:
    report = lawful.discover(TABLE, **more)
    for ask in (lambda: report.closure(["c1"]), report.candidate_keys, report.canonical_cover):
        with pytest.raises(UsageError, match=words):
            ask()


def test_theory_is_refused_for_what_is_incomplete() -> None:
    report = lawful.discover(slow_table(), time_limit=0.01)
    with pytest.raises(UsageError, match="incomplete: the time limit"):
        report.canonical_cover()
