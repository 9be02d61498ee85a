"""A table of which nobody here has the rows: its columns, and how many rows there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from lawful.common.column_names import ColumnNames
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import Column, EncodedTable


@dataclass(frozen=True)
class NamedTable(EncodedTable):
    """Columns by their names and types."""

    is_here: ClassVar[bool] = False

    @staticmethod
    def of(name: str, rows: int, columns: Iterable[tuple[str, ColumnType]]) -> NamedTable:
        """Make it of what is known."""
        known = tuple(_NamedColumn(column, type_, 0, 0, None, None) for column, type_ in columns)
        return NamedTable(name, rows, ColumnNames(column.name for column in known), _columns=known)


@dataclass(frozen=True)
class _NamedColumn(Column):
    """A column of which nobody counts the values."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: what is not known is left out."""
        return {"name": self.name, "type": self.type.value}
