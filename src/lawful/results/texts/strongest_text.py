"""What people read of the strongest laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lawful.results.texts.lines import Limits, Line, heading, left_out, line, shown_law, shown_names
from lawful.results.texts.shown_text import counted, visible

if TYPE_CHECKING:
    from lawful.results.statements import Statement
    from lawful.results.strongest_report import StrongestReport

_A_SCREEN = 20
"""So many statements of a kind are shown, unless all are wanted."""
_TITLES = {
    "key": "keys",
    "entity": "columns that determine each other",
    "fd": "functional dependencies",
    "canonical-od": "orders",
}


def strongest_lines(report: StrongestReport, limits: Limits) -> Iterator[Line]:
    """What the laws say, kind by kind, the strongest first, with how many rows would have to go for each to hold."""
    yield heading(report.table, report.settings["engine"])
    if report.constants:
        names = [report.table.names[column] for column in report.constants]
        yield line(f"always the same: {shown_names(names, limits)}")
    for kind, title in _TITLES.items():
        some = [each for each in report.statements if each.kind == kind]
        if some:
            yield line(title, "bold")
            yield from _table(some, report.table.rows, limits)
    yield line(strongest_summary(report), "bold")


def _table(statements: Sequence[Statement], rows: int, limits: Limits) -> Iterator[Line]:
    """Strength and rows stand before the law, so that a law of any length leaves them in their columns."""
    most = len(statements) if limits.found is None else min(len(statements), _A_SCREEN)
    yield line("  strength  wrong rows  law")
    for each in statements[:most]:
        wrong = f"{round(each.error * rows):,}" if each.error else "none"
        yield line(f"  {_shown(each.strength):>8}  {wrong:>10}  {shown_law(each.text, limits)}")
    if most < len(statements):
        yield line(f"  {left_out(len(statements) - most, '', limits)}")


def _shown(strength: float) -> str:
    """Three digits, but 1 only for a law that holds."""
    return "1" if strength == 1.0 else f"{min(strength, 0.999):.3f}"


def strongest_summary(report: StrongestReport) -> str:
    """How many laws were found, and how many of them follow from others."""
    folded = sum(found.folded for found in report.laws)
    parts = [counted(len(report), "strong law")]
    if folded:
        parts.append(f"{folded:,} of which follow from others")
    if accidental := report.counts.get("accidental", 0):
        parts.append(f"{accidental:,} more that may be accidents left out")
    described = ", ".join(parts)
    if report.complete:
        return described
    return f"incomplete: {visible(report.stopped_because or '')}; {described} by then"
