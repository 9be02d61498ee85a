"""Printing a discovery."""

from __future__ import annotations

import sys

from lawful.cli.output import open_console, reader_may_leave, styled
from lawful.results import DiscoveryReport, StrongestReport
from lawful.results.texts.discovery_text import discovery_lines
from lawful.results.texts.lines import Limits
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


def print_strongest(report: StrongestReport, limits: Limits) -> None:
    """Print what the strongest laws say, kind by kind; no more than one reads, unless all are wanted."""
    with reader_may_leave():
        console = open_console()
        for line in strongest_lines(report, limits):
            console.print(styled(line))
