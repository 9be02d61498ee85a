"""What people see of a discovery."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rich.text import Text

from lawful.cli.output import heading, open_console, reader_may_leave
from lawful.cli.page import WAYS_TO_ALL, Page
from lawful.cli.shown_text import counted, visible
from lawful.dependencies import format_law
from lawful.results import DiscoveryReport
from lawful.results.packed_laws import LawWriter, PackedLaws

_MOST_LAWS, _FEWEST_OF_A_KIND = 50, 15
_WORDS: dict[str, tuple[str, str]] = {
    "key": ("key", "keys"),
    "fd": ("functional dependency", "functional dependencies"),
    "canonical-od": ("canonical order dependency", "canonical order dependencies"),
    "list-od": ("list-based order dependency", "list-based order dependencies"),
    "pod": ("pointwise order dependency", "pointwise order dependencies"),
    "dc": ("denial constraint", "denial constraints"),
}
_STEPS = {"start": "start", "encode": "read and encode", "open": "open", "discover": "search", "rank": "rank"}


def print_discovery(report: DiscoveryReport, page: Page) -> None:
    """Print the laws kind by kind, the most interesting first; no more than one reads, unless all are wanted."""
    sections = list(_sections(report))
    counts = [section.count for section in sections]
    shown = counts if page.shows_all else _most_shown(counts)
    with reader_may_leave():
        console = open_console()
        console.print(Text(heading(report.table, report.settings["engine"])))
        for section, most in zip(sections, shown, strict=True):
            console.print(Text(section.title, style="bold"))
            # Not through the console, which would take minutes for a million lines.
            sys.stdout.writelines(f"{line}\n" for line in _lines(section, most, page))
            if most < section.count:
                console.print(f"  … and {section.count - most:,} more: {WAYS_TO_ALL}")
        console.print(Text(_summary(report), style="bold"))
        if unranked := report.laws.unranked_because:
            console.print(Text(f"not ranked, but as they were found: {unranked}", style="bold"))
        if limits := report.limits_in_words():
            console.print(Text(limits, style="bold"))
        console.print(Text(_times(report)))


_Row = tuple[str, float, float | None, str | None]


@dataclass(frozen=True)
class _Section:
    """Laws of one kind: how many, whether that is all, and a row of text, interest, error and reading for each."""

    kind: str
    count: int
    is_complete: bool
    rows: Iterator[_Row]

    @property
    def title(self) -> str:
        """How many laws there are, as far as that is known."""
        one, several = _WORDS[self.kind]
        if self.is_complete:
            return f"{self.count:,} {one if self.count == 1 else several}"
        if self.count:
            return f"{self.count:,} {one if self.count == 1 else several} by then, and maybe more"
        return f"{several}: not known, the search stopped before"


def _sections(report: DiscoveryReport) -> Iterator[_Section]:
    laws, families = report.laws, report.families
    for kind, packed in (("key", laws.keys), ("fd", laws.fds)):
        if kind in families:
            yield _Section(kind, len(packed), families[kind].complete, _packed_rows(packed, report))
    for listed in laws.listed:
        rows = ((format_law(law, report.table.names), *rest) for law, *rest in listed)
        complete = families[listed.kind].complete
        yield _Section(listed.kind, len(listed), complete, rows)  # type: ignore[arg-type]  # rows are what laws give


def _packed_rows(laws: PackedLaws, report: DiscoveryReport) -> Iterator[_Row]:
    text = LawWriter(report.table.names).text
    for columns, right_side, interest, error in laws.rows():
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
    found = len(report) + counts.get("left_out", 0) + counts.get("not_rated", 0)
    parts = [counted(found, "minimal law")]
    if settings["error"]:
        parts.append(f"with an error of at most {settings['error']:g} ({settings['measure']})")
    if "left_out" in counts:
        parts.append(f"{counts['left_out']:,} of less interest left out")
    if "not_rated" in counts:
        parts.append(f"{counts['not_rated']:,} left out because there was no time to rate them")
    described = ", ".join(parts)
    if report.complete:
        return described
    return f"incomplete: {visible(report.stopped_because or '')}; {described} by then"


def _times(report: DiscoveryReport) -> str:
    steps = (f"{words} {report.seconds[step]:.1f} s" for step, words in _STEPS.items() if step in report.seconds)
    return ", ".join(steps)
