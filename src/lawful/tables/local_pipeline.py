"""Encoding in this process: files, Arrow, pandas and polars tables, with threads over Arrow's kernels."""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from lawful.common.column_names import ColumnNames, short_text
from lawful.common.errors import SourceError, UsageError
from lawful.common.machine import cores
from lawful.common.meanings import ColumnType
from lawful.tables.arrow_functions import pc
from lawful.tables.csv_text import ParsedBlock
from lawful.tables.direct_csv import rank_directly
from lawful.tables.encoded_table import EncodedTable, RankedColumns
from lawful.tables.files import format_of, is_packed, list_files, read_chunks
from lawful.tables.identity import local_identity
from lawful.tables.json_text import JsonNames, json_names
from lawful.tables.kept_tables import can_keep_tables
from lawful.tables.left_out import choose_ordered_columns, unordered_field, unordered_types
from lawful.tables.options import ReadOptions
from lawful.tables.origins import NO_ORIGINS, Origins, join_runs, runs_of_lines
from lawful.tables.pandas_frames import pandas_to_arrow, read_as
from lawful.tables.parquet_folders import partition_names, refuse_differing_files
from lawful.tables.ranking import (
    NotConvertibleError,
    RankedColumn,
    dictionary_piece,
    rank_column,
)
from lawful.tables.storage import Staging, find_table, table_key
from lawful.tables.text_blocks import BLOCK_BYTES, BlockError, TextBlock
from lawful.tables.text_layout import TextLayout, add_names, csv_layout, json_layout

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
Pieces = list[list[pa.DictionaryArray]]


def encode_in_process(
    source: Any, options: ReadOptions, *, reuse: bool = True, in_folder: bool = False
) -> EncodedTable:
    """Encode a path or an Arrow-compatible table without Spark.

    The table of a path is kept in a folder, unless it is not to be reused and `in_folder` does not ask for one.
    """
    if isinstance(source, str | os.PathLike):
        return _encode_path(Path(source), options, reuse=reuse, in_folder=in_folder)
    return encode_arrow(as_arrow(source), options)


def as_arrow(source: Any) -> pa.Table:
    """An Arrow table from anything that speaks Arrow: Arrow, pandas, polars, DuckDB and others."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    try:
        if type(source).__module__.partition(".")[0] == "pandas":
            return pandas_to_arrow(source)
        if hasattr(source, "__arrow_c_stream__"):
            return _without_pointers(pa.table(source), source)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError) as error:
        raise SourceError(
            f"the table cannot be read as Arrow: {error}", "Give each column values of one type."
        ) from None
    raise UsageError(
        f"cannot read a table from {type(source).__name__}",
        "Give a path, a Spark, pandas or polars DataFrame, or an Arrow table.",
    )


def _without_pointers(table: pa.Table, source: Any) -> pa.Table:
    """The table with polars' columns of Python objects marked as such: it hands out where they are in memory."""
    dtypes = getattr(source, "dtypes", ()) if type(source).__module__.startswith("polars.") else ()
    for position, dtype in enumerate(dtypes):
        if str(dtype) == "Object":
            field = unordered_field(table.column_names[position], "Object of polars")
            table = table.set_column(position, field, pa.nulls(table.num_rows, field.type))
    return table


def encode_arrow(
    table: pa.Table, options: ReadOptions, name: str = "table", names: ColumnNames | None = None
) -> EncodedTable:
    """Encode an Arrow table; its schema is taken as it is. `names` tell what was left out before it was made."""
    ranked = _rank_arrow(table, options, name)
    return EncodedTable.in_memory(name, ranked if names is None else ranked._replace(names=names), options)


def encode_arrow_into_folder(table: pa.Table, options: ReadOptions, name: str = "table") -> EncodedTable:
    """Encode an Arrow table into a folder, for workers in other processes; nothing would tell if it changed."""
    return _publish(uuid.uuid4().hex, name, _rank_arrow(table, options, name), options)


def _rank_arrow(table: pa.Table, options: ReadOptions, name: str) -> RankedColumns:
    refuse_repeated_names(table.column_names, name, "Rename one first, by table.rename_columns([...]).")
    names = choose_ordered_columns(table.column_names, unordered_types(table.schema), options, name)

    def rank(column: str) -> RankedColumn:
        pieces = [dictionary_piece(chunk) for chunk in table.column(column).chunks]
        pieces = pieces or [dictionary_piece(pa.array([], table.schema.field(column).type))]
        return _rank(column, pieces, options, NO_ORIGINS, noted=read_as(table.schema.field(column)))

    return RankedColumns(names, list(_in_threads(rank, names)))


def refuse_repeated_names(names: Sequence[str], where: str, how: str = "Rename one first.") -> None:
    """A law names its columns, so no two may share a name and none may be empty; `how` says how to rename one."""
    for position, column in enumerate(names):
        if column == "":
            raise SourceError(f"{where}: column {position + 1} has no name", "Name it first.")
        if column in names[:position]:
            raise SourceError(
                f"{where}: columns {names.index(column) + 1} and {position + 1} are both named {column!r}", how
            )


