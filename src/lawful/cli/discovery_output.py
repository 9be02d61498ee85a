"""Printing a discovery."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lawful.cli.output import on_terminal, open_console, reader_may_leave, styled
from lawful.results import DiscoveryReport, StrongestReport
from lawful.results.texts.discovery_text import discovery_lines
from lawful.results.texts.lines import ALL, Limits
from lawful.results.texts.strongest_text import strongest_lines


def print_discovery(report: DiscoveryReport, limits: Limits) -> None:
    """Print the laws kind by kind, the most interesting first; no more than one reads, unless all are wanted."""
    with reader_may_leave():
        console = open_console()
        for line in discovery_lines(report, limits):
            if len(line) == 1 and not line[0].style:
                # Not through the console, which would take minutes for a million lines.
                sys.stdout.write(f"{line[0].text}\n")
            else:
                console.print(styled(line))


def print_strongest(report: StrongestReport, limits: Limits, table: Sequence[str]) -> None:
    """Print what the strongest laws say, on a terminal one screen unless all is wanted, and what to type next.

    `table` is how the table is typed, with the options that it is read with.
    """
    console = open_console()
    limits = replace(limits, width=console.width) if on_terminal() and limits.found is not None else ALL
    with reader_may_leave():
        for line in strongest_lines(report, limits):
            console.print(styled(line))
        if on_terminal():
            console.print("next:")
            for words in _next_commands(report, shlex.join(table)):
                console.print(f"  {words}", markup=False)


def _next_commands(report: StrongestReport, table: str) -> Iterator[str]:
    """What one may want to do now."""
    broken = report.examples
    if broken:
        yield f"lawful errors {table}"
    stated = next(iter(report.statements), None)
    if stated is not None:
        yield f"lawful explain {table} {shlex.quote(broken[0].text if broken else stated.weakest.text)}"
    yield f"lawful discover {table} --find fd --out laws.json"
