"""States on the command line, as users type them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Lawful
from cli.result_documents import read_document
from cli.test_hostile_text import HOSTILE
from lawful.maintenance.living_state import LivingState


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table and a folder for batches; zip -> city holds."""
    monkeypatch.chdir(tmp_path)
    write("people.csv", "id,zip,city", "1,10001,New York", "2,94105,SF", "3,94105,SF")
    return tmp_path


@pytest.fixture
def state(orders: Path, lawful: Lawful) -> Path:
    made = lawful("maintain", "p.state", "--from", "people.csv", "--row-key", "id", "--pin", "zip -> city")
    assert made.code == 0, made.err
    return Path("p.state")


def write(name: str, *lines: str) -> str:
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def batch_document(text: str) -> dict[str, Any]:
    """The one document of a batch, with everything that is promised of it."""
    document = json.loads(text)
    assert document.keys() - {"applied_before"} == {
        "format", "state", "batch", "version", "rows", "inserted", "deleted", "missing", "laws", "added", "removed",
        "pins", "quarantined", "stats",
    }  # fmt: skip
    assert document["format"] == "lawful/1"
    for law in (*document["added"], *document["removed"]):
        assert {"kind", "text"} <= law.keys()
        for row in law.get("witness", []):
            assert {"row", "values"} <= row.keys()
    for pin in document["pins"]:
        assert pin.keys() - {"witness"} == {"text", "holds", "violating", "pairs"}
    return document


