"""The demonstration: a generated table, its laws checked, and the planted errors found again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pyarrow import csv

from lawful.api import check_laws, laws_of
from lawful.cli import output
from lawful.demo.tax_table import LAWS, PlantedError, make_tax_table
from lawful.results import CheckReport
from lawful.runs import Where, open_run
from lawful.tables.options import ReadOptions


def run_demo(rows: int, errors: int, seed: int, keep: Path | None, where: Where, as_json: bool) -> None:
    """Make the table, check its laws, and show what was found beside what was planted."""
    made = make_tax_table(rows, errors, seed)
    with tempfile.TemporaryDirectory(prefix="lawful-demo-") as folder, output.shown_progress() as progress:
        path = keep or Path(folder) / "tax.csv"
        csv.write_csv(made.table, path)
        with open_run(str(path), ReadOptions(format="csv"), where, reuse=keep is not None, progress=progress) as run:
            report = check_laws(run, laws_of(list(LAWS), run.table.names), progress)
    if as_json:
        output.print_json(report.to_dict())
        return
    output.print_check(report)
    output.print_lines("", *_compare(report, made.errors), "", *_times(report))


def _compare(report: CheckReport, planted: Sequence[PlantedError]) -> list[str]:
    """Say of each planted error whether the laws that it breaks were found broken."""
    broken = {outcome.text for outcome in report.broken}
    lines = [f"{len(planted)} errors were planted:"]
    for error in planted:
        found = all(law in broken for law in error.breaks)
        lines.append(
            f"  {'found ' if found else 'MISSED'} line {error.row + 2}: {error.column} {error.was} -> {error.now}, "
            f"which breaks {' and '.join(error.breaks)}"
        )
    unexplained = broken.difference(*(error.breaks for error in planted)) if planted else broken
    if unexplained:
        lines.append(f"  broken without a planted error: {', '.join(sorted(unexplained))}")
    return lines


def _times(report: CheckReport) -> list[str]:
    seconds = report.seconds
    return [
        f"{report.engine}: start {seconds.get('start', 0):.1f} s, read and encode {seconds['encode']:.1f} s, "
        f"check {seconds['check']:.1f} s"
    ]
