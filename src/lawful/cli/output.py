"""Everything that is printed: text for people, JSON for programs, errors, progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console
from rich.text import Text

from lawful.cli.page import WAYS_TO_ALL, Page
from lawful.cli.shown_text import aligned, counted, shown_value, visible, visible_lines
from lawful.common.errors import LawfulError, UsageError
from lawful.common.meanings import Allowance
from lawful.results.json_files import json_pieces
from lawful.runs.run import Progress
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place

if TYPE_CHECKING:
    # With results come Numba and all kernels, and every command comes here, `lawful --help` too.
    from lawful.results import CheckReport, Outcome, TableProfile

_MOST_LAWS, _LONGEST_EXTREME = 200, 28
_WIDE_ENOUGH = 1_000_000


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        # Rich would exit with 1, which means that a law is broken.
        raise BrokenPipeError


def open_console() -> Console:
    """Return the console for results, which wraps nothing."""
    width = None if on_terminal() else _WIDE_ENOUGH
    return _Console(highlight=False, soft_wrap=True, width=width)


def on_terminal() -> bool:
    """Whether people read the results as they come."""
    return sys.stdout.isatty()


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
        sys.stdout.writelines(json_pieces(document, ensure_ascii=not is_utf8))


def require_writable(path: Path | None, table: str) -> None:
    """Refuse a place for the JSON document where none can be, or where the table is, before work is spent on it."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "Name a file.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    with suppress(OSError):  # what is no file, or not there, cannot be written over
        if path.samefile(table):
            raise UsageError(f"cannot write {path}: it is the table itself", "Name another file.")


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


def print_profile(profile: TableProfile, page: Page) -> None:
    """Print a table's columns."""
    longest = page.most(_LONGEST_EXTREME)
    rows: list[tuple[str, ...]] = [("column", "type", "distinct", "nulls", "min", "max")]
    for column in profile.columns:
        ends = ("" if end is None else shown_value(end, longest) for end in (column.minimum, column.maximum))
        statistics = (f"{column.distinct:,}", f"{column.nulls:,}")
        rows.append((page.name(column.name), column.type.value, *statistics, *ends))
    titles, *lines = aligned(rows, right=(2, 3))
    with reader_may_leave():
        console = open_console()
        size = f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}"
        console.print(Text(f"{visible(profile.name)}: {size}"))
        console.print(Text(titles, style="bold"))
        for line in lines:
            console.print(Text(line))


def print_check(report: CheckReport, page: Page) -> None:
    """Print the verdicts, and for each law that rows break two rows that refute it and how many violate it."""
    table = report.table
    with reader_may_leave():
        console = open_console()
        console.print(Text(heading(table, report.engine)))
        shown = _worth_showing(report.outcomes, page.most(_MOST_LAWS))
        for outcome in shown:
            _print_outcome(console, outcome, table.name, page)
        if len(shown) < len(report.outcomes):
            console.print(f"… and {len(report.outcomes) - len(shown):,} more: {WAYS_TO_ALL}")
        console.print(Text(_summary(report), style="bold"))


def heading(table: EncodedTable, engine: str) -> str:
    """Name the table, its size and where the work was done: the first line of every result."""
    size = f"{counted(table.rows, 'row')}, {counted(table.width, 'column')}"
    return f"{visible(table.name)}: {size}, engine {engine}"


def _worth_showing(outcomes: Sequence[Outcome], most: int | None) -> Sequence[Outcome]:
    """As many as are wanted, broken laws before others, in their order."""
    if most is None or len(outcomes) <= most:
        return outcomes
    broken_first = sorted(range(len(outcomes)), key=lambda number: outcomes[number].holds)
    return [outcomes[number] for number in sorted(broken_first[:most])]


def _summary(report: CheckReport) -> str:
    checked = len(report.outcomes)
    if report.complete:
        within = sum(outcome.holds and outcome.has_violations for outcome in report.outcomes)
        some = f", {within:,} of them within the error that is allowed" if within else ""
        return f"{checked - len(report.broken):,} of {checked:,} laws hold{some}"
    return (
        f"incomplete: stopped after {checked:,} of {report.asked:,} laws; "
        f"{checked - len(report.broken):,} hold, {len(report.broken):,} broken"
    )


def _print_outcome(console: Console, outcome: Outcome, table_name: str, page: Page) -> None:
    verdict = ("  holds   ", "green") if outcome.holds else ("  broken  ", "bold red")
    console.print(Text.assemble(verdict, page.law(outcome.text)))
    lines = [] if outcome.allowed is None else [_measured(outcome.error or 0.0, outcome.allowed)]
    if outcome.has_violations:
        lines += refutation(outcome, table_name, page)
    for line in lines:
        console.print(Text(f"          {line}"))


def _measured(error: float, allowed: Allowance) -> str:
    comparison = "of at most" if error <= allowed.error else "more than"
    return f"error {error:.4g}, {comparison} {allowed.error:g} ({allowed.measure})"


def refutation(outcome: Outcome, table_name: str, page: Page) -> list[str]:
    """How badly a law is broken, and two rows that show it."""
    return [
        f"{damage(outcome)}; for example:",
        *(f"{shown_place(view.place, table_name)}: {page.cells(view.values)}" for view in outcome.witness or ()),
    ]


def damage(outcome: Outcome) -> str:
    """How badly a law is broken."""
    violating = f"{counted(outcome.rows, 'row')} in {counted(outcome.pairs, 'violating pair')}"
    if outcome.removals is None:
        return violating
    return f"{violating}; removing {counted(outcome.removals, 'row')} would mend it"


def shown_place(place: Place, table_name: str) -> str:
    """Where a row is from."""
    return f"{shown_file(place, table_name)}{place.unit} {place.number}"


def shown_file(place: Place, table_name: str) -> str:
    """Name the file of a row, unless the table is that one file, which the first line of a result names."""
    is_clear = place.file is None or Path(place.file).name == table_name
    return "" if is_clear else f"{visible(place.file or '')}, "


def print_lines(*lines: str) -> None:
    """Print plain lines."""
    with reader_may_leave():
        console = open_console()
        for line in lines:
            console.print(Text(visible(line)))
