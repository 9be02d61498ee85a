"""The demonstration: a generated table, its laws discovered, and the planted errors found again by these laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from pyarrow import csv

from lawful.api import open as open_table
from lawful.api import report as make_page
from lawful.cli import output
from lawful.cli.options import Running
from lawful.common.errors import EXIT_FINE, EXIT_LAWS_BROKEN, EXIT_STOPPED, UsageError
from lawful.demo.hospital_table import make_hospital_table
from lawful.demo.tax_table import PlantedError, make_tax_table
from lawful.results import CheckReport, ErrorsReport, StrongestReport
from lawful.results.texts.errors_text import errors_lines
from lawful.results.texts.lines import COMMAND_PAGE
from lawful.results.texts.shown_text import counted
from lawful.results.texts.strongest_text import strongest_lines

FOLDER = "lawful-demo"
_TABLES = {"tax": make_tax_table, "hospital": make_hospital_table}
_HEADER_AND_COUNTING_FROM_ONE = 2
_MOST_SHOWN = 12


@dataclass(frozen=True)
class _Found:
    """A planted error, whether its very cell was named, and which discovered laws its row breaks, the rarest first."""

    error: PlantedError
    is_named: bool
    broken: tuple[str, ...]

    @property
    def is_found(self) -> bool:
        return self.is_named or bool(self.broken)

    def to_dict(self) -> dict[str, Any]:
        line = self.error.row + _HEADER_AND_COUNTING_FROM_ONE
        return {**asdict(self.error), "line": line, "found": self.is_found, "named": self.is_named}

    @property
    def text(self) -> str:
        error = self.error
        verdict = "named " if self.is_named else "found " if self.broken else "MISSED"
        number = error.row + _HEADER_AND_COUNTING_FROM_ONE
        line = f"  {verdict} line {number}: {error.column} {error.was} -> {error.now}"
        return line if self.is_named or not self.broken else f"{line}, in a row that breaks {self.broken[0]}"


def run_demo(
    table_name: str, rows: int, errors: int, seed: int, keep: Path | None, running: Running, as_json: bool
) -> int:
    """Make the table, find its laws and errors, show them beside what was planted; return the exit code."""
    if table_name not in _TABLES:
        raise UsageError(f"there is no table {table_name!r} to make", f"Choose one of: {', '.join(_TABLES)}.")
    made = _TABLES[table_name](rows, errors, seed)
    with _places(keep, f"{table_name}.csv") as (path, folder), output.shown_progress() as progress:
        csv.write_csv(made.table, path)
        how = running.arguments()
        with open_table(path, format="csv", reuse=False, progress=progress, **how) as table:
            laws = table.strongest()
            wrong = table.errors()
            broken = table.check([each.text for each in laws.stated() if each.violating])
            found = _compare(wrong, broken, made.errors)
        if folder is not None:
            progress("writing the report")
            laws.save(folder / "laws.json")
            make_page(laws, out=folder / "report.html", progress=progress)
    if as_json:
        output.print_json(laws.to_dict() | wrong_and_planted(wrong, found))
    else:
        _print(laws, wrong, found, path, folder)
    if not (laws.complete and wrong.complete and broken.complete):
        return EXIT_STOPPED
    return EXIT_FINE if all(each.is_found for each in found) else EXIT_LAWS_BROKEN


@contextmanager
def _places(keep: Path | None, name: str) -> Iterator[tuple[Path, Path | None]]:
    """Where the table goes, and the folder for what is found: a new one here, unless only the table is to be kept."""
    if keep is not None:
        yield keep, None
        return
    names = (Path(FOLDER if number == 1 else f"{FOLDER}-{number}") for number in count(1))
    folder = next(name for name in names if not name.exists())
    folder.mkdir()
    yield folder / name, folder


def _compare(wrong: ErrorsReport, broken: CheckReport, planted: Sequence[PlantedError]) -> tuple[_Found, ...]:
    named = {(cell.row, cell.column) for cell in wrong}
    fewest_first = sorted(broken.outcomes, key=lambda outcome: outcome.rows)
    violating = {each.text: frozenset(broken.violating_row_ids(each.text).tolist()) for each in fewest_first}
    return tuple(
        _Found(
            error,
            (error.row, error.column) in named,
            tuple(law for law, rows in violating.items() if error.row in rows),
        )
        for error in planted
    )


def wrong_and_planted(wrong: ErrorsReport, found: Sequence[_Found]) -> dict[str, Any]:
    """What the document has beside the laws."""
    return {"cells": [cell.to_dict() for cell in wrong], "planted": [each.to_dict() for each in found]}


def _print(
    laws: StrongestReport, wrong: ErrorsReport, found: Sequence[_Found], path: Path, folder: Path | None
) -> None:
    output.print_styled(strongest_lines(laws, COMMAND_PAGE))
    output.print_lines("")
    output.print_styled(errors_lines(wrong, COMMAND_PAGE))
    output.print_lines("", *_described(found))
    if folder is None:
        return
    output.print_lines(
        "",
        f"wrote {path}, {folder / 'laws.json'} and {folder / 'report.html'}",
        f"open the report in a browser: {(folder / 'report.html').resolve().as_uri()}",
        "on a table of your own: lawful discover TABLE.csv",
    )


def _described(found: Sequence[_Found]) -> list[str]:
    named, in_rows = sum(each.is_named for each in found), sum(each.is_found for each in found)
    lines = [f"{counted(len(found), 'error')} planted, {named} named by their cell, {in_rows} found by the laws above:"]
    lines += [each.text for each in found[:_MOST_SHOWN]]
    more = len(found) - _MOST_SHOWN
    return [*lines, f"  … and {more:,} more"] if more > 0 else lines
