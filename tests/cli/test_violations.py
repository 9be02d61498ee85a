"""The files of violating rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.conftest import Lawful
from lawful.results.violation_files import file_name


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_file_for_each_broken_law(lawful: Lawful, people: str) -> None:
    laws = "zip -> city; zip -> state; key(state); {}: age asc ~ pension asc"
    done = lawful("check", people, "--laws", laws, "--violations", "bad")
    names = ["001-zip-city.csv", "003-key-state.csv", "004-age-asc-pension-asc.csv"]
    assert done.code == 1
    assert done.err.splitlines() == [f"wrote bad/{name}" for name in names]
    assert sorted(path.name for path in Path("bad").iterdir()) == names
    assert _rows(Path("bad/001-zip-city.csv")) == [
        ["_group", "_row", "_file", "_number", "name", "zip", "city", "state", "age", "pension"],
        ["0", "1", "people.csv", "3", "Bob", "10001", "New York", "NY", "45", "100"],
        ["0", "2", "people.csv", "4", "Eve", "10001", "Newark", "NY", "50", "200"],
    ]


def test_groups_break_the_law_together(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,1\n2,1\n1,2\n3,3\n2,2\n2,1\n")
    lawful("check", table, "--laws", "a -> b", "--violations", tmp_path / "bad")
    _, *rows = _rows(tmp_path / "bad" / "001-a-b.csv")
    assert [(row[0], row[3], row[4]) for row in rows] == [
        ("0", "2", "1"),
        ("0", "4", "1"),
        ("1", "3", "2"),
        ("1", "6", "2"),
        ("1", "7", "2"),
    ]


def test_null_is_a_cell_without_quotes(lawful: Lawful, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 1, 1], "b": ["", None, "x"]}), tmp_path / "t.parquet")
    lawful("check", tmp_path / "t.parquet", "--laws", "a -> b", "--violations", tmp_path / "bad")
    _, empty, null, text = (tmp_path / "bad" / "001-a-b.csv").read_text().splitlines()
    assert empty.endswith(',"1",""')
    assert null.endswith(',"1",')
    assert text.endswith(',"1","x"')


def test_own_columns_give_way_to_those_of_the_table(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("group,_row\n1,1\n1,2\n")
    lawful("check", table, "--laws", "group -> _row", "--violations", tmp_path / "bad")
    assert _rows(tmp_path / "bad" / "001-group-row.csv")[0] == [
        "__group",
        "__row",
        "__file",
        "__number",
        "group",
        "_row",
    ]


def test_nothing_broken_leaves_an_empty_folder(lawful: Lawful, people: str) -> None:
    for _ in range(2):  # an empty folder of an earlier run is as good as none
        assert lawful("check", people, "--laws", "zip -> state", "--violations", "deep/down/bad").code == 0
        assert list(Path("deep/down/bad").iterdir()) == []


@pytest.mark.parametrize("content", ["an earlier run", "something of the user's", "a hidden file"])
def test_a_folder_with_anything_in_it_is_refused_before_the_work(
    lawful: Lawful, people: str, own_cache: Path, content: str
) -> None:
    names = {"an earlier run": "001-zip-city.csv", "something of the user's": "notes.md", "a hidden file": ".keep"}
    Path("bad").mkdir()
    kept = Path("bad") / names[content]
    kept.write_text(content)
    done = lawful("check", people, "--laws", "zip -> city", "--violations", "bad")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: bad: is not empty, and violations of two runs must not mix\n")
    assert [path.read_text() for path in Path("bad").iterdir()] == [content]
    assert list(own_cache.iterdir()) == []


def test_a_file_is_no_folder(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> city", "--violations", people)
    assert (done.code, done.out) == (2, "")
    assert "people.csv: is not a folder" in done.err
    done = lawful("check", people, "--laws", "zip -> city", "--violations", f"{people}/bad")
    assert done.code == 2
    assert "mistake in lawful" not in done.err


def test_names_of_files_are_safe() -> None:
    assert file_name(7, "../../etc/passwd -> \x00\n") == "007-etc-passwd.csv"
    assert file_name(1, "ключ -> 値") == "001-law.csv"
    assert file_name(12_345, "a" * 500) == f"12345-{'a' * 60}.csv"
    assert file_name(1, "x" * 59 + " -> y") == f"001-{'x' * 59}.csv"


def test_a_denial_constraint_writes_all_violating_pairs(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "staff.csv"
    table.write_text("name,pay,bonus\na,10,1\nb,20,3\nc,30,2\nd,40,2\n")
    law = "not(t.pay < s.pay and t.bonus >= s.bonus)"
    folder = tmp_path / "bad"
    done = lawful("check", table, "--laws", law, "--violations", folder)
    assert done.code == 1
    assert "3 rows in 3 violating pairs; for example" in done.out
    (file,) = folder.iterdir()
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    pairs = {(rows[i]["name"], rows[i + 1]["name"]) for i in range(0, len(rows), 2)}
    assert pairs == {("b", "c"), ("b", "d"), ("c", "d")}
    assert [row["_group"] for row in rows] == ["0", "0", "1", "1", "2", "2"]


@pytest.mark.cluster  # takes long
def test_on_spark_the_same_files_are_written(lawful: Lawful, people: str, spark: object) -> None:
    laws = "zip -> city; key(state); [age] -> [pension]; not(t.age <= s.age and t.pension > s.pension)"
    for engine in ("local", "spark"):
        assert lawful("check", people, "--laws", laws, "--engine", engine, "--violations", engine).code == 1
    here, there = (sorted(Path(engine).iterdir()) for engine in ("local", "spark"))
    assert [path.name for path in here] == [path.name for path in there]
    assert len(here) == 4
    assert [path.read_text() for path in here] == [path.read_text() for path in there]
