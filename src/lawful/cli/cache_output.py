"""What `lawful cache` prints: the kept tables, and what was removed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.text import Text

from lawful.cli.output import open_console, reader_may_leave
from lawful.common.sizes import shown_size
from lawful.results.documents import FORMAT
from lawful.results.texts.shown_text import aligned, counted, shown_value
from lawful.tables.kept_tables import KeptTable

_SHOWN_KEY = 12
_DAMAGED = "(damaged, or of another version)"


def cache_document(tables: Sequence[KeptTable], folder: Path, limit: int) -> dict[str, Any]:
    """The kept tables as a JSON document."""
    return {
        "format": FORMAT,
        "folder": str(folder),
        "limit": limit,
        "bytes": sum(table.bytes for table in tables),
        "tables": [_entry(table) for table in tables],
    }


def removal_document(removed: Sequence[KeptTable], in_use: Sequence[KeptTable]) -> dict[str, Any]:
    """What was removed, and what could not be, as a JSON document."""
    return {
        "format": FORMAT,
        "bytes": sum(table.bytes for table in removed),
        "removed": [_entry(table) for table in removed],
        "in_use": [_entry(table) for table in in_use],
    }


def _entry(table: KeptTable) -> dict[str, Any]:
    return {
        "key": table.key,
        "name": table.name,
        "rows": table.rows,
        "columns": table.columns,
        "bytes": table.bytes,
        "used": datetime.fromtimestamp(table.used, UTC).isoformat(timespec="seconds"),
    }


def print_cache(tables: Sequence[KeptTable], folder: Path, limit: int) -> None:
    """Print the kept tables, and how much of the limit they take."""
    rows: list[tuple[str, ...]] = [("table", "rows", "columns", "size", "last used", "key")]
    for table in tables:
        name = _DAMAGED if table.name is None else shown_value(table.name)
        size = ("" if number is None else f"{number:,}" for number in (table.rows, table.columns))
        used = f"{datetime.fromtimestamp(table.used):%Y-%m-%d %H:%M}"
        rows.append((name, *size, shown_size(table.bytes), used, table.key[:_SHOWN_KEY]))
    titles, *lines = aligned(rows, right=(1, 2, 3))
    count, total = counted(len(tables), "table"), shown_size(sum(table.bytes for table in tables))
    with reader_may_leave():
        console = open_console()
        if tables:
            console.print(Text(titles, style="bold"))
        for line in lines:
            console.print(Text(line))
        console.print(Text(f"{count}, {total} of {shown_size(limit)}, in {shown_value(str(folder))}"))


def removal(removed: Sequence[KeptTable]) -> str:
    """Say how much was removed."""
    return f"removed {counted(len(removed), 'table')}, {shown_size(sum(table.bytes for table in removed))}"


def still_in_use(table: KeptTable) -> str:
    """Say that a table was left where it is."""
    return f"{shown_value(table.name)} ({table.key[:_SHOWN_KEY]}) is in use by a running command or session, and stays"
