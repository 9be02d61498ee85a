"""A copy of a source with other values in some cells, or some of its rows alone; the source itself is never touched.

Text files are copied as they are written: only the cells that change are written anew. Values of typed sources are
taken from rows that have them, so that they are of the column's own type.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from lawful.common.errors import SourceError, UsageError
from lawful.tables.csv_cells import cell_spans, with_cells
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.files import format_of, list_files, opened_to_write, opened_unpacked
from lawful.tables.local_pipeline import as_arrow
from lawful.tables.options import CsvDialect, ReadOptions


@dataclass(frozen=True)
class Change:
    """A cell that gets another value: its row and column, the new value as text, its rank, and a row that has it.

    Where no process holds the column, no such row is known, and the example is -1.
    """

    row: int
    column: int
    text: str
    rank: int
    example: int = -1


Rows = Collection[int] | None
"""The rows to keep; None keeps all."""


def write_mended(table: EncodedTable, source: Path, changes: Sequence[Change], target: Path, rows: Rows = None) -> None:
    """Write a copy of the files of a source, with other cells or only some rows, as one file or a folder of them."""
    files = list_files(source)
    if source.is_dir():
        target.mkdir()
    format_ = table.settings.get("format") or format_of([str(file) for file in files], ReadOptions(), str(source))
    places = [target / file.relative_to(source) if source.is_dir() else target for file in files]
    if format_ == "parquet":
        _write_parquet(table, files, changes, places, rows)
        return
    mends = _LineMender(table, changes, rows, is_csv=format_ == "csv")
    for number, (file, place) in enumerate(zip(files, places, strict=True)):
        place.parent.mkdir(parents=True, exist_ok=True)
        with opened_unpacked(file) as read, opened_to_write(place) as written:
            mends.copy(number, read, written)


class _LineMender:
    """Copies text files line by line, with the lines of some rows changed or left out."""

    def __init__(self, table: EncodedTable, changes: Sequence[Change], rows: Rows, *, is_csv: bool) -> None:
        self._table, self._is_csv = table, is_csv
        self._dialect = dialect_of(table)
        self._changes: dict[int, dict[int, Change]] = defaultdict(dict)
        for change in changes:
            self._changes[change.row][change.column] = change
        self._rows = None if rows is None else set(rows)

    def copy(self, file: int, read: IO[bytes], written: IO[bytes]) -> None:
        """Copy one file."""
        encoding = self._dialect.encoding if self._is_csv else "utf-8"
        text = io.TextIOWrapper(read, encoding, newline="\n")
        out = io.TextIOWrapper(written, encoding, newline="\n")
        positions: Mapping[int, int] | None = None
        for row, record in self._records(text, self._lines_of(file)):
            if row is None:
                if positions is None and self._is_csv and record:
                    positions = self._positions(record)
                out.write(record)
            elif self._rows is None:
                positions = self._positions(None) if positions is None else positions
                out.write(self._mended(row, record, positions) if row in self._changes else record)
            elif row in self._rows:
                out.write(self._alone(record))
        out.flush()
        out.detach()
        text.detach()

    def _alone(self, record: str) -> str:
        """A row without what stands between it and the next one that was read, and with a newline."""
        end = cell_spans(record, self._dialect)[-1][1] if self._is_csv else record.find("\n")
        end = record.find("\n", end)
        return f"{record}\n" if end < 0 else record[: end + 1]

    def _lines_of(self, file: int) -> Iterator[tuple[int, int]]:
        """The rows of a file, each with the line that it begins on."""
        runs = self._table.origins.runs
        ends = [*runs[1:, 0].tolist(), self._table.rows]
        for (first, number, line), end in zip(runs.tolist(), ends, strict=False):  # a table without rows has no runs
            if number == file:
                yield from ((row, line + row - first) for row in range(first, end))

    def _records(self, lines: IO[str], rows: Iterator[tuple[int, int]]) -> Iterator[tuple[int | None, str]]:
        """The text of the file in pieces: what stands before the first row, then each row with what follows it."""
        held: list[str] = []
        row: int | None = None
        upcoming, begin = next(rows, (None, None))
        for number, line in enumerate(lines, 1):
            if number == begin:
                yield row, "".join(held)
                row, held = upcoming, []
                upcoming, begin = next(rows, (None, None))
            held.append(line)
        yield row, "".join(held)

    def _positions(self, before: str | None) -> Mapping[int, int]:
        """Where the columns of the table stand in a record: by the header, if only some of them were read."""
        chosen = self._table.settings.get("columns")
        if not self._is_csv or chosen is None:
            return {column: column for column in range(self._table.width)}
        if not self._dialect.header:
            return {column: int(str(name)[1:]) - 1 for column, name in enumerate(chosen)}
        assert before is not None
        names = header_names(before.lstrip("\ufeff"), self._dialect)
        return {column: names.index(name) for column, name in enumerate(chosen)}

    def _mended(self, row: int, record: str, positions: Mapping[int, int]) -> str:
        changes = self._changes[row]
        if self._is_csv:
            return with_cells(record, {positions[c]: change.text for c, change in changes.items()}, self._dialect)
        entry = json.loads(record)
        for column, change in changes.items():
            name = self._table.names[column]
            entry[name] = _like(change.text, entry.get(name), self._table, column)
        ending = record[len(record.rstrip("\r\n")) :]
        return json.dumps(entry, ensure_ascii=False) + ending


def dialect_of(table: EncodedTable) -> CsvDialect:
    """How the CSV files of a table are written."""
    settings = table.settings
    known = {
        name: settings[name] for name in ("separator", "header", "quote", "escape", "encoding") if name in settings
    }
    return CsvDialect(**known)


def header_names(record: str, dialect: CsvDialect) -> list[str]:
    """The names in a header, without their quotes."""
    names = [record[begin:end] for begin, end in cell_spans(record, dialect)]
    quote = dialect.quote
    if quote is None:
        return names
    return [n[1:-1].replace(quote * 2, quote) if n[:1] == quote and n[-1:] == quote else n for n in names]


def _like(text: str, value: Any, table: EncodedTable, column: int) -> Any:
    """A text as a JSON value of the kind that the cell had; a missing one is a number if the column has numbers."""
    if isinstance(value, str):
        return text
    is_plain = value is not None or table.type(column).value in ("integer", "decimal", "float", "boolean")
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text) if is_plain else text
    except ValueError:
        return text


def _write_parquet(
    table: EncodedTable, files: Sequence[Path], changes: Sequence[Change], places: Sequence[Path], rows: Rows
) -> None:
    from pyarrow import parquet

    read = [parquet.ParquetFile(file).read() for file in files]
    starts = np.cumsum([0, *(part.num_rows for part in read)]).tolist()
    whole = pa.concat_tables(read)
    mended = mended_arrow(table, whole, changes)
    for place, (begin, end) in zip(places, pairwise(starts), strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = mended.slice(begin, end - begin)
        if rows is not None:
            part = part.take(pa.array([row - begin for row in sorted(rows) if begin <= row < end], pa.int64()))
        parquet.write_table(part, place)


def mended_arrow(table: EncodedTable, source: pa.Table, changes: Sequence[Change]) -> pa.Table:
    """An Arrow table with other values in some cells, each taken from a row that has it."""
    for column, taken in examples(changes).items():
        place = source.column_names.index(table.names[column])
        indices = np.arange(source.num_rows)
        indices[list(taken)] = list(taken.values())
        source = source.set_column(place, source.field(place), source.column(place).take(pa.array(indices)))
    return source


def examples(changes: Sequence[Change]) -> dict[int, dict[int, int]]:
    """For each column that changes, the rows that change and the rows whose values they get."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for change in changes:
        found[change.column][change.row] = change.example
    return found


