"""The verb that writes a page to open in a browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups
from lawful.common.errors import EXIT_FINE, EXIT_STOPPED, UsageError

_PAGE = "The page"

Laws = Annotated[
    str,
    typer.Argument(
        help="A document that discover or check wrote, or the folder of a state; with --table also a file of laws.",
        show_default=False,
        metavar="LAWS|STATE",
    ),
]
PageFile = Annotated[
    Path, typer.Option("-o", "--out", help="The file to write.", show_default=False, metavar="PAGE.html")
]
TableOption = Annotated[
    str | None,
    opt.option(_PAGE, "Check the laws on this table, and show the rows that break them.", "--table", metavar="TABLE"),
]
Replace = Annotated[bool, opt.option(_PAGE, "Write over the file if it is there already.", "--replace")]
TimeLimit = Annotated[
    float | None,
    opt.option(
        _PAGE, "Check and gather rows for so many seconds at most, and show what there is.", "--time-limit", metavar="S"
    ),
]


@takes_groups
def report(
    laws: Laws,
    out: PageFile,
    table: TableOption = None,
    replace: Replace = False,
    time_limit: TimeLimit = None,
    null: opt.NullOfLaws = None,
    debug: opt.Debug = False,
    *,
    reading: opt.Reading,
    running: opt.Running,
) -> None:
    """Write one file about a table and its laws, to open in a browser.

    Broken laws and laws that almost hold come first, with rows that break them if --table says where these are. The
    file needs no network and no server, and nothing of it leaves the browser.

    Exit code: 0 the page is written, whether or not laws are broken; 2 bad input or usage; 3 stopped before all laws
    were checked, and the page shows the others.

    \b
    Examples:
      lawful discover tax.csv --out laws.json
      lawful report laws.json --table tax.csv -o report.html
      lawful report tax.state -o report.html --replace
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import report as make_page
    from lawful.cli import output

    if table is not None:
        output.require_writable(out, table)
    with suppress(OSError):  # what is no file, or not there, cannot be written over
        if out.samefile(laws):
            raise UsageError(f"cannot write {out}: it is the document of the laws", "Name another file.")
    if table is None and (reading != opt.Reading() or running != opt.Running() or null is not None):
        raise UsageError("how to read and check a table is said, but no table is given", "Give it with --table.")
    how = {} if table is None else reading.arguments(table) | running.arguments()
    with output.shown_progress() as progress:
        page = make_page(
            laws, table, out=out, replace=replace, time_limit=time_limit, null=null, progress=progress, **how
        )
    output.print_lines(page.summary, *page.document.notes, f"wrote {out}: open it in a browser")
    raise typer.Exit(EXIT_FINE if page.is_whole else EXIT_STOPPED)
