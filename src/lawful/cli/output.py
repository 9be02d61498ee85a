"""Everything that is printed: text for people, JSON for programs, errors, progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

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
from lawful.common.errors import LawfulError, UsageError
from lawful.runs.run import Progress
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.origins import Place

if TYPE_CHECKING:
    # With results come Numba and all kernels, and every command comes here, `lawful --help` too.
    from lawful.results import CheckReport, Outcome, TableProfile

# On a terminal long lists and values are cut; in a pipe everything is whole, for greps and programs.
_MOST_LAWS, _LONGEST_LAW, _LONGEST_NAME, _LONGEST_VALUE, _LONGEST_EXTREME = 200, 500, 40, 40, 28
_WIDE_ENOUGH = 1_000_000
_LAWS_AT_ONCE = 1_000


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


def on_terminal_only(most: int) -> int | None:
    """Return a limit for terminals, and none for pipes."""
    return most if on_terminal() else None


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
        sys.stdout.writelines(_json_pieces(document, ensure_ascii=not is_utf8))


def _json_pieces(document: Mapping[str, Any], *, ensure_ascii: bool) -> Iterator[str]:
    """Write a document as JSON, a line for each law: there may be a million, which the memory need not hold twice."""
    wide, flat = (json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent).encode for indent in (2, None))
    separator = "{"
    for name, value in document.items():
        yield f"{separator}\n  {json.dumps(name)}: "
        separator = ","
        if name == "dependencies":
            yield from _law_lines(value, flat)
        else:
            yield harmless_json(wide(value)).replace("\n", "\n  ")
    yield "\n}\n"


def _law_lines(entries: Iterable[Mapping[str, Any]], encode: Callable[[Any], str]) -> Iterator[str]:
    before, end = "[\n    ", "[]"
    remaining = iter(entries)
    while some := ",\n    ".join(map(encode, islice(remaining, _LAWS_AT_ONCE))):
        yield before + harmless_json(some)
        before, end = ",\n    ", "\n  ]"
    yield end


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


def write_json(document: Mapping[str, Any], path: Path) -> None:
    """Write a document to a file, whole or not at all."""
    try:
        target = path.resolve()  # a link stays a link, to a new document
        if is_device(target):
            _write_pieces(document, target)
            return
        aside = target.with_name(f".{target.name}.{os.getpid()}.writing")
        try:
            _write_pieces(document, aside)
            aside.replace(target)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _write_pieces(document: Mapping[str, Any], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_json_pieces(document, ensure_ascii=False))


def is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device, which must not be replaced and beside which nothing can be."""
    return path.exists() and not path.is_file()


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
    longest_name, longest_extreme = on_terminal_only(_LONGEST_NAME), on_terminal_only(_LONGEST_EXTREME)
    rows: list[tuple[str, ...]] = [("column", "type", "distinct", "nulls", "min", "max")]
    for column in profile.columns:
        ends = ("" if end is None else shown_value(end, longest_extreme) for end in (column.minimum, column.maximum))
        name, statistics = shown_name(column.name, longest_name), (f"{column.distinct:,}", f"{column.nulls:,}")
        rows.append((name, column.type.value, *statistics, *ends))
    titles, *lines = aligned(rows, right=(2, 3))
    with reader_may_leave():
        console = open_console()
        size = f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}"
        console.print(Text(f"{visible(profile.name)}: {size}"))
        console.print(Text(titles, style="bold"))
        for line in lines:
            console.print(Text(line))


def print_check(report: CheckReport) -> None:
    """Print the verdicts, and for each broken law two rows that refute it and how many violate it."""
    table = report.table
    with reader_may_leave():
        console = open_console()
        console.print(Text(heading(table, report.engine)))
        shown = _worth_showing(report.outcomes)
        for outcome in shown:
            _print_outcome(console, outcome, table.name)
        if len(shown) < len(report.outcomes):
            console.print(f"… and {len(report.outcomes) - len(shown):,} more: see them all with --json or --out.")
        console.print(Text(_summary(report), style="bold"))


def heading(table: EncodedTable, engine: str) -> str:
    """Name the table, its size and where the work was done: the first line of every result."""
    size = f"{counted(table.rows, 'row')}, {counted(table.width, 'column')}"
    return f"{visible(table.name)}: {size}, engine {engine}"


def _worth_showing(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """All of them in a pipe; on a terminal as many as one reads, broken laws before others, in their order."""
    if not on_terminal() or len(outcomes) <= _MOST_LAWS:
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
    text = shown_law(outcome.text)
    if outcome.holds:
        console.print(Text.assemble(("  holds   ", "green"), text))
        return
    console.print(Text.assemble(("  broken  ", "bold red"), text))
    for line in refutation(outcome, table_name):
        console.print(Text(f"          {line}"))


def refutation(outcome: Outcome, table_name: str) -> list[str]:
    """How badly a law is broken, and two rows that show it."""
    return [
        f"{damage(outcome)}; for example:",
        *(f"{shown_place(view.place, table_name)}: {cells(view.values)}" for view in outcome.witness or ()),
    ]


def damage(outcome: Outcome) -> str:
    """How badly a law is broken."""
    violating = f"{counted(outcome.rows, 'row')} in {counted(outcome.pairs, 'violating pair')}"
    if outcome.removals is None:
        return violating
    return f"{violating}; removing {counted(outcome.removals, 'row')} would mend it"


def shown_law(text: str) -> str:
    """Return a law as the reader can take it in."""
    return shortened(visible(text), longest_law())


def longest_law() -> int | None:
    """How much of a law is shown."""
    return on_terminal_only(_LONGEST_LAW)


def shown_place(place: Place, table_name: str) -> str:
    """Where a row is from."""
    return f"{shown_file(place, table_name)}{place.unit} {place.number}"


def shown_file(place: Place, table_name: str) -> str:
    """Name the file of a row, unless the table is that one file, which the first line of a result names."""
    is_clear = place.file is None or Path(place.file).name == table_name
    return "" if is_clear else f"{visible(place.file or '')}, "


def cells(values: Mapping[str, str | None]) -> str:
    """Columns and their values in one line."""
    longest_name, longest_value = on_terminal_only(_LONGEST_NAME), on_terminal_only(_LONGEST_VALUE)
    return ", ".join(
        f"{shown_name(name, longest_name)} = {shown_value(value, longest_value)}" for name, value in values.items()
    )


def print_lines(*lines: str) -> None:
    """Print plain lines."""
    with reader_may_leave():
        console = open_console()
        for line in lines:
            console.print(Text(visible(line)))
