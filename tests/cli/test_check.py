from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.commands import run_process
from cli.conftest import Lawful
from cli.result_documents import read_document


def test_a_law_that_is_given_twice_is_checked_once(lawful: Lawful, people: str) -> None:
    laws = ("--laws", "zip -> state", "--laws", "zip->state", "--laws", "zip -> state; key(name)")
    done = lawful("check", people, *laws)
    assert (done.code, done.out.splitlines()[1:]) == (
        0,
        ["  holds   zip -> state", "  holds   key(name)", "2 of 2 laws hold"],
    )
    assert lawful("explain", people, "zip -> state; zip -> state").code == 0


def test_laws_that_hold(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> state", "--laws", "key(name)")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "people.csv: 4 rows, 6 columns, engine local",
        "  holds   zip -> state",
        "  holds   key(name)",
        "2 of 2 laws hold",
    ]


def test_broken_laws_are_shown_with_their_rows(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> city; {}: age asc ~ pension asc")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        "people.csv: 4 rows, 6 columns, engine local",
        "  broken  zip -> city",
        "          2 rows in 1 violating pair; removing 1 row would mend it; for example:",
        "          line 3: zip = 10001, city = New York",
        "          line 4: zip = 10001, city = Newark",
        "  broken  {}: age asc ~ pension asc",
        "          2 rows in 1 violating pair; removing 1 row would mend it; for example:",
        "          line 4: age = 50, pension = 200",
        "          line 5: age = 65, pension = 150",
        "0 of 2 laws hold",
    ]


def test_rows_of_several_files_are_named_with_their_file(lawful: Lawful, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"part-{number}.csv").write_text(f"a,b\n1,{number}\n")
    done = lawful("check", folder, "--laws", "a -> b")
    assert done.code == 1
    assert f"{folder}/part-1.csv, line 2: a = 1, b = 1" in done.out
    assert f"{folder}/part-2.csv, line 2: a = 1, b = 2" in done.out


@pytest.mark.parametrize(("policy", "code"), [("equal", 1), ("ignore", 0)])
def test_null_policy(lawful: Lawful, tmp_path: Path, policy: str, code: int) -> None:
    table = tmp_path / "nulls.csv"
    table.write_text("a,b\n,1\n,2\n")
    done = lawful("check", table, "--laws", "a -> b", "--null", policy, "--json")
    assert done.code == code
    assert read_document(done.out)["settings"]["null"] == policy


