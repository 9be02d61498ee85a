"""The command line, the Python functions and the documentation say the same."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main

import lawful
from cli.conftest import Lawful
from lawful.cli.main import make_app
from lawful.common.errors import EXIT_BAD_INPUT, EXIT_FINE, EXIT_LAWS_BROKEN, EXIT_STOPPED
from lawful.discovery.families import Option
from lawful.discovery.families import options as family_options
from lawful.runs.request import COMMON_OPTIONS, families_of, flag_of

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS: dict[str, Any] = typer.main.get_command(make_app()).commands
FUNCTIONS: dict[str, Callable[..., object]] = {
    "discover": lawful.discover,
    "check": lawful.check,
    "explain": lawful.explain,
    "profile": lawful.profile,
}

TWINS = {
    "source": {"TABLE"},
    "find": {"--find"},
    "max_size": {"--max-size"},
    "error": {"--error"},
    "measure": {"--measure"},
    "min_interest": {"--min-interest"},
    "time_limit": {"--time-limit"},
    "memory_limit": {"--memory-limit"},
    "seed": {"--seed"},
    "strategy": {"--strategy"},
    "checkpoint": {"--checkpoint"},
    "resume": {"--resume"},
    "laws": {"--laws"},
    "law": {"LAW"},
    "null": {"--null"},
    "engine": {"--engine"},
    # a program has a session, a command line has its address
    "spark": {"--master", "--remote", "--driver-memory", "--conf", "--packages", "--placement"},
    "format": {"--format"},
    "columns": {"--columns"},
    "types": {"--types"},
    "limit": {"--limit"},
    "dialect": {"--sep", "--header", "--no-header", "--quote", "--escape", "--encoding", "--null-token"},
    "reuse": {"--no-cache"},
    "options": set(),
    "progress": set(),  # a command shows it on a terminal
    "notes": set(),  # a command prints them beside its result
    "partial": {"--out"},
    "strength": {"--strength"},
}
ONLY_ON_THE_COMMAND_LINE = {
    "--json": "a program calls to_dict() on what it gets back",
    "--out": "a program calls save() on what it gets back",
    "--all": "a program sees everything",
    "--most": "a program takes as many groups() as it likes",
    "--violations": "a program calls violations() or write_violations() on the report",
    "--debug": "a program gets the exception itself",
    "--exact": "a program calls discover, and not strongest",
    "--top": "a program calls strongest, which has it",
}
DIALECT_TWINS = {
    "separator": "--sep",
    "header": "--header",
    "quote": "--quote",
    "escape": "--escape",
    "encoding": "--encoding",
    "null_tokens": "--null-token",
}


def _options(command: str) -> dict[str, Any]:
    found = {}
    for parameter in COMMANDS[command].params:
        if parameter.param_type_name == "argument":
            found[parameter.name.upper()] = parameter
        for spelling in (*parameter.opts, *parameter.secondary_opts):
            if spelling.startswith("--"):
                found[spelling] = parameter
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_has_its_option_and_every_option_its_argument(name: str) -> None:
    options = set(_options(name))
    arguments = set(inspect.signature(FUNCTIONS[name]).parameters)
    assert arguments <= set(TWINS)
    reached = set().union(*(TWINS[argument] for argument in arguments))
    if "options" in arguments:  # what only some families have
        reached |= {flag_of(name) for name, (option, _) in family_options().items() if not option.hidden}
        reached |= {"--no-cross-columns"}
    assert reached <= options
    assert options - reached <= set(ONLY_ON_THE_COMMAND_LINE)


def test_every_field_of_a_dialect_has_its_option() -> None:
    assert {field.name for field in fields(lawful.CsvDialect)} == set(DIALECT_TWINS)
    assert set(DIALECT_TWINS.values()) <= set(_options("check"))


def test_the_table_of_options_is_what_python_and_the_command_line_have() -> None:
    """In both directions: every entry is an argument and an option with its default, and there are no others."""
    shown, parameters = _options("discover"), inspect.signature(lawful.discover).parameters
    for option in COMMON_OPTIONS:
        assert families_of(parameters["find"].default) == families_of(COMMON_OPTIONS[0].default)
        assert shown["--find"].default is None  # then the strongest laws are looked for
        assert option.name == "find" or parameters[option.name].default == option.default
        assert option.name == "find" or shown[flag_of(option.name)].default == option.default
        is_shown = option.default and option.name != "find" and not isinstance(option.default, bool)
        assert not is_shown or str(option.default) in _help(shown, option)
    for option, kinds in family_options().values():
        assert (flag_of(option.name) in shown) is not option.hidden
        if not option.hidden:
            assert _help(shown, option).startswith(f"{', '.join(kinds)}: {option.help}")
            assert shown[flag_of(option.name)].default == (None if option.default == () else option.default)
    named = {flag_of(option.name) for option in COMMON_OPTIONS}
    named |= {flag_of(name) for name in family_options()} | {"--no-cross-columns", "--exact", "--top"}
    of_finding = {name for name, option in shown.items() if getattr(option, "rich_help_panel", "") == "What to find"}
    assert of_finding <= named


def _help(shown: dict[str, Any], option: Option) -> str:
    return shown[flag_of(option.name)].help


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_the_same(name: str) -> None:
    options, parameters = _options(name), inspect.signature(FUNCTIONS[name]).parameters
    for argument, parameter in parameters.items():
        if argument == "options":
            continue
        if len(TWINS[argument]) != 1 or argument in ("source", "laws", "law", "reuse", "find"):
            continue
        (option,) = TWINS[argument]
        assert options[option].default == parameter.default
    assert options["--no-cache"].default is not parameters["reuse"].default
    dialect = lawful.CsvDialect()
    for option in ("header", "quote", "escape", "encoding"):
        assert options[f"--{option}"].default == getattr(dialect, option)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_nothing_is_cut(lawful: Lawful, command: str) -> None:
    done = lawful(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert "Example" in done.out
    assert f"  lawful {command}" in done.out
    assert "..." not in done.out.partition("\n")[2]  # the first line may say that an argument can be repeated
    assert "<str>" not in done.out.partition("Options:")[2]
    overview = lawful("--help").out
    assert re.search(rf"^  {command}  +[A-Z].*\.$", overview, re.MULTILINE)


def test_version(lawful: Lawful) -> None:
    import lawful as package

    assert lawful("--version").out == f"lawful {package.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented(command: str) -> None:
    text = (DOCS / "cli.md").read_text("utf-8")
    section = text.partition(f"## lawful {command}")[2].partition("\n## ")[0]
    assert section, f"docs/cli.md has no section on {command}"
    shared = text.partition("## Options of several commands")[2].partition("\n## ")[0]
    missing = [option for option in _options(command) if not re.search(rf"`{option}\b", section + shared)]
    assert missing == []


def test_no_option_is_documented_that_is_not_there() -> None:
    text = (DOCS / "cli.md").read_text("utf-8")
    there = {option for command in COMMANDS for option in _options(command)} | {"--help", "--version"}
    there |= {"--list", "--most-rows"}  # options of the benchmarks, to which they are passed on
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= there


def test_every_exit_code_is_documented() -> None:
    text = (DOCS / "cli.md").read_text("utf-8")
    section = text.partition("## Exit codes")[2].partition("\n## ")[0]
    for code in (EXIT_FINE, EXIT_LAWS_BROKEN, EXIT_BAD_INPUT, EXIT_STOPPED):
        assert re.search(rf"^\| {code} \|", section, re.MULTILINE)
