"""The `lawful` command itself, before any of its verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from lawful import __version__


def new_app() -> typer.Typer:
    """The command without verbs."""
    app = typer.Typer(
        name="lawful",
        help="Find and check the laws that a table obeys: keys, functional and order dependencies, denial "
        "constraints.\n\nBegin with: lawful discover TABLE.csv\n\nTo see what it does: lawful demo",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lawful {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
