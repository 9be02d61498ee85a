"""The demonstration: a generated table, its laws checked, and the planted errors found again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyarrow import csv

from lawful.api import open as open_table
from lawful.cli import output
from lawful.cli.options import Running
from lawful.common.errors import EXIT_FINE, EXIT_LAWS_BROKEN, EXIT_STOPPED
from lawful.demo.tax_table import LAWS, PlantedError, make_tax_table
from lawful.results import CheckReport
from lawful.results.texts.lines import COMMAND_PAGE
from lawful.results.texts.shown_text import counted

_HEADER_AND_COUNTING_FROM_ONE = 2


@dataclass(frozen=True)
class _Comparison:
    """The planted errors, each with whether its row violates the laws that it breaks; and what else is broken."""

    found: tuple[tuple[PlantedError, bool], ...]
    unexplained: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        return not self.unexplained and all(is_found for _, is_found in self.found)


def run_demo(rows: int, errors: int, seed: int, keep: Path | None, running: Running, as_json: bool) -> int:
    """Make the table, check its laws, show what was found beside what was planted; return the exit code."""
    made = make_tax_table(rows, errors, seed)
    with tempfile.TemporaryDirectory(prefix="lawful-demo-") as folder, output.shown_progress() as progress:
        path = keep or Path(folder) / "tax.csv"
        csv.write_csv(made.table, path)
        with open_table(path, format="csv", reuse=keep is not None, progress=progress, **running.arguments()) as table:
            report = table.check(LAWS)
            compared = _compare(report, made.errors)
    if as_json:
        output.print_json(report.to_dict() | _to_dict(compared))
    else:
        output.print_check(report, COMMAND_PAGE)
        output.print_lines("", *_describe(compared), "", _times(report))
    if not report.complete:
        return EXIT_STOPPED
    return EXIT_FINE if compared.is_exact else EXIT_LAWS_BROKEN


def _compare(report: CheckReport, planted: Sequence[PlantedError]) -> _Comparison:
    violating = {outcome.text: frozenset(report.violating_row_ids(outcome.text).tolist()) for outcome in report.broken}
    found = tuple((error, all(error.row in violating.get(law, ()) for law in error.breaks)) for error in planted)
    explained = {law for error in planted for law in error.breaks}
    return _Comparison(found, tuple(law for law in violating if law not in explained))


def _to_dict(compared: _Comparison) -> dict[str, Any]:
    return {
        "planted": [
            {**asdict(error), "line": error.row + _HEADER_AND_COUNTING_FROM_ONE, "found": is_found}
            for error, is_found in compared.found
        ]
    }


def _describe(compared: _Comparison) -> list[str]:
    lines = [f"{counted(len(compared.found), 'error')} planted:"]
    for error, is_found in compared.found:
        lines.append(
            f"  {'found ' if is_found else 'MISSED'} line {error.row + _HEADER_AND_COUNTING_FROM_ONE}: "
            f"{error.column} {error.was} -> {error.now}, which breaks {' and '.join(error.breaks)}"
        )
    if compared.unexplained:
        lines.append(f"  broken without a planted error: {', '.join(compared.unexplained)}")
    return lines


def _times(report: CheckReport) -> str:
    steps = {"start": "start", "encode": "read and encode", "open": "open", "check": "check"}
    taken = (f"{words} {report.seconds.get(step, 0.0):.1f} s" for step, words in steps.items())
    return f"{report.engine}: {', '.join(taken)}"
