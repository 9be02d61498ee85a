"""The straight way from a CSV file to ranks, for files that are as files mostly are.

The file is held whole, its cells are found and coded by kernels, and Python sees a column only when it is ranked.
That is several times faster than the general way, which reads every dialect, encoding and size, in blocks, and
names the line of what is wrong. Whatever the kernels find unusual is left to the general way; where both can
read a file they give the same table, bit for bit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise, repeat
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.machine import cores
from lawful.meanings import ColumnType
from lawful.tables.csv_text import parse_cells
from lawful.tables.encoded_table import RankedColumns
from lawful.tables.files import is_packed
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.origins import Origins
from lawful.tables.ranking import RankedColumn, SharedTexts, rank_column
from lawful.tables.text_blocks import BYTE_ORDER_MARK, BlockError, TextBlock
from lawful.tables.text_layout import TextLayout, layout_of_cells

_Result = TypeVar("_Result")

_LARGEST_FILE = 64 << 20
"""A cell takes 20 bytes while it is coded, so that a file of this size takes some 300 MB."""

_WORTH_LOADING = 8 << 20
"""Loading the compiler takes as long as reading a file of this size the general way: a smaller one is read directly
only where the compiler is there already."""

_LONGEST_FIRST_LINE = 1 << 17
"""The general way takes no longer cell in its first record."""

_WORTH_THREADS = 1 << 18
_NONE = np.zeros(0, np.int32)
_TO_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_UTF8 = ("utf-8", "utf8", "UTF-8", "ascii")


class _Cells(NamedTuple):
    """Where the cells of a file are in its bytes, a line of each array for each column."""

    data: npt.NDArray[np.uint8]
    rows: int
    starts: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    token_starts: npt.NDArray[np.int32]
    token_lengths: npt.NDArray[np.int32]


def rank_directly(path: Path, file: Path, options: ReadOptions) -> RankedColumns | None:
    """The ranked columns of a CSV file; None where the general way has to read it."""
    if not _may_be_plain(file, options) or (data := _bytes_of(file)) is None:
        return None
    if not _is_utf8(data) or _has_escapes(data, options.dialect):
        return None
    begin = data.index(b"\n") + 1
    layout = _layout_of(data[:begin], path, options)
    if layout is None:
        return None
    cells = _found_cells(data, begin if options.dialect.header else 0, layout)
    if cells is None:
        return None
    first_line = 2 if options.dialect.header else 1
    runs = np.array([[0, 0, first_line]] if cells.rows else np.zeros((0, 3)), np.int64)
    columns, matrix = _ranked_columns(cells)
    return RankedColumns(layout.kept_names, columns, Origins((str(file),), "line", runs), matrix)


def _may_be_plain(file: Path, options: ReadOptions) -> bool:
    return (
        options.format == "csv"
        and options.limit is None
        and not options.types
        and options.dialect.encoding in _UTF8
        and not is_packed(file)
    )


def _bytes_of(file: Path) -> bytes | None:
    """The bytes of a file, which end in a newline; None where it is empty, too large, too small or cannot be read."""
    try:
        raw = os.open(file, _TO_READ)
        try:
            size = os.fstat(raw).st_size
            if not 0 < size <= _LARGEST_FILE or (size < _WORTH_LOADING and "numba" not in sys.modules):
                return None
            data = os.read(raw, size)
        finally:
            os.close(raw)
    except OSError:  # the general way says what is wrong
        return None
    if len(data) < size:
        return None
    data = data.removeprefix(BYTE_ORDER_MARK)
    return data if data.endswith(b"\n") else data + b"\n"


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _has_escapes(data: bytes, dialect: CsvDialect) -> bool:
    return dialect.quote is not None and dialect.escape not in (None, dialect.quote) and dialect.escape.encode() in data


def _layout_of(first_line: bytes, path: Path, options: ReadOptions) -> TextLayout | None:
    """The columns, where the first line is a whole record and, as a header, names them well."""
    dialect = options.dialect
    record = first_line.removesuffix(b"\n").removesuffix(b"\r").decode()
    if not 0 < len(record) <= _LONGEST_FIRST_LINE or "\r" in record:
        return None
    cells = record.split(dialect.separator)
    if dialect.quote and dialect.quote in record:
        if record.count(dialect.quote) % 2:  # a quoted cell may go on in the next line
            return None
        try:
            cells = parse_cells(TextBlock(first_line, 1), dialect)
        except BlockError:  # the general way says what is wrong
            return None
    if not dialect.header:
        return layout_of_cells(cells, options, str(path))
    is_named = "" not in cells and len(set(cells)) == len(cells)
    return layout_of_cells(cells, options, str(path)) if is_named else None


def _found_cells(data: bytes, begin: int, layout: TextLayout) -> _Cells | None:
    kernels, dialect, width = _kernels(), layout.dialect, len(layout.names)
    octets, token_starts, token_lengths = _with_tokens(data, dialect)
    keep = np.array(layout.keep, np.int32)
    cuts = _cuts(data, begin, dialect)
    lines = [kernels.count_lines(octets, first, last) for first, last in pairwise(cuts)]
    shape = (len(layout.keep), sum(lines))
    starts, lengths, keys = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.uint64)
    separator, quote = ord(dialect.separator), ord(dialect.quote) if dialect.quote else kernels.NO_QUOTE

    def find(part: int) -> tuple[int, int]:
        first_row = sum(lines[:part])
        return kernels.find_cells(  # type: ignore[no-any-return]  # Numba's decorator has no types
            octets, cuts[part], cuts[part + 1], first_row, separator, quote, width, keep, starts, lengths, keys
        )

    found, states = zip(*_at_once(find, len(lines)), strict=True)
    if any(state != kernels.PLAIN for state in states) or list(found[:-1]) != lines[:-1]:
        return None
    return _Cells(octets, sum(found), starts, lengths, keys, token_starts, token_lengths)


@cache
def _kernels() -> ModuleType:
    """The compiled loops, whose compiler is loaded only here (see `_WORTH_LOADING`)."""
    from lawful.tables import cell_kernels

    return cell_kernels


def _with_tokens(
    data: bytes, dialect: CsvDialect
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The file's bytes with the texts that mean null behind them, and where these are."""
    tokens = [token.encode() for token in dict.fromkeys(dialect.null_tokens) if token] if dialect.null_tokens else ()
    if not tokens:
        return np.frombuffer(data, np.uint8), _NONE, _NONE
    lengths = np.array([len(token) for token in tokens], np.int32)
    starts = (len(data) + np.cumsum(lengths) - lengths).astype(np.int32)
    return np.frombuffer(b"".join((data, *tokens)), np.uint8), starts, lengths


