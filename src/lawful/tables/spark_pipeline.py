"""Encoding on Spark: distributed reading and ranking, gathered into one folder.

The source is read in parallel and cut into pieces, one shuffle brings the pieces of each column together, and
each column is ranked by one task. Only the DataFrame API is used, so that Spark Connect works, and no setting
of the session is changed.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError
from lawful.tables.encoded_table import Column, EncodedTable, check_row_count
from lawful.tables.files import format_of, read_chunks
from lawful.tables.json_text import JsonNames
from lawful.tables.left_out import choose_ordered_columns
from lawful.tables.local_pipeline import (
    as_arrow,
    at_line,
    encode_arrow,
    encode_arrow_into_folder,
    find_csv_layout,
    not_convertible,
    refuse_repeated_names,
    refuse_unreadable,
)
from lawful.tables.options import ReadOptions
from lawful.tables.origins import Origins, join_runs
from lawful.tables.ranking import NotConvertibleError, RankedColumn, dictionary_piece
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import parallelism
from lawful.tables.spark_files import (
    SparkFiles,
    as_whole_files,
    contents_of,
    first_lines,
    lines_of,
    list_on_spark,
    parquet_rows,
)
from lawful.tables.spark_rows import RowPlaces, SourceRows
from lawful.tables.spark_tasks import (
    PIECES,
    RANKED,
    SURVEY,
    TOKEN_FILE,
    RankPlan,
    Survey,
    json_name_finder,
    ranker,
    read_survey,
    row_parser,
    text_parser,
)
from lawful.tables.storage import Staging, WrittenFile, find_table, table_key
from lawful.tables.text_blocks import BlockError
from lawful.tables.text_layout import TextLayout, add_names, csv_layout, json_layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS_A_CORE = 4  # columns differ in size and meet by their hash: more tasks than cores even that out
_UNORDERED = ("array", "map", "struct", "variant", "interval", "udt", "geometry", "geography", "object")
_ORDERED_INTERVALS = tuple(f"interval {unit}" for unit in ("day", "hour", "minute", "second"))


class Encoded(NamedTuple):
    """An encoded table and, where it is of Spark's own rows, how to find these again."""

    table: EncodedTable
    rows: SourceRows | None = None


def encode_on_spark(spark: SparkSession, source: Any, options: ReadOptions, *, reuse: bool = True) -> EncodedTable:
    """Encode a path, `table:NAME`, `sql:QUERY` or a Spark DataFrame into a folder on the driver."""
    return read_on_spark(spark, source, options, reuse=reuse).table


def read_on_spark(spark: SparkSession, source: Any, options: ReadOptions, *, reuse: bool = True) -> Encoded:
    """Do the same, and keep what leads back to the rows of Spark's own tables and frames."""
    with translated():
        if not isinstance(source, str | Path):
            if not hasattr(source, "mapInArrow"):
                # On the way through Spark values would change: it has no nanoseconds and no unsigned integers.
                return Encoded(encode_arrow_into_folder(as_arrow(source), options))
            return _encode_rows(source, options, "dataframe")
        text = str(source)
        if text.startswith("table:"):
            return _encode_rows(spark.table(text[6:]), options, text[6:])
        if text.startswith("sql:"):
            return _encode_rows(spark.sql(text[4:]), options, "query")
        return Encoded(_encode_path(spark, text, options, reuse=reuse))


def _encode_path(spark: SparkSession, path: str, options: ReadOptions, *, reuse: bool) -> EncodedTable:
    files = list_on_spark(spark, path)
    options = options.with_format(format_of(files.paths, options, path))
    key = table_key(files.identity, options.to_dict())
    if not reuse:
        key = _fresh_key()
    elif (known := find_table(key)) is not None:
        return known
    if options.format == "parquet":
        return _encode_rows(parquet_rows(spark, files), options, Path(path).name, key=key, files=files).table
    return _encode_text(spark, files, options, key)


def _fresh_key() -> str:
    return uuid.uuid4().hex


