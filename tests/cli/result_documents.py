"""The contract of the JSON document, checked field by field."""

from __future__ import annotations

import json
from typing import Any

from lawful.dependencies import from_document, to_document

TYPES = {"null", "boolean", "integer", "decimal", "float", "date", "timestamp", "time", "duration", "string", "binary"}
PAIRWISE = ("pod", "dc")
"""The kinds whose two rows have an order, and of which the fewest removals are not always known."""
STEPS = {"start", "open", "encode", "check", "discover", "rank", "total"}


def read_document(text: str) -> dict[str, Any]:
    """Read the one document that a command printed, and check everything that is promised of it."""
    document = json.loads(text)
    assert isinstance(document, dict)
    check_document(document)
    return document


def check_document(document: dict[str, Any]) -> None:
    assert {"format", "complete", "table", "settings", "dependencies", "stats"} <= document.keys()
    assert document["format"] == "lawful/1"
    assert isinstance(document["complete"], bool)
    assert "stopped" not in document or (isinstance(document["stopped"], str) and not document["complete"])
    if "ranked" in document:
        assert document["ranked"] != ("unranked_because" in document)
        families = document["stats"]["families"]
        assert not document["complete"] or all(family["complete"] for family in families.values())
    assert document.get("limited_to", {"max_size": 0}).keys() <= {"max_size", "min_interest"}
    _check_table(document["table"])
    _check_stats(document["stats"])
    assert isinstance(document["settings"], dict)
    names = [column["name"] for column in document["table"]["columns"]]
    for entry in document["dependencies"]:
        _check_dependency(entry, names, document["table"]["rows"])


def _check_table(table: dict[str, Any]) -> None:
    assert table.keys() - {"left_out"} == {"name", "rows", "columns"}
    for column in table.get("left_out", []):
        assert column.keys() == {"name", "type"}
        assert all(isinstance(text, str) for text in column.values())
    assert isinstance(table["name"], str)
    assert is_count(table["rows"])
    for column in table["columns"]:
        assert column.keys() == {"name", "type", "distinct", "nulls", "min", "max"}
        assert isinstance(column["name"], str)
        assert column["type"] in TYPES
        assert is_count(column["distinct"])
        assert is_count(column["nulls"])
        assert column["distinct"] + column["nulls"] <= table["rows"]
        for end in ("min", "max"):
            assert isinstance(column[end], str) == (column["distinct"] > 0)


def _check_stats(stats: dict[str, Any]) -> None:
    assert stats.keys() - {"families"} == {"seconds", "counts"}
    for family in stats.get("families", {}).values():
        assert family.keys() == {"found", "complete"}
        assert is_count(family["found"])
        assert isinstance(family["complete"], bool)
    assert stats["seconds"].keys() <= STEPS
    assert "total" in stats["seconds"]
    assert all(isinstance(seconds, float) and seconds >= 0 for seconds in stats["seconds"].values())
    assert all(is_count(count) for count in stats["counts"].values())


def _check_dependency(entry: dict[str, Any], names: list[str], rows: int) -> None:
    law = from_document(entry, names)
    assert entry.items() >= to_document(law, names).items()
    if "holds" in entry:
        _check_verdict(entry, names, rows)
    else:
        _check_found(entry)


def _check_found(entry: dict[str, Any]) -> None:
    assert isinstance(entry["interest"], float)
    assert 0 <= entry["interest"] <= 1
    assert entry["interest"] > 0 or entry["kind"] == "pod", "only comparisons may be satisfied by no two rows"
    assert "error" not in entry or 0 <= entry["error"] < 1
    if entry.get("strength") is not None:
        assert 0 <= entry["strength"] <= 1
    if "tested" in entry:
        assert is_count(entry["tested"])
        assert is_count(entry["violating"])
        assert (entry["violating"] == 0) == (entry.get("error", 0) == 0)
    if "folded" in entry:  # the strongest laws
        assert isinstance(entry["folded"], bool)
        assert entry["strength"] > 0
        assert "tested" in entry


def _check_verdict(entry: dict[str, Any], names: list[str], rows: int) -> None:
    assert isinstance(entry["holds"], bool)
    is_within_error = "allowed_error" in entry
    assert is_within_error == ("measure" in entry) == ("error" in entry)
    if is_within_error:
        assert entry["measure"] in ("g1", "g3")
        assert entry["holds"] == (entry["error"] <= entry["allowed_error"])
    has_violations = entry["error"] > 0 if is_within_error else not entry["holds"]
    assert ("witness" in entry) == ("violations" in entry) == has_violations
    if not has_violations:
        return
    assert entry["violations"].keys() == {"rows", "pairs", "removals"}
    counts = {
        name: count for name, count in entry["violations"].items() if count is not None or entry["kind"] not in PAIRWISE
    }
    assert all(is_count(count) and count > 0 for count in counts.values())
    first, second = entry["witness"]
    assert 0 <= min(first["row"], second["row"]) < max(first["row"], second["row"]) < rows
    assert entry["kind"] in PAIRWISE or first["row"] < second["row"]
    for view in (first, second):
        assert view.keys() == {"row", "file", "unit", "number", "values"}
        assert view["file"] is None or isinstance(view["file"], str)
        assert view["unit"] in ("line", "row")
        assert view["number"] >= 1
        assert view["values"]
        assert set(view["values"]) <= set(names)
        assert all(value is None or isinstance(value, str) for value in view["values"].values())


def is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
