"""What people read of the lives of laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lawful.results.texts.lines import Limits, Line, Part, left_out, line, shown_law
from lawful.results.texts.shown_text import counted, visible

if TYPE_CHECKING:
    from lawful.results.history_report import HistoryReport, Life

_CELLS = 40
_VALID, _PARTLY, _NOT = "█", "▒", "·"
_LONGEST = 48


def history_lines(report: HistoryReport, limits: Limits) -> Iterator[Line]:
    """A line for each law: when it was valid, how long it has been, how often it broke."""
    yield line(f"{visible(report.state)}: version {report.version}")
    most = len(report.lives) if limits.found is None else limits.found[0]
    shown = report.lives[:most]
    width = min(_LONGEST, max((len(shown_law(life.law, limits)) for life in shown), default=0))
    for life in shown:
        law = shown_law(life.law, limits)
        law = law if len(law) <= width else f"{law[: width - 1]}…"
        mark = Part("  pinned " if life.pinned else "         ")
        style = "green" if life.holds else "red"
        chart, told = chart_of(life, report.version), _told(life, report)
        yield (mark, Part(f"{law:<{width}}  "), Part(chart, style), Part(f"  {told}"))
    if len(report.lives) > most:
        yield line("  " + left_out(len(report.lives) - most, "laws", limits))
    yield line(history_summary(report), "bold")


def chart_of(life: Life, version: int, cells: int = _CELLS) -> str:
    """The versions 0 to the last as cells: all of a cell valid, some of it, none."""
    cells = min(cells, version + 1)
    drawn = []
    for cell in range(cells):
        first, last = cell * (version + 1) // cells, (cell + 1) * (version + 1) // cells - 1
        valid = sum(
            max(0, min(last, version if span.last is None else span.last) - max(first, span.first) + 1)
            for span in life.spans
        )
        drawn.append(_VALID if valid > last - first else _PARTLY if valid else _NOT)
    return "".join(drawn)


def history_summary(report: HistoryReport) -> str:
    """How many laws are valid, and how many of them were never broken."""
    valid = [life for life in report.lives if life.holds]
    never = sum(not life.breaks for life in valid)
    lately = sum(life.broke == report.version for life in report.lives) if report.version else 0
    told = [f"{counted(len(valid), 'law')} valid, {never:,} never broken", f"{len(report.lives) - len(valid):,} not"]
    return "; ".join([*told, *([f"{lately:,} broken by the last batch"] if lately else [])])


def _told(life: Life, report: HistoryReport) -> str:
    times = f", broken {counted(life.breaks, 'time')}" if life.breaks else ""
    if life.holds:
        since = life.spans[-1].first
        return (f"valid since batch {since}" if since else "always valid") + times
    by_rows = life.errors.get(report.version)
    rows = f" by {counted(by_rows, 'row')}" if by_rows else ""
    if not life.spans:
        return f"always broken{rows and f', now{rows}'}"
    if life.broke is None:
        return "implied by a smaller law"
    last = life.spans[-1].last
    at = report.times.get((last or 0) + 1, "")
    return f"broken since batch {(last or 0) + 1}{rows}{f', {at}' if at else ''}" + (times if life.breaks > 1 else "")