def _encode_path(path: Path, options: ReadOptions, *, reuse: bool, in_folder: bool) -> EncodedTable:
    files = list_files(path)
    options = options.with_format(format_of([str(file) for file in files], options, str(path)))
    key = uuid.uuid4().hex
    if reuse and not in_folder:
        reuse = can_keep_tables()
    if reuse:
        key = table_key(local_identity(files), options.to_dict())
        if (known := find_table(key)) is not None:
            return known
    rank = _rank_parquet if options.format == "parquet" else _rank_text
    ranked = rank(path, files, options)
    if not reuse and not in_folder:
        return EncodedTable.in_memory(path.name, ranked, options)
    return _publish(key, path.name, ranked, options)


def published(table: EncodedTable) -> EncodedTable:
    """Write a table that is in memory into a folder, for workers in other processes; it is never found again."""
    columns = [
        RankedColumn(
            table.type(position),
            table.column(position),
            table.distinct(position),
            table.nulls(position),
            table.values(position),
        )
        for position in range(table.width)
    ]
    return _publish(uuid.uuid4().hex, table.name, RankedColumns(table.names, columns, table.origins), ReadOptions())


def _publish(key: str, name: str, ranked: RankedColumns, options: ReadOptions) -> EncodedTable:
    table = EncodedTable.in_memory(name, ranked, options)
    staging = Staging()
    try:
        for position, column in enumerate(ranked.columns):
            staging.write_column(position, column)
        return staging.publish(key, name, table.rows, table.columns, ranked.origins, table.settings, ranked.names)
    except BaseException:
        staging.abandon()
        raise


def _rank_text(path: Path, files: list[Path], options: ReadOptions) -> RankedColumns:
    if len(files) > 1:  # Spark writes empty files among the others: they have neither rows nor a header
        files = [file for file in files if file.stat().st_size] or files[:1]
    if len(files) == 1 and (directly := rank_directly(str(path), files[0], options)) is not None:
        return directly
    dialect = options.dialect
    newline_bytes = dialect.splits_at_newline_bytes
    if not newline_bytes:
        options = replace(options, dialect=replace(dialect, encoding="utf-8"))

    def chunks(file: Path) -> Iterator[bytes]:
        return read_chunks(file, dialect.encoding, newline_bytes=newline_bytes)

    layout = _find_layout(path, files, options, chunks)
    parsed = _parse_files(files, layout, chunks, options.limit)
    pieces: Pieces = [[] for _ in layout.keep]
    runs = []
    for file, block in parsed:
        for column, piece in zip(pieces, block.columns, strict=True):
            column.append(piece)
        runs.append((file, block.rows, runs_of_lines(block.lines)))
    origins = Origins(tuple(str(file) for file in files), "line", join_runs(runs, options.limit))

    def rank(position: int) -> RankedColumn:
        return _rank(layout.kept_names[position], pieces[position], options, origins, layout)

    return RankedColumns(layout.kept_names, list(_in_threads(rank, range(len(pieces)))), origins)


def _find_layout(
    path: Path, files: Sequence[Path], options: ReadOptions, chunks: Callable[[Path], Iterator[bytes]]
) -> TextLayout:
    if options.format == "csv":
        return find_csv_layout(files, options, str(path), chunks)
    names: JsonNames = {}
    for file in files:
        line = 1
        try:
            for chunk in chunks(file):
                add_names(names, json_names(TextBlock(chunk, line), options.dialect.encoding))
                line += chunk.count(b"\n")
        except BlockError as error:
            raise at_line(file, error) from None
    try:
        return json_layout(names, options, str(path))
    except BlockError as error:
        raise at_line(files[0], error) from None


def find_csv_layout(
    files: Sequence[Path], options: ReadOptions, where: str, chunks: Callable[[Path], Iterator[bytes]]
) -> TextLayout:
    """Find the columns from the first file that has a line."""
    for file in files:
        try:
            head = next(chunks(file), b"")
            if head or file is files[-1]:
                return csv_layout(head, options, where)
        except BlockError as error:
            raise at_line(file, error) from None
    raise AssertionError("a source has at least one file")


def refuse_unreadable(files: Sequence[Path]) -> None:
    """Raise the error of the first packed file that cannot be unpacked."""
    for file in files:
        try:
            for _ in read_chunks(file, "utf-8", newline_bytes=True) if is_packed(file) else ():
                pass
        except BlockError as error:
            raise at_line(file, error) from None


