"""The verb that uses laws: a query made shorter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from lawful.cli import options as opt

if TYPE_CHECKING:
    from lawful.rewriting import Rewriting

_MOST_OF_A_QUERY = 1 << 20


def rewrite(
    query: Annotated[
        str,
        typer.Argument(help="One query, or - to read it from standard input.", show_default=False, metavar="QUERY"),
    ],
    laws: Annotated[
        list[str],
        typer.Option(
            "--laws",
            help="A JSON document that discover or check wrote, a law or a file of laws; may be repeated.",
            show_default=False,
            metavar="FILE|LAW",
        ),
    ],
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            help="The SQL dialect: spark, duckdb, postgres, … If left out, nulls sort first ascending.",
            show_default=False,
            metavar="NAME",
        ),
    ] = "",
    index: Annotated[
        list[str] | None,
        typer.Option("--index", help="An index or sort order that there is; may be repeated.", metavar='"A, B DESC"'),
    ] = None,
    not_null: Annotated[
        str | None,
        typer.Option("--not-null", help="Columns without nulls, separated by commas.", metavar="A,B"),
    ] = None,
    exact_text: Annotated[
        bool, typer.Option("--exact-text", help="The database compares text by code point (collation C or binary).")
    ] = False,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Shorten the ORDER BY and GROUP BY of a query by the laws of its table, and say which index suffices.

    The query is printed, and what was done as SQL comments below it. What cannot be changed safely stays as it is.
    Laws must hold on every row of the table that is queried, with null as a value.

    Exit code: 0 fine, whether there was anything to shorten or not; 2 bad input or usage.

    \b
    Examples:
      lawful rewrite "select * from tax order by zip, state" --laws laws.json
      lawful rewrite "select * from t order by year, month" --laws "[no] -> [year, month]" --index no
      lawful rewrite "select * from t order by a, b desc" --laws laws.json --dialect spark --json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import read_laws
    from lawful.cli import output
    from lawful.rewriting import rewrite as rewrite_query

    known = read_laws(laws)
    text = sys.stdin.read(_MOST_OF_A_QUERY) if query == "-" else query
    found = rewrite_query(
        text.strip() if query == "-" else text,
        known,
        dialect=dialect,
        indexes=index or [],
        not_null=[] if not_null is None else opt.split_names(not_null),
        exact_text=exact_text,
    )
    output.print_notes(*(f"warning: {sentence}" for sentence in found.refused))
    if json_:
        output.print_json(found.to_dict())
    else:
        _print_query(found)


def _print_query(found: Rewriting) -> None:
    """Print the query, and words about it as SQL comments, so that all of it can be run."""
    from lawful.cli.output import on_terminal, reader_may_leave
    from lawful.results.texts.shown_text import visible

    # A program gets the query as it is; a terminal would obey some characters.
    lines = found.sql.split("\n")
    query = ["\t".join(map(visible, line.split("\t"))) for line in lines] if on_terminal() else lines
    with reader_may_leave():
        sys.stdout.writelines(f"{line}\n" for line in (*query, *(f"-- {visible(words)}" for words in _comments(found))))


def _comments(found: Rewriting) -> Iterator[str]:
    for step in found.steps:
        yield f"{step.clause}: {step.text}"
        yield from (f"    by {law}" for law in step.laws)
    for use in found.indexes:
        if not use.suffices:
            yield f"index ({use.index}) does not suffice"
            continue
        how = "read backwards " if use.backwards else ""
        ties = "" if use.alike else ", and breaks ties"
        yield f"index ({use.index}) {how}suffices: it sorts by {', '.join(use.order_by)}{ties}"
        yield from (f"    by {law}" for law in use.laws)
    yield from found.notes
    if not found.changed and not found.notes:
        yield "nothing can be shortened by these laws"
