"""The verb that finds laws."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lawful.cli import options as opt
from lawful.cli.groups import takes_groups, with_options
from lawful.common.errors import EXIT_FINE, EXIT_STOPPED, StoppedError

if TYPE_CHECKING:
    from lawful.api import PartialFile
    from lawful.discovery.families import Option
    from lawful.results import DiscoveryReport

_FINDING = "What to find"


def discover_command() -> Callable[..., None]:
    """The command with an option for everything that any family can be asked for."""
    return with_options(takes_groups(discover), "asked", finding_options())


def finding_options() -> list[inspect.Parameter]:
    """The options that say what to find, as typer reads them: those of all families, then those of single ones."""
    from lawful.discovery.families import discoverable, options
    from lawful.runs.request import COMMON_OPTIONS, strategies_in_words

    find = replace(COMMON_OPTIONS[0], default=None, type=str)
    words = {"kinds": ", ".join(discoverable()), "strategies": strategies_in_words()}
    common = [
        opt.parameter_of(option, _FINDING, option.help.format(**words))
        for option in (find, *_own_options(), *COMMON_OPTIONS[1:])
    ]
    own = [
        opt.parameter_of(option, _FINDING, f"{', '.join(kinds)}: {option.help}")
        for option, kinds in options().values()
        if not option.hidden
    ]
    return common + own


def _own_options() -> tuple[Option, ...]:
    """What only the command has: whether all laws are wanted, or the strongest."""
    from lawful.discovery.families import Option

    return (
        Option("exact", False, "All minimal keys and FDs that hold, instead of the strongest laws."),
        Option("top", 100, "Without --find or --exact: so many of the strongest laws of each kind and size.", "N"),
    )


def discover(
    table: opt.Table,
    asked: opt.Asked,
    null: opt.Null = "equal",
    *,
    reading: opt.Reading,
    running: opt.Running,
    showing: opt.Showing,
) -> None:
    """Find the laws of a table that matter: the strongest keys, functional dependencies and orders, holding or almost.

    With --find, --exact or --error it finds all minimal laws instead, the strongest first. With --out, these
    are kept in a file beside it, named .partial, as soon as they are certain; it goes when the whole document is
    written.

    Exit code: 0 all laws were found, 2 bad input or usage, 3 stopped before the end, with what was found shown.

    \b
    Examples:
      lawful discover tax.csv
      lawful discover tax.csv --exact --out laws.json
      lawful discover tax.csv --find fd --max-size 3 --min-interest 0.001
      lawful discover tax.csv --error 0.01 --time-limit 60
      lawful discover tax.csv --find canonical-od,list-od
      lawful discover tax.csv --find dc --max-size 3 --no-cross-columns --operators "=,!=" --operators "salary:<,>"
      lawful check new.csv --laws laws.json
    """  # noqa: D301  # typer leaves lines after a backspace as they are
    from lawful.api import PartialFile
    from lawful.api import discover as discover_laws
    from lawful.cli import output

    output.require_writable(showing.out, table)
    how = reading.arguments(table) | running.arguments()
    if _wants_the_strongest(asked):
        _discover_strongest([table, *reading.as_typed()], asked, null, how, showing)
    asked = {name: value for name, value in asked.items() if name not in ("exact", "top")}
    asked["find"] = asked["find"] or "key,fd"
    kept = PartialFile(showing.out)
    with _left_behind_is_named(kept), kept:
        with output.shown_progress() as progress:
            report = discover_laws(
                table, **asked, null=null, **how, progress=progress, notes=output.print_notes, partial=kept
            )
        if kept.failure is not None:
            output.print_notes(f"{kept.failure}; the search went on without it")
        is_shown = _show(report, showing)
        if showing.out is not None:
            _write(report, showing.out)
            kept.forget()
    output.print_notes(*(f"{path} of an earlier run holds laws that were not found now" for path in kept.left))
    raise typer.Exit(EXIT_FINE if report.complete and is_shown else EXIT_STOPPED)


_OF_BOTH = ("top", "max_size", "time_limit", "memory_limit", "seed")
"""What the search for the strongest laws can be asked for too."""


def _wants_the_strongest(asked: Mapping[str, Any]) -> bool:
    """Whether nothing asks for all laws: no kind of law, and nothing that only a search for all of them knows."""
    defaults = {option.name: option.default for option in finding_options()}
    others = (name for name in asked if name not in _OF_BOTH)
    return all(asked[name] == defaults[name] for name in others)


def _discover_strongest(
    typed: Sequence[str], asked: Mapping[str, Any], null: str, how: Mapping[str, Any], showing: opt.Showing
) -> None:
    """Find and show the strongest laws, and end the command. `typed` is the table and how it is read."""
    from lawful.api import strongest
    from lawful.cli import output
    from lawful.cli.discovery_output import print_strongest

    wanted = {name: asked[name] for name in _OF_BOTH if asked[name] is not None}
    with output.shown_progress() as progress:
        report = strongest(typed[0], null=null, **wanted, **how, progress=progress)
    if showing.json_:
        output.print_json(report.to_dict())
    else:
        print_strongest(report, showing.limits, typed)
    if showing.out is not None:
        report.save(showing.out)
    raise typer.Exit(EXIT_FINE if report.complete else EXIT_STOPPED)


def _write(report: DiscoveryReport, out: Path) -> None:
    """Write the document, and say how far that is: it may have millions of laws."""
    from lawful.cli.output import shown_progress
    from lawful.results.json_files import write_document

    with shown_progress() as progress:
        progress("writing the document")
        write_document(report.streamed(lambda written: progress(f"wrote {written:,} of {len(report):,} laws")), out)


def _show(report: DiscoveryReport, showing: opt.Showing) -> bool:
    """Show the result before it is written: what cannot be written was at least shown.

    Says whether all of it was shown; an interrupt ends that, and the document is written all the same.
    """
    from lawful.cli import output
    from lawful.cli.discovery_output import print_discovery

    try:
        if showing.json_:
            output.print_json(report.streamed())
        else:
            print_discovery(report, showing.limits)
    except KeyboardInterrupt:
        if showing.out is None:
            raise StoppedError("stopped while the result was shown", "--out keeps it in a file.") from None
        output.print_notes("stopped while the result was shown")
        return False
    return True


@contextmanager
def _left_behind_is_named(kept: PartialFile) -> Iterator[None]:
    """When the work breaks off, say where the laws are that were found by then."""
    from lawful.cli.output import print_notes

    try:
        yield
    except BaseException as error:
        if kept.path is not None:
            some = "what was found so far" if kept.failure is None else "a part of what was found so far"
            print_notes(f"{some} is in {kept.path}")
            if isinstance(error, KeyboardInterrupt):
                raise StoppedError("stopped before the document was written") from None
        raise
