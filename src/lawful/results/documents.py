"""What all results share: the JSON format's name, tables for notebooks, pandas on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lawful.common.column_names import ColumnNames
from lawful.common.errors import UsageError
from lawful.tables.encoded_table import Column, left_out_document

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "lawful/1"


def table_document(name: str, rows: int, columns: Iterable[Column], names: ColumnNames) -> dict[str, Any]:
    """What every document says of its table; `left_out` only where columns were."""
    table = {"name": name, "rows": rows, "columns": [column.to_dict() for column in columns]}
    return table | ({"left_out": left_out_document(names)} if names.left_out else {})


def to_pandas(records: Sequence[Mapping[str, Any]], fields: Sequence[str] | None = None) -> pd.DataFrame:
    """Return records as a pandas DataFrame, with these fields even where there is no record."""
    try:
        import pandas as pd
    except ImportError:
        raise UsageError("to_dataframe needs pandas", "Run: pip install 'pandas<3'") from None
    return pd.DataFrame.from_records(
        [dict(record) for record in records], columns=None if fields is None else list(fields)
    )


def html_table(title: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a plain HTML table; every text is escaped, since names and values are anyone's."""
    from html import escape

    if not records:
        return f"<p>{escape(title)}</p>"
    head = "".join(f"<th>{escape(str(name))}</th>" for name in records[0])
    body = "".join(f"<tr>{''.join(map(_html_cell, record.values()))}</tr>" for record in records)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(value: object) -> str:
    """A cell: numbers stand at its right side, with their thousands apart."""
    from html import escape

    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape('' if value is None else str(value))}</td>"
    return f'<td align="right">{f"{value:,}" if isinstance(value, int) else f"{value:.4g}"}</td>'
