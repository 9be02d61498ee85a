"""What people see of a discovery."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat

from rich.text import Text

from lawful.cli.output import heading, open_console, reader_may_leave
from lawful.cli.page import WAYS_TO_ALL, Page
from lawful.cli.shown_text import counted, visible
from lawful.dependencies import format_law, words_of
from lawful.results import DiscoveryReport
from lawful.results.packed_laws import LawWriter, PackedLaws

_MOST_LAWS, _FEWEST_OF_A_KIND = 50, 15
_STEPS = {"start": "start", "encode": "read and encode", "open": "open", "discover": "search", "rank": "rank"}


def print_discovery(report: DiscoveryReport, page: Page) -> None:
    """Print the laws kind by kind, the most interesting first; no more than one reads, unless all are wanted."""
    sections = [section for section in _sections(report) if section.is_wanted]
    counts = [section.count for section in sections]
    shown = counts if page.shows_all else _most_shown(counts)
    with reader_may_leave():
        console = open_console()
        console.print(Text(heading(report.table, report.settings["engine"])))
        for section, most in zip(sections, shown, strict=True):
            console.print(Text(f"{section.count:,} {section.words[section.count != 1]}", style="bold"))
            # Not through the console, which would take minutes for a million lines.
            sys.stdout.writelines(f"{line}\n" for line in _lines(section, most, page))
            if most < section.count:
                console.print(f"  … and {section.count - most:,} more: {WAYS_TO_ALL}")
        console.print(Text(_summary(report), style="bold"))
        if limits := report.limits_in_words():
            console.print(Text(limits, style="bold"))
        console.print(Text(_times(report)))


_Row = tuple[str, float, float | None, str | None]


@dataclass(frozen=True)
class _Section:
    """Laws of one kind: how many, and a row of text, interest, error and reading for each."""

    words: tuple[str, str]
    count: int
    rows: Iterator[_Row]
    is_wanted: bool


def _sections(report: DiscoveryReport) -> Iterator[_Section]:
    keys, fds = report.packed.families()
    find = report.settings["find"]
    yield _Section(words_of("key"), len(keys), _packed_rows(keys, report), "key" in find)
    yield _Section(words_of("fd"), len(fds), _packed_rows(fds, report), bool({"fd", "canonical-od"} & set(find)))
    for laws in report.listed:
        rows = ((format_law(law, report.table.names), *rest) for law, *rest in laws)
        yield _Section(words_of(laws.kind), len(laws), rows, True)  # type: ignore[arg-type]  # rows are what laws give


def _packed_rows(laws: PackedLaws, report: DiscoveryReport) -> Iterator[_Row]:
    text = LawWriter(report.table.names).text
    errors = repeat(None) if laws.errors is None else iter(laws.errors.tolist())
    for (columns, right_side), interest, error in zip(laws.parts(), laws.interests.tolist(), errors, strict=False):
        yield text(columns, right_side), interest, error, None


def _most_shown(counts: list[int]) -> list[int]:
    """How many laws of each kind to show: the kinds share a page."""
    shown = [min(count, _FEWEST_OF_A_KIND) for count in counts]
    spare = _MOST_LAWS - sum(shown)
    for kind in reversed(range(len(counts))):
        more = min(max(spare, 0), counts[kind] - shown[kind])
        shown[kind] += more
        spare -= more
    return shown


def _lines(section: _Section, most: int, page: Page) -> Iterator[str]:
    """Interest and error stand before the law, so that a law of any length leaves them in their columns."""
    for number, (text, interest, error, reading) in enumerate(islice(section.rows, most)):
        if number == 0:
            yield "  interest  law" if error is None else "  interest     error  law"
        measured = "" if error is None else f"  {error:>8.3g}"
        read = "" if reading is None else f"   ({page.law(reading)})"
        yield f"  {interest:>8.3g}{measured}  {page.law(text)}{read}"


def _summary(report: DiscoveryReport) -> str:
    settings, counts = report.settings, report.counts
    parts = [counted(len(report) + counts.get("left_out", 0), "minimal law")]
    if settings["error"]:
        parts.append(f"with an error of at most {settings['error']:g} ({settings['measure']})")
    if "left_out" in counts:
        parts.append(f"{counts['left_out']:,} of less interest left out")
    described = ", ".join(parts)
    if report.complete:
        return described
    return f"incomplete: {visible(report.stopped_because or '')}; {described} by then"


def _times(report: DiscoveryReport) -> str:
    steps = (f"{words} {report.seconds[step]:.1f} s" for step, words in _STEPS.items() if step in report.seconds)
    return ", ".join(steps)
