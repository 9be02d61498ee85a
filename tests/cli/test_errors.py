"""Whatever goes wrong ends in a sentence on standard error and the right exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import run_process
from cli.conftest import Lawful

BAD_USAGE = [
    (("check", "people.csv"), "Missing option '--laws'"),
    (("check", "--laws", "a -> b"), "Missing argument"),
    (("chek", "people.csv"), "Did you mean 'check'"),
    (("profile", "people.csv", "--nonsense"), "No such option: --nonsense"),
    (("profile", "people.csv", "--limit", "few"), "Invalid value for '--limit'"),
    (("profile", "people.csv", "--limit", "-1"), "the row limit must not be negative"),
    (("profile", "people.csv", "--format", "xml"), "Known formats: csv, parquet, jsonl."),
    (("profile", "people.csv", "--sep", ",,"), "the separator must be one ASCII character"),
    (("profile", "people.csv", "--sep", '"'), "cannot also be the quote"),
    (("profile", "people.csv", "--encoding", "utf-9"), "there is no encoding called 'utf-9'"),
    (("profile", "people.csv", "--columns", "age,wage"), "has no column 'wage'"),
    (("profile", "people.csv", "--columns", "age,,zip"), "does not list column names"),
    (("profile", "people.csv", "--columns", "age,age"), "a column is chosen twice"),
    (("profile", "people.csv", "--types", "age"), "Write column=type"),
    (("profile", "people.csv", "--types", "age=int"), "unknown type 'int' for column 'age'"),
    (("profile", "people.csv", "--types", "wage=integer"), "has no column 'wage'"),
    (("profile", "people.csv", "--types", "name=integer"), "line 2: column 'name' holds 'Ann'"),
    (("profile", "people.csv", "--engine", "gpu"), "Engines: auto, local, spark."),
    (("profile", "people.csv", "--engine", "local", "--master", "local[2]"), "the local engine uses no Spark"),
    (("profile", "people.csv", "--master", "local[2]", "--remote", "sc://h"), "Give one of them."),
    (("profile", "nothing.csv"), "nothing.csv: there is no such file or folder"),
    (("profile", "x" * 400), "File name too long"),
    (("profile", "."), "the folder mixes formats"),
    (("profile", "table:people", "--engine", "local"), "Use --engine spark."),
    (("profile", "sql:select 1" + " " * 400, "--engine", "local"), "Use --engine spark."),
    (("check", "people.csv", "--laws", "zip -> city", "--null", "maybe"), "Use equal or ignore."),
    (("check", "people.csv", "--laws", ""), "there are no laws to check"),
    (("check", "people.csv", "--laws", "zip -> stat"), 'Did you mean "state"?'),
    (("check", "people.csv", "--laws", "zip => state"), "zip => state\n      ^"),
    (("check", "people.csv", "--laws", "laws.json"), "laws.json: there is no such file of laws"),
    (("check", "people.csv", "--laws", "laws.txt"), "laws.txt: there is no such file of laws"),
    (("check", "people.csv", "--laws", "laws.json.partial"), "laws.json.partial: there is no such file of laws"),
    (("discover",), "Missing argument"),
    (
        ("discover", "people.csv", "--find", "od"),
        "unknown kind of law 'od' Kinds: key, fd, canonical-od, list-od, pod,",
    ),
    (("discover", "people.csv", "--find", "fd,FD"), "unknown kind of law 'FD'"),
    (("discover", "people.csv", "--find", " , "), "no kind of law is asked for"),
    (("discover", "people.csv", "--find", "canonical-od,dc", "--error", "0.1", "--measure", "g3"), "leave dc out of"),
    (("discover", "people.csv", "--find", "dc", "--error", "0.1", "--measure", "g3"), "are too hard to find"),
    (("discover", "people.csv", "--find", "dc", "--convention", "short"), "short"),
    (("discover", "people.csv", "--find", "dc", "--operators", "=,~"), "~"),
    (("discover", "people.csv", "--find", "list-od", "--null", "ignore"), "know nulls only as values"),
    (
        ("discover", "people.csv", "--find", "fd", "--unidirectional"),
        "Add list-od to --find, or drop",
    ),
    (("discover", "people.csv", "--find", "fd", "--resume"), "nothing to resume from"),
    (("discover", "people.csv", "--find", "canonical-od", "--resume"), "nothing to resume from"),
    (("discover", "people.csv", "--find", "fd", "--constants", "2"), "--constants is for dc only"),
    (("discover", "people.csv", "--find", "pod", "--error", "0.1", "--measure", "g3"), "leave pod out of --find"),
    (("discover", "people.csv", "--max-size", "-1"), "the largest size must not be negative"),
    (("discover", "people.csv", "--error", "1"), "the error must lie in [0, 1), and is 1.0"),
    (("discover", "people.csv", "--error", "-0.1"), "the error must lie in [0, 1), and is -0.1"),
    (("discover", "people.csv", "--error", "nan"), "the error must lie in [0, 1), and is nan"),
    (("discover", "people.csv", "--error", "much"), "Invalid value for '--error'"),
    (("discover", "people.csv", "--error", "0.1", "--strategy", "full"), "Drop --strategy or --error."),
    (("discover", "people.csv", "--error", "0.1", "--measure", "g2"), "unknown measure 'g2'"),
    (("discover", "people.csv", "--measure", "g2"), "unknown measure 'g2'"),
    (("discover", "people.csv", "--strategy", "quick"), "'quick' is an unknown strategy Use auto, full, hybrid."),
    (("discover", "people.csv", "--strategy", "lattice"), "'lattice' is no strategy for these laws"),
    (("discover", "people.csv", "--min-interest", "2"), "the least interest must lie in [0, 1]"),
    (("discover", "people.csv", "--min-interest", "nan"), "the least interest must lie in [0, 1]"),
    (("discover", "people.csv", "--time-limit", "0"), "the time limit must be positive, and is 0"),
    (("discover", "people.csv", "--time-limit", "nan"), "the time limit must be positive"),
    (("discover", "people.csv", "--memory-limit", "lots"), "'lots' is not a size Write 512m or 4g"),
    (("discover", "people.csv", "--memory-limit", "60m"), "the memory limit of 60 MB is too small"),
    (("discover", "people.csv", "--seed", "-1"), "the seed must not be negative"),
    (("discover", "people.csv", "--columns", "zip,town"), "has no column 'town'"),
    (("discover", "people.csv", "--null", "maybe"), "Use equal or ignore."),
    (("discover", "people.csv", "--out", "nowhere/laws.json"), "cannot write nowhere/laws.json"),
    (("discover", "people.csv", "--out", "./people.csv"), "it is the table itself"),
    (("check", "people.csv", "--laws", "zip -> city", "--out", "people.csv"), "it is the table itself"),
    (("discover", "nothing.csv"), "nothing.csv: there is no such file or folder"),
    (("explain", "people.csv"), "Missing argument"),
    (("explain", "people.csv", "zip -> town"), 'There is no column named "town".'),
    (("explain", "people.csv", "zip -> city, state"), "one law is explained at a time, and these are 2"),
    (("explain", "people.csv", ""), "there are no laws"),
    (("explain", "people.csv", "zip -> city", "--most", "-1"), "Invalid value for '--most'"),
    (("explain", "people.csv", "zip -> city", "--violations", "people.csv"), "people.csv: is not a folder"),
    (("bench", "--list"), "is not in a source checkout of lawful"),
    (("demo", "--rows", "-1"), "must not be negative"),
    (("demo", "--rows", "0"), "the table is too small to plant that many errors"),
    (("demo", "--rows", "100", "--errors", "90"), "the table is too small to plant that many errors"),
    (("demo", "--errors", "0", "--engine", "local", "--keep", "nowhere/tax.csv"), "nowhere/tax.csv"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_USAGE, ids=[" ".join(case[0])[:60] for case in BAD_USAGE])
def test_bad_input_and_usage(lawful: Lawful, people: str, arguments: tuple[str, ...], words: str) -> None:
    Path("other.jsonl").write_text("{}\n")
    done = lawful(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.split()) or words in done.err
    assert "Traceback" not in done.err
    assert "mistake in lawful" not in done.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "line 1: the file is empty"),
        (b"a,b\n1\n", "line 2: has 1 cells where 2 were expected"),
        (b"a,a\n", "columns 1 and 2 of the header are both named 'a'"),
        (b"a,b\n1,\xff\n", "line 2: byte 0xff is not utf-8 text"),
    ],
)
def test_bad_files_are_named_with_their_line(lawful: Lawful, tmp_path: Path, content: bytes, words: str) -> None:
    table = tmp_path / "bad.csv"
    table.write_bytes(content)
    done = lawful("check", table, "--laws", "a -> b", "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {table}, ")
    assert words in done.err


def test_debug_shows_the_traceback_and_keeps_the_exit_code(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> stat", "--debug")
    assert (done.code, done.out) == (2, "")
    assert "Traceback (most recent call last)" in done.err
    assert 'error: There is no column named "stat".' in done.err


def test_too_little_memory_is_a_stop(lawful: Lawful) -> None:
    done = lawful("demo", "--rows", str(10**15), "--errors", "0")
    assert (done.code, done.out) == (3, "")
    assert "there is not enough memory" in done.err


def test_without_a_command_help_is_shown(lawful: Lawful) -> None:
    done = lawful()
    assert done.code == 2
    assert "Usage: lawful" in done.out + done.err


def test_output_that_cannot_show_a_character_shows_its_escape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    table = tmp_path / "t.csv"
    table.write_text("é,b\n1,2\n1,3\n", "utf-8")
    text = run_process("check", table, "--laws", "é -> b")
    assert text.code == 1
    assert r"broken  \xe9 -> b" in text.out
    document = run_process("check", table, "--laws", "é -> b", "--json")
    assert json.loads(document.out)["dependencies"][0]["lhs"] == ["é"]


def test_exit_codes_are_those_of_the_contract() -> None:
    from lawful.common import errors

    codes = (errors.EXIT_FINE, errors.EXIT_LAWS_BROKEN, errors.EXIT_BAD_INPUT, errors.EXIT_STOPPED)
    assert codes == (0, 1, 2, 3)
    assert errors.StoppedError("x").exit_code == 3
