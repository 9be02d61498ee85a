"""The `lawful` command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lawful import __version__
from lawful.cli import options as opt
from lawful.errors import EXIT_BAD_INPUT, EXIT_FINE, EXIT_LAWS_BROKEN, EXIT_STOPPED, LawfulError

app = typer.Typer(
    name="lawful",
    help="Find, check and keep the laws that a table obeys.",
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


@app.command()
def check(
    table: opt.Table,
    laws: Annotated[
        list[str],
        typer.Option(
            "--laws",
            help="A law, a file of laws or a JSON document of laws; may be repeated.",
            show_default=False,
        ),
    ],
    violations: Annotated[
        Path | None,
        typer.Option("--violations", metavar="DIR", help="Write all violating rows here, a CSV for each broken law."),
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
    """Check laws on a table; exit 0 when all hold, 1 when one is broken.

    Example: lawful check tax.csv --laws "zip -> state" --laws "{state}: salary asc ~ rate asc"
    """
    from lawful.api import check_laws
    from lawful.cli import output
    from lawful.cli.laws_input import read_laws
    from lawful.runs import open_run

    reading = opt.Reading(table, format_, sep, header, quote, escape, encoding, null_token, columns, types, limit)
    where = opt.where_to_run(engine, master, remote, driver_memory)
    with (
        output.shown_progress() as progress,
        open_run(table, reading.options(), where, opt.null_option(null), reuse=not no_cache, progress=progress) as run,
    ):
        report = check_laws(run, read_laws(laws, run.table.names), progress)
    if out is not None:
        output.write_json(report.to_dict(), out)
    if json_:
        output.print_json(report.to_dict())
    else:
        output.print_check(report)
    if violations is not None:
        for path in report.write_violations(violations):
            typer.echo(f"wrote {path}", err=True)
    raise typer.Exit(EXIT_STOPPED if not report.complete else EXIT_FINE if report.holds else EXIT_LAWS_BROKEN)


@app.command()
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

    Example: lawful profile flights.csv --null-token NA
    """
    from lawful.cli import output
    from lawful.results import TableProfile
    from lawful.runs import open_run

    reading = opt.Reading(table, format_, sep, header, quote, escape, encoding, null_token, columns, types, limit)
    where = opt.where_to_run(engine, master, remote, driver_memory)
    with (
        output.shown_progress() as progress,
        open_run(table, reading.options(), where, reuse=not no_cache, needs_engine=False, progress=progress) as run,
    ):
        found = TableProfile.of(run.table, run.seconds)
    if out is not None:
        output.write_json(found.to_dict(), out)
    if json_:
        output.print_json(found.to_dict())
    else:
        output.print_profile(found)


@app.command()
def demo(
    rows: Annotated[int, typer.Option("--rows", help="How many rows to make.")] = 20_000,
    errors: Annotated[int, typer.Option("--errors", help="How many errors to plant.")] = 6,
    seed: Annotated[int, typer.Option("--seed", help="Where the random numbers start.")] = 7,
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

    Example: lawful demo --rows 100000 --errors 12
    """
    from lawful.cli.demo import run_demo

    run_demo(rows, errors, seed, keep, opt.where_to_run(engine, master, remote, driver_memory), json_)


def run() -> None:
    """Run the command; every error of ours ends in a sentence and an exit code, never in a traceback."""
    debug = "--debug" in sys.argv
    try:
        code = app(standalone_mode=False) or EXIT_FINE
    except LawfulError as error:
        code = _report(error, debug)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("stopped", err=True)
        code = EXIT_STOPPED
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_FINE
    except Exception as error:
        code = _report_unexpected(error, debug)
    sys.exit(code)


def _report(error: LawfulError, debug: bool) -> int:
    from lawful.cli.output import print_error

    if debug:
        raise error
    print_error(error)
    return error.exit_code


def _report_unexpected(error: Exception, debug: bool) -> int:
    """Usage errors of typer's own, and mistakes of ours."""
    if show := getattr(error, "show", None):  # typer's own errors know how to show themselves
        show()
        return EXIT_BAD_INPUT
    if debug:
        raise error
    typer.echo(f"error: {type(error).__name__}: {error}\nThis is a mistake in lawful; --debug shows where.", err=True)
    return EXIT_BAD_INPUT
