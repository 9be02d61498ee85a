"""Everything that is printed: text for people, JSON for programs, errors, progress."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console
from rich.text import Text

from lawful.common.compiling import told_of_compiling
from lawful.common.errors import LawfulError, LawfulWarning, UsageError
from lawful.common.meanings import STOPPING
from lawful.results.json_files import harmless_json, json_pieces
from lawful.results.texts.batch_text import batch_lines
from lawful.results.texts.check_text import check_lines
from lawful.results.texts.history_text import history_lines
from lawful.results.texts.lines import Limits, Line
from lawful.results.texts.profile_text import profile_lines
from lawful.results.texts.shown_text import counted, visible, visible_lines
from lawful.results.texts.state_text import state_lines

if TYPE_CHECKING:
    # With results come Numba and all kernels, and every command comes here, `lawful --help` too.
    from lawful.api import Progress
    from lawful.results import CheckReport, TableProfile
    from lawful.results.batch_report import BatchReport
    from lawful.results.history_report import HistoryReport
    from lawful.results.state_report import StateReport
    from lawful.runs.warm_up import WarmUp

_WIDE_ENOUGH = 1_000_000
_COMPILING = "compiling, once on this machine"


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
    """Go on quietly when the reader of our output has seen enough, as `head` has.

    An interrupt leaves a reader that does not read: what it has not taken by then is dropped, else the end of the
    process would wait for it.
    """
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, KeyboardInterrupt) as ended:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(ended, KeyboardInterrupt):
            raise


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document to standard output."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    with reader_may_leave():
        sys.stdout.writelines(json_pieces(document, ensure_ascii=not is_utf8))


def print_json_value(value: Any) -> None:
    """Print any JSON value to standard output."""
    import json

    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    with reader_may_leave():
        sys.stdout.write(harmless_json(json.dumps(value, ensure_ascii=not is_utf8, indent=2)) + "\n")


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
    console.print(Text.assemble(("error: ", "bold red"), visible_lines(error.typed_message)))
    if error.typed_hint:
        console.print(Text(visible_lines(error.typed_hint)))


def print_notes(*lines: str) -> None:
    """Print lines beside the result, to standard error."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for line in lines:
        console.print(Text(visible(line)))


@contextmanager
def warnings_are_notes() -> Iterator[None]:
    """Print lawful's own warnings as notes, without the line of code that they are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LawfulWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            if isinstance(message, LawfulWarning):
                print_notes(message.typed_message)
            else:
                others(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]  # the place is only passed on
        yield


@contextmanager
def shown_progress(*, tells_of_compiling: bool = True) -> Iterator[Progress]:
    """Show what a run is doing, on a terminal only; while kernels are compiled, that."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task, is_stopping, doing = bar.add_task("", total=None), False, ""

        def show(words: str) -> None:
            nonlocal is_stopping, doing
            told = words if words == STOPPING or not is_stopping else f"{STOPPING}; {words}"
            is_stopping |= words == STOPPING
            doing = f"{told} …"
            bar.update(task, description=doing)

        def compiles(is_so: bool) -> None:
            if tells_of_compiling:
                bar.update(task, description=f"{_COMPILING} …" if is_so else doing)

        with told_of_compiling(compiles):
            yield show


def print_warm_up(done: WarmUp) -> None:
    """Print what a warm-up has done, and where that is kept."""
    count = f"compiled {counted(done.compiled, 'kernel')} in {done.seconds:.0f} s"
    place = "kept nowhere: no folder can be written to" if done.folder is None else f"kept in {done.folder}"
    print_lines(count if done.compiled else "everything was compiled before", place)


def print_profile(profile: TableProfile, limits: Limits) -> None:
    """Print a table's columns."""
    print_styled(profile_lines(profile, limits))


def print_check(report: CheckReport, limits: Limits) -> None:
    """Print the verdicts, and for each broken law two rows that refute it and how many rows violate it."""
    print_styled(check_lines(report, limits))


def print_batch(report: BatchReport, limits: Limits) -> None:
    """Print what a batch of changes did."""
    print_styled(batch_lines(report, limits))


def print_state(report: StateReport, limits: Limits) -> None:
    """Print what is in a state."""
    print_styled(state_lines(report, limits))


def print_history(report: HistoryReport, limits: Limits) -> None:
    """Print the lives of laws."""
    print_styled(history_lines(report, limits))


def print_styled(lines: Iterable[Line]) -> None:
    """Print lines in their styles."""
    with reader_may_leave():
        console = open_console()
        for line in lines:
            console.print(styled(line))


def styled(line: Line) -> Text:
    """A line in its styles."""
    return Text.assemble(*((part.text, part.style) for part in line))


def print_lines(*lines: str) -> None:
    """Print plain lines."""
    with reader_may_leave():
        console = open_console()
        for line in lines:
            console.print(Text(visible(line)))
