"""The verbs that need no laws: a look at a table, the kept tables, the demonstration, the benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups


@takes_groups
def profile(
    table: opt.Table,
    *,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Show a table's columns: types, distinct values, nulls, smallest and largest.

    \b
    Examples:
      lawful profile flights.csv --null-token NA
      lawful profile sales --format parquet --json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import profile as profile_table
    from lawful.cli import output
    from lawful.results.json_files import write_document

    output.require_writable(showing.out, table)
    with output.shown_progress() as progress:
        found = profile_table(table, **reading.arguments(table), **running.arguments(), progress=progress)
    if showing.json_:
        output.print_json(found.to_dict())
    else:
        output.print_profile(found, showing.limits)
    if showing.out is not None:
        write_document(found.to_dict(), showing.out)


def cache(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only tables of this name, or with a key that begins so.", show_default=False, metavar="NAME|KEY"
        ),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the tables, all or those that are named.")] = False,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Show the encoded tables that are kept for the next run, or remove them.

    A table that a running command or Python session uses is never removed.

    \b
    Examples:
      lawful cache
      lawful cache --clear
      lawful cache --clear tax.csv
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli import cache_output, output
    from lawful.tables.kept_tables import (
        cache_limit,
        chosen_tables,
        forget,
        kept_tables,
        remove_leftovers,
        tables_folder,
    )

    limit, found = cache_limit(), kept_tables()
    if tables:
        found = chosen_tables(found, tables)
    if not clear:
        if json_:
            output.print_json(cache_output.cache_document(found, tables_folder(), limit))
        else:
            cache_output.print_cache(found, tables_folder(), limit)
        return
    remove_leftovers(tables_folder())
    removed = [table for table in found if forget(table.folder)]
    in_use = [table for table in found if table.folder.exists()]
    if json_:
        output.print_json(cache_output.removal_document(removed, in_use))
    else:
        output.print_lines(cache_output.removal(removed))
    output.print_notes(*map(cache_output.still_in_use, in_use))


def warm_up(
    find: Annotated[
        str | None,
        typer.Option("--find", metavar="KINDS", help="Only for these kinds of laws, with commas between them."),
    ] = None,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Compile everything that lawful compiles, so that no later run on this machine waits for it.

    Without it, each command compiles what it needs when it first needs it, which takes some seconds once.

    \b
    Examples:
      lawful warm-up
      lawful warm-up --find key,fd
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import warm_up as compile_all
    from lawful.cli import output

    with output.shown_progress(tells_of_compiling=False) as progress:
        done = compile_all(find, progress=progress)
    if json_:
        output.print_json(done.to_dict())
    else:
        output.print_warm_up(done)


def demo(
    table: Annotated[
        str, typer.Option("--table", metavar="tax|hospital", help="Which table to make: tax payers, or hospitals.")
    ] = "tax",
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="How many rows to make.")] = 20_000,
    errors: Annotated[int, typer.Option("--errors", metavar="N", help="How many errors to plant.")] = 6,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Where the random numbers start.")] = 7,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="Keep the table as this CSV file, and write nothing else."),
    ] = None,
    engine: opt.EngineOption = "spark",
    master: opt.Master = None,
    remote: opt.Remote = None,
    driver_memory: opt.DriverMemory = None,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Make a table of tax payers with a few errors, and find its laws and the errors on Spark.

    The table, its laws and a report to open in a browser go to a new folder lawful-demo.

    Exit code: 0 when all planted errors were found, 1 when not.

    \b
    Examples:
      lawful demo
      lawful demo --rows 100000 --errors 12 --keep tax.csv
      lawful demo --engine local
      lawful demo --table hospital --rows 1000 --errors 80 --keep hospital.csv
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli.demo import run_demo

    running = opt.Running(engine, master, remote, driver_memory)
    raise typer.Exit(run_demo(table, rows, errors, seed, keep, running, json_))


def bench(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="What `python -m bench` takes: names of cases, --list, --repetitions N and others.",
            show_default=False,
            metavar="ARGUMENTS",
        ),
    ] = None,
) -> None:
    """Run the benchmarks of a source checkout: the folder you are in, or one above it.

    Everything after the word bench goes to the benchmarks. Exit code: theirs.

    \b
    Examples:
      lawful bench --list
      lawful bench 'fd*' --repetitions 1
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli.benchmarks import run_benchmarks

    raise typer.Exit(run_benchmarks(arguments or []))
