"""Everything that is printed: text for people, JSON for programs, errors, progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.text import Text

from lawful.common.errors import LawfulError, UsageError
from lawful.results import CheckReport, TableProfile
from lawful.results.texts.check_text import check_lines
from lawful.results.texts.lines import ALL, ON_A_TERMINAL, Limits, Line
from lawful.results.texts.profile_text import profile_lines
from lawful.results.texts.shown_text import harmless_json, visible, visible_lines
from lawful.runs.run import Progress

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
    print_styled(profile_lines(profile, shown_limits()))


def print_check(report: CheckReport) -> None:
    """Print the verdicts, and for each broken law two rows that refute it and how many violate it."""
    print_styled(check_lines(report, shown_limits()))


def print_styled(lines: Iterable[Line]) -> None:
    """Print lines in their styles."""
    with reader_may_leave():
        console = open_console()
        for line in lines:
            console.print(styled(line))


def styled(line: Line) -> Text:
    """A line in its styles."""
    return Text.assemble(*((part.text, part.style) for part in line))


def shown_limits() -> Limits:
    """How much is shown: on a terminal what one reads, in a pipe everything."""
    return ON_A_TERMINAL if on_terminal() else ALL


def print_lines(*lines: str) -> None:
    """Print plain lines."""
    with reader_may_leave():
        console = open_console()
        for line in lines:
            console.print(Text(visible(line)))