def _encode_text(spark: SparkSession, files: SparkFiles, options: ReadOptions, key: str) -> EncodedTable:
    settings = options.to_dict()
    encoding = None
    if options.dialect.splits_at_newline_bytes:
        source = lines_of(spark, files)
    else:
        encoding = options.dialect.encoding
        source = contents_of(spark, files)
        options = replace(options, dialect=replace(options.dialect, encoding="utf-8"))
    layout = _find_layout(spark, source, files, options, encoding)
    plan_types = tuple(options.types.get(column) for column in layout.kept_names)
    staging = Staging()
    try:
        plan = RankPlan(
            tuple(layout.kept_names), plan_types, True, layout.is_json, options.limit, *_open_token(staging)
        )
        with _readable(files.local):
            results = _run(source.mapInArrow(text_parser(layout, encoding), PIECES), plan, files)
        if _cuts_a_record(results.needed(options.limit)):
            # A quoted cell runs over the end of a split: read each file as one stream.
            results = _run(as_whole_files(source).mapInArrow(text_parser(layout), PIECES), plan, files)
        _refuse_errors(results.needed(options.limit))
        target = _Target(key, Path(files.source).name, "line", settings, layout.kept_names)
        return _gather(results, plan, staging, target)
    except BaseException:
        staging.abandon()
        raise


@contextmanager
def _readable(files: Sequence[Path]) -> Iterator[None]:
    """Where Spark fails, see whether a packed file is to blame: Java's errors do not name it."""
    try:
        yield
    except Exception:  # of any kind: it goes on unless a file explains it better
        refuse_unreadable(files)
        raise


def _find_layout(
    spark: SparkSession, source: DataFrame, files: SparkFiles, options: ReadOptions, encoding: str | None
) -> TextLayout:
    try:
        if options.format == "jsonl":
            return json_layout(_json_names(source, files, options, encoding), options, files.source)
        if not files.local:
            return csv_layout(first_lines(spark, files, encoding), options, files.source)
    except BlockError as error:
        raise at_line(files.shown(files.paths[0]), error) from None

    def chunks(file: Path) -> Iterator[bytes]:
        return read_chunks(file, encoding or options.dialect.encoding, newline_bytes=encoding is None)

    return find_csv_layout(files.local, options, files.source, chunks)


def _json_names(source: DataFrame, files: SparkFiles, options: ReadOptions, encoding: str | None) -> JsonNames:
    rows = source.mapInArrow(json_name_finder(options.dialect.encoding, encoding), PIECES).toArrow()
    found = []
    for payload in rows.column("payload").to_pylist():
        fields, names = json.loads(payload)
        found.append((Survey(**fields), names))
    found.sort(key=lambda entry: (entry[0].file, entry[0].start))
    _refuse_errors([replace(survey, file=files.shown(survey.file)) for survey, _ in found])
    together: JsonNames = {}
    for _, names in found:
        add_names(together, names)
    return together


def _encode_rows(
    frame: DataFrame, options: ReadOptions, name: str, *, key: str | None = None, files: SparkFiles | None = None
) -> Encoded:
    """Encode typed rows. Without files behind them nothing tells whether they changed: they get a key of their own."""
    names = list(frame.columns)
    where = name if files is None else files.source
    refuse_repeated_names(names, where)
    kept = choose_ordered_columns(names, _unordered_types(frame), options, where)
    source = frame
    if files is None:
        frame, columns = _by_place(frame, kept)
        origin = ("''", "spark_partition_id()")  # the origin is the partition
    else:
        columns = ["`" + name.replace("`", "``") + "`" for name in kept]
        origin = ("_metadata.file_path", "_metadata.row_index")
    rows = frame.selectExpr(
        *(f"{column} as c{index}" for index, column in enumerate(columns)),
        f"{origin[0]} as file",
        f"cast({origin[1]} as bigint) as start",
    )
    staging = Staging()
    try:
        asked = tuple(options.types.get(column) for column in kept)
        plan = RankPlan(tuple(kept), asked, False, False, options.limit, *_open_token(staging))
        results = _run(rows.mapInArrow(row_parser(files is not None), PIECES), plan, files)
        if not results.columns:
            results = replace(results, types=rows.limit(0).toArrow().schema.types)
        target = _Target(key or _fresh_key(), name, "row", options.to_dict(), kept)
        table = _gather(results, plan, staging, target)
    except BaseException:
        staging.abandon()
        raise
    if files is not None:
        return Encoded(table)
    retyped = frozenset(position for position, type_ in enumerate(asked) if type_ is not None)
    keep = [names.index(name) for name in kept]
    return Encoded(table, SourceRows(source, keep, retyped, RowPlaces.of(results.partitions())))


