"""lawful rewrite: the query on standard output, ready to run, and everything that is wrong in a sentence."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from cli.conftest import Lawful

ASKED = "select * from people order by zip, state"


def test_a_query_with_laws_in_their_notation(lawful: Lawful) -> None:
    done = lawful("rewrite", ASKED, "--laws", "zip -> state; key(name)")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "select * from people order by zip\n"
        "-- order by: state asc is dropped: rows that agree on zip agree on it\n"
        "--     by zip -> state\n"
    )


def test_a_query_with_the_document_of_a_discovery(lawful: Lawful, people: str) -> None:
    assert lawful("discover", people, "--find", "key,fd", "--out", "laws.json").code == 0
    done = lawful("rewrite", ASKED, "--laws", "laws.json", "--dialect", "spark")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("select * from people order by zip\n")
    more = lawful("rewrite", ASKED, "--laws", "laws.json", "--laws", "[zip] -> [state]")
    assert more.code == 0


def test_a_broken_law_of_a_check_is_not_used(lawful: Lawful, people: str) -> None:
    assert lawful("check", people, "--laws", "zip -> city", "--out", "checked.json").code == 1
    asked = "select * from people order by zip, city"
    done = lawful("rewrite", asked, "--laws", "checked.json")
    assert (done.code, done.out) == (0, f"{asked}\n-- nothing can be shortened by these laws\n")
    assert done.err == "warning: 1 law is not used, because it is broken: zip -> city\n"


def test_laws_that_ignore_nulls_or_allow_errors_are_not_used(lawful: Lawful, people: str) -> None:
    for option, reason in ((("--null", "ignore"), "--null ignore"), (("--error", "0.4"), "within an error")):
        assert lawful("discover", people, "--find", "fd", *option, "--out", "laws.json").code == 0
        done = lawful("rewrite", "select * from people order by zip, city", "--laws", "laws.json")
        assert done.code == 0
        assert done.out.startswith("select * from people order by zip, city\n")
        assert reason in done.err


def test_json(lawful: Lawful) -> None:
    done = lawful("rewrite", ASKED, "--laws", "zip -> state", "--index", "zip", "--index", "state", "--json")
    document = json.loads(done.out)
    assert document["rewritten"] == "select * from people order by zip"
    assert [use["suffices"] for use in document["indexes"]] == [True, False]
    assert document["changed"]


def test_indexes_and_nulls(lawful: Lawful) -> None:
    asked = ("rewrite", "select * from t order by year, month", "--laws", "[no] -> [year, month]", "--index", "no desc")
    done = lawful(*asked)
    assert done.out.splitlines()[0] == "select * from t order by no"
    assert "-- index (no desc) read backwards suffices: it sorts by no asc, and breaks ties" in done.out
    done = lawful(*asked, "--dialect", "postgres")
    assert done.out.splitlines()[0] == "select * from t order by year, month"
    assert "-- index (no desc) does not suffice" in done.out
    assert "--not-null" in done.out
    done = lawful(*asked, "--dialect", "postgres", "--not-null", "no,year,month")
    assert done.out.splitlines()[0] == "select * from t order by no"


def test_a_query_from_standard_input(lawful: Lawful, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("select a,\tb\nfrom t order by a, b\n"))
    assert lawful("rewrite", "-", "--laws", "a -> b").out.startswith("select a,\tb\nfrom t order by a\n--")


def test_hostile_names_do_not_leave_their_comment(lawful: Lawful) -> None:
    law = '"a\n; drop table t" -> b'
    done = lawful("rewrite", 'select * from t order by "a\n; drop table t", b', "--laws", law)
    assert done.code == 0
    query, comments = done.out.split('"a\n; drop table t"\n', 1)
    assert query == "select * from t order by "
    assert all(line.startswith("-- ") for line in comments.splitlines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("select * from", "--laws", "a -> b"), "cannot be parsed"),
        (("select 1; select 2", "--laws", "a -> b"), "one query"),
        ((" ", "--laws", "a -> b"), "there is no query"),
        (("select * from t order by a", "--laws", "a -> b", "--dialect", "klingon"), "unknown SQL dialect"),
        (("select * from t order by a", "--laws", "a -> b", "--dialect", "klingon"), "postgres, "),
        (("select * from t order by a", "--laws", "[1] -> [2]"), 'is quoted: "1"'),
        (("select * from t order by a", "--laws", "a -> b", "--index", "a +"), "does not list the columns"),
        (("select * from t order by a", "--laws", "a -> b", "--not-null", "z"), 'no column named "z"'),
        (("select * from t order by a", "--laws", "a ->"), "Expected a column name"),
        (("select * from t order by a", "--laws", "missing.json"), "no such file"),
    ],
)
def test_bad_input_ends_with_2(lawful: Lawful, arguments: tuple[str, ...], words: str) -> None:
    done = lawful("rewrite", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_files_that_do_not_say_what_their_laws_mean(lawful: Lawful, tmp_path: Path) -> None:
    partial = tmp_path / "laws.json.partial"
    partial.write_text('"a -> b"\n')
    done = lawful("rewrite", "select * from t order by a, b", "--laws", partial)
    assert done.code == 2
    assert "does not say whether its laws hold without exception" in done.err
    document = tmp_path / "laws.json"
    document.write_text('{"format": "lawful/1", "dependencies": []}')
    done = lawful("rewrite", "select * from t order by a, b", "--laws", document)
    assert done.code == 2
    assert f"{document}: does not name the columns" in done.err
