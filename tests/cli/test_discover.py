"""`lawful discover`: what it prints and writes, what it leaves when it is stopped, and tables of every shape."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from cli.commands import PATIENCE, on_terminal
from cli.conftest import Lawful
from cli.result_documents import read_document
from lawful.dependencies import parse_laws


@pytest.fixture
def long_search(lawful: Lawful, long_table: Path) -> Path:
    """The table, read once before: limits of time are about the search."""
    assert lawful("profile", long_table).code == 0
    return long_table


@pytest.fixture(scope="module")
def long_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes minutes to compare in full, with two columns that are found to be the same at once."""
    random = np.random.default_rng(1)
    codes = random.integers(0, 50, 300_000)
    columns = {"code": codes, "code_name": np.char.add("n", codes.astype(str))}
    columns |= {f"c{place}": random.integers(0, 3 + 7 * place, len(codes)) for place in range(12)}
    path = tmp_path_factory.mktemp("long") / "long.csv"
    csv.write_csv(pa.table(columns), path)
    return path


def test_text_for_people(lawful: Lawful, people: str) -> None:
    done = lawful("discover", "--exact", people)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "people.csv: 4 rows, 6 columns, engine local"
    assert lines[1:3] == ["4 keys", "  strength  interest  law"]
    assert lines[3] == "         1      0.25  key(name)"
    fds = lines.index("21 functional dependencies")
    assert lines[fds + 1] == "  strength  interest  law"
    assert lines[fds + 2].endswith("  zip -> state")
    assert lines[-2] == "25 minimal laws"
    assert lines[-1].startswith("read and encode ")
    assert sum("->" in line for line in lines) == 21


@pytest.mark.parametrize(("family", "words"), [("key", "4 keys"), ("fd", "21 functional dependencies")])
def test_one_family(lawful: Lawful, people: str, family: str, words: str) -> None:
    done = lawful("discover", people, "--find", family)
    assert f"\n{words}\n" in done.out
    assert (" -> " in done.out) == (family == "fd")
    assert ("key(" in done.out) == (family == "key")
    document = read_document(lawful("discover", people, "--find", family, "--json").out)
    assert {entry["kind"] for entry in document["dependencies"]} == {family}


def test_errors_have_a_column(lawful: Lawful, people: str) -> None:
    done = lawful("discover", people, "--find", "fd", "--error", "0.3", "--measure", "g3")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[2] == "  strength  interest     error  law"
    assert "0.25  zip -> city" in done.out
    assert lines[-2].endswith("minimal laws, with an error of at most 0.3 (g3)")


def test_a_measure_without_an_error_is_harmless(lawful: Lawful, people: str) -> None:
    plain, measured = (
        read_document(lawful("discover", people, "--exact", *more, "--json").out) for more in ((), ("--measure", "g3"))
    )
    assert plain["dependencies"] == measured["dependencies"]
    assert plain["settings"] == measured["settings"]
    assert plain["settings"]["measure"] is None


def test_limits_are_said(lawful: Lawful, people: str) -> None:
    done = lawful("discover", people, "--max-size", "1", "--min-interest", "0.3")
    assert done.code == 0
    assert done.out.splitlines()[-3:-1] == [
        "25 minimal laws, 24 of less interest left out",
        "only laws of size at most 1 and with an interest of at least 0.3 are listed: "
        "beyond that the list is incomplete",
    ]
    document = read_document(lawful("discover", people, "--min-interest", "0.3", "--json").out)
    assert all(entry["interest"] >= 0.3 for entry in document["dependencies"])
    counts = document["stats"]["counts"]
    assert counts["keys"] + counts["fds"] == len(document["dependencies"]) + counts["left_out"]
    assert document["settings"]["min_interest"] == 0.3
    assert document["limited_to"] == {"min_interest": 0.3}
    older = {name: value for name, value in document.items() if name != "limited_to"}
    for version in (document, older):
        Path("laws.json").write_text(json.dumps(version))
        assert lawful("check", people, "--laws", "laws.json").code == 0


def test_out_is_the_printed_document_and_leaves_no_partial_file(lawful: Lawful, people: str) -> None:
    done = lawful("discover", "--exact", people, "--out", "laws.json", "--json")
    assert done.code == 0
    assert Path("laws.json").read_text() == done.out
    assert sorted(path.name for path in Path().iterdir()) == ["laws.json", "people.csv"]
    document = read_document(done.out)
    assert document["complete"] is True
    assert "stopped" not in document
    assert document["settings"]["find"] == ["key", "fd"]
    assert len(document["dependencies"]) == 25
    assert document["stats"]["counts"] | {"keys": 4, "fds": 21} == document["stats"]["counts"]
    assert document["stats"]["seconds"].keys() >= {"encode", "discover", "rank", "total"}


