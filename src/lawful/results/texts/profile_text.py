"""What people read of a table's columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lawful.results.texts.lines import Limits, Line, left_out, line
from lawful.results.texts.shown_text import aligned, counted, shown_name, shown_value, visible

if TYPE_CHECKING:
    from lawful.results.table_profile import TableProfile


def profile_lines(profile: TableProfile, limits: Limits) -> Iterator[Line]:
    """A line for each column: its type, distinct values, nulls and extremes."""
    rows: list[tuple[str, ...]] = [("column", "type", "distinct", "nulls", "min", "max")]
    for column in profile.columns[: limits.columns]:
        ends = ("" if end is None else shown_value(end, limits.extreme) for end in (column.minimum, column.maximum))
        name, statistics = shown_name(column.name, limits.name), (f"{column.distinct:,}", f"{column.nulls:,}")
        rows.append((name, column.type.value, *statistics, *ends))
    titles, *lines = aligned(rows, right=(2, 3))
    yield line(f"{visible(profile.name)}: {profile_size(profile)}")
    yield line(titles, "bold")
    yield from map(line, lines)
    if len(lines) < len(profile.columns):
        yield line(left_out(len(profile.columns) - len(lines), "columns", limits))


def profile_size(profile: TableProfile) -> str:
    """How large the table is."""
    return f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}"