def test_null_is_told_from_the_word(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "words.csv"
    table.write_text("a,b\n1,null\n1,\n")
    assert "a = 1, b = 'null'" in lawful("check", table, "--laws", "a -> b").out
    assert "a = 1, b = null\n" in lawful("check", table, "--laws", "a -> b").out


def test_json_is_one_document_and_nothing_else(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> city, state", "--json", "--violations", "bad")
    assert done.code == 1
    document = read_document(done.out)
    assert done.err == "wrote bad/001-zip-city.csv\n"
    assert document["complete"] is True
    assert document["table"]["name"] == "people.csv"
    assert [entry["holds"] for entry in document["dependencies"]] == [False, True]
    assert document["stats"]["counts"] == {"asked": 2, "checked": 2, "broken": 1}
    broken = document["dependencies"][0]
    assert broken["violations"] == {"rows": 2, "pairs": 1, "removals": 1}
    assert broken["witness"][0] == {
        "row": 1,
        "file": "people.csv",
        "unit": "line",
        "number": 3,
        "values": {"zip": "10001", "city": "New York"},
    }


def test_row_ids_and_places_are_two_things(lawful: Lawful, tmp_path: Path) -> None:
    """In a Parquet file, too, where both are called rows: ids count from 0, places from 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [7, 8, 8]}), tmp_path / "t.parquet")
    first, second = read_document(lawful("check", tmp_path / "t.parquet", "--laws", "key(a)", "--json").out)[
        "dependencies"
    ][0]["witness"]
    assert (first["row"], first["unit"], first["number"]) == (1, "row", 2)
    assert (second["row"], second["unit"], second["number"]) == (2, "row", 3)


def test_json_of_an_empty_table(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "empty.csv"
    table.write_text("a,b\n")
    done = lawful("check", table, "--laws", "a -> b", "--json")
    assert done.code == 0
    assert read_document(done.out)["table"]["rows"] == 0


def test_the_document_of_a_check_is_a_file_of_laws(lawful: Lawful, people: str) -> None:
    laws = ("zip -> city", "zip -> state", "{state}: age asc ~ pension asc", "key(name)")
    first = lawful("check", people, "--laws", "; ".join(laws), "--out", "result.json")
    again = lawful("check", people, "--laws", "result.json")
    assert again == first


def test_out_is_the_printed_document(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> city", "--json", "--out", "result.json")
    assert Path("result.json").read_text() == done.out
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_out_replaces_a_document_and_follows_a_link(lawful: Lawful, people: str) -> None:
    Path("result.json").write_text("old")
    Path("link.json").symlink_to("result.json")
    lawful("check", people, "--laws", "zip -> state", "--out", "link.json")
    assert Path("link.json").is_symlink()
    assert json.loads(Path("result.json").read_text())["complete"] is True


def test_out_to_a_device_leaves_the_device(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> state", "--out", "/dev/null")
    assert done.code == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("place", [".", "nowhere/result.json", "people.csv/result.json"])
def test_out_that_cannot_be_written_is_refused_before_the_work(lawful: Lawful, people: str, place: str) -> None:
    done = lawful("check", people, "--laws", "zip -> state", "--out", place)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: cannot write {place}: ")


def test_an_encoded_table_is_a_table(lawful: Lawful, people: str, own_cache: Path) -> None:
    expected = lawful("check", people, "--laws", "zip -> city")
    (folder,) = (own_cache / "tables").glob("[!.]*")
    assert lawful("check", folder, "--laws", "zip -> city") == expected
    refused = lawful("check", folder, "--laws", "zip -> city", "--limit", "2")
    assert refused.code == 2
    assert "is an encoded table, which was read with settings of its own" in refused.err


def test_no_cache_keeps_nothing(lawful: Lawful, people: str, own_cache: Path) -> None:
    assert lawful("check", people, "--laws", "zip -> state", "--no-cache").code == 0
    assert [path for path in own_cache.rglob("*") if path.is_file()] == []


def test_a_reader_that_leaves_changes_neither_the_verdict_nor_the_files(people: str) -> None:
    import subprocess
    import sys

    script = (
        f"{sys.executable} -m lawful check {people} --laws 'key(zip)' --out result.json --json | head -n 1;"
        " exit ${PIPESTATUS[0]}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"{\n", b"")
    read_document(Path("result.json").read_text())


def test_in_a_process_of_its_own(people: str) -> None:
    done = run_process("check", people, "--laws", "zip -> city", "--json")
    assert (done.code, done.err) == (1, "")
    assert read_document(done.out)["dependencies"][0]["text"] == "zip -> city"


@pytest.mark.cluster  # takes long
def test_on_spark_as_in_this_process(lawful: Lawful, people: str, spark: object) -> None:
    laws = ("--laws", "zip -> city; zip -> state; key(name); {}: age asc ~ pension asc", "--json")
    local = read_document(lawful("check", people, *laws).out)
    on_spark = read_document(lawful("check", people, *laws, "--engine", "spark").out)
    assert on_spark["settings"].pop("engine") == "spark"
    assert local["settings"].pop("engine") == "local"
    assert on_spark["settings"] == local["settings"]
    assert on_spark["table"] == local["table"]
    for mine, theirs in zip(local["dependencies"], on_spark["dependencies"], strict=True):
        for view in (*mine.get("witness", ()), *theirs.get("witness", ())):
            view["file"] = Path(view["file"]).name  # Spark names files with their folder
        assert mine == theirs


def test_a_missing_file_of_laws_is_told_before_the_table_is_read(lawful: Lawful, own_cache: Path, people: str) -> None:
    assert lawful("check", people, "--laws", "missing.json").code == 2
    assert list(own_cache.iterdir()) == []


# Errors


def test_a_document_of_laws_that_almost_hold_is_judged_by_its_error(lawful: Lawful, people: str) -> None:
    error = ("--error", "0.25", "--measure", "g3")  # one of the four rows
    assert lawful("discover", people, "--find", "fd", *error, "--out", "laws.json").code == 0
    checked = lawful("check", people, "--laws", "laws.json", "--json", "--out", "result.json")
    assert (checked.code, checked.err) == (0, "")
    found, verdicts = json.loads(Path("laws.json").read_text()), read_document(checked.out)
    assert [entry["error"] for entry in verdicts["dependencies"]] == [entry["error"] for entry in found["dependencies"]]
    assert {(entry["allowed_error"], entry["measure"]) for entry in verdicts["dependencies"]} == {(0.25, "g3")}
    assert {entry["error"] for entry in verdicts["dependencies"]} == {0.0, 0.25}
    assert lawful("check", people, "--laws", "result.json").code == 0
    assert lawful("check", people, "--laws", "laws.json", "--error", "0").code == 1
    assert lawful("check", people, "--laws", "laws.json", "--error", "0.24", "--measure", "g3").code == 1


def test_text_shows_the_measured_error_beside_the_allowed_one(lawful: Lawful, people: str) -> None:
    done = lawful("check", people, "--laws", "zip -> city; zip -> state", "--error", "0.25", "--measure", "g3")
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "  holds   zip -> city",
        "          error 0.25, of at most 0.25 (g3)",
        "          2 rows in 1 violating pair; removing 1 row would mend it; for example:",
        "          line 3: zip = 10001, city = New York",
        "          line 4: zip = 10001, city = Newark",
        "  holds   zip -> state",
        "          error 0, of at most 0.25 (g3)",
        "2 of 2 laws hold, 1 of them within the error that is allowed",
    ]
    broken = lawful("check", people, "--laws", "zip -> city", "--error", "0.1", "--measure", "g1")
    assert broken.code == 1
    assert "          error 0.1667, more than 0.1 (g1)\n" in broken.out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--error", "1"), "must lie in [0, 1)"),
        (("--error", "0.1", "--measure", "g2"), "unknown measure 'g2'"),
        (("--measure", "g3"), "no error is given"),
        (("--error", "0.1", "--measure", "g3", "--laws", "not(t.age < s.age and t.zip != s.zip)"), "too hard to find"),
    ],
)
def test_errors_that_make_no_sense(lawful: Lawful, people: str, more: tuple[str, ...], words: str) -> None:
    done = lawful("check", people, "--laws", "zip -> city", *more)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_strength_is_told_with_other_measures(lawful: Lawful, people: str) -> None:
    laws = "zip -> city; key(name); {}: age asc ~ pension asc"
    done = lawful("check", people, "--laws", laws, "--strength", "--json")
    entries = {entry["kind"]: entry for entry in json.loads(done.out)["dependencies"]}
    assert {"strength", "tested", "g1", "g3", "tau", "rfi_plus"} <= entries["fd"].keys()
    for kind in ("key", "canonical-od"):
        assert {"strength", "tested", "g1", "g3"} <= entries[kind].keys()
        assert "tau" not in entries[kind]
    assert "strength 1, tested by 6 pairs" in lawful("check", people, "--laws", "key(name)", "--strength").out
