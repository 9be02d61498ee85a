"""The verb that finds laws."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lawful.cli import options as opt
from lawful.errors import EXIT_FINE, EXIT_STOPPED

_FINDING = "What to find"

Find = Annotated[
    str, opt.option(_FINDING, "The kinds of laws: key, fd.  [default: key,fd]", "--find", metavar="KIND,KIND")
]
MaxSize = Annotated[
    int | None, opt.option(_FINDING, "The most columns of a key or of a left side.", "--max-size", metavar="N")
]
Error = Annotated[
    float,
    opt.option(_FINDING, "The share that may break a law, below 1.  [default: 0]", "--error", metavar="X"),
]
MeasureOption = Annotated[
    str,
    opt.option(
        _FINDING,
        "What --error is a share of: g1, the pairs of rows; g3, the rows.  [default: g1]",
        "--measure",
        metavar="g1|g3",
    ),
]
MinInterest = Annotated[
    float, opt.option(_FINDING, "Leave out laws of less interest, from 0 to 1.", "--min-interest", metavar="X")
]
TimeLimit = Annotated[
    float | None,
    opt.option(_FINDING, "Stop searching after so many seconds, with what is certain.", "--time-limit", metavar="S"),
]
MemoryLimit = Annotated[
    str | None,
    opt.option(
        _FINDING, "Stop when this process uses more memory, with what is certain.", "--memory-limit", metavar="SIZE"
    ),
]
Seed = Annotated[
    int,
    opt.option(
        _FINDING,
        "Where random numbers start; every seed gives the same laws.  [default: 0]",
        "--seed",
        metavar="N",
    ),
]
StrategyOption = Annotated[
    str,
    opt.option(
        _FINDING,
        "full: compare all pairs of rows; hybrid: compare some, then check; auto: what is quicker.  [default: auto]",
        "--strategy",
        metavar="auto|full|hybrid",
    ),
]


def discover(
    table: opt.Table,
    find: Find = "key,fd",
    max_size: MaxSize = None,
    error: Error = 0.0,
    measure: MeasureOption = "g1",
    min_interest: MinInterest = 0.0,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    seed: Seed = 0,
    strategy: StrategyOption = "auto",
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
    """Find all minimal keys and functional dependencies of a table, the most interesting first.

    With --out, laws are kept in a file beside it, named .partial, as soon as they are certain; it goes when the whole
    document is written.

    Exit code: 0 all laws were found, 2 bad input or usage, 3 stopped before the end, with what was found shown.

    \b
    Examples:
      lawful discover tax.csv --out laws.json
      lawful discover tax.csv --find fd --max-size 3 --min-interest 0.001
      lawful discover tax.csv --error 0.01 --measure g3 --time-limit 60
      lawful check new.csv --laws laws.json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli import output
    from lawful.cli.discovery_output import print_discovery
    from lawful.discoveries import Request, discover_laws, families_of, forget_partial, parse_memory, partial_path
    from lawful.runs import open_run

    request = Request(
        families_of(find),
        max_size,
        error,
        measure,  # type: ignore[arg-type]  # the request checks it and says which there are
        min_interest,
        time_limit,
        None if memory_limit is None else parse_memory(memory_limit),
        seed,
        strategy,  # type: ignore[arg-type]  # likewise
    )
    output.require_writable(out)
    reading = opt.Reading(table, format_, sep, header, quote, escape, encoding, null_token, columns, types, limit)
    where = opt.where_to_run(engine, master, remote, driver_memory)
    partial = None if out is None or output.is_device(out) else partial_path(out)
    with (
        _left_behind_is_named(partial),
        output.shown_progress() as progress,
        open_run(table, reading.options(), where, opt.null_option(null), reuse=not no_cache, progress=progress) as run,
    ):
        report = discover_laws(run, request, progress, partial)
    if out is not None:
        output.write_json(report.streamed(), out)
    if partial is not None and out is not None:
        forget_partial(out)
    if json_:
        output.print_json(report.streamed())
    else:
        print_discovery(report)
    raise typer.Exit(EXIT_FINE if report.complete else EXIT_STOPPED)


@contextmanager
def _left_behind_is_named(partial: Path | None) -> Iterator[None]:
    """When the work breaks off, say where the laws are that were found by then."""
    from lawful.cli.output import print_notes

    before = None if partial is None or not partial.exists() else partial.stat().st_mtime_ns
    try:
        yield
    except BaseException:
        if partial is not None and partial.exists() and partial.stat().st_size and partial.stat().st_mtime_ns != before:
            print_notes(f"what was found so far is in {partial}")
        raise
