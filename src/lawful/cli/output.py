"""Everything that is printed: text for people, JSON for programs, errors, progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lawful.errors import LawfulError, UsageError
from lawful.results import CheckReport, Outcome, TableProfile
from lawful.runs import Progress

_MOST_SHOWN = 200


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document to standard output."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def write_json(document: Mapping[str, Any], path: Path) -> None:
    """Write a document to a file, whole or not at all."""
    aside = path.with_name(f".{path.name}.writing")
    try:
        aside.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8")
        aside.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def print_error(error: LawfulError) -> None:
    """Print an error and its hint to standard error."""
    console = Console(stderr=True, soft_wrap=True)
    console.print(Text("error: ", style="bold red") + Text(error.message))
    if error.hint:
        console.print(Text(error.hint))


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show what a run is doing, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield lambda words: status.update(Text(words + " …"))


def _console() -> Console:
    # In a pipe nothing is wrapped or cut: programs and greps want whole lines.
    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 1_000)


def print_profile(profile: TableProfile) -> None:
    """Print a table's columns."""
    console = _console()
    console.print(Text(f"{profile.name}: {profile.rows:,} rows, {len(profile.columns)} columns"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("column", "left"), ("type", "left"), ("distinct", "right"), ("nulls", "right")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]  # rich wants literals
    table.add_column("min")
    table.add_column("max")
    for column in profile.columns:
        table.add_row(
            Text(column.name),
            column.type.value,
            f"{column.distinct:,}",
            f"{column.nulls:,}",
            Text(_shortened(column.minimum)),
            Text(_shortened(column.maximum)),
        )
    console.print(table)


def _shortened(text: str | None, most: int = 28) -> str:
    if text is None:
        return ""
    visible = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return visible if len(visible) <= most else visible[: most - 1] + "…"


def print_check(report: CheckReport) -> None:
    """Print the verdicts, and for each broken law two rows that refute it and how many violate it."""
    console = _console()
    console.print(
        Text(f"{report.table.name}: {report.table.rows:,} rows, {report.table.width} columns, engine {report.engine}")
    )
    for outcome in report.outcomes[:_MOST_SHOWN]:
        _print_outcome(console, outcome)
    if len(report.outcomes) > _MOST_SHOWN:
        console.print(f"… and {len(report.outcomes) - _MOST_SHOWN} more: see them all with --json or --out.")
    checked = len(report.outcomes)
    line = f"{checked - len(report.broken)} of {checked} laws hold"
    if not report.complete:
        line += f"; stopped before the other {report.asked - checked} were checked"
    console.print(Text(line, style="bold"))


def _print_outcome(console: Console, outcome: Outcome) -> None:
    if outcome.holds:
        console.print(Text("  holds   ", style="green") + Text(outcome.text))
        return
    console.print(Text("  broken  ", style="bold red") + Text(outcome.text))
    console.print(
        Text(
            f"          {outcome.rows:,} rows in {outcome.pairs:,} violating pairs; "
            f"removing {outcome.removals:,} would mend it; for example:",
        )
    )
    for view in outcome.witness or ():
        cells = ", ".join(
            f"{name} = {'null' if value is None else _shortened(value, 40)}" for name, value in view.values.items()
        )
        console.print(Text(f"          {view.place}: {cells}"))


def print_lines(*lines: str) -> None:
    """Print plain lines."""
    console = _console()
    for line in lines:
        console.print(Text(line))
