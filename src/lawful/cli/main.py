"""The `lawful` command."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from lawful import __version__
from lawful.cli import options as opt
from lawful.errors import (
    EXIT_BAD_INPUT,
    EXIT_FINE,
    EXIT_LAWS_BROKEN,
    EXIT_STOPPED,
    LawfulError,
    StoppedError,
    UsageError,
)

app = typer.Typer(
    name="lawful",
    help="Check the laws that a table obeys: keys, functional dependencies, order dependencies.\n\n"
    "Begin with: lawful demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lawful {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(short_help="Check laws on a table.")
def check(
    table: opt.Table,
    laws: Annotated[
        list[str],
        typer.Option(
            "--laws",
            help="A law, a file of laws or a JSON document of laws; may be repeated.",
            show_default=False,
            metavar="LAW|FILE",
        ),
    ],
    violations: Annotated[
        Path | None,
        typer.Option(
            "--violations",
            metavar="DIR",
            help="Write all violating rows here, a CSV for each broken law; a new or empty folder.",
        ),
    ] = None,
    format_: opt.Format = None,
    sep: opt.Sep = None,
    header: opt.Header = True,
    quote: opt.Quote = '"',
    escape: opt.Escape = '"',
    encoding: opt.Encoding = "utf-8",
    null_token: opt.NullToken = None,
    null: opt.Null = "equal",
    columns: opt.Columns = None,
    types: opt.Types = None,
    limit: opt.Limit = None,
    no_cache: opt.NoCache = False,
    engine: opt.EngineOption = "auto",
    master: opt.Master = None,
    remote: opt.Remote = None,
    driver_memory: opt.DriverMemory = None,
    json_: opt.Json = False,
    out: opt.Out = None,
    debug: opt.Debug = False,
) -> None:
    """Check laws on a table, and show two rows that refute each law that is broken.

    Exit code: 0 all laws hold, 1 a law is broken, 2 bad input or usage, 3 stopped before the end.

    \b
    Examples:
      lawful check tax.csv --laws "zip -> state" --laws "key(area_code, phone)"
      lawful check tax.csv --laws "{state}: salary asc ~ rate asc" --json
      lawful check tax.csv --laws laws.txt --violations bad-rows
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import check_laws
    from lawful.cli import output
    from lawful.cli.laws_input import read_laws, require_law_files
    from lawful.results.violation_files import require_empty
    from lawful.runs import open_run

    require_law_files(laws)
    output.require_writable(out)
    if violations is not None:
        require_empty(violations)
    reading = opt.Reading(table, format_, sep, header, quote, escape, encoding, null_token, columns, types, limit)
    where = opt.where_to_run(engine, master, remote, driver_memory)
    with (
        output.shown_progress() as progress,
        open_run(table, reading.options(), where, opt.null_option(null), reuse=not no_cache, progress=progress) as run,
    ):
        report = check_laws(run, read_laws(laws, run.table.names), progress)
    if json_:
        output.print_json(report.to_dict())
    else:
        output.print_check(report)
    if out is not None:
        output.write_json(report.to_dict(), out)
    if violations is not None:
        output.print_notes(*(f"wrote {path}" for path in report.write_violations(violations)))
    raise typer.Exit(EXIT_STOPPED if not report.complete else EXIT_FINE if report.holds else EXIT_LAWS_BROKEN)


@app.command(short_help="Show a table's columns and their types.")
def profile(
    table: opt.Table,
    format_: opt.Format = None,
    sep: opt.Sep = None,
    header: opt.Header = True,
    quote: opt.Quote = '"',
    escape: opt.Escape = '"',
    encoding: opt.Encoding = "utf-8",
    null_token: opt.NullToken = None,
    columns: opt.Columns = None,
    types: opt.Types = None,
    limit: opt.Limit = None,
    no_cache: opt.NoCache = False,
    engine: opt.EngineOption = "auto",
    master: opt.Master = None,
    remote: opt.Remote = None,
    driver_memory: opt.DriverMemory = None,
    json_: opt.Json = False,
    out: opt.Out = None,
    debug: opt.Debug = False,
) -> None:
    """Show a table's columns: types, distinct values, nulls, smallest and largest.

    \b
    Examples:
      lawful profile flights.csv --null-token NA
      lawful profile sales --format parquet --json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli import output
    from lawful.results import TableProfile
    from lawful.runs import open_run

    output.require_writable(out)
    reading = opt.Reading(table, format_, sep, header, quote, escape, encoding, null_token, columns, types, limit)
    where = opt.where_to_run(engine, master, remote, driver_memory)
    with (
        output.shown_progress() as progress,
        open_run(table, reading.options(), where, reuse=not no_cache, needs_engine=False, progress=progress) as run,
    ):
        found = TableProfile.of(run.table, run.seconds)
    if json_:
        output.print_json(found.to_dict())
    else:
        output.print_profile(found)
    if out is not None:
        output.write_json(found.to_dict(), out)


@app.command(short_help="Make a table with planted errors, and find them on Spark.")
def demo(
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="How many rows to make.")] = 20_000,
    errors: Annotated[int, typer.Option("--errors", metavar="N", help="How many errors to plant.")] = 6,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Where the random numbers start.")] = 7,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FILE", help="Keep the table as this CSV file.")
    ] = None,
    engine: opt.EngineOption = "spark",
    master: opt.Master = None,
    remote: opt.Remote = None,
    driver_memory: opt.DriverMemory = None,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Make a table of tax payers with known laws and a few errors, and check the laws on Spark.

    Exit code: 0 when exactly the planted errors were found, 1 when not.

    \b
    Examples:
      lawful demo
      lawful demo --rows 100000 --errors 12 --keep tax.csv
      lawful demo --engine local
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli.demo import run_demo

    where = opt.where_to_run(engine, master, remote, driver_memory)
    raise typer.Exit(run_demo(rows, errors, seed, keep, where, json_))


_INTERRUPTED = 130
"""What newer versions of typer make of a Ctrl-C; older ones raise `Abort`."""


def run() -> None:
    """Run the command; every error ends in a sentence and an exit code, never in a traceback."""
    from lawful.cli.output import make_streams_lenient

    make_streams_lenient()
    debug = "--debug" in sys.argv
    try:
        code = app(prog_name="lawful", standalone_mode=False) or EXIT_FINE
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("stopped before anything was found", err=True)
        code = EXIT_STOPPED
    except Exception as error:
        if debug:
            traceback.print_exception(error)
        code = _report(error)
    sys.exit(code)


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
