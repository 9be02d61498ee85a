"""The verb that tells the lives of laws: history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawful.cli import options as opt
from lawful.cli.maintaining import State

_WHICH = "Which laws"

Kind = Annotated[str | None, opt.option(_WHICH, "Only laws of this kind.", "--kind", metavar="KIND")]
Column = Annotated[str | None, opt.option(_WHICH, "Only laws about this column.", "--column", metavar="NAME")]
LawText = Annotated[str | None, opt.option(_WHICH, "Only laws with this text in them.", "--law", metavar="TEXT")]
BrokeSince = Annotated[
    int | None,
    opt.option(_WHICH, "Only laws that rows have broken in this batch or a later one.", "--broke-since", metavar="N"),
]
MinAge = Annotated[
    int | None,
    opt.option(_WHICH, "Only laws that have been valid for at least so many batches.", "--min-age", metavar="N"),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write it to this file: a chart (.html, .png, .svg), the spans (.parquet), or the document (.json).",
        show_default=False,
        metavar="FILE",
    ),
]


def history(
    state: State,
    kind: Kind = None,
    column: Column = None,
    law: LawText = None,
    broke_since: BrokeSince = None,
    min_age: MinAge = None,
    output_: Output = None,
    json_: opt.Json = False,
    all_: opt.All = False,
    debug: opt.Debug = False,
) -> None:
    """Show the lives of laws: from which batch to which each was valid, and which broke lately.

    Pinned laws come first, then the most reliable ones: valid now, seldom broken, old.

    \b
    Examples:
      lawful history people.state
      lawful history people.state --kind fd --column city
      lawful history people.state --broke-since 120 -o broken.html
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import history as tell
    from lawful.cli import output

    output.require_writable(output_, str(state))
    report = tell(state, kind=kind, column=column, text=law, broke_since=broke_since, min_age=min_age)
    if json_:
        output.print_json(report.to_dict())
    else:
        output.print_history(report, opt.Showing(json_, None, all_, debug).limits)
    if output_ is not None:
        report.save(output_)
