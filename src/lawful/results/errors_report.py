"""What a search for errors gives back: the cells that are probably wrong, and the table without them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.results.documents import FORMAT, html_table, table_document, to_pandas
from lawful.results.json_files import write_document
from lawful.results.repaired_tables import ReadSource, changes_of, mended_copy, write_copy
from lawful.results.texts.errors_text import errors_lines, errors_summary
from lawful.results.texts.lines import A_PAGE, plain_text
from lawful.results.texts.shown_text import visible
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.mending import Change
from lawful.tables.origins import Place

if TYPE_CHECKING:
    import pandas as pd

_FIELDS = ("row", "file", "line", "column", "value", "suggested", "probability", "laws")
_DIGITS = 4


@dataclass(frozen=True)
class WrongCell:
    """A cell that is probably wrong.

    Attributes
    ----------
    row, place
        The row, from 0, and where it is from.
    column, value
        The column and what is in the cell; None is null: a value is missing.
    suggested
        What should be there; None if nothing better is known.
    probability
        How likely the cell is wrong, 0 to 1.
    laws
        The almost-laws that say so.
    """

    row: int
    column: str
    place: Place
    value: str | None
    suggested: str | None
    probability: float
    laws: tuple[str, ...]
    rank: int | None = field(default=None, repr=False)
    """The rank of what is suggested."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "row": self.row,
            "file": self.place.file,
            "line": self.place.number,
            "column": self.column,
            "value": self.value,
            "suggested": self.suggested,
            "probability": round(self.probability, _DIGITS),
            "laws": list(self.laws),
        }


@dataclass(frozen=True)
class ErrorsReport:
    """The cells of a table that are probably wrong, the most probable first.

    `laws` are all almost-laws that were heard. `stopped_because` says what ended the work where it did not come to its
    end; `complete` is then false, and there may be more wrong cells.
    """

    table: EncodedTable
    cells: tuple[WrongCell, ...]
    laws: tuple[str, ...]
    settings: Mapping[str, Any]
    complete: bool
    stopped_because: str | None
    seconds: Mapping[str, float]
    source: ReadSource = field(repr=False, compare=False)
    """What the table was read from."""

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[WrongCell]:
        return iter(self.cells)

    @property
    def rows(self) -> list[int]:
        """The rows with a wrong cell, in their order."""
        return sorted({cell.row for cell in self.cells})

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document that `lawful errors --json` prints."""
        return {
            "format": FORMAT,
            "complete": self.complete,
            **({} if self.stopped_because is None else {"stopped": self.stopped_because}),
            "table": table_document(self.table.name, self.table.rows, self.table.columns, self.table.names),
            "settings": {**self.table.settings, **self.settings},
            "laws": list(self.laws),
            "cells": [cell.to_dict() for cell in self.cells],
            "stats": {"seconds": dict(self.seconds)},
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON document to a file, whole or not at all."""
        write_document(self.to_dict(), Path(path))

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each wrong cell."""
        return to_pandas([cell.to_dict() for cell in self.cells], _FIELDS)

    def repaired(self) -> Any:
        """Return a copy of the table with what is suggested in place of wrong values.

        It is of the source's own kind: a pandas, polars, Arrow or Spark table; an Arrow table for a file. Cells without
        a suggestion, and all others, are as they were.
        """
        return mended_copy(self.table, self.source, self.changes())

    def suspicious_rows(self) -> Any:
        """Return the rows that have a wrong cell, as they are, in the source's own kind."""
        return mended_copy(self.table, self.source, (), self.rows)

    def write_repaired(self, path: str | os.PathLike[str]) -> Path:
        """Write the table with what is suggested to a new file or folder, in the format of its source.

        Returns
        -------
        Path
            The log beside it, named `.log.jsonl`: a line per changed cell.
        """
        changed = [cell for cell in self.cells if cell.rank is not None]
        return write_copy(self.table, self.source, Path(path), self.changes(), None, changed)

    def write_suspicious_rows(self, path: str | os.PathLike[str]) -> Path:
        """Write the rows that have a wrong cell, as they are, to a new file or folder in the format of the source.

        Returns
        -------
        Path
            The log beside it, named `.log.jsonl`: a line per wrong cell.
        """
        return write_copy(self.table, self.source, Path(path), (), self.rows, self.cells)

    def changes(self) -> list[Change]:
        """What a repair changes: every cell that has a suggestion."""
        return changes_of(self.table, self.cells)

    def __repr__(self) -> str:
        return f"<ErrorsReport {visible(self.table.name)}: {errors_summary(self)}>"

    def __str__(self) -> str:
        """What `lawful errors` prints, a page at most."""
        return plain_text(errors_lines(self, A_PAGE))

    def _repr_html_(self) -> str:
        records = [
            {name: value for name, value in cell.to_dict().items() if name not in ("row", "file", "laws")}
            for cell in self.cells[:100]
        ]
        return html_table(f"{self.table.name}: {errors_summary(self)}", records)
