"""The entry point: the verbs in the order in which help lists them, and what becomes of an error."""

from __future__ import annotations

import sys
import traceback

import typer

from lawful.cli.app import new_app
from lawful.cli.checking import check, explain
from lawful.cli.covering import cover
from lawful.cli.discovering import discover_command
from lawful.cli.interrupts import interrupts_wait_for_compilers, leave
from lawful.cli.looking import bench, cache, demo, profile, warm_up
from lawful.cli.maintaining import maintain, state
from lawful.cli.repairing import errors
from lawful.cli.rewriting import rewrite
from lawful.common.errors import EXIT_BAD_INPUT, EXIT_FINE, EXIT_STOPPED, LawfulError, StoppedError, UsageError


def make_app() -> typer.Typer:
    """The command with all its verbs, in the order in which help lists them."""
    app = new_app()
    app.command("discover", short_help="Find the laws that a table obeys.")(discover_command())
    app.command(short_help="Find the cells of a table that are probably wrong.")(errors)
    app.command(short_help="Check laws on a table.")(check)
    app.command(short_help="Show why a law holds, or what breaks it.")(explain)
    app.command(short_help="Keep the laws of a table that changes.")(maintain)
    app.command(short_help="Show what is in a state.")(state)
    app.command(short_help="Say the same in as few functional dependencies as possible.")(cover)
    app.command(short_help="Shorten a query's ORDER BY and GROUP BY by laws.")(rewrite)
    app.command(short_help="Show a table's columns and their types.")(profile)
    app.command(short_help="Show or remove the encoded tables that are kept.")(cache)
    app.command("warm-up", short_help="Compile now what later runs would wait for.")(warm_up)
    app.command(short_help="Make a table with planted errors, and find them on Spark.")(demo)
    passed_on = {"ignore_unknown_options": True}
    app.command(short_help="Run the benchmarks of a source checkout.", context_settings=passed_on)(bench)
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
            code = make_app()(prog_name="lawful", standalone_mode=False) or EXIT_FINE
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
