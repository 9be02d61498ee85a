"""What people read first of a table: how many columns of which types it has, and where values are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lawful.results.texts.shown_text import counted, shown_name
from lawful.tables.encoded_table import Column

_MOST_NAMED = 4


def types_and_nulls(columns: Iterable[Column], rows: int, most_name: int | None) -> str:
    """Types by how many columns have them, and the columns with the most nulls."""
    columns = list(columns)
    types = Counter(column.type.value for column in columns)
    listed = ", ".join(f"{count:,} {name}" for name, count in types.most_common())
    missing = sorted((column for column in columns if column.nulls), key=lambda column: -column.nulls)
    if not missing:
        return f"{listed}; no nulls"
    named = ", ".join(f"{shown_name(c.name, most_name)} {_share(c.nulls, rows)}" for c in missing[:_MOST_NAMED])
    more = f", and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
    return f"{listed}; nulls in {counted(len(missing), 'column')}: {named}{more}"


def short_count(number: int) -> str:
    """A number in six characters at most: 999, 12.3k, 4.56M."""
    if number < 10_000:
        return f"{number:,}"
    value, unit = float(number), ""
    for unit in ("k", "M", "G", "T", "P", "E"):  # noqa: B007  # the last unit stays
        value /= 1000.0
        if value < 999.5:
            break
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}{unit}"


def _share(nulls: int, rows: int) -> str:
    percent = 100.0 * nulls / max(1, rows)
    if nulls == rows:
        return "(all)"
    return "(under 1 %)" if percent < 1 else f"({min(percent, 99.0):.0f} %)"
