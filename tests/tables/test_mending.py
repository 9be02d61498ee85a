"""Cells of CSV records are found and replaced, and nothing else changes."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import SourceError
from lawful.tables.csv_cells import cell_spans, with_cells
from lawful.tables.mending import Change, write_mended
from lawful.tables.options import CsvDialect

TEXTS = st.text("ab,;'\" \n=é", max_size=6)
RECORDS = st.lists(TEXTS, min_size=1, max_size=5)


def written(cells: list[str], quoting: int = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator="\r\n").writerow(cells)
    return out.getvalue()


def read(record: str) -> list[str]:
    (cells,) = csv.reader(io.StringIO(record, newline=""))
    return cells


@given(RECORDS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.data())
def test_a_record_with_another_cell(cells: list[str], quoting: int, data: st.DataObject) -> None:
    record, dialect = written(cells, quoting), CsvDialect()
    spans = cell_spans(record, dialect)
    assert len(spans) == len(cells)
    position, text = data.draw(st.integers(0, len(cells) - 1)), data.draw(TEXTS)
    changed = with_cells(record, {position: text}, dialect)
    begin, end = spans[position]
    assert changed.startswith(record[:begin])
    assert changed.endswith(record[end:])
    if changed.strip("\r\n"):  # a record of one empty cell is an empty line
        assert read(changed) == [*cells[:position], text, *cells[position + 1 :]]


@given(RECORDS)
def test_escapes_other_than_doubling(cells: list[str]) -> None:
    dialect = CsvDialect(separator=";", quote="'", escape="\\")
    record = with_cells(";".join("x" for _ in cells) + "\n", dict(enumerate(cells)), dialect)
    assert len(cell_spans(record, dialect)) == len(cells)
    options = {"delimiter": ";", "quotechar": "'", "escapechar": "\\", "doublequote": False}
    if any(cells):
        assert next(csv.reader(io.StringIO(record, newline=""), **options)) == cells


def test_a_text_that_needs_quotes_where_there_are_none() -> None:
    with pytest.raises(SourceError, match="without quotes"):
        with_cells("a,b\n", {0: "x,y"}, CsvDialect(quote=None, escape=None))


CONTENT = (
    'id,"na""me",note\r\n1,"a ""quoted"" one",=SUM(A1:A9)\r\n\r\n2,"two\nlines","tail, with comma"\r\n3,  plain  ,last'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_only_the_cells_that_change_are_written_anew(tmp_path: Path, encoding: str) -> None:
    source, target = tmp_path / "t.csv", tmp_path / "out.csv"
    source.write_bytes(CONTENT.encode(encoding))
    dialect = CsvDialect(encoding="utf-8" if encoding == "utf-8-sig" else encoding)
    table = lawful.open(source, dialect=dialect, reuse=False)._opened.table
    assert table.rows == 3
    changes = [Change(1, 2, 'say "hi"', 0), Change(2, 1, "new", 0)]
    write_mended(table, source, changes, target)
    expected = CONTENT.replace('"tail, with comma"', '"say ""hi"""').replace("  plain  ", "new")
    assert target.read_bytes().decode(encoding) == expected.encode(encoding).decode(encoding)
    write_mended(table, source, (), tmp_path / "rows.csv", rows=[0, 2])
    lines = (tmp_path / "rows.csv").read_bytes().decode(encoding)
    assert lines == 'id,"na""me",note\r\n1,"a ""quoted"" one",=SUM(A1:A9)\r\n3,  plain  ,last\n'


def test_columns_that_were_chosen_and_rows_beyond_the_limit(tmp_path: Path) -> None:
    source, target = tmp_path / "t.csv", tmp_path / "out.csv"
    source.write_text(CONTENT, newline="")
    table = lawful.open(source, columns=["note", 'na"me'], limit=2, reuse=False)._opened.table
    write_mended(table, source, [Change(1, 0, "x", 0), Change(0, 1, "y", 0)], target)
    expected = CONTENT.replace('"tail, with comma"', '"x"').replace('"a ""quoted"" one"', '"y"')
    assert target.read_bytes().decode() == expected
    write_mended(table, source, (), tmp_path / "rows.csv", rows=[1])
    assert (tmp_path / "rows.csv").read_bytes().decode() == 'id,"na""me",note\r\n2,"two\nlines","tail, with comma"\r\n'


def test_no_header_and_packed(tmp_path: Path) -> None:
    source, target = tmp_path / "t.csv.gz", tmp_path / "out.csv.gz"
    source.write_bytes(gzip.compress(b"1;a\n2;b\n"))
    dialect = CsvDialect(separator=";", header=False)
    table = lawful.open(source, dialect=dialect, columns=["c2"], reuse=False)._opened.table
    write_mended(table, source, [Change(1, 0, "z;z", 0)], target)
    assert gzip.decompress(target.read_bytes()) == b'1;a\n2;"z;z"\n'
