"""One record of a CSV file as it is written: where its cells begin and end, and the same record with other cells."""

from __future__ import annotations

from collections.abc import Mapping

from lawful.common.errors import SourceError
from lawful.tables.options import CsvDialect

Span = tuple[int, int]


def cell_spans(record: str, dialect: CsvDialect) -> list[Span]:
    """Where each cell of a record begins and ends, its quotes included; the newline belongs to none."""
    spans = []
    begin = 0
    while True:
        end = _end_of_cell(record, begin, dialect)
        spans.append((begin, end))
        if end == len(record) or record[end] != dialect.separator:
            return spans
        begin = end + 1


def _end_of_cell(record: str, place: int, dialect: CsvDialect) -> int:
    if dialect.quote is not None and record[place : place + 1] == dialect.quote:
        place = _end_of_quotes(record, place + 1, dialect)
    while place < len(record) and record[place] != dialect.separator and record[place] not in "\r\n":
        place += 1
    return place


def _end_of_quotes(record: str, place: int, dialect: CsvDialect) -> int:
    """The place after the quote that closes."""
    quote, escape = dialect.quote, dialect.escape
    while place < len(record):
        if record[place] == escape and escape != quote:
            place += 2
        elif record[place] != quote:
            place += 1
        elif escape == quote and record[place + 1 : place + 2] == quote:
            place += 2
        else:
            return place + 1
    return place


def with_cells(record: str, texts: Mapping[int, str], dialect: CsvDialect) -> str:
    """The record with other texts in some cells; all others stay as they are written, quotes and newline included."""
    spans = cell_spans(record, dialect)
    parts, written = [], 0
    for position in sorted(texts):
        begin, end = spans[position]
        was_quoted = dialect.quote is not None and record[begin : begin + 1] == dialect.quote
        parts += [record[written:begin], _written(texts[position], dialect, in_quotes=was_quoted)]
        written = end
    return "".join((*parts, record[written:]))


def _written(text: str, dialect: CsvDialect, *, in_quotes: bool) -> str:
    """A text as a cell: in quotes if it was so before, or has to be."""
    quote, escape = dialect.quote, dialect.escape
    special = {dialect.separator, "\r", "\n"} | ({quote} if quote else set())
    if not in_quotes and not special & set(text):
        return text
    if quote is None:
        raise SourceError(f"the value {text!r} cannot be written to a CSV file without quotes")
    if escape is not None and escape != quote:
        text = text.replace(escape, escape * 2)
    return quote + text.replace(quote, f"{escape or quote}{quote}") + quote