def _cuts(data: bytes, begin: int, dialect: CsvDialect) -> list[int]:
    """Where threads take the file apart: at line ends, which without quotes are the ends of records."""
    threads = cores()
    if len(data) < _WORTH_THREADS or threads == 1 or (dialect.quote and dialect.quote.encode() in data):
        return [begin, len(data)]
    size = len(data) - begin
    cuts = {data.index(b"\n", begin + size * part // threads) + 1 for part in range(1, threads)}
    return [begin, *sorted(cuts - {begin, len(data)}), len(data)]


def _ranked_columns(cells: _Cells) -> tuple[list[RankedColumn], npt.NDArray[np.int32]]:
    """Rank all columns, the work spread over threads where there is enough of it; with the matrix of their ranks."""
    width = len(cells.starts)
    ranks = np.empty((width, cells.rows), np.int32)
    read_only = ranks.view()
    read_only.setflags(write=False)
    is_small = width * cells.rows < _WORTH_THREADS
    cuts = [0, width] if is_small else list(range(width + 1))
    kernels, type_of_kind = _kernels(), _types_of_kinds()

    def rank(part: int) -> list[RankedColumn]:
        first, last = cuts[part], cuts[part + 1]
        about, offsets, texts = kernels.rank_columns(*cells, first, last, ranks)
        kinds, distinct, nulls, first_values = about.tolist()
        values = repeat(SharedTexts(offsets, texts))
        types = [type_of_kind[kind] for kind in kinds]
        columns = list(map(RankedColumn, types, read_only[first:last], distinct, nulls, values, first_values))
        for place, kind in enumerate(kinds):
            if kind == kernels.UNDECIDED and distinct[place]:
                found = rank_column([_piece(columns[place])], is_text=True)
                ranks[first + place] = found.ranks
                columns[place] = found._replace(ranks=columns[place].ranks)
        return columns

    return [column for part in _at_once(rank, len(cuts) - 1) for column in part], read_only


@cache
def _types_of_kinds() -> dict[int, ColumnType]:
    kernels = _kernels()
    return {
        kernels.UNDECIDED: ColumnType.NULL,  # until it is found, if there are values
        kernels.INTEGER: ColumnType.INTEGER,
        kernels.DECIMAL: ColumnType.DECIMAL,
        kernels.TEXT: ColumnType.STRING,
    }


def _piece(column: RankedColumn) -> pa.DictionaryArray:
    codes = column.ranks
    return pa.DictionaryArray.from_arrays(pa.array(codes - 1, mask=codes == 0), column.values)


def _at_once(work: Callable[[int], _Result], parts: int) -> list[_Result]:
    if parts == 1:
        return [work(0)]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(work, range(parts)))
