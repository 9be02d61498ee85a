"""`lawful explain`: the rows that break a law, or the smaller laws that were refuted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from cli.conftest import Lawful
from cli.result_documents import read_document


def test_a_broken_fd_shows_who_disagrees(lawful: Lawful, people: str) -> None:
    done = lawful("explain", people, "zip -> city")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        "people.csv: 4 rows, 6 columns, engine local",
        "broken  zip -> city",
        "  2 rows in 1 violating pair; removing 1 row would mend it",
        "  zip = 10001: 2 rows",
        "    city = New York: line 3",
        "    city = Newark: line 4",
    ]


def test_a_broken_key_shows_its_lines(lawful: Lawful, people: str) -> None:
    done = lawful("explain", people, "key(state)")
    assert done.code == 1
    assert done.out.splitlines()[3:] == ["  state = NY: 3 rows", "    lines 2, 3, 4"]


def test_a_broken_order_shows_rows_in_order(lawful: Lawful, people: str) -> None:
    done = lawful("explain", people, "{}: age asc ~ pension asc")
    assert done.code == 1
    assert done.out.splitlines()[3:] == [
        "  all rows: 2 rows",
        "    age = 50, pension = 200: line 4",
        "    age = 65, pension = 150: line 5",
    ]


def test_a_law_that_holds_shows_what_refutes_each_smaller_one(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,1,x,p\n1,2,y,p\n2,1,z,q\n2,2,x,q\n1,1,x,p\n")
    done = lawful("explain", tmp_path / "t.csv", "a, b -> c")
    assert done.code == 0
    assert done.out.splitlines() == [
        "t.csv: 5 rows, 4 columns, engine local",
        "holds   a, b -> c",
        "  2 of 5 rows agree on a, b with another row; coverage 0.28",
        "  minimal: no smaller law implies it",
        "    b -> c is broken: 5 rows in 3 violating pairs; removing 2 rows would mend it; for example:",
        "      line 2: a = 1, b = 1, c = x",
        "      line 4: a = 2, b = 1, c = z",
        "    a -> c is broken: 5 rows in 3 violating pairs; removing 2 rows would mend it; for example:",
        "      line 2: a = 1, b = 1, c = x",
        "      line 3: a = 1, b = 2, c = y",
        "  its left side also determines d",
    ]


def test_a_law_that_is_not_minimal_names_the_ones_that_are(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,1,x,p\n1,2,y,p\n2,1,z,q\n2,2,x,q\n")
    fd = lawful("explain", tmp_path / "t.csv", "a, b, c -> d")
    assert "  not minimal: it follows from a -> d; b, c -> d\n" in fd.out
    for smaller in ("b, c -> d", "a, c -> d", "a, b -> d"):
        assert f"    {smaller} holds\n" in fd.out
    key = json.loads(lawful("explain", tmp_path / "t.csv", "key(a, b, c)", "--json").out)["dependencies"][0]
    assert key["minimal"] is False
    assert key["minimal_laws"] == ["key(a, b)", "key(a, c)", "key(b, c)"]
    order = lawful("explain", tmp_path / "t.csv", "{a, b}: c asc ~ d asc")
    assert "  not minimal: it follows from a -> d; a, b -> c\n" in order.out  # {a}: c asc ~ d asc follows from it too
    assert "    a, b -> c holds\n" in order.out


def test_an_order_that_follows_from_an_fd_says_so(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,a,b\n1,1,5\n1,1,6\n2,2,3\n")
    done = lawful("explain", tmp_path / "t.csv", "{x}: a asc ~ b asc")
    assert "  not minimal: it follows from x -> a\n" in done.out
    done = lawful("explain", tmp_path / "t.csv", "{x}: b desc ~ a asc", "--json")
    assert json.loads(done.out)["dependencies"][0]["minimal_laws"] == ["{}: a asc ~ b desc", "x -> a"]


def test_a_minimal_order(lawful: Lawful, people: str) -> None:
    done = lawful("explain", people, "{state}: age asc ~ pension asc")
    assert done.code == 0
    assert "  minimal: no smaller law implies it\n" in done.out
    assert "    {}: age asc ~ pension asc is broken: " in done.out
    assert "    state -> age is broken: " in done.out
    assert "    state -> pension is broken: " in done.out


def test_json_has_every_row_of_every_group(lawful: Lawful, people: str) -> None:
    done = lawful("explain", people, "state -> zip", "--json", "--out", "explained.json")
    assert done.code == 1
    assert Path("explained.json").read_text() == done.out
    (entry,) = read_document(done.out)["dependencies"]
    assert entry["holds"] is False
    assert entry["agreeing_rows"] == 3
    assert entry["coverage"] == pytest.approx(10 / 16)
    assert entry["groups"] == [
        {
            "values": {"state": "NY"},
            "rows": [
                {"row": row, "file": "people.csv", "unit": "line", "number": row + 2, "values": {"zip": zip_code}}
                for row, zip_code in enumerate(["00501", "10001", "10001"])
            ],
        }
    ]


def test_json_of_a_law_that_holds(lawful: Lawful, people: str) -> None:
    (entry,) = read_document(lawful("explain", people, "zip -> state", "--json").out)["dependencies"]
    assert entry["holds"] is entry["minimal"] is True
    assert entry["minimal_laws"] == []
    assert entry["determines"] == []
    (smaller,) = entry["stronger"]
    assert (smaller["text"], smaller["holds"]) == ("{} -> state", False)
    assert [view["values"] for view in smaller["witness"]] == [
        {"zip": "00501", "state": "NY"},
        {"zip": "94105", "state": "CA"},
    ]


def test_many_groups_and_large_ones_are_counted(lawful: Lawful, tmp_path: Path) -> None:
    rows = 12_000
    group = np.arange(rows) % 4
    value = np.where(np.arange(rows) < 4, 1, 0)
    spread = np.arange(rows)
    csv.write_csv(pa.table({"group": group, "value": value, "spread": spread}), tmp_path / "t.csv")
    done = lawful("explain", tmp_path / "t.csv", "group -> value", "--most", "2")
    assert done.out.splitlines()[2:] == [
        "  12,000 rows in 11,996 violating pairs; removing 4 rows would mend it",
        "  group = 0: 3,000 rows",
        "    value = 0: lines 6, 10, 14, 18, 22 and 2,994 more",
        "    value = 1: line 2",
        "  group = 1: 3,000 rows",
        "    value = 0: lines 7, 11, 15, 19, 23 and 2,994 more",
        "    value = 1: line 3",
        "  … and 2 more groups: see them all with --all, --json or --violations.",
    ]
    spread_out = lawful("explain", tmp_path / "t.csv", "group -> spread", "--most", "1").out
    assert "    … and 2,990 more values\n" in spread_out
    whole = lawful("explain", tmp_path / "t.csv", "group -> spread", "--most", "1", "--all").out
    assert whole.count("  group = ") == 4
    assert whole.count("spread = ") == rows
    everything = lawful(
        "explain", tmp_path / "t.csv", "group -> value", "--most", "0", "--violations", tmp_path / "bad"
    )
    assert everything.code == 1
    assert "… and 4 more groups" in everything.out
    assert (tmp_path / "bad" / "001-group-value.csv").read_text().count("\n") == rows + 1
    (entry,) = json.loads(lawful("explain", tmp_path / "t.csv", "group -> value", "--json").out)["dependencies"]
    assert [len(each["rows"]) for each in entry["groups"]] == [3_000] * 4


def test_nulls(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n,1\n,2\n3,3\n")
    assert "  a = null: 2 rows\n" in lawful("explain", tmp_path / "t.csv", "a -> b").out
    ignoring = lawful("explain", tmp_path / "t.csv", "a -> b", "--null", "ignore")
    assert ignoring.code == 0
    assert "no two of 3 rows agree on a; " in ignoring.out


def test_laws_without_columns(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,1\n1,2\n")
    constant = lawful("explain", tmp_path / "t.csv", "{} -> a")
    assert constant.code == 0
    assert "  minimal: it has no column to spare\n" in constant.out
    assert lawful("explain", tmp_path / "t.csv", "{} -> b").code == 1
    assert lawful("explain", tmp_path / "t.csv", "key()").code == 1


def test_files_are_named_where_there_are_several(lawful: Lawful, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "1.csv").write_text("a,b\n1,x\n1,x\n")
    (folder / "2.csv").write_text("a,b\n1,x\n1,y\n")
    done = lawful("explain", folder, "a -> b", "--format", "csv")
    assert done.code == 1
    first, second = done.out.splitlines()[-2:]
    assert first.startswith("    b = x: ")
    assert first.count("lines 2, 3") == 1
    assert "2.csv, line 2" in first
    assert second.endswith("2.csv, line 3")


SALARIES = "zip,state,salary,tax\n1,NY,10,1\n1,NY,20,2\n2,CA,30,2\n2,CA,40,5\n3,TX,50,4\n"


def test_a_broken_list_order_shows_all_columns_of_its_lists(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SALARIES)
    done = lawful("explain", tmp_path / "t.csv", "[salary asc] -> [tax asc]")
    assert done.code == 1
    assert done.out.splitlines()[2:] == [
        "  2 rows in 1 violating pair; removing 1 row would mend it",
        "  all rows: 2 rows",
        "    salary = 40, tax = 5: line 5",
        "    salary = 50, tax = 4: line 6",
    ]


def test_a_list_order_that_holds_tells_which_shorter_list_suffices(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SALARIES)
    done = lawful("explain", tmp_path / "t.csv", "[salary asc, tax asc] -> [zip asc]")
    assert done.code == 0
    assert "  not minimal: it follows from [salary asc] -> [zip asc]" in done.out.splitlines()
    assert "minimal" not in lawful("explain", tmp_path / "t.csv", "[salary asc] -> [zip asc]").out


def test_a_broken_denial_groups_rows_by_what_it_equates(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SALARIES + "2,NV,60,9\n")
    done = lawful("explain", tmp_path / "t.csv", "not(t.zip = s.zip and t.salary < s.salary and t.state != s.state)")
    assert done.code == 1
    assert done.out.splitlines()[2:] == [
        "  3 rows in 2 violating pairs",
        "  zip = 2: 3 rows",
        "    state = CA, salary = 30: line 4",
        "    state = CA, salary = 40: line 5",
        "    state = NV, salary = 60: line 7",
    ]


def test_a_denial_that_holds_is_minimal_if_each_predicate_is_needed(lawful: Lawful, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SALARIES)
    needed = lawful("explain", tmp_path / "t.csv", "not(t.zip = s.zip and t.state != s.state)")
    assert needed.code == 0
    assert "  minimal: no smaller law implies it" in needed.out.splitlines()
    needless = lawful("explain", tmp_path / "t.csv", "not(t.zip = s.zip and t.state != s.state and t.tax > s.tax)")
    assert "  not minimal: it follows from not(t.zip = s.zip and t.state != s.state)" in needless.out.splitlines()