def mended_frame(table: EncodedTable, source: Any, changes: Sequence[Change], rows: Rows = None) -> Any:
    """A copy of a pandas, polars or Arrow table with other values in some cells, or with only some of its rows."""
    kind = type(source).__module__.partition(".")[0]
    mend = _FRAMES.get(kind, _mended_other)
    return mend(table, source, changes, rows)


def _mended_pandas(table: EncodedTable, source: Any, changes: Sequence[Change], rows: Rows) -> Any:
    copy = source.copy()
    for column, taken in examples(changes).items():
        place = list(map(str, source.columns)).index(table.names[column])
        positions = np.arange(len(source))
        positions[list(taken)] = list(taken.values())
        values = source.iloc[:, place].take(positions)
        values.index = source.index
        copy[source.columns[place]] = values
    return copy if rows is None else copy.iloc[sorted(rows)]


def _mended_polars(table: EncodedTable, source: Any, changes: Sequence[Change], rows: Rows) -> Any:
    copy = source.collect() if hasattr(source, "collect") else source
    for column, taken in examples(changes).items():
        positions = np.arange(copy.height)
        positions[list(taken)] = list(taken.values())
        series = copy[table.names[column]]
        copy = copy.with_columns(series.gather(positions.tolist()))
    return copy if rows is None else copy[sorted(rows)]


def _mended_other(table: EncodedTable, source: Any, changes: Sequence[Change], rows: Rows) -> Any:
    try:
        arrow = as_arrow(source)
    except (TypeError, SourceError):
        raise UsageError(f"a copy of {type(source).__name__} cannot be made") from None
    mended = mended_arrow(table, arrow, changes)
    return mended if rows is None else mended.take(pa.array(sorted(rows), pa.int64()))


_FRAMES: dict[str, Callable[[EncodedTable, Any, Sequence[Change], Rows], Any]] = {
    "pandas": _mended_pandas,
    "polars": _mended_polars,
}