def test_out_to_a_device(lawful: Lawful, people: str) -> None:
    assert lawful("discover", "--exact", people, "--out", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()
    assert not Path("/dev/null.partial").exists()


@pytest.mark.parametrize("null", ["equal", "ignore"])
def test_discovered_laws_hold_when_they_are_checked(lawful: Lawful, people: str, null: str) -> None:
    assert lawful("discover", "--exact", people, "--null", null, "--out", "laws.json").code == 0
    checked = lawful("check", people, "--laws", "laws.json", "--json")
    assert checked.code == 0
    # What null meant when the laws were found is what it means when they are checked.
    assert ("--null ignore, as laws.json says" in checked.err) == (null == "ignore")
    found, verdicts = json.loads(Path("laws.json").read_text()), read_document(checked.out)
    assert verdicts["settings"]["null"] == null
    assert [entry["text"] for entry in verdicts["dependencies"]] == [entry["text"] for entry in found["dependencies"]]
    assert all(entry["holds"] for entry in verdicts["dependencies"])


def test_null_of_the_command_line_wins_over_that_of_a_document(lawful: Lawful, tmp_path: Path) -> None:
    table, laws, others = tmp_path / "t.csv", tmp_path / "laws.json", tmp_path / "others.json"
    table.write_text("a,b\n1,x\n,y\n,z\n")
    assert lawful("discover", "--exact", table, "--null", "ignore", "--out", laws).code == 0
    assert lawful("check", table, "--laws", laws).code == 0
    assert lawful("check", table, "--laws", laws, "--null", "equal").code == 1
    assert lawful("discover", "--exact", table, "--out", others).code == 0
    refused = lawful("check", table, "--laws", laws, "--laws", others)
    assert refused.code == 2
    assert "was written with --null ignore, and" in refused.err
    assert lawful("check", table, "--laws", laws, "--laws", others, "--null", "ignore").code == 0


def test_a_time_limit_ends_with_what_is_certain(lawful: Lawful, long_search: Path, tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    done = lawful("discover", long_search, "--strategy", "full", "--time-limit", "0.5", "--out", out)
    assert (done.code, done.err) == (3, "")
    assert "incomplete: the time limit of 0.5 s is reached; 2 minimal laws by then" in done.out
    document = read_document(out.read_text())
    assert document["complete"] is False
    assert document["stopped"] == "the time limit of 0.5 s is reached"
    assert sorted(entry["text"] for entry in document["dependencies"]) == ["code -> code_name", "code_name -> code"]
    assert list(tmp_path.iterdir()) == [out]
    assert lawful("check", long_search, "--laws", out).code == 0


def test_a_memory_limit_ends_with_what_is_certain(lawful: Lawful, long_search: Path) -> None:
    # The table and the allowance for working on it fit, but this process has more than that in use already.
    done = lawful("discover", long_search, "--strategy", "full", "--memory-limit", "81m", "--json")
    assert (done.code, done.err) == (3, "")
    assert read_document(done.out)["stopped"] == "the memory limit of 81 MB is reached"


def test_a_memory_limit_below_the_encoded_table_is_refused(lawful: Lawful, long_search: Path, tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    done = lawful("discover", "--exact", long_search, "--memory-limit", "10m", "--out", out)
    assert (done.code, done.out) == (2, "")
    assert "the memory limit of 10 MB is too small: the encoded table alone takes 16 MB" in done.err
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_writes_what_was_found(long_search: Path, tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    with on_terminal("discover", long_search, "--strategy", "full", "--out", out) as running:
        running.wait_for("comparing all pairs of 300,000 rows")
        running.interrupt()
        code, printed = running.finish()
    assert code == 3
    assert "Traceback" not in running.text
    assert "incomplete: the user stopped it; 2 minimal laws by then" in printed
    document = read_document(out.read_text())
    assert (document["complete"], document["stopped"]) == (False, "the user stopped it")
    assert len(document["dependencies"]) == 2
    assert list(tmp_path.iterdir()) == [out]


def test_a_kill_leaves_the_partial_file(lawful: Lawful, long_search: Path, tmp_path: Path) -> None:
    out, partial = tmp_path / "laws.json", tmp_path / "laws.json.partial"
    command = [sys.executable, "-m", "lawful", "discover", long_search, "--strategy", "full", "--out", out]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE
    while not (partial.exists() and partial.read_text().count("\n") == 2):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert not out.exists()
    assert sorted(map(json.loads, partial.read_text().splitlines())) == ["code -> code_name", "code_name -> code"]
    checked = lawful("check", long_search, "--laws", partial)
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "2 of 2 laws hold")
    other = lawful("discover", long_search, "--find", "key", "--max-size", "1", "--out", out)
    assert (other.code, other.err) == (0, f"{partial} of an earlier run holds laws that were not found now\n")
    assert sorted(tmp_path.iterdir()) == [out, partial]
    again = lawful("discover", long_search, "--find", "fd", "--max-size", "1", "--out", out)
    assert (again.code, again.err) == (0, "")
    assert list(tmp_path.iterdir()) == [out]


def test_a_partial_file_may_end_in_the_middle_of_a_law(lawful: Lawful, people: str) -> None:
    Path("laws.json.partial").write_text('"zip -> state"\n"key(na')
    assert lawful("check", people, "--laws", "laws.json.partial").out.endswith("1 of 1 laws hold\n")
    Path("laws.json.partial").write_text('zip -> state\n"key(name)"\n')
    refused = lawful("check", people, "--laws", "laws.json.partial")
    assert (refused.code, refused.out) == (2, "")
    assert "laws.json.partial: line 1 is not a law in JSON quotes" in refused.err


def test_text_is_a_page_on_a_terminal_and_in_a_pipe(lawful: Lawful, tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(30)]
    rows = [",".join(str(number) for _ in names) for number in range(5)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    with on_terminal("discover", "--exact", tmp_path / "t.csv", out_too=True) as running:
        assert running.finish()[0] == 0
    for text in (running.text, lawful("discover", "--exact", tmp_path / "t.csv").out):
        assert text.count("key(c") == 15
        assert text.count(" -> ") == 35
        assert "… and 15 more: see them all with --all, --json or --out." in text
        assert f"… and {30 * 29 - 35} more: see them all with --all, --json or --out." in text
    everything = lawful("discover", "--exact", tmp_path / "t.csv", "--all").out
    assert everything.count(" -> ") == 30 * 29
    assert "more" not in everything


def test_a_page_cuts_long_laws_and_all_shows_them_whole(lawful: Lawful, tmp_path: Path) -> None:
    name = "n" * 2_000
    (tmp_path / "t.csv").write_text(f"{name},b\n1,2\n1,2\n")
    page, everything = (lawful("discover", "--exact", tmp_path / "t.csv", *more).out for more in ((), ("--all",)))
    assert f"{{}} -> {'n' * 493}…\n" in page
    assert f"{{}} -> {name}\n" in everything


@pytest.mark.parametrize("width", [65, 130, 210])
def test_wide_tables_with_fewer_rows_than_columns(lawful: Lawful, tmp_path: Path, width: int) -> None:
    random = np.random.default_rng(width)
    # Columns of one kind stand in for each other, so there must not be many, or there are millions of laws.
    kinds = [random.integers(0, 3, 9) for _ in range(6)] + [np.arange(9)] + [np.zeros(9, int)] * 40
    columns = {f"c{place}": kinds[random.integers(len(kinds))] for place in range(width - 1)}
    columns[f"c{width - 1}"] = kinds[0]
    csv.write_csv(pa.table(columns), tmp_path / "wide.csv")
    done = lawful("discover", "--exact", tmp_path / "wide.csv", "--max-size", "1", "--json")
    assert done.code == 0
    found = {entry["text"] for entry in read_document(done.out)["dependencies"]}
    assert found == _small_laws(columns)
    everything = lawful("discover", tmp_path / "wide.csv", "--find", "key", "--out", tmp_path / "keys.json")
    assert everything.code == 0
    assert lawful("check", tmp_path / "wide.csv", "--laws", tmp_path / "keys.json").code == 0


def _small_laws(columns: dict[str, np.ndarray]) -> set[str]:
    """Keys and FDs of at most one column, by what they mean."""
    constants = {name for name, values in columns.items() if len(set(values.tolist())) == 1}
    laws = {f"key({name})" for name, values in columns.items() if len(set(values.tolist())) == len(values)}
    laws |= {f"{{}} -> {name}" for name in constants}
    for left, right in permutations(columns, 2):
        pairs = set(zip(columns[left].tolist(), columns[right].tolist(), strict=True))
        if right not in constants and len(pairs) == len(set(columns[left].tolist())):
            laws.add(f"{left} -> {right}")
    return laws


@pytest.mark.parametrize("content", ["a,b\n", "a,b\n1,2\n", "a\n\n", "a,b\n1,2\n1,2\n"])
def test_the_smallest_tables(lawful: Lawful, tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    for null in ("equal", "ignore"):
        out = tmp_path / f"{null}.json"
        assert lawful("discover", "--exact", tmp_path / "t.csv", "--null", null, "--out", out).code == 0
        document = read_document(out.read_text())
        if document["dependencies"]:
            assert lawful("check", tmp_path / "t.csv", "--laws", out).code == 0


def test_names_of_any_kind_come_back(lawful: Lawful, tmp_path: Path) -> None:
    names = ["a b", 'say "x"', "new\nline", "key", "ünï", "\x1b[31m", "1st"]
    table = pa.table({name: [1, 2, 2] if place % 2 else [1, 2, 3] for place, name in enumerate(names)})
    csv.write_csv(table, tmp_path / "t.csv")
    done = lawful("discover", "--exact", tmp_path / "t.csv", "--out", tmp_path / "laws.json")
    assert done.code == 0
    assert "\x1b" not in done.out
    document = json.loads((tmp_path / "laws.json").read_text())
    for entry in document["dependencies"]:
        (law,) = parse_laws(entry["text"], names)
        assert law
    assert lawful("check", tmp_path / "t.csv", "--laws", tmp_path / "laws.json").code == 0


# Many laws


@pytest.fixture(scope="module")
def many_laws(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with some hundred thousand laws, which are soon found and take a while to write."""
    random = np.random.default_rng(1)
    columns = {f"a column of number {place}": random.integers(0, 3, 60) for place in range(23)}
    path = tmp_path_factory.mktemp("many") / "many.csv"
    csv.write_csv(pa.table(columns), path)
    return path


def test_what_is_not_known_is_not_counted(lawful: Lawful, long_search: Path) -> None:
    limited = ("--strategy", "full", "--time-limit", "1")
    done = lawful("discover", long_search, "--find", "key,fd,list-od", *limited)
    assert done.code == 3
    lines = done.out.splitlines()
    assert lines[1] == "keys: not known, the search stopped before"
    assert lines[2] == "2 functional dependencies by then, and maybe more"
    assert lines[6] == "list-based order dependencies: not known, the search stopped before"
    assert "0 keys" not in done.out
    document = read_document(lawful("discover", long_search, "--find", "key", *limited, "--json").out)
    assert document["stats"]["families"] == {"key": {"found": 0, "complete": False}}


def test_a_page_and_a_document_of_many_laws(lawful: Lawful, many_laws: Path, tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    done = lawful("discover", many_laws, "--find", "fd", "--out", out)
    assert (done.code, done.err) == (0, "")
    assert len(done.out) < 20_000
    document = json.loads(out.read_text())
    count = document["stats"]["counts"]["fds"]
    assert count == len(document["dependencies"]) > 50_000
    assert f"{count:,} functional dependencies\n" in done.out
    assert f"… and {count - 50:,} more: see them all with --all, --json or --out.\n" in done.out
    interests = [entry["interest"] for entry in document["dependencies"]]
    assert interests == sorted(interests, reverse=True)
    assert document["ranked"] is True
    assert list(tmp_path.iterdir()) == [out]


def test_ctrl_c_while_the_document_is_written_leaves_the_partial_file(many_laws: Path, tmp_path: Path) -> None:
    out, partial = tmp_path / "laws.json", tmp_path / "laws.json.partial"
    with on_terminal("discover", many_laws, "--find", "fd", "--out", out) as running:
        running.wait_for("wrote ")
        running.interrupt()
        code, printed = running.finish()
    assert "functional dependencies" in printed  # the page was shown before
    assert "Traceback" not in running.text
    if code == 0:  # the machine was quicker than the signal
        read_document(out.read_text())
        return
    assert code == 3
    assert "stopped before the document was written" in running.text
    assert f"what was found so far is in {partial}"[:40] in running.text.replace("\r\n", "")
    assert list(tmp_path.iterdir()) == [partial]
    assert len(partial.read_text().splitlines()) > 50_000


def test_without_options_the_strongest_laws_are_shown(lawful: Lawful, tmp_path: Path) -> None:
    lines = [f"{row},{row % 9},n{row % 9},{row % 3}" for row in range(90)]
    (tmp_path / "t.csv").write_text("\n".join(["id,code,name,part", *lines]) + "\n")
    done = lawful("discover", tmp_path / "t.csv", "--out", tmp_path / "laws.json")
    assert done.code == 0
    for text in ("key(id)", "code = name", "code -> part", "strong laws"):
        assert text in done.out
    document = read_document(lawful("discover", tmp_path / "t.csv", "--json").out)
    written = read_document((tmp_path / "laws.json").read_text())
    assert written["dependencies"] == document["dependencies"]
    assert document["entities"] == [["code", "name"]]
    assert {entry["folded"] for entry in document["dependencies"]} == {True, False}
    everything = read_document(lawful("discover", tmp_path / "t.csv", "--exact", "--json").out)
    assert everything["dependencies"][0]["strength"] == 1.0
    assert "folded" not in everything["dependencies"][0]