class TestMaking:
    def test_it_says_what_was_made_and_where(self, orders: Path, lawful: Lawful) -> None:
        done = lawful("maintain", "p.state", "--from", "people.csv")
        assert (done.code, done.err) == (0, "")
        assert done.out == "people.csv: 3 rows, version 0\n1 key, 4 FDs kept in p.state\n"
        assert rows_of(Path("p.state")) == 3

    def test_as_a_document(self, orders: Path, lawful: Lawful) -> None:
        done = lawful("maintain", "p.state", "--from", "people.csv", "--pin", "key(id)", "--json", "--out", "made.json")
        document = batch_document(done.out)
        assert document == batch_document(Path("made.json").read_text())
        assert (document["state"], document["batch"], document["version"]) == ("p.state", None, 0)
        assert document["laws"] == {"key": 1, "fd": 4}
        assert document["pins"] == [{"text": "key(id)", "holds": True, "violating": 0, "pairs": 0}]

    def test_a_pin_that_is_broken_already(self, orders: Path, lawful: Lawful) -> None:
        done = lawful("maintain", "p.state", "--from", "people.csv", "--pin", "key(zip)", "--pin", "key(id)")
        assert done.code == 1
        assert "  broken   pinned key(zip): 2 rows\n           line 3: zip = 94105\n" in done.out
        assert done.out.endswith("1 key, 4 FDs kept in p.state; 1 of 2 pinned laws broken\n")

    def test_twice_it_is_there_already(self, state: Path, lawful: Lawful) -> None:
        done = lawful("maintain", state, "--from", "other.csv", "--row-key", "zip")
        assert (done.code, done.err) == (0, "p.state is there already: other.csv was not read\n")
        assert done.out.endswith("1 key, 4 FDs kept in p.state; the pinned law holds\n")

    def test_a_batch_in_the_same_command(self, orders: Path, lawful: Lawful) -> None:
        write("new.csv", "id,zip,city", "4,NA,x")
        for _ in range(2):  # the second time nothing is to be done any more
            done = lawful(
                "maintain", "p.state", "--from", "people.csv", "--null-token", "NA", "--insert", "new.csv", "--json"
            )  # fmt: skip
            assert done.code == 0, done.err
            assert batch_document(done.out)["rows"] == 4

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--from", "not.csv"], "not.csv"),
            (["--from", "people.csv", "--row-key", "zip"], "two rows share the row key zip"),
            (["--from", "people.csv", "--row-key", "x"], "no column 'x' for a row key"),
            (["--from", "people.csv", "--find", "od"], "'od' cannot be kept up to date yet"),
            (["--from", "people.csv", "--evidence", "all"], "unknown way 'all'"),
            (["--from", "people.csv", "--pin", "zip -> nowhere"], "nowhere"),
            (["--insert", "people.csv"], "p.state is not a state"),
            ([], "nothing to do"),
        ],
    )
    def test_what_cannot_be_made(self, orders: Path, lawful: Lawful, arguments: list[str], said: str) -> None:
        done = lawful("maintain", "p.state", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert said in done.err
        assert not Path("p.state").exists()

    def test_nothing_is_written_over(self, orders: Path, lawful: Lawful) -> None:
        done = lawful("maintain", ".", "--from", "people.csv")
        assert done.code == 2
        assert "it is there, and not empty" in done.err
        done = lawful("maintain", "people.csv", "--from", "people.csv")
        assert done.code == 2
        assert sorted(path.name for path in orders.iterdir()) == ["people.csv"]

    def test_a_time_limit_makes_nothing(self, orders: Path, lawful: Lawful) -> None:
        done = lawful("maintain", "p.state", "--from", "people.csv", "--time-limit", "1e-9", "--evidence", "witnesses")
        assert (done.code, done.out) == (3, "")
        assert not Path("p.state").exists()

    @pytest.mark.parametrize("find", ["key,fd", "pod"])
    def test_a_memory_limit_makes_nothing(self, find: str, orders: Path, lawful: Lawful) -> None:
        done = lawful("maintain", "p.state", "--from", "people.csv", "--memory-limit", "1m", "--find", find)
        assert (done.code, done.out) == (3, "")
        assert "the memory limit of 1 MB is reached" in done.err
        assert "No state was made" in done.err
        assert not Path("p.state").exists()


class TestBatches:
    def test_laws_go_with_the_rows_that_broke_them_and_come_back(self, state: Path, lawful: Lawful) -> None:
        done = lawful("maintain", state, "--insert", write("new.csv", "id,zip,city", "4,94105,Oakland"))
        assert (done.code, done.err) == (1, "")
        assert done.out == (
            "people.csv: 4 rows, version 1\n"
            "  removed  zip -> city\n"
            "           line 4: zip = 94105, city = SF\n"
            "           new.csv, line 2: zip = 94105, city = Oakland\n"
            "  broken   pinned zip -> city: 3 rows\n"
            "           line 3: zip = 94105, city = SF\n"
            "           new.csv, line 2: zip = 94105, city = Oakland\n"
            "1 row inserted, 0 deleted; 1 law went, 0 came; 1 of 1 pinned law broken\n"
        )
        done = lawful("maintain", state, "--delete", write("old.csv", "id", "4"))
        assert (done.code, done.err) == (0, "")
        assert done.out == (
            "people.csv: 3 rows, version 2\n"
            "  added    zip -> city\n"
            "  holds    pinned zip -> city\n"
            "0 rows inserted, 1 deleted; 0 laws went, 1 came; the pinned law holds\n"
        )

    def test_as_a_document(self, state: Path, lawful: Lawful) -> None:
        changes = write("today.csv", "_op,id,zip,city", "+,4,94105,Oakland", "-,1,,", "+,5,x,y")
        done = lawful("maintain", state, "--changes", changes, "--misfits", "quarantine", "--batch-id", "b1", "--json")
        assert done.code == 1
        document = batch_document(done.out)
        assert (document["batch"], document["rows"], document["inserted"], document["deleted"]) == ("b1", 3, 1, 1)
        removed = {law["text"]: law for law in document["removed"]}
        assert {text: law.get("implied", False) for text, law in removed.items()} == {
            "id -> zip": True,  # since zip is constant now
            "city -> zip": True,
            "zip -> city": False,
        }
        assert [row["values"] for row in removed["zip -> city"]["witness"]] == [
            {"zip": "94105", "city": "SF"},
            {"zip": "94105", "city": "Oakland"},
        ]
        assert [law["text"] for law in document["added"]] == ["{} -> zip"]
        assert document["pins"][0]["holds"] is False
        assert document["quarantined"] == [
            {"place": "today.csv, line 4", "column": "zip", "value": "x", "type": "integer"}
        ]

    def test_one_that_was_applied_before(self, state: Path, lawful: Lawful) -> None:
        new = write("new.csv", "id,zip,city", "4,1,a")
        assert lawful("maintain", state, "--insert", new, "--batch-id", "monday").code == 0
        done = lawful("maintain", state, "--insert", new, "--batch-id", "monday")
        assert done.code == 0
        assert done.out.endswith("batch monday was applied before: nothing was changed; the pinned law holds\n")
        assert json.loads(lawful("maintain", state, "--insert", new, "--batch-id", "monday", "--json").out)[
            "applied_before"
        ]

    def test_rows_that_were_left_out_or_not_there_are_told(self, state: Path, lawful: Lawful) -> None:
        new, old = write("new.csv", "id,zip,city", "4,1.5,a", "5,2,b"), write("old.csv", "id", "9", "1")
        done = lawful(
            "maintain", state, "--insert", new, "--delete", old, "--misfits", "quarantine", "--missing", "skip"
        )  # fmt: skip
        assert "  left out new.csv, line 2: zip = 1.5 is not of the type integer\n" in done.out
        assert "1 row inserted, 1 deleted, 1 to delete not there;" in done.out

    @pytest.mark.parametrize(
        ("lines", "arguments", "said"),
        [
            (["id,zip,city", "4,1.5,a"], [], "new.csv, line 2: '1.5' in column 'zip' is not of its type, integer"),
            (["id,zip", "4,1"], [], "new.csv has no column 'city'"),
            (["id,zip,city,more,most", "4,1,a,b,c"], [], "new.csv has new columns 'more', 'most'"),
            (["id,zip,city", "4,1,a", "1,1,a"], [], "new.csv, line 3: the key id = 1 is there already: people.csv"),
            (["id,zip,city", "4,1,a"], ["--delete", "new.csv"], "new.csv, line 2: no row has the key id = 4"),
            (["id,zip,city", "4,1,a"], ["--changes", "new.csv"], "a table of changes holds all of a batch"),
            (["id,zip,city", "4,1,a"], ["--misfits", "drop"], "unknown outcome 'drop' for values that do not fit"),
            (["id,zip,city", "4,1,a"], ["--missing", "drop"], "unknown outcome 'drop' for rows that are not there"),
            (["id,zip,city", "4,1,a"], ["--row-key", "zip"], "--row-key is settled when a state is made"),
            (["id,zip,city", "4,1,a"], ["--max-size", "2"], "--max-size is settled when a state is made"),
            (["id,zip,city", "4,1,a"], ["--null-token", "a"], "--null-token is settled when a state is made"),
            (["id,zip,city", "4,1,a"], ["--limit", "1"], "--limit is settled when a state is made"),
        ],
    )
    def test_what_is_refused_changes_nothing(
        self, state: Path, lawful: Lawful, lines: list[str], arguments: list[str], said: str
    ) -> None:
        done = lawful("maintain", state, "--insert", write("new.csv", *lines), *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"error: {said}")
        assert not list((state / "log").iterdir())

    def test_files_written_in_another_way(self, state: Path, lawful: Lawful) -> None:
        done = lawful("maintain", state, "--insert", write("new.txt", "id;zip;city", "4;1;a"), "--format", "csv",
                      "--sep", ";")  # fmt: skip
        assert done.code == 0, done.err
        done = lawful("maintain", state, "--insert", write("new.tsv", "id\tzip\tcity", "5\t1\ta"))
        assert done.code == 0, done.err
        done = lawful("maintain", state, "--insert", write("new.jsonl", '{"id": 6, "zip": 1, "city": "a"}'))
        assert done.code == 0, done.err
        assert rows_of(state) == 6

    def test_a_time_limit_changes_nothing(self, orders: Path, lawful: Lawful) -> None:
        lawful("maintain", "w.state", "--from", "people.csv", "--evidence", "witnesses")
        new = write("new.csv", "id,zip,city", "2,10001,SF")
        done = lawful("maintain", "w.state", "--insert", new, "--time-limit", "1e-9")
        assert (done.code, done.out) == (3, "")
        assert rows_of(Path("w.state")) == 3
        assert lawful("maintain", "w.state", "--insert", new).code == 0

    @pytest.mark.parametrize("options", [("--evidence", "witnesses"), ("--evidence", "counted"), ("--find", "pod")])
    def test_a_memory_limit_changes_nothing(self, options: tuple[str, ...], orders: Path, lawful: Lawful) -> None:
        lawful("maintain", "w.state", "--from", "people.csv", *options)
        new = write("new.csv", "id,zip,city", "2,10001,SF")
        done = lawful("maintain", "w.state", "--insert", new, "--memory-limit", "1m")
        assert (done.code, done.out) == (3, "")
        assert "the memory limit of 1 MB is reached" in done.err
        assert "Nothing was changed" in done.err
        assert rows_of(Path("w.state")) == 3
        assert lawful("maintain", "w.state", "--insert", new, "--memory-limit", "64g").code == 0
        assert lawful("maintain", "w.state", "--insert", new, "--memory-limit", "much").code == 2

    def test_laws_can_be_pinned_later(self, state: Path, lawful: Lawful) -> None:
        done = lawful("maintain", state, "--pin", "key(zip)", "--pin", "key(id)")
        assert done.code == 1
        assert done.out.endswith("1 key, 4 FDs kept in p.state; 1 of 3 pinned laws broken\n")
        done = lawful("maintain", state, "--insert", write("new.csv", "id,zip,city", "4,1,a"), "--json")
        assert [pin["text"] for pin in batch_document(done.out)["pins"]] == ["zip -> city", "key(zip)", "key(id)"]

    @pytest.mark.parametrize("name", HOSTILE)
    def test_hostile_cells_are_shown_harmlessly(self, orders: Path, lawful: Lawful, name: str) -> None:
        text = HOSTILE[name]
        for file, key in (("a.jsonl", 1), ("b.jsonl", 2)):
            Path(file).write_text(json.dumps({"id": key, text: 5, "same": text}) + "\n")
        Path("c.jsonl").write_text(json.dumps({"id": 3, text: text, "same": text + "2"}) + "\n")
        runs = [
            lawful("maintain", "h.state", "--from", "a.jsonl"),
            lawful("maintain", "h.state", "--insert", "b.jsonl", "--batch-id", text),
            lawful("maintain", "h.state", "--insert", "c.jsonl", "--batch-id", text + "2"),
            lawful("maintain", "h.state", "--insert", "c.jsonl", "--misfits", "quarantine"),
            lawful("maintain", "h.state", "--insert", "c.jsonl", "--misfits", "widen", "--batch-id", "3"),
            lawful("state", "h.state", "--all"),
        ]
        assert [run.code for run in runs] == [0, 0, 2, 0, 0, 0]
        for run in runs:
            for shown in (run.out, run.err):
                assert not set(shown) & set("\x1b\x07\x9b\r\b\u202e\u200b")
        if name == "markup":
            assert text in runs[5].out


class TestState:
    def test_it_tells_what_is_there(self, state: Path, lawful: Lawful) -> None:
        lawful("maintain", state, "--insert", write("new.csv", "id,zip,city", "4,94105,x"), "--batch-id", "monday")
        done = lawful("state", state)
        assert (done.code, done.err) == (1, "")
        lines = done.out.splitlines()
        assert lines[:5] == [
            "people.csv: 4 rows, 3 columns, version 1",
            "  columns   id integer, zip integer, city string",
            "  laws      1 key, 3 FDs; all pairs counted, 3 agree sets",
            "  row key   id",
            "  pinned    zip -> city: broken by 3 rows",
        ]
        assert lines[5].startswith("  indexes   ")
        assert lines[5].endswith("kB of memory for pinned laws")
        assert lines[6].endswith("kB in p.state")
        assert lines[-1].split()[0] == "1"
        assert lines[-1].endswith("+1 -0 rows           +0 -1 laws       monday")

    def test_as_documents(self, state: Path, lawful: Lawful) -> None:
        done = lawful("state", state, "--verify", "--json", "--out", "laws.json")
        assert done.code == 0
        document = json.loads(done.out)
        assert (document["verified"], document["differences"]) == (True, [])
        assert document["laws"] == {"key": 1, "fd": 4}
        assert document["settings"]["row_key"] == ["id"]
        laws = read_document(Path("laws.json").read_text())
        assert len(laws["dependencies"]) == 5
        # What it writes, other commands take.
        done = lawful("check", "people.csv", "--laws", "laws.json")
        assert done.code == 0, done.err

    def test_verify_says_so(self, state: Path, lawful: Lawful) -> None:
        done = lawful("state", state, "--verify")
        assert done.out.endswith("verified: everything is as the rows say\n")

    def test_what_is_no_state(self, state: Path, lawful: Lawful) -> None:
        for name in ("nowhere", ".", "people.csv"):
            done = lawful("state", name)
            assert (done.code, done.out) == (2, "")
            assert done.err == (f"error: {name} is not a state\nMake one with: lawful maintain STATE --from TABLE\n")

    def test_damage_is_told_with_the_file(self, state: Path, lawful: Lawful) -> None:
        path = state / "base-000000" / "codes.npy"
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        for command in (["state", state], ["maintain", state, "--insert", "people.csv"]):
            done = lawful(*command)
            assert (done.code, done.out) == (2, "")
            assert "the state p.state is damaged: codes.npy does not match its checksum" in done.err

    def test_another_writer(self, state: Path, lawful: Lawful) -> None:
        held = LivingState.open(state, writes=True)
        done = lawful("maintain", state, "--insert", write("new.csv", "id,zip,city", "4,1,a"))
        assert done.code == 2
        assert "another process is writing to p.state" in done.err
        assert lawful("state", state).code == 0
        held.close()

    def test_results_are_not_written_over_the_state(self, state: Path, lawful: Lawful) -> None:
        before = state / "state.json"
        kept = shutil.copy(before, "kept.json")
        done = lawful("state", state, "--out", state)
        assert done.code == 2
        assert before.read_bytes() == Path(kept).read_bytes()


@pytest.mark.parametrize("command", ["maintain", "state"])
def test_help_has_examples(lawful: Lawful, command: str) -> None:
    done = lawful(command, "--help")
    assert done.code == 0
    assert "Examples:" in done.out
    assert f"lawful {command} people.state" in done.out
    assert "Exit code: 0" in done.out


def rows_of(folder: Path) -> int:
    return LivingState.open(folder).table.rows


class TestPointwise:
    def test_kept_beside_keys(self, orders: Path, lawful: Lawful) -> None:
        made = lawful("maintain", "p.state", "--from", "people.csv", "--find", "key,pod", "--max-size", "1")
        assert (made.code, made.err) == (0, "")
        write("more.csv", "id,zip,city", "4,94105,LA")
        document = batch_document(lawful("maintain", "p.state", "--insert", "more.csv", "--json").out)
        assert document["laws"].keys() == {"key", "pod"}
        broken = {law["text"]: law for law in document["removed"]}
        rows = [row["values"] for row in broken["{zip=} -> {city=}"]["witness"]]
        assert sorted(row["city"] for row in rows) == ["LA", "SF"]
        assert {row["zip"] for row in rows} == {"94105"}
        shown = lawful("state", "p.state", "--verify")
        assert shown.code == 0
        assert "vectors of signs\n" in shown.out
        assert shown.out.endswith("verified: everything is as the rows say\n")
        lawful("state", "p.state", "--out", "laws.jsonl")
        assert '"kind": "pod"' in Path("laws.jsonl").read_text()
