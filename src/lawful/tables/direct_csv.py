"""The straight way from a CSV file to ranks, for files that are as files mostly are.

The file is held whole, its cells are found and coded by kernels, and Python sees a column only when it is ranked.
That is several times faster than the general way, which reads every dialect, encoding and size, in blocks, and
names the line of what is wrong. Whatever the kernels find unusual is left to the general way; where both can
read a file they give the same table, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.machine import cores
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import RankedColumns
from lawful.tables.files import is_packed
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.origins import Origins, join_runs
from lawful.tables.ranking import RankedColumn, rank_column
from lawful.tables.text_blocks import BYTE_ORDER_MARK, BlockError
from lawful.tables.text_layout import TextLayout, csv_layout

_Result = TypeVar("_Result")

_LARGEST_FILE = 64 << 20
"""A cell takes 20 bytes while it is coded, so that a file of this size takes some 300 MB; as much as its size more
where there are quotes."""

_SMALLEST_FILE = 1 << 20
"""Smaller files are read by Arrow in some hundredths of a second, and nobody waits for these kernels to be compiled,
which takes 18 s where nothing is kept, as in many containers."""

_WORTH_THREADS = 1 << 18
_UTF8 = ("utf-8", "utf8", "UTF-8", "ascii")


_Ranked = tuple[list[RankedColumn], npt.NDArray[np.int32]]
"""Columns and the matrix of their ranks, a line each."""


class _Form(NamedTuple):
    """What the kernels that find cells are told of a file (see `find_cells`)."""

    separator: int
    quote: int
    escape: int
    width: int
    keep: npt.NDArray[np.int32]
    texts: npt.NDArray[np.uint8]


class _Cells(NamedTuple):
    """Where the cells of a file are in its bytes, a line of each array for each column."""

    data: npt.NDArray[np.uint8]
    rows: int
    starts: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    token_starts: npt.NDArray[np.int32]
    token_lengths: npt.NDArray[np.int32]


def rank_directly(path: str, file: Path, options: ReadOptions) -> RankedColumns | None:
    """The ranked columns of a CSV file, which is the path or in it; None where the general way has to read it."""
    if not _may_be_plain(file, options) or (data := _bytes_of(file)) is None or not _is_text(data, options):
        return None
    begin = data.index(b"\n") + 1
    try:
        layout = csv_layout(data[:begin], options, path)
    except BlockError:  # the first record is more than the first line, or the general way says what is wrong
        return None
    ranked = _ranked(data, begin if options.dialect.header else 0, layout)
    if ranked is None:
        return None
    columns, matrix = ranked
    runs = join_runs([(0, matrix.shape[1], np.array([[0, 1 + options.dialect.header]]))] if matrix.size else [])
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
    """The bytes of a file, which end in a newline; None where it is too large or too small."""
    try:
        size = file.stat().st_size
        if not _SMALLEST_FILE <= size <= _LARGEST_FILE:
            return None
        data = file.read_bytes()
    except OSError:  # the general way says what is wrong
        return None
    if not 0 < len(data) <= _LARGEST_FILE:  # it is being written
        return None
    data = data.removeprefix(BYTE_ORDER_MARK)
    return data if data.endswith(b"\n") else data + b"\n"


def _is_text(data: bytes, options: ReadOptions) -> bool:
    if data.isascii():
        return True
    try:
        data.decode(options.dialect.encoding)
    except UnicodeDecodeError:
        return False
    return True


def _ranked(data: bytes, begin: int, layout: TextLayout) -> _Ranked | None:
    """The ranked columns and the matrix of their ranks."""
    kernels, dialect = _kernels(), layout.dialect
    octets, *tokens = _with_tokens(data, dialect)
    has_quotes = dialect.quote is not None and dialect.quote.encode() in data
    texts = octets.copy() if has_quotes else np.zeros(0, np.uint8)
    separator, quote, escape = _byte(dialect.separator), _byte(dialect.quote), _byte(dialect.escape)
    if escape == quote:  # quotes can be doubled in any dialect that has them
        escape = kernels.NO_QUOTE
    form = _Form(separator, quote, escape, len(layout.names), np.array(layout.keep, np.int32), texts)
    cells = _found_cells(octets, _cuts(data, begin, has_quotes=has_quotes), form, *tokens)
    return None if cells is None else _ranked_cells(cells)


def _found_cells(
    octets: npt.NDArray[np.uint8],
    cuts: list[int],
    form: _Form,
    token_starts: npt.NDArray[np.int32],
    token_lengths: npt.NDArray[np.int32],
) -> _Cells | None:
    kernels = _kernels()
    lines = [kernels.count_lines(octets, first, last) for first, last in pairwise(cuts)]
    shape = (form.keep.size, sum(lines))
    starts, lengths, keys = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.uint64)

    def find(part: int) -> tuple[int, int]:
        place = cuts[part], cuts[part + 1], sum(lines[:part])
        found: tuple[int, int] = kernels.find_cells(octets, *place, *form, starts, lengths, keys)
        return found

    found, states = zip(*_at_once(find, len(lines)), strict=True)
    if any(state != kernels.PLAIN for state in states) or list(found[:-1]) != lines[:-1]:
        return None
    if form.texts.size:
        form.texts.setflags(write=False)  # like a file's bytes, so that kernels are compiled for one kind of array
        octets = form.texts
    return _Cells(octets, sum(found), starts, lengths, keys, token_starts, token_lengths)


def _byte(mark: str | None) -> int:
    return _kernels().NO_QUOTE if mark is None else ord(mark)


@cache
def _kernels() -> ModuleType:
    """The compiled loops, whose compiler is loaded only here (see `_SMALLEST_FILE`)."""
    from lawful.tables.kernels import cells as cell_kernels

    return cell_kernels


def _with_tokens(
    data: bytes, dialect: CsvDialect
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The file's bytes with the texts that mean null behind them, and where these are."""
    tokens = [token.encode() for token in dict.fromkeys(dialect.null_tokens) if token]
    lengths = np.array([len(token) for token in tokens], np.int32)
    starts = (len(data) + np.cumsum(lengths) - lengths).astype(np.int32)
    return np.frombuffer(b"".join((data, *tokens)), np.uint8), starts, lengths


