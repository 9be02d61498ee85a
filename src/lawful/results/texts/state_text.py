"""What people read of a state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lawful.results.texts.batch_text import laws_of_kinds
from lawful.results.texts.lines import Limits, Line, line, shown_law
from lawful.results.texts.shown_text import counted, visible

if TYPE_CHECKING:
    from lawful.results.state_report import StateReport

_BATCHES = 10
_MEGABYTE = 1_000_000


def state_lines(report: StateReport, limits: Limits) -> Iterator[Line]:
    """The table, the laws, the pins, the last batches, and what a look at everything found."""
    table, settings = report.table, report.settings
    size = f"{counted(table.rows, 'row')}, {counted(table.width, 'column')}, version {report.version}"
    yield line(f"{visible(table.name)}: {size}")
    columns = ", ".join(f"{visible(column.name)} {column.type.value}" for column in table.columns)
    yield line(f"  columns   {shown_law(columns, limits)}")
    kept = [laws_of_kinds(report.laws), *_evidence(report)] if report.laws else ["only pinned ones"]
    yield line(f"  laws      {'; '.join(kept)}")
    if settings["row_key"]:
        yield line(f"  row key   {visible(', '.join(settings['row_key']))}")
    for pin in report.pins:
        state = "holds" if pin.holds else f"broken by {counted(pin.violating, 'row')}"
        yield line(f"  pinned    {shown_law(pin.text, limits)}: {state}", "" if pin.holds else "red")
    if report.index_bytes:
        yield line(f"  indexes   {_size(report.index_bytes)} of memory for pinned laws")
    yield line(f"  on disk   {_size(report.bytes)} in {visible(report.folder)}")
    yield from _history(report, limits)
    if report.differences is not None:
        yield from (line(f"  wrong     {visible(difference)}", "bold red") for difference in report.differences)
        right = "verified: everything is as the rows say"
        wrong = "what is kept is not what the rows say: make the state anew"
        yield line(right if report.is_right else wrong, "bold")


def _evidence(report: StateReport) -> Iterator[str]:
    """How the laws are kept."""
    if not report.table.is_here:
        yield "by indexes"
        return
    if report.laws.keys() & {"key", "fd"}:
        way = "all pairs counted" if report.settings["way"] == "counted" else "by witnesses"
        yield f"{way}, {counted(report.agree_sets, 'agree set')}"
    if report.laws.keys() - {"key", "fd"}:
        yield f"orders by witnesses, {counted(report.sign_vectors, 'vector')} of signs"


def _history(report: StateReport, limits: Limits) -> Iterator[Line]:
    shown = report.history if limits.laws is None else report.history[-_BATCHES:]
    if len(shown) < len(report.history):
        yield line(f"  batches   the last {len(shown)} of {len(report.history):,}")
    elif shown:
        yield line("  batches")
    for entry in shown:
        rows = f"+{entry['inserted']:,} -{entry['deleted']:,} rows"
        laws = f"+{entry['added']:,} -{entry['removed']:,} laws"
        yield line(f"    {entry['version']:>6}  {entry['time']}  {rows:<20} {laws:<16} {visible(entry['batch'])}")


def _size(octets: int) -> str:
    megabytes = octets / _MEGABYTE
    return f"{megabytes:,.1f} MB" if megabytes >= 1 else f"{1000 * megabytes:,.0f} kB"
