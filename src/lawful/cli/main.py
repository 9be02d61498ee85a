"""The entry point: the verbs in the order in which help lists them, and what becomes of an error."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import typer

from lawful.cli.app import new_app
from lawful.cli.interrupts import interrupts_wait_for_compilers, leave
from lawful.common.errors import EXIT_BAD_INPUT, EXIT_FINE, EXIT_STOPPED, LawfulError, StoppedError, UsageError

_VERBS = {
    "discover": ("discovering", "discover_command", "Find the laws that a table obeys."),
    "errors": ("repairing", "errors", "Find the cells of a table that are probably wrong."),
    "check": ("checking", "check", "Check laws on a table."),
    "explain": ("checking", "explain", "Show why a law holds, or what breaks it."),
    "report": ("reporting", "report", "Write a page about laws, to open in a browser."),
    "maintain": ("maintaining", "maintain", "Keep the laws of a table that changes."),
    "state": ("maintaining", "state", "Show what is in a state."),
    "history": ("remembering", "history", "Show which laws are old and reliable, and which broke."),
    "cover": ("covering", "cover", "Say the same in as few functional dependencies as possible."),
    "rewrite": ("rewriting", "rewrite", "Shorten a query's ORDER BY and GROUP BY by laws."),
    "export": ("exporting", "export", "Put laws into the words of another tool."),
    "import": ("exporting", "import_", "Read another tool's keys and rules as laws."),
    "profile": ("looking", "profile", "Show a table's columns and their types."),
    "cache": ("looking", "cache", "Show or remove the encoded tables that are kept."),
    "warm-up": ("looking", "warm_up", "Compile now what later runs would wait for."),
    "demo": ("looking", "demo", "Make a table with planted errors, and find them on Spark."),
    "bench": ("looking", "bench", "Run the benchmarks of a source checkout."),
}
"""The verbs in the order in which help lists them: their module, their function there, and what they do."""


def make_app(typed: Sequence[str] = ()) -> typer.Typer:
    """The command with all its verbs; where one is typed, with this alone: each costs as much as a small table."""
    app = new_app()
    for verb, (module, name, does) in _VERBS.items():
        if typed and typed[0] in _VERBS and typed[0] != verb:
            continue
        function = getattr(import_module(f"lawful.cli.{module}"), name)
        passed_on = {"ignore_unknown_options": True} if verb == "bench" else None
        command = function() if verb == "discover" else function
        app.command(verb, short_help=does, context_settings=passed_on)(command)
    return app


_INTERRUPTED = 130
"""What newer versions of typer make of a Ctrl-C; older ones raise `Abort`."""


def run() -> None:
    """Run the command, and end the process."""
    leave(exit_code())


def exit_code() -> int:
    """Run the command; every error ends in a sentence and an exit code, never in a traceback."""
    from lawful.cli.output import make_streams_lenient, warnings_are_notes

    make_streams_lenient()
    debug = "--debug" in sys.argv
    try:
        with interrupts_wait_for_compilers(), warnings_are_notes():
            code = make_app(sys.argv[1:])(prog_name="lawful", standalone_mode=False) or EXIT_FINE
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("stopped before anything was found", err=True)
        code = EXIT_STOPPED
    except Exception as error:  # the one place where every error becomes a sentence and an exit code
        if debug:
            traceback.print_exception(error)
        code = _report(error)
    return int(code)


def _report(error: Exception) -> int:
    """Say what went wrong, and return the exit code for it."""
    from lawful.cli.output import print_error

    if show := getattr(error, "show", None):  # typer's own usage errors know how to show themselves
        show()
        return EXIT_BAD_INPUT
    ours = _as_ours(error)
    print_error(ours)
    return ours.exit_code


def _as_ours(error: Exception) -> LawfulError:
    if isinstance(error, LawfulError):
        return error
    if isinstance(error, MemoryError):
        return StoppedError(
            "there is not enough memory for this table",
            "Read fewer columns with --columns or fewer rows with --limit, or use --engine spark on a cluster.",
        )
    if isinstance(error, OSError) and error.strerror:  # a full disk, a folder without rights: not our mistake
        return UsageError(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    return LawfulError(f"{type(error).__name__}: {error}", "This is a mistake in lawful; --debug shows where.")
