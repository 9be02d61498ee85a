"""The CSV reader against Python's own, on random cells and on random bytes, cut into blocks anywhere."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.tables import text_blocks
from lawful.tables.kernels import lines as line_kernels
from lawful.tables.options import CsvDialect
from lawful.tables.text_blocks import BlockError, OpenQuoteError, cut_into_blocks, quote_states
from lawful.tables.text_layout import TextLayout
from tables.conftest import encode_locally
from tables.looking import cells_of, lines_of

Cells = list[list[str | None]]

cell_texts = st.text(st.sampled_from("ab01,;\"\n\r \\'é\U0001f600\x00"), max_size=5)


@dataclass(frozen=True)
class WrittenCsv:
    """A CSV text, the cells that it holds, and the line on which each record starts."""

    text: str
    cells: Cells
    lines: list[int]
    width: int


@st.composite
def written_csvs(draw: st.DrawFn, *, escaped: bool = False) -> WrittenCsv:
    """Random cells as Python writes them, with blank lines here and there."""
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(cell_texts, min_size=width, max_size=width), max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    # Only with \r\n as the line end does Python quote a cell for a lone carriage return.
    minimal = end == "\r\n" and not escaped
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])) if minimal else csv.QUOTE_ALL
    out = io.StringIO(newline="")
    writer = csv.writer(
        out, lineterminator=end, quoting=quoting, doublequote=not escaped, escapechar="\\" if escaped else None
    )
    cells: Cells = []
    lines: list[int] = []
    for row in rows:
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            if width == 1:  # there a blank line is a row with an empty cell
                cells.append([None])
                lines.append(out.getvalue().count("\n") + 1)
            out.write(end)
        lines.append(out.getvalue().count("\n") + 1)
        cells.append([cell or None for cell in row])
        writer.writerow(row)
    return WrittenCsv(out.getvalue(), cells, lines, width)


def read_in_blocks(
    data: bytes, dialect: CsvDialect, width: int, block_bytes: int, lines_a_chunk: int
) -> tuple[Cells, list[int]]:
    """The cells and lines of a CSV that comes in chunks of some lines and is cut into blocks of some bytes."""
    layout = TextLayout("csv", dialect, tuple("abcd"[:width]), tuple(range(width)))

    def chunks() -> Iterator[bytes]:
        pieces = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")] if data else []
        for first in range(0, len(pieces), lines_a_chunk):
            yield b"".join(pieces[first : first + lines_a_chunk])

    cells: Cells = []
    lines: list[int] = []
    for block in cut_into_blocks(chunks(), dialect, quoted=True, block_bytes=block_bytes):
        parsed = layout.parse(block)
        cells += [list(row) for row in zip(*(column.to_pylist() for column in parsed.columns), strict=True)]
        lines += parsed.lines.tolist()
    return cells, lines


@given(written_csvs(), st.integers(1, 60), st.integers(1, 4))
def test_cells_and_lines_of_what_python_wrote(written: WrittenCsv, block_bytes: int, lines_a_chunk: int) -> None:
    found = read_in_blocks(written.text.encode(), CsvDialect(), written.width, block_bytes, lines_a_chunk)
    assert found == (written.cells, written.lines)


@given(written_csvs(escaped=True), st.integers(1, 60), st.integers(1, 4))
def test_cells_and_lines_with_escaped_quotes(written: WrittenCsv, block_bytes: int, lines_a_chunk: int) -> None:
    dialect = CsvDialect(escape="\\")
    found = read_in_blocks(written.text.encode(), dialect, written.width, block_bytes, lines_a_chunk)
    assert found == (written.cells, written.lines)


@given(written_csvs(), st.lists(cell_texts.filter(bool), min_size=4, max_size=4, unique=True), st.booleans())
def test_a_file_with_a_header(written: WrittenCsv, names: list[str], has_mark: bool) -> None:
    header = io.StringIO(newline="")
    csv.writer(header, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(names[: written.width])
    text = header.getvalue() + written.text
    as_texts = dict.fromkeys(names[: written.width], ColumnType.STRING)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(text.encode("utf-8-sig" if has_mark else "utf-8"))
        table = encode_locally(path, reuse=False, types=as_texts)
    assert table.names == names[: written.width]
    assert cells_of(table) == written.cells
    assert lines_of(table) == [line + header.getvalue().count("\n") for line in written.lines]


@given(st.text(st.sampled_from('a,"\n\r '), max_size=25), st.integers(1, 20))
@example('a,a\n"a"a"a",a\n', 1)
@example("a,a\r\r\n", 1)
@example("a,a\ra\n", 1)
def test_any_text_is_read_as_python_reads_it_or_refused(text: str, block_bytes: int) -> None:
    text = text if text.endswith("\n") else f"{text}\n"
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    width = len(rows[0]) if rows else 2
    assume(2 <= width <= 4)
    try:
        cells, _ = read_in_blocks(text.encode(), CsvDialect(), width, block_bytes, 1)
    except BlockError:
        # Python reads on where a quote is never closed or rows differ in length: here both are refused.
        assert ends_inside_quotes(text) or any(len(row) != width for row in rows) or "\r" in text
    else:
        assert cells == [[cell or None for cell in row] for row in rows]


def ends_inside_quotes(text: str) -> bool:
    state = "start of a cell"
    for character in text:
        if state == "quoted":
            state = "after a quote" if character == '"' else "quoted"
        elif character == '"' and state in ("start of a cell", "after a quote"):
            state = "quoted"
        else:
            state = "start of a cell" if character in ",\n\r" else "inside a cell"
    return state == "quoted"


@given(st.text('a,"\\\n\r', max_size=30).map(str.encode), st.sampled_from([34, 92]), st.booleans())
def test_kernels_do_the_same_compiled_and_not(data: bytes, escape: int, inside: bool) -> None:
    octets = np.frombuffer(data + b"\n", np.uint8)
    lines = int((octets == 10).sum())
    compiled = line_kernels.line_states(octets, lines, 44, 34, escape, inside)
    plain = line_kernels.line_states.py_func(octets, lines, 44, 34, escape, inside)
    assert (compiled[0].tolist(), compiled[1]) == (plain[0].tolist(), plain[1])
    doubled = line_kernels.double_escaped_quotes(octets, 44, 34, 92)
    assert doubled.tolist() == line_kernels.double_escaped_quotes.py_func(octets, 44, 34, 92).tolist()


def test_an_escaped_character_that_is_no_quote_keeps_its_escape() -> None:
    cells, _ = read_in_blocks(b'"a\\nb","a\\\\nb","\\""""\n', CsvDialect(escape="\\"), 3, 1, 1)
    assert cells == [["a\\nb", "a\\nb", '""']]


