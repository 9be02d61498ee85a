"""What is known of a table once it is encoded: its rows, and the types and statistics of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lawful.common.column_names import ColumnNames
from lawful.results.documents import FORMAT, html_table, table_document, to_pandas
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.profile_text import profile_lines, profile_size
from lawful.results.texts.shown_text import visible
from lawful.tables.encoded_table import Column, EncodedTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TableProfile:
    """The columns of a table with their types, distinct values, nulls and extremes."""

    name: str
    rows: int
    columns: tuple[Column, ...]
    settings: Mapping[str, Any]
    seconds: Mapping[str, float]
    names: ColumnNames

    @staticmethod
    def of(table: EncodedTable, seconds: Mapping[str, float]) -> TableProfile:
        """Describe an encoded table."""
        return TableProfile(table.name, table.rows, table.columns, table.settings, seconds, table.names)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, with no laws in it."""
        return {
            "format": FORMAT,
            "complete": True,
            "table": table_document(self.name, self.rows, self.columns, self.names),
            "settings": dict(self.settings),
            "dependencies": [],
            "stats": {"seconds": dict(self.seconds), "counts": {}},
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each column."""
        fields = ("name", "type", "distinct", "nulls", "min", "max")
        return to_pandas([column.to_dict() for column in self.columns], fields)

    def __repr__(self) -> str:
        return f"<TableProfile {visible(self.name)}: {profile_size(self)}>"

    def __str__(self) -> str:
        """What `lawful profile` prints, a page at most."""
        return plain_text(profile_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        return html_table(f"{self.name}: {self.rows:,} rows", [column.to_dict() for column in self.columns])
