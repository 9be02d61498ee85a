from __future__ import annotations

from pathlib import Path

from cli.conftest import Lawful
from cli.result_documents import read_document


def test_profile(lawful: Lawful, people: str) -> None:
    done = lawful("profile", people)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "people.csv: 4 rows, 6 columns",
        "column   type     distinct  nulls  min         max",
        "name     string          4      0  Ann         Eve",
        "zip      string          3      0  00501       94105",
        "city     string          4      0  Holtsville  San Francisco",
        "state    string          2      0  CA          NY",
        "age      integer         4      0  30          65",
        "pension  integer         3      1  100         200",
    ]


def test_profile_as_json(lawful: Lawful, people: str) -> None:
    done = lawful("profile", people, "--columns", "age,zip", "--out", "profile.json", "--json")
    document = read_document(done.out)
    assert Path("profile.json").read_text() == done.out
    assert document["dependencies"] == []
    assert [column["name"] for column in document["table"]["columns"]] == ["age", "zip"]
    assert document["settings"]["columns"] == ["age", "zip"]


def test_reading_options(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "dump.x"
    table.write_bytes("1|'a|b'|-\n2|'it\\'s'|é\n3|x|y\n".encode("latin-1"))
    done = lawful(
        "profile", table, "--format", "csv", "--sep", "|", "--quote", "'", "--escape", "\\", "--no-header",
        "--encoding", "latin-1", "--null-token", "-", "--types", "c1=string", "--limit", "2", "--json",
    )  # fmt: skip
    columns = read_document(done.out)["table"]["columns"]
    assert [(column["name"], column["type"], column["nulls"]) for column in columns] == [
        ("c1", "string", 0),
        ("c2", "string", 0),
        ("c3", "string", 1),
    ]
    assert [(column["min"], column["max"]) for column in columns] == [("1", "2"), ("a|b", "it's"), ("é", "é")]


def test_a_tab_can_be_written_or_told_by_the_name(lawful: Lawful, tmp_path: Path) -> None:
    for name, options in (("t.tsv", ()), ("t.csv", ("--sep", r"\t"))):
        table = tmp_path / name
        table.write_text("a\tb\n1\t2\n")
        columns = read_document(lawful("profile", table, *options, "--json").out)["table"]["columns"]
        assert [column["name"] for column in columns] == ["a", "b"]


def test_names_with_commas_can_be_chosen(lawful: Lawful, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text('a,"b, c"\n1,2\n')
    document = read_document(lawful("profile", table, "--columns", '"b, c",a', "--json").out)
    assert [column["name"] for column in document["table"]["columns"]] == ["b, c", "a"]


def test_wide_tables_are_cut_or_shown_whole_and_never_wrapped(lawful: Lawful, tmp_path: Path) -> None:
    name, value = "n" * 2_000, "v" * 5_000
    table = tmp_path / "wide.csv"
    table.write_text(f"{name},b\n{value},1\n")
    cut = lawful("profile", table).out.splitlines()
    assert len(cut) == 4
    assert cut[2].startswith("n" * 39 + "… ")
    assert cut[2].endswith("v" * 27 + "…")
    lines = lawful("profile", table, "--all").out.splitlines()
    assert len(lines) == 4
    assert lines[2].startswith(name)
    assert lines[2].endswith(value)
    assert len(lines[3]) < 100
