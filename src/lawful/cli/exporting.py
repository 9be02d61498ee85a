"""The verbs between lawful and other tools: export and import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawful.cli import options as opt
from lawful.common.errors import UsageError
from lawful.exports.targets_named import DIALECT_NAMES, TARGETS

if TYPE_CHECKING:
    from lawful.exports import Export

_CHOOSING, _SAYING = "Which laws", "How to say them"


def export(
    laws: Annotated[
        str,
        typer.Argument(
            help="A document of laws, a file of laws, a law, or the folder of a state.",
            show_default=False,
            metavar="LAWS",
        ),
    ],
    to: Annotated[str, typer.Option("--to", help=f"{', '.join(TARGETS)}.", show_default=False, metavar="TARGET")],
    dialect: Annotated[
        str | None,
        opt.option(
            _SAYING,
            f"The SQL of queries: {', '.join(DIALECT_NAMES)}.  [default: the tool's, else spark]",
            "--dialect",
            metavar="NAME",
        ),
    ] = None,
    table: Annotated[
        str | None,
        opt.option(
            _SAYING, "The table to query, such as sales.orders.  [default: the laws' own]", "--table", metavar="NAME"
        ),
    ] = None,
    rows: Annotated[
        bool,
        opt.option(_SAYING, "Queries give all violating rows, not what they have in common.", "--rows"),
    ] = False,
    null: opt.NullOfLaws = None,
    types: Annotated[
        list[str] | None,
        opt.option(_SAYING, "Tell a column's type; may be repeated.", "--types", metavar="COLUMN=TYPE"),
    ] = None,
    cast: Annotated[
        bool | None,
        opt.option(
            _SAYING,
            "Whether columns may be texts in the database, to be read as lawful read them.  "
            "[default: if the laws are from a CSV file]",
            "--cast/--no-cast",
        ),
    ] = None,
    rely: Annotated[
        bool, opt.option(_SAYING, "ddl: the database may rely on keys that it does not enforce.", "--rely")
    ] = False,
    top: Annotated[int | None, opt.option(_CHOOSING, "Only so many laws, the strongest.", "--top", metavar="N")] = None,
    min_strength: Annotated[
        float | None, opt.option(_CHOOSING, "Only laws at least so strong.", "--min-strength", metavar="X")
    ] = None,
    select: Annotated[
        Path | None, opt.option(_CHOOSING, "Only the laws in this file, one on each line.", "--select", metavar="FILE")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Write the files into this folder; else they are printed.",
            show_default=False,
            metavar="DIR",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Files that are there may be written over.")] = False,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Put laws into the words of another tool: queries, tests, contracts, constraints.

    A query gives rows exactly if its law is broken. What the tool cannot be told is listed in the files and below.
    With sql, --json prints a list of {"law", "query"}.

    Exit code: 0 fine, 2 bad input or usage.

    \b
    Examples:
      lawful export laws.json --to sql --dialect duckdb --table sales.orders
      lawful export laws.json --to dbt --top 20 -o my-project
      lawful export "zip -> city" --to sql --json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli import output
    from lawful.exports import export as export_laws

    found = export_laws(
        laws,
        to,
        dialect=dialect,
        table=table,
        rows=rows,
        null=null,
        types=dict(_type(each) for each in types or ()),
        cast=cast,
        top=top,
        min_strength=min_strength,
        select=select,
        rely=rely,
    )
    if out is not None:
        found.write(out, overwrite=overwrite)
        lines = [*(str(out / name) for name in found.files), *found.summary()]
        if not json_:
            output.print_lines(*lines)
            return
    if json_:
        output.print_json_value([each.to_dict() for each in found.queries] if to == "sql" else found.to_dict())
    else:
        _print_files(found)
    output.print_notes(*found.summary())


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Properties of dbt models, a suite of Great Expectations, an ODCS contract, or SQL with tables.",
            show_default=False,
            metavar="FILE",
        ),
    ],
    table: Annotated[
        str | None,
        typer.Option("--table", help="Only the rules of this table.", show_default=False, metavar="NAME"),
    ] = None,
    dialect: Annotated[
        str, typer.Option("--dialect", help="The dialect of SQL files.", show_default=False, metavar="NAME")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Write the document of laws to this file.", show_default=False, metavar="FILE"
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="A file that is there may be written over.")] = False,
    json_: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Read the keys and rules of another tool as laws, to check them or to hold them beside what a table obeys.

    Rules that no law can state are listed.

    \b
    Examples:
      lawful import models/orders.yml -o laws.json
      lawful import schema.sql --dialect postgres --table orders -o laws.json
      lawful check orders.csv --laws laws.json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.cli import output
    from lawful.exports import import_laws

    found = import_laws(files, table=table, dialect=dialect)
    if out is not None:
        if (out.exists() or out.is_symlink()) and not (overwrite and out.is_file()):
            raise UsageError(f"{out} is there already", "Name another file, or give --overwrite.")
        output.require_writable(out, str(files[0]))
        found.save(out)
    if json_:
        output.print_json(found.to_dict())
    elif out is None:
        output.print_lines(*(law.text for law in found.laws))
    output.print_notes(*found.summary())


def _type(given: str) -> tuple[str, str]:
    name, equals, type_ = given.rpartition("=")
    if not equals or not name:
        raise UsageError(f"{given!r} does not choose a type", "Write column=type, for example zip=string.")
    return name, type_


def _print_files(found: Export) -> None:
    """Print the files; a terminal would obey some characters, and a program gets them as they are."""
    from lawful.cli.output import on_terminal, reader_may_leave
    from lawful.results.texts.shown_text import visible

    lines = found.text.split("\n")
    with reader_may_leave():
        sys.stdout.write(
            "\n".join("\t".join(map(visible, line.split("\t"))) if on_terminal() else line for line in lines)
        )
