"""The page on Python tells all arguments of all functions, and no others."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import lawful
from lawful.discovery.families import options

PAGE = Path(__file__).parents[1] / "docs/python.md"
FUNCTIONS = (
    lawful.open,
    lawful.discover,
    lawful.check,
    lawful.explain,
    lawful.profile,
    lawful.load,
    lawful.read_laws,
    lawful.report,
    lawful.export,
    lawful.import_laws,
    lawful.make_state,
    lawful.open_state,
    lawful.maintain,
    lawful.follow,
    lawful.history,
    lawful.events,
)


def told() -> set[str]:
    """The names in the first cells of the tables of arguments, and `law`, which the text tells."""
    tables = re.findall(r"^\| argument .*\n(?:\|.*\n)+", PAGE.read_text(), re.MULTILINE)
    cells = [line.split("|")[1] for table in tables for line in table.splitlines()[2:]]
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} | {"law"}


def test_the_page_tells_all_arguments_and_no_others() -> None:
    known = {name for function in FUNCTIONS for name in inspect.signature(function).parameters} - {"options"}
    known |= {option.name for option, _ in options().values()}
    known |= {field.name for kind in (lawful.CsvDialect, lawful.SparkSettings) for field in fields(kind)}
    assert told() == known
    assert "`law` in place of `laws`" in PAGE.read_text()
