"""Everything that is printed: text for people, JSON for programs, errors, progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.text import Text

from lawful.cli.shown_text import (
    aligned,
    counted,
    harmless_json,
    shortened,
    shown_name,
    shown_value,
    visible,
    visible_lines,
)
from lawful.errors import LawfulError, UsageError
from lawful.results import CheckReport, Outcome, RowView, TableProfile
from lawful.runs import Progress

# On a terminal long lists and values are cut; in a pipe everything is whole, for greps and programs.
_MOST_LAWS, _LONGEST_LAW, _LONGEST_NAME, _LONGEST_VALUE, _LONGEST_EXTREME = 200, 500, 40, 40, 28
_WIDE_ENOUGH = 1_000_000


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        # Rich would exit with 1, which means that a law is broken.
        raise BrokenPipeError


def _console() -> Console:
    width = None if _on_terminal() else _WIDE_ENOUGH
    return _Console(highlight=False, soft_wrap=True, width=width)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _on_terminal_only(most: int) -> int | None:
    return most if _on_terminal() else None


def make_streams_lenient() -> None:
    """Let a terminal or pipe that cannot show a character show its escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Go on quietly when the reader of our output has seen enough, as `head` has."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document to standard output."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    with reader_may_leave():
        print(harmless_json(json.dumps(document, ensure_ascii=not is_utf8, indent=2)))


def require_writable(path: Path | None) -> None:
    """Refuse a place for the JSON document where none can be, before work is spent on it."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "Name a file.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.absolute().parent}")


def write_json(document: Mapping[str, Any], path: Path) -> None:
    """Write a document to a file, whole or not at all."""
    text = harmless_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
    try:
        target = path.resolve()  # a link stays a link, to a new document
        if target.exists() and not target.is_file():
            target.write_text(text, "utf-8")  # a pipe or a device, which must not be replaced
            return
        aside = target.with_name(f".{target.name}.{os.getpid()}.writing")
        try:
            aside.write_text(text, "utf-8")
            aside.replace(target)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def print_error(error: LawfulError) -> None:
    """Print an error and its hint to standard error."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text.assemble(("error: ", "bold red"), visible_lines(error.message)))
    if error.hint:
        console.print(Text(visible_lines(error.hint)))


def print_notes(*lines: str) -> None:
    """Print lines beside the result, to standard error."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for line in lines:
        console.print(Text(visible(line)))


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show what a run is doing, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("") as status:
        yield lambda words: status.update(Text(words + " …"))


def print_profile(profile: TableProfile) -> None:
    """Print a table's columns."""
    longest_name, longest_extreme = _on_terminal_only(_LONGEST_NAME), _on_terminal_only(_LONGEST_EXTREME)
    cells: list[tuple[str, ...]] = [("column", "type", "distinct", "nulls", "min", "max")]
    for column in profile.columns:
        ends = ("" if end is None else shown_value(end, longest_extreme) for end in (column.minimum, column.maximum))
        name, statistics = shown_name(column.name, longest_name), (f"{column.distinct:,}", f"{column.nulls:,}")
        cells.append((name, column.type.value, *statistics, *ends))
    heading, *lines = aligned(cells, right=(2, 3))
    with reader_may_leave():
        console = _console()
        size = f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}"
        console.print(Text(f"{visible(profile.name)}: {size}"))
        console.print(Text(heading, style="bold"))
        for line in lines:
            console.print(Text(line))


def print_check(report: CheckReport) -> None:
    """Print the verdicts, and for each broken law two rows that refute it and how many violate it."""
    table = report.table
    size = f"{counted(table.rows, 'row')}, {counted(table.width, 'column')}"
    with reader_may_leave():
        console = _console()
        console.print(Text(f"{visible(table.name)}: {size}, engine {report.engine}"))
        shown = _worth_showing(report.outcomes)
        for outcome in shown:
            _print_outcome(console, outcome, table.name)
        if len(shown) < len(report.outcomes):
            console.print(f"… and {len(report.outcomes) - len(shown):,} more: see them all with --json or --out.")
        console.print(Text(_summary(report), style="bold"))


def _worth_showing(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """All of them in a pipe; on a terminal as many as one reads, broken laws before others, in their order."""
    if not _on_terminal() or len(outcomes) <= _MOST_LAWS:
        return outcomes
    broken_first = sorted(range(len(outcomes)), key=lambda number: outcomes[number].holds)
    return [outcomes[number] for number in sorted(broken_first[:_MOST_LAWS])]


def _summary(report: CheckReport) -> str:
    checked = len(report.outcomes)
    if report.complete:
        return f"{checked - len(report.broken):,} of {checked:,} laws hold"
    return (
        f"incomplete: stopped after {checked:,} of {report.asked:,} laws; "
        f"{checked - len(report.broken):,} hold, {len(report.broken):,} broken"
    )


def _print_outcome(console: Console, outcome: Outcome, table_name: str) -> None:
    text = shortened(visible(outcome.text), _on_terminal_only(_LONGEST_LAW))
    if outcome.holds:
        console.print(Text.assemble(("  holds   ", "green"), text))
        return
    console.print(Text.assemble(("  broken  ", "bold red"), text))
    console.print(
        Text(
            f"          {counted(outcome.rows, 'row')} in {counted(outcome.pairs, 'violating pair')}; "
            f"removing {counted(outcome.removals, 'row')} would mend it; for example:"
        )
    )
    for view in outcome.witness or ():
        console.print(Text(f"          {_place(view, table_name)}: {_cells(view)}"))


def _place(view: RowView, table_name: str) -> str:
    """Where a row is from; the file is left out where the table is that one file, named in the first line."""
    place = view.place
    if place.file is None or Path(place.file).name == table_name:
        return f"{place.unit} {place.number}"
    return visible(str(place))


def _cells(view: RowView) -> str:
    longest_name, longest_value = _on_terminal_only(_LONGEST_NAME), _on_terminal_only(_LONGEST_VALUE)
    return ", ".join(
        f"{shown_name(name, longest_name)} = {shown_value(value, longest_value)}" for name, value in view.values.items()
    )


def print_lines(*lines: str) -> None:
    """Print plain lines."""
    with reader_may_leave():
        console = _console()
        for line in lines:
            console.print(Text(visible(line)))