def encode_frame_in_process(frame: DataFrame, options: ReadOptions) -> EncodedTable:
    """Encode a Spark DataFrame in this process. What is left out never leaves Spark: not all of it can be Arrow."""
    with translated():
        names = list(frame.columns)
        refuse_repeated_names(names, "dataframe")
        kept = choose_ordered_columns(names, _unordered_types(frame), options, "dataframe")
        frame, columns = _by_place(frame, kept)
        return encode_arrow(frame.select(*columns).toArrow().rename_columns(list(kept)), options, names=kept)


def _by_place(frame: DataFrame, kept: Sequence[str]) -> tuple[DataFrame, list[str]]:
    """The frame with its columns named by their places, and those to keep: to Spark `a` and `A` are one name."""
    places = {name: f"c{position}" for position, name in enumerate(frame.columns)}
    return frame.toDF(*places.values()), [places[name] for name in kept]


def _unordered_types(frame: DataFrame) -> dict[str, str]:
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    return {
        name: type_
        for name, type_ in types.items()
        if type_.startswith(_UNORDERED) and not type_.startswith(_ORDERED_INTERVALS)
    }


@dataclass(frozen=True)
class _Target:
    """What the encoded table is to be."""

    key: str
    name: str
    unit: str
    settings: dict[str, Any]
    names: ColumnNames


def _open_token(staging: Staging) -> tuple[str, str]:
    token = uuid.uuid4().hex
    (staging.folder / TOKEN_FILE).write_text(token, "utf-8")
    return str(staging.folder), token


@dataclass(frozen=True)
class _Results:
    """What the second step gave back: surveys in the order of the source, and a row for each column."""

    surveys: list[tuple[Survey, npt.NDArray[np.int64]]]
    columns: dict[int, dict[str, Any]]
    payloads: dict[int, tuple[bytes | None, bytes | None]]
    types: Sequence[pa.DataType] | None = None
    """The types of the columns, where there are no rows to tell them."""

    def partitions(self) -> list[tuple[int, int]]:
        """How many rows each partition of a DataFrame gave, in the order in which rows were numbered."""
        rows: dict[int, int] = {}
        for survey, _ in self.surveys:
            rows[survey.start] = rows.get(survey.start, 0) + survey.rows
        return list(rows.items())

    def needed(self, limit: int | None) -> list[Survey]:
        """The surveys up to the one that fills the row limit; an error that comes after those rows is no matter."""
        rows = 0
        needed: list[Survey] = []
        for survey, _ in self.surveys:
            rows += survey.rows
            if limit is not None and rows >= max(limit, 1):
                return [*needed, replace(survey, error=None)]
            needed.append(survey)
        return needed


def _run(pieces: DataFrame, plan: RankPlan, files: SparkFiles | None) -> _Results:
    tasks = min(len(plan.names) + 1, _TASKS_A_CORE * parallelism(pieces.sparkSession))
    table = pieces.repartition(tasks, "column").mapInArrow(ranker(plan), RANKED).toArrow()
    surveys, columns, payloads = [], {}, {}
    for row in table.to_pylist():
        about = json.loads(row["about"])
        if row["column"] == SURVEY:
            survey, runs = read_survey(row["ranks"])
            surveys.append(((survey.file, about["start"], about["part"]), survey, runs))
        else:
            columns[row["column"]] = about
            payloads[row["column"]] = (row["ranks"], row["column_values"])
    surveys.sort(key=lambda entry: entry[0])
    if files is not None:
        surveys = [(key, replace(survey, file=files.shown(survey.file)), runs) for key, survey, runs in surveys]
    return _Results([(survey, runs) for _, survey, runs in surveys], columns, payloads)


