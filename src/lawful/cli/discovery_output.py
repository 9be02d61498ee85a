"""Printing a discovery."""

from __future__ import annotations

import sys

from lawful.cli.output import open_console, reader_may_leave, styled
from lawful.results import DiscoveryReport
from lawful.results.texts.discovery_text import discovery_lines
from lawful.results.texts.lines import Limits


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
