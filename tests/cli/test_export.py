"""`lawful export` and `lawful import`: the options are the arguments of Python, and files are what users expect."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import typer.main

import lawful as package
from cli.conftest import Lawful
from lawful.cli.main import make_app

COMMANDS = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]  # it is a group
TWINS = {"to": "--to", "laws": "LAWS", "files": "FILES"}
ONLY_ON_THE_COMMAND_LINE = {"--out", "--overwrite", "--json", "--debug", "--no-cast"}


def test_every_argument_has_its_option_and_every_option_its_argument() -> None:
    for command, function in (("export", package.export), ("import", package.import_laws)):
        options = {}
        for parameter in COMMANDS[command].params:
            names = [parameter.name.upper()] if parameter.param_type_name == "argument" else parameter.opts
            options |= {name: parameter for name in (*names, *parameter.secondary_opts) if name != "-o"}
        parameters = inspect.signature(function).parameters
        wanted = {TWINS.get(name, f"--{name.replace('_', '-')}"): name for name in parameters}
        assert set(wanted) <= set(options)
        assert set(options) - set(wanted) <= ONLY_ON_THE_COMMAND_LINE
        for option, name in wanted.items():
            if option.startswith("--") and name != "to":
                assert (options[option].default or None) == (parameters[name].default or None)


def test_queries_as_json(lawful: Lawful, people: str) -> None:
    lawful("discover", people, "--exact", "--find", "key,fd,canonical-od", "--out", "laws.json")
    done = lawful("export", "laws.json", "--to", "sql", "--dialect", "duckdb", "--table", "people", "--json")
    told = json.loads(done.out)
    document = json.loads(Path("laws.json").read_text())
    assert done.code == 0
    assert [entry["law"] for entry in told] == [entry["text"] for entry in document["dependencies"]]
    assert all(set(entry) == {"law", "query"} and entry["query"].startswith("SELECT") for entry in told)
    assert f"{len(told)} laws exported to sql" in done.err


def test_files_go_into_a_folder_once(lawful: Lawful, people: str) -> None:
    Path("laws.txt").write_text("zip -> city\nkey(name)\n")
    done = lawful("export", "laws.txt", "--to", "dqx", "-o", "checks")
    assert (done.code, done.out.splitlines()[0]) == (0, "checks/checks.yml")
    again = lawful("export", "laws.txt", "--to", "dqx", "-o", "checks")
    assert again.code == 2
    assert "checks/checks.yml is there already, and nothing was written" in again.err
    assert lawful("export", "laws.txt", "--to", "dqx", "-o", "checks", "--overwrite").code == 0
    assert lawful("export", "laws.txt", "--to", "dqx", "-o", "laws.txt").code == 2


def test_a_state_and_the_strongest_laws_can_be_exported(lawful: Lawful, people: str) -> None:
    lawful("maintain", "state", "--from", people)
    done = lawful("export", "state", "--to", "sql", "--json")
    assert (done.code, len(json.loads(done.out)) > 0) == (0, True)
    assert "`state`" in done.out
    rows = "".join(f"{i},{i % 5},{i % 5 * 10}\n" for i in range(100))
    Path("pairs.csv").write_text("id,a,b\n" + rows)
    lawful("discover", "pairs.csv", "--out", "strongest.json")
    done = lawful("export", "strongest.json", "--to", "csv", "--top", "2")
    assert done.code == 0
    assert len(done.out.splitlines()) == 3


def test_wrong_input(lawful: Lawful, people: str) -> None:
    Path("empty").mkdir()
    for arguments, said in [
        (["empty", "--to", "sql"], "no state"),
        (["nothing.json", "--to", "sql"], "no such file"),
        (["zip ->", "--to", "sql"], "column name"),
        (["zip -> city", "--to", "excel"], "Targets: sql, pyspark"),
        (["zip -> city", "--to", "sql", "--top", "0"], "--top must be at least 1"),
        (["zip -> city", "--to", "sql", "--types", "x=string"], "no column 'x'"),
        (["zip -> city", "--to", "sql", "--select", "nowhere.txt"], "nowhere.txt"),
    ]:
        done = lawful("export", *arguments)
        assert (done.code, done.out) == (2, "")
        assert said in done.err, done.err


def test_what_is_imported_can_be_checked(lawful: Lawful, people: str) -> None:
    Path("schema.sql").write_text("CREATE TABLE people (name TEXT PRIMARY KEY, zip TEXT, UNIQUE (zip));")
    done = lawful("import", "schema.sql", "-o", "laws.json")
    assert (done.code, done.out) == (0, "")
    assert lawful("import", "schema.sql", "-o", "laws.json").code == 2
    checked = lawful("check", people, "--laws", "laws.json", "--json")
    assert [entry["holds"] for entry in json.loads(checked.out)["dependencies"]] == [True, False]