def _cuts_a_record(surveys: Sequence[Survey]) -> bool:
    """Whether some split ends inside quotes and the file goes on after it.

    Every split was parsed as if it started outside of quotes. The first of a file does; so if each ends
    outside, all did, and the first that errs or ends inside was itself read right.
    """
    for index, survey in enumerate(surveys):
        if survey.error is not None:
            goes_on = index + 1 < len(surveys) and surveys[index + 1].file == survey.file
            return survey.ends_inside_quotes and goes_on
    return False


def _refuse_errors(surveys: Sequence[Survey]) -> None:
    lines_before, file = 0, None
    for survey in surveys:
        if survey.file != file:
            lines_before, file = 0, survey.file
        if survey.error is not None:
            raise at_line(survey.file, BlockError(*survey.error), lines_before)
        lines_before += survey.lines


def _origins(results: _Results, unit: str, limit: int | None) -> Origins:
    """Rows to files and lines; a line number counts from the start of its file, not of its split."""
    files = list(dict.fromkeys(survey.file for survey, _ in results.surveys if survey.file))
    index = {file: position for position, file in enumerate(files)}
    pieces = []
    lines_before, file = 0, None
    for survey, runs in results.surveys:
        if not survey.file:
            continue
        if survey.file != file:
            lines_before, file = 0, survey.file
        shifted = runs.copy()
        shifted[:, 1] += lines_before
        pieces.append((index[survey.file], survey.rows, shifted))
        lines_before += survey.lines
    return Origins(tuple(files), unit, join_runs(pieces, limit))


def _gather(results: _Results, plan: RankPlan, staging: Staging, target: _Target) -> EncodedTable:
    """Bring the ranked columns into the staging folder and give it its place."""
    origins = _origins(results, target.unit, plan.limit)
    rows = sum(survey.rows for survey, _ in results.surveys)
    rows = rows if plan.limit is None else min(rows, plan.limit)
    check_row_count(rows)
    columns = []
    for position, column_name in enumerate(plan.names):
        about = results.columns.get(position)
        if about is None:  # not a single row anywhere: no piece was ever made
            types = results.types
            empty = plan.rank(position, [] if types is None else [dictionary_piece(pa.array([], types[position]))])
            staging.write_column(position, empty)
            columns.append(Column(column_name, empty.type, 0, 0, None, None))
            continue
        if "error" in about:
            raise SourceError(f"column {column_name!r}: {about['error']}")
        if "not_convertible" in about:
            error = NotConvertibleError(*about["not_convertible"])
            raise not_convertible(column_name, str(plan.asked[position]), error, origins)
        columns.append(Column.from_dict(about["column"]))
        _place_files(staging, position, about, columns[-1], results.payloads[position])
    (staging.folder / TOKEN_FILE).unlink()
    return staging.publish(target.key, target.name, rows, columns, origins, target.settings, target.names)


def _place_files(
    staging: Staging,
    position: int,
    about: dict[str, Any],
    column: Column,
    payload: tuple[bytes | None, bytes | None],
) -> None:
    if "files" in about:
        files = [WrittenFile(**file) for file in about["files"]]
        for file in files:
            (staging.folder / (file.name + about["suffix"])).rename(staging.folder / file.name)
        staging.add(files)
        return
    ranks, values = payload
    assert ranks is not None
    assert values is not None
    with pa.ipc.open_stream(values) as reader:
        column_values = reader.read_all().column(0).combine_chunks()
    ranked = RankedColumn(column.type, np.frombuffer(ranks, np.int32), len(column_values), column.nulls, column_values)
    staging.write_column(position, ranked)
