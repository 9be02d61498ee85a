"""What people read of a batch of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lawful.results.texts.lines import (
    Limits,
    Line,
    Part,
    cells,
    indented,
    left_out,
    line,
    shown_law,
    shown_place,
)
from lawful.results.texts.shown_text import counted, shown_value, visible

if TYPE_CHECKING:
    from lawful.results.batch_report import BatchReport, ChangedLaw, PinOutcome
    from lawful.results.check_report import RowView


def batch_lines(report: BatchReport, limits: Limits) -> Iterator[Line]:
    """The laws that went, with the rows that broke them, those that came, and the pinned ones."""
    yield line(f"{visible(report.state)}: {counted(report.rows, 'row')}, version {report.version}")
    yield from _changed("removed", "red", report.removed, report.state, limits)
    yield from _changed("added  ", "green", report.added, report.state, limits)
    for pin in report.pins:
        yield from _pin(pin, report.state, limits)
    yield from _quarantined(report, limits)
    yield line(batch_summary(report), "bold")


def batch_summary(report: BatchReport) -> str:
    """How many rows and laws came and went."""
    return "; ".join([*_what_happened(report), *_pins(report.pins)])


def _what_happened(report: BatchReport) -> Iterator[str]:
    if report.batch is None:
        kept = laws_of_kinds(report.laws) or counted(len(report.pins), "pinned law")
        yield f"{kept} kept in {visible(report.folder)}"
    elif report.was_known:
        yield f"batch {visible(report.batch)} was applied before: nothing was changed"
    else:
        rows = [f"{counted(report.inserted, 'row')} inserted", f"{report.deleted:,} deleted"]
        rows += [f"{report.missing:,} to delete not there"] if report.missing else []
        yield ", ".join(rows)
        if report.laws:
            yield f"{counted(len(report.removed), 'law')} went, {len(report.added):,} came"


def _pins(pins: Sequence[PinOutcome]) -> Iterator[str]:
    broken = sum(not pin.holds for pin in pins)
    if broken:
        yield f"{broken:,} of {counted(len(pins), 'pinned law')} broken"
    elif pins:
        yield "the pinned law holds" if len(pins) == 1 else f"all {len(pins):,} pinned laws hold"


def laws_of_kinds(laws: Mapping[str, int]) -> str:
    """How many laws of each kind there are."""
    return ", ".join(counted(count, _NOUNS[kind]) for kind, count in laws.items())


_NOUNS = {
    "key": "key",
    "fd": "FD",
    "canonical-od": "canonical OD",
    "list-od": "list OD",
    "pod": "POD",
    "dc": "DC",
}


def _changed(what: str, style: str, laws: Sequence[ChangedLaw], name: str, limits: Limits) -> Iterator[Line]:
    most = len(laws) if limits.found is None else limits.found[0]
    for changed in laws[:most]:
        error = "" if changed.error is None else f"   (error {changed.error:.3g})"
        label = Part("  implied  ") if changed.is_implied else Part(f"  {what}  ", style)
        yield (label, Part(shown_law(changed.text, limits) + error))
        yield from indented(_rows(changed.witness, name, limits), " " * 11)
    if len(laws) > most:
        yield line("  " + left_out(len(laws) - most, "", limits))


def _pin(pin: PinOutcome, name: str, limits: Limits) -> Iterator[Line]:
    verdict = Part("  holds    ", "green") if pin.holds else Part("  broken   ", "bold red")
    broken_by = "" if pin.holds else f": {counted(pin.violating, 'row')}"
    yield (verdict, Part(f"pinned {shown_law(pin.text, limits)}{broken_by}"))
    yield from indented(_rows(pin.witness, name, limits), " " * 11)


def _rows(witness: tuple[RowView, RowView] | None, name: str, limits: Limits) -> list[str]:
    return [f"{shown_place(view.place, name)}: {cells(view.values, limits)}" for view in witness or ()]


def _quarantined(report: BatchReport, limits: Limits) -> Iterator[Line]:
    most = len(report.quarantined) if limits.laws is None else limits.laws
    for row in report.quarantined[:most]:
        what = f"{visible(row.column)} = {shown_value(row.value, limits.value)} is not of the type {row.type}"
        yield line(f"  left out {visible(row.place)}: {what}")
    if len(report.quarantined) > most:
        yield line("  " + left_out(len(report.quarantined) - most, "", limits))
