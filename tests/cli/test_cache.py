from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import lawful as package
from cli.conftest import Lawful
from lawful.tables.encoded_table import METADATA
from lawful.tables.kept_tables import tables_folder


def folders() -> list[str]:
    return sorted(folder.name for folder in tables_folder().iterdir() if folder.is_dir())


@pytest.fixture
def kept(lawful: Lawful, people: str) -> dict[str, str]:
    """Two tables in the cache, one an hour older: their keys by name."""
    Path("other.csv").write_text("a\n1\n")
    keys = {}
    for name in ("other.csv", people):
        before = set(folders())
        assert lawful("profile", name).code == 0
        (keys[name],) = set(folders()) - before
    os.utime(tables_folder() / keys["other.csv"] / METADATA, (1_700_000_000, 1_700_000_000))
    return keys


def test_an_empty_cache(lawful: Lawful) -> None:
    done = lawful("cache")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"0 tables, 0 bytes of 20 GB, in {tables_folder()}\n"
    assert lawful("cache", "--clear").out == "removed 0 tables, 0 bytes\n"


def test_tables_are_listed_the_last_used_first(
    lawful: Lawful, kept: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE_LIMIT", "10g")
    done = lawful("cache")
    assert (done.code, done.err) == (0, "")
    titles, first, second, total = done.out.splitlines()
    assert titles.split() == ["table", "rows", "columns", "size", "last", "used", "key"]
    size, date = r"[\d.]+ (KB|bytes)", r"\d{4}-\d\d-\d\d \d\d:\d\d"
    assert re.fullmatch(rf"people.csv +4 +6 +{size} +{date} +{kept['people.csv'][:12]}", first)
    assert re.fullmatch(rf"other.csv +1 +1 +{size} +2023-11-1[45] \d\d:13 +{kept['other.csv'][:12]}", second)
    assert re.fullmatch(rf"2 tables, {size} of 10 GB, in {re.escape(str(tables_folder()))}", total)


def test_the_list_as_json(lawful: Lawful, kept: dict[str, str]) -> None:
    document = json.loads(lawful("cache", "--json").out)
    assert document.keys() == {"format", "folder", "limit", "bytes", "tables"}
    assert (document["format"], document["limit"]) == ("lawful/1", 20 << 30)
    assert [(table["key"], table["name"]) for table in document["tables"]] == [
        (kept["people.csv"], "people.csv"),
        (kept["other.csv"], "other.csv"),
    ]
    other = document["tables"][1]
    files = [path for path in (tables_folder() / kept["other.csv"]).rglob("*") if path.is_file()]
    assert other == {
        "key": kept["other.csv"],
        "name": "other.csv",
        "rows": 1,
        "columns": 1,
        "bytes": sum(path.stat().st_size for path in files),
        "used": "2023-11-14T22:13:20+00:00",
    }
    assert document["bytes"] == sum(table["bytes"] for table in document["tables"])


def test_everything_is_removed(lawful: Lawful, kept: dict[str, str]) -> None:
    done = lawful("cache", "--clear")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"removed 2 tables, [\d.]+ (KB|bytes)\n", done.out)
    assert folders() == []


@pytest.mark.parametrize("by", ["name", "key", "beginning"])
def test_one_table_is_removed(lawful: Lawful, kept: dict[str, str], by: str) -> None:
    key = kept["other.csv"]
    given = {"name": "other.csv", "key": key, "beginning": key[:8]}[by]
    done = lawful("cache", "--clear", given, "--json")
    document = json.loads(done.out)
    assert document.keys() == {"format", "bytes", "removed", "in_use"}
    assert [table["name"] for table in document["removed"]] == ["other.csv"]
    assert document["bytes"] == document["removed"][0]["bytes"]
    assert folders() == [kept["people.csv"]]


def test_only_named_tables_are_listed(lawful: Lawful, kept: dict[str, str]) -> None:
    tables = json.loads(lawful("cache", "other.csv", kept["other.csv"], "--json").out)["tables"]
    assert [table["name"] for table in tables] == ["other.csv"]


@pytest.mark.parametrize("name", ["nothing.csv", "0", ""])
def test_a_name_that_no_table_has(lawful: Lawful, kept: dict[str, str], name: str) -> None:
    done = lawful("cache", "--clear", name)
    assert (done.code, done.out) == (2, "")
    assert f"no table in the cache has the name {name!r}" in done.err
    assert len(folders()) == 2


def test_a_table_in_use_stays_and_is_whole(lawful: Lawful, kept: dict[str, str]) -> None:
    report = package.check("people.csv", "zip -> city")
    done = lawful("cache", "--clear")
    assert done.code == 0
    assert done.out.startswith("removed 1 table, ")
    assert done.err == (
        f"people.csv ({kept['people.csv'][:12]}) is in use by a running command or session, and stays\n"
    )
    assert report.violations("zip -> city").num_rows == 2
    del report
    assert lawful("cache", "--clear").out.startswith("removed 1 table, ")


def test_damaged_tables_are_listed_and_removed(lawful: Lawful, kept: dict[str, str]) -> None:
    (tables_folder() / kept["other.csv"] / METADATA).write_text("{")
    (tables_folder() / kept["people.csv"] / METADATA).unlink()
    done = lawful("cache")
    assert done.out.count("(damaged, or of another version)") == 2
    assert {table["name"] for table in json.loads(lawful("cache", "--json").out)["tables"]} == {None}
    assert lawful("cache", "--clear").out.startswith("removed 2 tables, ")
    assert folders() == []


@pytest.mark.parametrize(
    "command",
    [
        ("cache",),
        ("profile", "people.csv"),
        ("check", "people.csv", "--laws", "key(name)", "--engine", "spark", "--no-cache"),
    ],
)
def test_a_wrong_limit_is_told_before_work_is_spent(
    lawful: Lawful, people: str, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE_LIMIT", "10 gigs")
    done = lawful(*command)
    assert (done.code, done.out) == (2, "")
    assert "LAWFUL_CACHE_LIMIT: '10 gigs' is not a size\nWrite 512m or 4g, or a number of bytes." in done.err
    assert folders() == []


def test_what_keeps_nothing_needs_no_limit(lawful: Lawful, people: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE_LIMIT", "10 gigs")
    assert lawful("profile", people, "--no-cache").code == 0
