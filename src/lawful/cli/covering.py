"""The verb that says the same in fewer laws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawful.cli import options as opt


def cover(
    laws: Annotated[
        Path,
        typer.Argument(help="A document that lawful discover wrote with --out.", show_default=False, metavar="LAWS"),
    ],
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Say in as few functional dependencies as possible what all in a document say: a canonical cover.

    The document must have all that hold on a table, with null taken for a value.

    \b
    Examples:
      lawful discover tax.csv --find fd --out laws.json
      lawful cover laws.json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import load
    from lawful.cli import output

    saved = load(laws)
    found = saved.canonical_cover()
    if json_:
        output.print_json({"format": "lawful/1", "of": len(saved.fds()), "cover": found})
    else:
        output.print_lines(
            *found, f"{len(found):,} of {len(saved.fds()):,} functional dependencies: the others follow from them"
        )