def test_without_quotes_a_quote_is_a_character() -> None:
    cells, lines = read_in_blocks(b'"a,b"\n",\n', CsvDialect(quote=None), 2, 1, 1)
    assert (cells, lines) == ([['"a', 'b"'], ['"', None]], [1, 2])


def test_an_open_quote_is_refused_after_the_blocks_before_it() -> None:
    blocks = cut_into_blocks(iter([b"a,b\n1,2\n", b'3,4\n5,"6\n', b"7,8\n"]), CsvDialect(), quoted=True, block_bytes=9)
    assert next(blocks).data == b"a,b\n1,2\n3,4\n"
    with pytest.raises(OpenQuoteError) as refused:
        next(blocks)
    assert refused.value.line == 4


def test_a_record_of_many_chunks_is_not_scanned_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [b"1,2\n", b'3,"\n', *([b"x\n"] * 5_000), b'"\n', b"5,6\n"]
    scanned = 0

    def counted(data: bytes, dialect: CsvDialect) -> tuple[npt.NDArray[np.bool_], bool]:
        nonlocal scanned
        scanned += len(data)
        return quote_states(data, dialect)

    monkeypatch.setattr(text_blocks, "quote_states", counted)
    blocks = list(cut_into_blocks(chunks, CsvDialect(), quoted=True, block_bytes=8))
    assert b"".join(block.data for block in blocks) == b"".join(chunks)
    assert sum(len(block.record_lines(keep_blank=False)) for block in blocks) == 3
    assert scanned < 5 * len(b"".join(chunks))
