"""What is known of the columns of a table whose laws are exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lawful.common.meanings import ColumnType


@dataclass(frozen=True)
class KnownColumn:
    """A column.

    Attributes
    ----------
    type
        Its type, if it is known.
    nulls
        How many nulls it had, if that is known.
    is_text
        Whether its values may be texts in the database, to be read as lawful read them.
    extremes
        The least and the greatest of its values, as texts, if they are known.
    null_tokens
        Texts that stand for null.
    """

    name: str
    type: ColumnType | None = None
    nulls: int | None = None
    is_text: bool = False
    extremes: tuple[str, ...] = ()
    null_tokens: tuple[str, ...] = ()

    def typed(self, type_: ColumnType) -> KnownColumn:
        """The same, of another type."""
        return replace(self, type=type_)


def columns_of_document(document: Mapping[str, Any], cast: bool | None) -> dict[str, KnownColumn]:
    """Read what a document says of its table's columns; `cast` says whether they may be texts, if that is known."""
    table = document.get("table")
    settings = document.get("settings")
    settings = settings if isinstance(settings, Mapping) else {}
    is_text = settings.get("format") == "csv" if cast is None else cast
    tokens = settings.get("null_tokens") if is_text else ()
    null_tokens = tuple(token for token in tokens or () if isinstance(token, str))
    listed = table.get("columns") if isinstance(table, Mapping) else ()
    columns: dict[str, KnownColumn] = {}
    for entry in listed or ():
        if not isinstance(entry, Mapping) or not isinstance(name := entry.get("name"), str):
            continue
        type_ = ColumnType(entry["type"]) if entry.get("type") in list(ColumnType) else None
        nulls = entry.get("nulls")
        extremes = tuple(value for place in ("min", "max") if isinstance(value := entry.get(place), str))
        columns[name] = KnownColumn(
            name, type_, nulls if isinstance(nulls, int) else None, is_text, extremes, null_tokens
        )
    return columns
