"""What people read of a discovery."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from lawful.dependencies import format_law, words_of
from lawful.results.packed_laws import LawWriter, PackedLaws
from lawful.results.texts.lines import Limits, Line, heading, left_out, line, shown_law
from lawful.results.texts.shown_text import counted, shown_strength, visible

if TYPE_CHECKING:
    from lawful.results.discovery_report import DiscoveryReport

_STEPS = {"start": "start", "encode": "read and encode", "open": "open", "discover": "search", "rank": "rank"}


def discovery_lines(report: DiscoveryReport, limits: Limits) -> Iterator[Line]:
    """The laws kind by kind, the strongest first, with how long it took."""
    sections = list(_sections(report))
    yield heading(report.table, report.settings["engine"])
    for section, most in zip(sections, _most_shown([section.count for section in sections], limits), strict=True):
        yield line(section.title, "bold")
        yield from map(line, _laws(section, most, limits))
        if most < section.count:
            yield line(f"  {left_out(section.count - most, '', limits)}")
    yield line(discovery_summary(report), "bold")
    if unranked := report.laws.unranked_because:
        yield line(f"not ranked, but as they were found: {unranked}", "bold")
    if words := report.limits_in_words():
        yield line(words, "bold")
    yield line(_times(report))


_Row = tuple[str, float | None, float, float | None, str | None]


@dataclass(frozen=True)
class _Section:
    """Laws of one kind: how many, whether that is all, and for each a row: text, strength, interest, error, reading."""

    kind: str
    count: int
    is_complete: bool
    rows: Iterator[_Row]

    @property
    def title(self) -> str:
        """How many laws there are, as far as that is known."""
        one, several = words_of(self.kind)
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
        names = report.table.names
        rows = ((format_law(r.law, names), r.strength, r.interest, r.error, r.reading) for r in listed)
        yield _Section(listed.kind, len(listed), families[listed.kind].complete, rows)


def _packed_rows(laws: PackedLaws, report: DiscoveryReport) -> Iterator[_Row]:
    text = LawWriter(report.table.names).text
    for row in laws.rows():
        yield text(row.columns, row.right_side), row.strength, row.interest, row.error, None


def _most_shown(counts: list[int], limits: Limits) -> list[int]:
    """How many laws of each kind to show: the kinds share the space that there is."""
    if limits.found is None:
        return counts
    most, fewest = limits.found
    shown = [min(count, fewest) for count in counts]
    spare = most - sum(shown)
    for kind in reversed(range(len(counts))):
        more = min(max(spare, 0), counts[kind] - shown[kind])
        shown[kind] += more
        spare -= more
    return shown


def _laws(section: _Section, most: int, limits: Limits) -> Iterator[str]:
    """Numbers stand before the law, so that a law of any length leaves them in their columns."""
    for number, (text, strength, interest, error, reading) in enumerate(islice(section.rows, most)):
        if number == 0:
            yield "  strength  interest  law" if error is None else "  strength  interest     error  law"
        measured = "" if error is None else f"  {error:>8.3g}"
        read = "" if reading is None else f"   ({shown_law(reading, limits)})"
        known = "" if strength is None else shown_strength(strength)
        yield f"  {known:>8}  {interest:>8.3g}{measured}  {shown_law(text, limits)}{read}"


def discovery_summary(report: DiscoveryReport) -> str:
    """How many laws were found, and whether these are all."""
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
    described += " by then"
    if counts.get("lists_complete_to", 0) > 1:
        described += f", with all list-based order dependencies of up to {counts['lists_complete_to']} columns"
    return f"incomplete: {visible(report.stopped_because or '')}; {described}"


def _times(report: DiscoveryReport) -> str:
    steps = (f"{words} {report.seconds[step]:.1f} s" for step, words in _STEPS.items() if step in report.seconds)
    return ", ".join(steps)
