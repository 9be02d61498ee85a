"""What people read of wrong cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lawful.results.texts.lines import Limits, Line, heading, indented, left_out, line, shown_place
from lawful.results.texts.shown_text import aligned, counted, shortened, shown_name, shown_value, visible

if TYPE_CHECKING:
    from lawful.results.errors_report import ErrorsReport, WrongCell

_A_SCREEN = 20
_A_LAW = 60


def errors_lines(report: ErrorsReport, limits: Limits) -> Iterator[Line]:
    """The cells, the most probable first, each with one law that says so; then how many there are, and what next."""
    yield heading(report.table, report.settings["engine"])
    most = len(report) if limits.laws is None else min(len(report), _A_SCREEN)
    if most:
        yield from _table(report.cells[:most], report.table.name, limits)
    if most < len(report):
        yield line(f"  {left_out(len(report) - most, '', limits)}")
    if report.cells:
        yield line(f"by column: {_by_column(report, limits)}")
    yield line(errors_summary(report), "bold")
    if report.cells and limits.everything.startswith("see them all with --all"):
        name = visible(report.table.name)
        yield line(f"mend a copy: lawful errors {name} --repair mended-{name}")


def _table(cells: Sequence[WrongCell], table_name: str, limits: Limits) -> Iterator[Line]:
    rows = [("wrong", "where", "column", "value", "should be", "by")]
    for cell in cells:
        others = f" and {len(cell.laws) - 1:,} more" if len(cell.laws) > 1 else ""
        law = shortened(visible(cell.laws[0]), None if limits.law is None else _A_LAW) if cell.laws else ""
        rows.append(
            (
                f"{min(cell.probability, 0.999):.3f}",
                shown_place(cell.place, table_name),
                shown_name(cell.column, limits.name),
                shown_value(cell.value, limits.value),
                "?" if cell.suggested is None else shown_value(cell.suggested, limits.value),
                law + others,
            )
        )
    yield from indented(aligned(rows), "  ")


def _by_column(report: ErrorsReport, limits: Limits) -> str:
    counts = Counter(cell.column for cell in report.cells).most_common()
    return shortened(", ".join(f"{shown_name(name, limits.name)} {count:,}" for name, count in counts), limits.law)


def errors_summary(report: ErrorsReport) -> str:
    """How many cells are probably wrong."""
    missing = sum(cell.value is None for cell in report.cells)
    described = counted(len(report), "cell") + " probably wrong"
    if missing:
        described += f", {missing:,} of them missing"
    described += f", by {counted(len(report.laws), 'almost-law')}"
    if report.complete:
        return described
    return f"incomplete: {visible(report.stopped_because or '')}; {described} by then"
