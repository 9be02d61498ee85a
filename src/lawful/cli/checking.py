"""The verbs that judge laws which someone has written: check and explain."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups
from lawful.common.errors import EXIT_FINE, EXIT_LAWS_BROKEN, EXIT_STOPPED
from lawful.common.meanings import NullPolicy, null_policy

if TYPE_CHECKING:
    from lawful.api import LawsInput
    from lawful.results import CheckReport


@takes_groups
def check(
    table: opt.Table,
    laws: Annotated[
        list[str],
        typer.Option(
            "--laws",
            help="A law, a file of laws or a JSON document of laws; may be repeated.",
            show_default=False,
            metavar="LAW|FILE",
        ),
    ],
    error: Annotated[
        float | None,
        typer.Option(
            "--error",
            help="The share that may break a law, below 1.  "
            "[default: what laws of a document were found within, else 0]",
            show_default=False,
            metavar="X",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            help="What --error is a share of: g3, the rows; g1, the pairs of rows.  [default: g3, or g1 for denial "
            "constraints]",
            show_default=False,
            metavar="g1|g3",
        ),
    ] = None,
    strength: Annotated[
        bool,
        typer.Option("--strength", help="Tell how strong each law is, with g1 and g3; of FDs tau and RFI+ too."),
    ] = False,
    violations: opt.Violations = None,
    null: opt.NullOfLaws = None,
    *,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Check laws on a table, and show two rows that refute each law that is broken.

    Laws of a document that were found within an error are judged by that error, unless --error says otherwise.

    Exit code: 0 all laws hold, 1 a law is broken, 2 bad input or usage, 3 stopped before the end.

    \b
    Examples:
      lawful check tax.csv --laws "zip -> state" --laws "key(area_code, phone)"
      lawful check tax.csv --laws "{state}: salary asc ~ rate asc" --json
      lawful check tax.csv --laws laws.txt --violations bad-rows
      lawful check tax.csv --laws "zip -> city" --error 0.01 --strength
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import open as open_table
    from lawful.api import read_laws
    from lawful.cli import output

    given = read_laws(laws)
    _require_places(table, showing, violations)
    policy = _settled_null(null, given)
    with ExitStack() as until_shown:
        with output.shown_progress() as progress:
            how = reading.arguments(table) | running.arguments()
            opened = until_shown.enter_context(open_table(table, **how, progress=progress))
            report = opened.check(
                given,
                error=error,
                measure=measure,  # type: ignore[arg-type]  # a text, and check says which there are
                null=policy,
                strength=strength,
            )
        if showing.json_:
            output.print_json(report.to_dict())
        else:
            output.print_check(report, showing.limits)
        _write(report.to_dict(), report, showing, violations)
    raise typer.Exit(EXIT_STOPPED if not report.complete else EXIT_FINE if report.holds else EXIT_LAWS_BROKEN)


@takes_groups
def explain(
    table: opt.Table,
    law: Annotated[str, typer.Argument(help='One law, for example "zip -> state".', show_default=False, metavar="LAW")],
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=0, help="How many groups of violating rows to show.")
    ] = 10,
    violations: opt.Violations = None,
    null: opt.NullOfLaws = None,
    *,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Show why a law holds on a table, or which rows break it.

    A broken law is shown with the rows that break it, group by group. A law that holds is shown with every smaller law
    that would imply it and two rows that refute that one; if there are none, it says from which laws it follows.

    Exit code: 0 the law holds, 1 it is broken, 2 bad input or usage, 3 stopped before the end.

    \b
    Examples:
      lawful explain tax.csv "zip -> city"
      lawful explain tax.csv "key(area_code, phone)" --json
      lawful explain tax.csv "{state}: salary asc ~ rate asc" --violations bad-rows
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import open as open_table
    from lawful.api import read_laws
    from lawful.cli import output
    from lawful.cli.explanation_output import print_explanation

    given = read_laws(law)
    _require_places(table, showing, violations)
    policy = _settled_null(null, given)
    with ExitStack() as until_shown:
        with output.shown_progress() as progress:
            how = reading.arguments(table) | running.arguments()
            opened = until_shown.enter_context(open_table(table, **how, progress=progress))
            explained = opened.explain(given, null=policy)
        if showing.json_:
            output.print_json(explained.to_dict())
        else:
            print_explanation(explained, most, showing.limits)
        _write(explained.to_dict(), explained.report, showing, violations)
    raise typer.Exit(EXIT_STOPPED if not explained.complete else EXIT_FINE if explained.holds else EXIT_LAWS_BROKEN)


def _require_places(table: str, showing: opt.Showing, violations: Path | None) -> None:
    """Refuse places where nothing can be written, before work is spent on what is to be written there."""
    from lawful.cli.output import require_writable
    from lawful.results.violation_files import require_empty

    require_writable(showing.out, table)
    if violations is not None:
        require_empty(violations)


def _write(document: dict[str, Any], report: CheckReport, showing: opt.Showing, violations: Path | None) -> None:
    """Write the document and the violating rows, as far as they are asked for."""
    from lawful.cli.output import print_notes
    from lawful.results.json_files import write_document

    if showing.out is not None:
        write_document(document, showing.out)
    if violations is not None:
        print_notes(*(f"wrote {path}" for path in report.write_violations(violations)))


def _settled_null(null: str | None, given: LawsInput) -> NullPolicy:
    """What null means: what is asked for, else what it meant to the laws of a document; then a note says so."""
    from lawful.cli.output import print_notes

    if null is not None:
        return null_policy(null)
    meant = given.null_policy()
    if meant is None:
        return NullPolicy.EQUAL
    policy, source = meant
    if policy is not NullPolicy.EQUAL:
        print_notes(f"laws are judged with --null {policy}, as {source} says")
    return policy