def _cuts(data: bytes, begin: int, *, has_quotes: bool) -> list[int]:
    """Where threads take the file apart: at line ends, which without quotes are the ends of records."""
    size = len(data) - begin
    parts = 1 if has_quotes else min(cores(), 1 + size // _WORTH_THREADS)
    cuts = {data.index(b"\n", begin + size * part // parts) + 1 for part in range(1, parts)}
    return [begin, *sorted(cuts - {begin, len(data)}), len(data)]


def _ranked_cells(cells: _Cells) -> _Ranked:
    """Rank each column by itself, unless they are short; with the matrix of their ranks."""
    width = len(cells.starts)
    ranks = np.empty((width, cells.rows), np.int32)
    is_small = width * cells.rows < _WORTH_THREADS
    cuts = [0, width] if is_small else list(range(width + 1))

    def rank(part: int) -> _Ranked:
        first, last = cuts[part], cuts[part + 1]
        return _with_types(ranks[first:last], *_kernels().rank_columns(*cells, first, last, ranks))

    parts = _at_once(rank, len(cuts) - 1)
    return [column for columns, _ in parts for column in columns], _read_only(ranks)


def _with_types(
    ranks: npt.NDArray[np.int32],
    about: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int32],
    texts: npt.NDArray[np.uint8],
) -> _Ranked:
    """What `rank_columns` gives as columns and the matrix of their ranks, with the types that it left open found."""
    kernels = _kernels()
    type_of_kind = {
        kernels.UNDECIDED: ColumnType.NULL,  # until it is found, if there are values
        kernels.INTEGER: ColumnType.INTEGER,
        kernels.DECIMAL: ColumnType.DECIMAL,
        kernels.TEXT: ColumnType.STRING,
    }
    matrix = _read_only(ranks)
    buffers = pa.py_buffer(offsets), pa.py_buffer(texts)
    columns = []
    for place, (kind, distinct, nulls, first_value) in enumerate(about.T.tolist()):
        values = pa.StringArray.from_buffers(distinct, *buffers, offset=first_value)
        column = RankedColumn(type_of_kind[kind], matrix[place], distinct, nulls, values)
        if kind == kernels.UNDECIDED and distinct:
            found = rank_column([_piece(column)], is_text=True)
            ranks[place] = found.ranks
            column = found._replace(ranks=column.ranks)
        columns.append(column)
    return columns, matrix


def _read_only(ranks: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    view = ranks.view()
    view.setflags(write=False)
    return view


def _piece(column: RankedColumn) -> pa.DictionaryArray:
    codes = column.ranks
    return pa.DictionaryArray.from_arrays(pa.array(codes - 1, mask=codes == 0), column.values)


def _at_once(work: Callable[[int], _Result], parts: int) -> list[_Result]:
    if parts == 1:
        return [work(0)]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(work, range(parts)))
