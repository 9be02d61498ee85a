"""Parsing a block of CSV records into dictionary-encoded texts.

Arrow's CSV reader does the parsing; this module gives it every dialect in one form, and turns what it refuses
into errors that name the line.
"""

from __future__ import annotations

import csv as python_csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from lawful.tables.options import CsvDialect
from lawful.tables.text_blocks import BlockError, TextBlock

_TEXT = pa.dictionary(pa.int32(), pa.string())
_BARE_CARRIAGE_RETURN = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True)
class ParsedBlock:
    """Rows of a text source: one dictionary array per column, and the line on which each row starts."""

    columns: list[pa.DictionaryArray]
    lines: npt.NDArray[np.int64]

    @property
    def rows(self) -> int:
        """How many rows the block has."""
        return len(self.lines)


def parse_csv_block(block: TextBlock, dialect: CsvDialect, width: int, keep: Sequence[int]) -> ParsedBlock:
    """Parse whole records; `keep` are the positions of the columns to return, of `width` in all."""
    # In a file with one column a blank line is a row whose only cell is empty.
    lines = block.record_lines(keep_blank=width == 1)
    if len(lines) == 0:
        return ParsedBlock([pa.array([], _TEXT) for _ in keep], lines)
    data = to_utf8(block, dialect.encoding)
    if dialect.escape not in (None, dialect.quote) and dialect.quote and dialect.escape.encode() in data:
        data = _with_doubled_quotes(data, dialect)
    ragged: list[tuple[int, int]] = []

    def note_ragged(row: csv.InvalidRow) -> str:
        ragged.append((row.number, row.actual_columns))
        return "skip"

    names = [str(position) for position in range(width)]
    try:
        table = csv.read_csv(
            pa.py_buffer(data),
            # One chunk and one thread: only then does Arrow number its rows.
            csv.ReadOptions(use_threads=False, block_size=len(data) + 16, column_names=names),
            csv.ParseOptions(
                delimiter=dialect.separator,
                quote_char=dialect.quote or False,
                double_quote=dialect.quote is not None,
                newlines_in_values=block.starts_inside is not None,
                ignore_empty_lines=width > 1,
                invalid_row_handler=note_ragged,
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, _TEXT),
                null_values=["", *dialect.null_tokens],
                strings_can_be_null=True,
                include_columns=[names[position] for position in keep],
            ),
        )
    except pa.ArrowInvalid as error:
        raise BlockError(block.first_line, f"cannot be read as CSV: {error}") from None
    if ragged or table.num_rows != len(lines):
        _refuse_bare_carriage_return(block, dialect)
    if ragged:
        row, found = ragged[0]
        raise BlockError(
            int(lines[row - 1]),
            f"has {found} cells where {width} were expected",
            "Mend the line, or check --sep, --quote and --escape.",
        )
    if table.num_rows != len(lines):
        raise BlockError(
            block.first_line,
            f"{table.num_rows} records were read where {len(lines)} start",
            "Check --quote and --escape.",
        )
    return ParsedBlock([table.column(names[position]).combine_chunks() for position in keep], lines)


def _refuse_bare_carriage_return(block: TextBlock, dialect: CsvDialect) -> None:
    """Point at the first record that a carriage return cuts in two: the rows after it have other numbers."""
    if not _BARE_CARRIAGE_RETURN.search(block.data):
        return
    for record in block.records():
        if _BARE_CARRIAGE_RETURN.search(record.data):
            parse_cells(record, dialect)


def parse_header(record: TextBlock, dialect: CsvDialect) -> list[str]:
    """The names in a header record; each must be one that no other cell has."""
    cells = header_cells(record, dialect)
    for position, name in enumerate(cells):
        if name == "":
            raise BlockError(
                record.first_line,
                f"column {position + 1} of the header has no name",
                f"Name it there, {_NO_HEADER}",
            )
        if name in cells[:position]:
            raise BlockError(
                record.first_line,
                f"columns {cells.index(name) + 1} and {position + 1} of the header are both named {name!r}",
                f"Give each a name of its own there, {_NO_HEADER}",
            )
    return cells


def header_cells(record: TextBlock, dialect: CsvDialect) -> list[str]:
    """The cells of a header record; pandas leaves the first one empty, above the numbers of rows."""
    cells = parse_cells(record, dialect)
    if len(cells) > 1 and cells[0] == "" and UNNAMED_INDEX not in cells:
        cells[0] = UNNAMED_INDEX
    return cells


UNNAMED_INDEX = "Unnamed: 0"
"""What pandas calls the first column where it has no name."""
_NO_HEADER = "or read the file with --no-header if its first line is a row."


def parse_cells(record: TextBlock, dialect: CsvDialect) -> list[str]:
    """The cells of one record, as texts."""
    data = to_utf8(record, dialect.encoding)
    if dialect.escape not in (None, dialect.quote) and dialect.quote:
        data = _with_doubled_quotes(data, dialect)
    quoting: Any = python_csv.QUOTE_NONE if dialect.quote is None else python_csv.QUOTE_MINIMAL
    text = io.StringIO(data.decode("utf-8"), newline="")
    reader = python_csv.reader(
        text,
        delimiter=dialect.separator,
        quotechar=dialect.quote,
        doublequote=True,
        quoting=quoting,
        strict=False,
    )
    try:
        cells = next(reader, [])
        goes_on = next(reader, None) is not None
    except python_csv.Error as error:
        raise BlockError(
            record.first_line, f"cannot be read as CSV: {error}", "Check --sep, --quote and --escape."
        ) from None
    if goes_on:
        raise BlockError(
            record.first_line,
            "a carriage return without a newline ends a record inside this line",
            "End every line with a newline, or quote the cell that holds the carriage return.",
        )
    return cells


def to_utf8(block: TextBlock, encoding: str) -> bytes:
    """The block's bytes as valid UTF-8, or an error that names the line and the byte."""
    try:
        text = block.data.decode(encoding)
    except UnicodeDecodeError as error:
        line = block.first_line + block.data.count(b"\n", 0, error.start)
        raise BlockError(
            line,
            f"byte 0x{block.data[error.start]:02x} is not {encoding} text",
            "Say how the file is encoded, for example --encoding latin-1.",
        ) from None
    return block.data if encoding.lower().replace("-", "") == "utf8" else text.encode("utf-8")


def _with_doubled_quotes(data: bytes, dialect: CsvDialect) -> bytes:
    from lawful.tables.kernels.lines import double_escaped_quotes

    assert dialect.quote
    assert dialect.escape
    octets = np.frombuffer(data, np.uint8)
    doubled = double_escaped_quotes(octets, ord(dialect.separator), ord(dialect.quote), ord(dialect.escape))
    return bytes(doubled.tobytes())