def _parse_files(
    files: Sequence[Path],
    layout: TextLayout,
    chunks: Callable[[Path], Iterator[bytes]],
    limit: int | None,
) -> Iterator[tuple[int, ParsedBlock]]:
    """Parse the blocks of all files in order, several at a time, until enough rows are there."""
    size = sum(file.stat().st_size for file in files)
    # A block for each core even of a small file, but none so small that parsing it costs less than starting to.
    block_bytes = min(BLOCK_BYTES, max(_SMALLEST_BLOCK, size // cores()))

    def blocks() -> Iterator[tuple[int, TextBlock]]:
        for index, file in enumerate(files):
            try:
                file_blocks = layout.blocks(chunks(file), block_bytes)
                first = next(file_blocks, None)
                rest = layout.begin_file(first) if first is not None else None
                for block in chain([rest] if rest is not None else [], file_blocks):
                    yield index, block
            except BlockError as error:
                raise at_line(file, error) from None

    def parse(numbered: tuple[int, TextBlock]) -> tuple[int, ParsedBlock]:
        index, block = numbered
        try:
            return index, layout.parse(block)
        except BlockError as error:
            raise at_line(files[index], error) from None

    rows = 0
    for index, parsed in _in_threads(parse, blocks()):
        yield index, parsed
        rows += parsed.rows
        if limit is not None and rows >= limit:
            return


def at_line(file: Any, error: BlockError, lines_before: int = 0) -> SourceError:
    """The error of a block as one that names the file and the line in it (0 is the file as a whole)."""
    place = f"{file}, line {lines_before + error.line}" if error.line else f"{file}"
    return SourceError(f"{place}: {error.message}", error.hint)


def _rank_parquet(path: Path, files: list[Path], options: ReadOptions) -> RankedColumns:
    import pyarrow.dataset as arrow_dataset  # brings pandas along, which takes its time

    refuse_differing_files(files, options.columns)
    keys = partition_names(path, files)
    try:
        dataset = arrow_dataset.dataset(
            [str(file) for file in files],
            format="parquet",
            partitioning=arrow_dataset.partitioning(pa.schema([(key, pa.string()) for key in keys]), flavor="hive"),
            partition_base_dir=str(path),
        )
        refuse_repeated_names(dataset.schema.names, str(path))
        names = choose_ordered_columns(dataset.schema.names, unordered_types(dataset.schema), options, str(path))
        fragments = sorted(dataset.get_fragments(), key=lambda fragment: str(fragment.path))
        tables = [fragment.to_table(schema=dataset.schema, columns=names) for fragment in fragments]
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError) as error:
        raise SourceError(f"{path}: cannot be read as Parquet: {error}") from None
    runs = [(index, table.num_rows, np.array([[0, 1]])) for index, table in enumerate(tables)]
    origins = Origins(tuple(str(fragment.path) for fragment in fragments), "row", join_runs(runs, options.limit))
    whole = pa.concat_tables(tables)

    def rank(name: str) -> RankedColumn:
        column = whole.column(name)
        if name in keys:
            column = _typed_partition(column)
        pieces = [dictionary_piece(chunk) for chunk in column.chunks]
        pieces = pieces or [dictionary_piece(pa.array([], column.type))]
        return _rank(name, pieces, options, origins)

    return RankedColumns(names, list(_in_threads(rank, names)), origins)


def _typed_partition(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """A partition column as Spark types it: the first type that fits all of its texts."""
    for wanted in (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us")):
        try:
            return pc.cast(texts, wanted)
        except pa.ArrowInvalid:
            continue
    return texts


def _rank(
    name: str,
    pieces: Sequence[pa.DictionaryArray],
    options: ReadOptions,
    origins: Origins,
    layout: TextLayout | None = None,
    noted: ColumnType | None = None,
) -> RankedColumn:
    """Rank a column as the type that was asked for, else as the one that was noted with it, else as its own."""
    asked = options.types.get(name, noted)
    try:
        return rank_column(
            pieces,
            asked=asked,
            is_text=layout is not None,
            is_json=layout is not None and layout.is_json,
            limit=options.limit,
        )
    except NotConvertibleError as error:
        raise not_convertible(name, str(asked), error, origins) from None


def not_convertible(name: str, asked: str, error: NotConvertibleError, origins: Origins) -> SourceError:
    """The error of a value that does not have the type that the user chose."""
    return SourceError(
        f"{origins.place(error.row)}: column {name!r} holds {short_text(error.text)!r}, which is not of type {asked}",
        "Choose another type with --types, or name it with --null-token if it means null.",
    )


_SMALLEST_BLOCK = 512 << 10


def _in_threads(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Map over items with a few threads, in order, with a bounded number in flight."""
    threads = cores()
    waiting: deque[Future[_Result]] = deque()
    remaining = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in islice(remaining, threads + 1):
                waiting.append(pool.submit(work, item))
            while waiting:
                result = waiting.popleft().result()
                for item in islice(remaining, 1):
                    waiting.append(pool.submit(work, item))
                yield result
        finally:
            for future in waiting:
                future.cancel()
