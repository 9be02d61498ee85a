"""The command that writes a page."""

from __future__ import annotations

import inspect
from pathlib import Path

import lawful as package
from cli.conftest import Lawful
from cli.test_options import TWINS, _options

OWN = {"laws": {"LAWS"}, "table": {"--table"}, "out": {"--out"}, "replace": {"--replace"}}


def test_every_argument_has_its_option_and_every_option_its_argument() -> None:
    arguments = set(inspect.signature(package.report).parameters)
    reached = set().union(*((TWINS | OWN)[argument] for argument in arguments))
    assert reached ^ set(_options("report")) == {"--debug"}


def test_a_document_and_its_table_become_a_page(lawful: Lawful, people: str, tmp_path: Path) -> None:
    lawful("check", people, "--laws", "zip -> city; zip -> state", "--out", "laws.json")
    done = lawful("report", "laws.json", "-o", "alone.html")
    assert (done.code, done.out) == (
        0,
        "people.csv: 2 laws, 1 broken\nwrote alone.html: open it in a browser\n",
    )
    assert lawful("report", "laws.json", "--table", people, "-o", "page.html").code == 0
    assert "New York" in Path("page.html").read_text()
    again = lawful("report", "laws.json", "-o", "page.html")
    assert (again.code, again.err) == (
        2,
        "error: cannot write page.html: it is there already\nName another file, or give --replace.\n",
    )
    assert lawful("report", "laws.json", "-o", "page.html", "--replace").code == 0
    assert not [entry for entry in tmp_path.iterdir() if "writing" in entry.name]


def test_a_file_of_laws_and_a_table_become_a_page(lawful: Lawful, people: str) -> None:
    Path("laws.txt").write_text("zip -> city\nkey(name)\n")
    assert lawful("report", "laws.txt", "--table", people, "-o", "page.html").out.startswith(
        "people.csv: 2 laws, 1 broken"
    )
    alone = lawful("report", "laws.txt", "-o", "other.html")
    assert (alone.code, "Give the table" in alone.err, Path("other.html").exists()) == (2, True, False)


def test_a_state_becomes_a_page(lawful: Lawful, people: str) -> None:
    Path("new.csv").write_text("name,zip,city,state,age,pension\nSue,94105,Oakland,CA,66,160\n")
    assert lawful("maintain", "people.state", "--from", people, "--pin", "zip -> state; city -> zip").code == 0
    assert lawful("maintain", "people.state", "--insert", "new.csv", "--pin", "zip -> city").code == 1
    done = lawful("report", "people.state", "-o", "page.html")
    assert done.code == 0, done.err
    page = Path("page.html").read_text()
    assert "1 broken" in done.out
    assert '"life":{"folder":"people.state","version":1' in page
    assert "Oakland" in page  # one of the rows that break the pinned law


def test_what_cannot_be_a_page_is_refused_in_a_sentence(lawful: Lawful, people: str) -> None:
    lawful("check", people, "--laws", "zip -> city", "--out", "laws.json")
    Path("text.json").write_text("{}")
    for arguments, words in (
        (("nothing.json", "-o", "p.html"), "there is no such file of laws"),
        (("text.json", "-o", "p.html"), "is not a document of laws"),
        ((".", "-o", "p.html"), "is a folder, and no state"),
        (("laws.json", "-o", "laws.json"), "it is the document of the laws"),
        (("laws.json", "-o", "nowhere/p.html"), "there is no folder"),
        (("laws.json", "-o", "p.html", "--sep", ";"), "no table is given"),
        (("laws.json", "-o", "p.html", "--time-limit", "-1"), "the time limit must be positive"),
        (("laws.json", "--table", "missing.csv", "-o", "p.html"), "missing.csv"),
    ):
        done = lawful("report", *arguments)
        assert done.code == 2, (arguments, done)
        assert words in done.err, (arguments, done.err)
    assert not Path("p.html").exists()


def test_a_file_that_is_not_there_is_named(lawful: Lawful, tmp_path: Path) -> None:
    done = lawful("report", tmp_path / "missing.csv", "-o", tmp_path / "page.html")
    assert done.code == 2
    assert "missing.csv: there is no such file of laws" in done.err
