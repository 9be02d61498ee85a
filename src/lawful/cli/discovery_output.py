"""What people see of a discovery."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.text import Text

from lawful.cli.output import heading, longest_law, on_terminal, open_console, reader_may_leave
from lawful.cli.shown_text import counted, shortened, visible
from lawful.results import DiscoveryReport
from lawful.results.packed_laws import LawWriter, PackedLaws

_MOST_LAWS, _FEWEST_KEYS = 50, 15
_STEPS = {"start": "start", "encode": "read and encode", "open": "open", "discover": "search", "rank": "rank"}


def print_discovery(report: DiscoveryReport) -> None:
    """Print keys, then FDs, the most interesting first; on a terminal no more than one reads."""
    keys, fds = report.packed.families()
    most_keys, most_fds = _most_shown(len(keys), len(fds))
    writer = LawWriter(report.table.names)
    with reader_may_leave():
        console = open_console()
        console.print(Text(heading(report.table, report.settings["engine"])))
        for kind, words, laws, most in (
            ("key", ("key", "keys"), keys, most_keys),
            ("fd", ("functional dependency", "functional dependencies"), fds, most_fds),
        ):
            if kind not in report.settings["find"]:
                continue
            console.print(Text(f"{len(laws):,} {words[len(laws) != 1]}", style="bold"))
            # Not through the console, which would take minutes for a million lines.
            sys.stdout.writelines(f"{line}\n" for line in _lines(laws.chosen(slice(most)), writer))
            if most < len(laws):
                console.print(f"  … and {len(laws) - most:,} more: see them all with --json or --out.")
        console.print(Text(_summary(report), style="bold"))
        console.print(Text(_times(report)))


def _most_shown(keys: int, fds: int) -> tuple[int, int]:
    """How many laws of each family to show: all in a pipe; on a terminal the families share the space."""
    if not on_terminal():
        return keys, fds
    shown_keys = min(keys, max(_FEWEST_KEYS, _MOST_LAWS - fds))
    return shown_keys, min(fds, _MOST_LAWS - shown_keys)


def _lines(laws: PackedLaws, writer: LawWriter) -> Iterator[str]:
    """Interest and error stand before the law, so that a law of any length leaves them in their columns."""
    if len(laws) == 0:
        return
    numbers = [f"  {interest:>8.3g}" for interest in laws.interests.tolist()]
    if laws.errors is None:
        yield "  interest  law"
    else:
        yield "  interest     error  law"
        numbers = [f"{number}  {error:>8.3g}" for number, error in zip(numbers, laws.errors.tolist(), strict=True)]
    longest, text = longest_law(), writer.text
    for number, (columns, right_side) in zip(numbers, laws.parts(), strict=True):
        yield f"{number}  {shortened(visible(text(columns, right_side)), longest)}"


def _summary(report: DiscoveryReport) -> str:
    settings, counts = report.settings, report.counts
    parts = [counted(counts["keys"] + counts["fds"], "minimal law")]
    if settings["error"]:
        parts.append(f"with an error of at most {settings['error']:g} ({settings['measure']})")
    if settings["max_size"] is not None:
        parts.append(f"with at most {counted(settings['max_size'], 'column')} on the left")
    if "left_out" in counts:
        parts.append(f"{counts['left_out']:,} of less interest left out")
    described = ", ".join(parts)
    if report.complete:
        return described
    return f"incomplete: {visible(report.stopped_because or '')}; {described} by then"


def _times(report: DiscoveryReport) -> str:
    steps = (f"{words} {report.seconds[step]:.1f} s" for step, words in _STEPS.items() if step in report.seconds)
    return ", ".join(steps)
