"""The verb that finds wrong cells, and writes the table without them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups
from lawful.common.errors import EXIT_FINE, EXIT_STOPPED

_FINDING, _WRITING = "What to find", "What to write"

MinProbability = Annotated[
    float,
    opt.option(
        _FINDING, "How probable it has to be that a cell is wrong.  [default: 0.5]", "--min-probability", metavar="X"
    ),
]
MaxSize = Annotated[
    int,
    opt.option(
        _FINDING, "The most columns on the left of a law that is heard.  [default: 2]", "--max-size", metavar="N"
    ),
]
TimeLimit = Annotated[
    float | None, opt.option(_FINDING, "Stop after so many seconds with what is found.", "--time-limit", metavar="S")
]
MemoryLimit = Annotated[
    str | None,
    opt.option(_FINDING, "Memory that this process may use, e.g. 4g.", "--memory-limit", metavar="SIZE"),
]
Repair = Annotated[
    Path | None,
    opt.option(
        _WRITING,
        "Write a copy of the table with what is suggested here, and beside it a log of every change (.log.jsonl); "
        "the table itself is never changed.",
        "--repair",
        metavar="OUT",
    ),
]
Quarantine = Annotated[
    Path | None,
    opt.option(
        _WRITING,
        "Write the rows that have a wrong cell here, as they are, and beside it a log of the cells (.log.jsonl).",
        "--quarantine",
        metavar="OUT",
    ),
]


@takes_groups
def errors(
    table: opt.Table,
    repair: Repair = None,
    quarantine: Quarantine = None,
    min_probability: MinProbability = 0.5,
    max_size: MaxSize = 2,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    null: opt.Null = "equal",
    *,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Find the cells of a table that are probably wrong, by all laws that almost hold, and what should be there.

    Exit code: 0 the search came to its end, whether or not it found wrong cells; 2 bad input or usage; 3 stopped before
    the end, with what was found shown.

    \b
    Examples:
      lawful errors tax.csv
      lawful errors tax.csv --json
      lawful errors tax.csv --repair mended.csv
      lawful errors tax.csv --quarantine suspicious.csv --min-probability 0.9
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import open as open_table
    from lawful.cli import output
    from lawful.results.json_files import write_document
    from lawful.results.repaired_tables import require_new
    from lawful.results.texts.errors_text import errors_lines

    output.require_writable(showing.out, table)
    for place in filter(None, (repair, quarantine)):
        require_new(place, table)
    with ExitStack() as until_written:
        with output.shown_progress() as progress:
            how = reading.arguments(table) | running.arguments()
            opened = until_written.enter_context(open_table(table, **how, progress=progress))
            report = opened.errors(
                min_probability=min_probability,
                max_size=max_size,
                null=null,
                time_limit=time_limit,
                memory_limit=memory_limit,
            )
        if showing.json_:
            output.print_json(report.to_dict())
        else:
            output.print_styled(errors_lines(report, showing.limits))
        if showing.out is not None:
            write_document(report.to_dict(), showing.out)
        if repair is not None:
            log = report.write_repaired(repair)
            output.print_notes(f"wrote {repair}, {len(report.changes()):,} cells changed, and {log}")
        if quarantine is not None:
            log = report.write_suspicious_rows(quarantine)
            output.print_notes(f"wrote {quarantine}, {len(report.rows):,} rows, and {log}")
    raise typer.Exit(EXIT_FINE if report.complete else EXIT_STOPPED)
