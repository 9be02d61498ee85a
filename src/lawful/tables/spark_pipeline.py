"""Encoding on Spark: distributed reading and ranking, gathered into one folder.

The source is read in parallel and cut into pieces, one shuffle brings the pieces of each column together, and
each column is ranked by one task. Only the DataFrame API is used, so that Spark Connect works, and no setting
of the session is changed.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.errors import SourceError
from lawful.tables.encoded_table import Column, EncodedTable, check_row_count
from lawful.tables.files import format_of, list_files, read_chunks
from lawful.tables.local_pipeline import (
    at_line,
    local_identity,
    not_convertible,
    refuse_repeated_names,
)
from lawful.tables.options import ReadOptions, choose_columns
from lawful.tables.origins import Origins, join_runs
from lawful.tables.ranking import NotConvertibleError, RankedColumn
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import is_connect, parallelism
from lawful.tables.spark_tasks import (
    PIECES,
    RANKED,
    SURVEY,
    TOKEN_FILE,
    RankPlan,
    Survey,
    decoded_path,
    json_name_finder,
    ranker,
    read_survey,
    row_parser,
    text_parser,
)
from lawful.tables.storage import Staging, WrittenFile, find_table, table_key
from lawful.tables.text_blocks import BlockError
from lawful.tables.text_layout import TextLayout, csv_layout, json_layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS_A_CORE = 4  # columns differ in size and meet by their hash: more tasks than cores even that out
_FIRST_LINES = 200
_UNORDERED = ("array", "map", "struct", "variant", "interval", "udt", "geometry", "geography", "object")


def encode_on_spark(spark: SparkSession, source: Any, options: ReadOptions, *, reuse: bool = True) -> EncodedTable:
    """Encode a path, `table:NAME`, `sql:QUERY` or a Spark DataFrame into a folder on the driver."""
    with translated():
        if not isinstance(source, str | Path):
            return _encode_rows(spark, source, options, "dataframe", reuse=False)
        text = str(source)
        if text.startswith("table:"):
            return _encode_rows(spark, spark.table(text[6:]), options, text[6:], reuse=False)
        if text.startswith("sql:"):
            return _encode_rows(spark, spark.sql(text[4:]), options, "query", reuse=False)
        return _encode_path(spark, text, options, reuse=reuse)


@dataclass(frozen=True)
class _Files:
    """The files of a source as Spark sees them, with what changes when one of them does."""

    paths: list[str]
    identity: list[Any]
    are_local: bool


def _encode_path(spark: SparkSession, path: str, options: ReadOptions, *, reuse: bool) -> EncodedTable:
    files = _list(spark, path)
    options = options.with_format(format_of(files.paths, options, path))
    key = table_key(files.identity, options.to_dict())
    if reuse and (known := find_table(key)) is not None:
        return known
    name = Path(path).name
    if options.format == "parquet":
        frame = spark.read.parquet(_literal(path))
        return _encode_rows(spark, frame, options, name, key=key, with_files=True)
    return _encode_text(spark, files, options, name, key)


def _list(spark: SparkSession, path: str) -> _Files:
    """List files from here where the driver sees what Spark sees, else through Spark."""
    if "://" not in path and not is_connect(spark):
        found = list_files(Path(path))
        return _Files([str(file.resolve()) for file in found], list(local_identity(found)), are_local=True)
    rows = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .load(_literal(path))
        .selectExpr("path", "length", "cast(modificationTime as string) as changed")
        .collect()
    )
    listed = sorted((decoded_path(row["path"]), row["length"], row["changed"]) for row in rows)
    listed = [entry for entry in listed if not Path(entry[0]).name.startswith((".", "_"))]
    if not listed:
        raise SourceError(f"{path}: the folder has no data files")
    return _Files([entry[0] for entry in listed], [list(entry) for entry in listed], are_local=False)


def _literal(path: str) -> str:
    """A path in which Spark finds no wildcards."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def _encode_text(spark: SparkSession, files: _Files, options: ReadOptions, name: str, key: str) -> EncodedTable:
    if not options.dialect.splits_at_newline_bytes:
        lines = _transcoded_lines(spark, files, options.dialect.encoding)
        options = replace(options, dialect=replace(options.dialect, encoding="utf-8"))
        layout = _find_layout(lines, None, options, files.paths[0])
    else:
        lines = _lines(spark, files)
        layout = _find_layout(lines, files, options, files.paths[0])
    plan_types = tuple(options.types.get(column) for column in layout.kept_names)
    staging = Staging()
    try:
        plan = RankPlan(
            tuple(layout.kept_names), plan_types, True, layout.is_json, options.limit, *_open_token(staging)
        )
        results = _run(lines.mapInArrow(text_parser(layout), PIECES), plan)
        if _cuts_a_record(results.surveys):
            # A quoted cell runs over the end of a split: read each file as one stream.
            results = _run(_whole_files(lines).mapInArrow(text_parser(layout), PIECES), plan)
        _refuse_errors(results.surveys)
        return _gather(results, plan, staging, key, name, "line", options)
    except BaseException:
        staging.abandon()
        raise


def _lines(spark: SparkSession, files: _Files) -> DataFrame:
    """The raw lines of the files with the split that each is from, in order within a split."""
    text = spark.read.option("lineSep", "\n").text([_literal(path) for path in files.paths])
    return text.selectExpr(
        "cast(value as binary) as line", "_metadata.file_path as file", "_metadata.file_block_start as start"
    )


def _transcoded_lines(spark: SparkSession, files: _Files, encoding: str) -> DataFrame:
    """The lines of files whose encoding cannot be cut at newline bytes: each file is read by one task."""
    whole = spark.read.format("binaryFile").load([_literal(path) for path in files.paths])
    return whole.selectExpr(f"explode(split(decode(content, '{encoding}'), '\\n')) as text", "path as file").selectExpr(
        "cast(regexp_replace(text, '^\\ufeff', '') as binary) as line", "file", "0L as start"
    )


def _whole_files(lines: DataFrame) -> DataFrame:
    """The same lines with every file in one partition and in its order, as one split."""
    ordered = lines.selectExpr("line", "file", "start", "monotonically_increasing_id() as number")
    in_order = ordered.repartition("file").sortWithinPartitions("file", "start", "number")
    return in_order.selectExpr("line", "file", "0L as start")


def _find_layout(lines: DataFrame, files: _Files | None, options: ReadOptions, where: str) -> TextLayout:
    try:
        if options.format == "jsonl":
            return json_layout(_json_names(lines, options), options, where)
        if files is not None and files.are_local:
            non_empty = [path for path in files.paths if Path(path).stat().st_size] or files.paths[:1]
            where = non_empty[0]
            head = next(read_chunks(Path(where), options.dialect.encoding, newline_bytes=True), b"")
        else:
            head = _first_lines(lines)
        return csv_layout(head, options, where)
    except BlockError as error:
        raise at_line(where, error) from None


def _first_lines(lines: DataFrame) -> bytes:
    first = lines.selectExpr("file").where("octet_length(line) > 0").agg({"file": "min"}).first()
    if first is None or first[0] is None:
        return b""
    path = first[0].replace("'", "\\'")
    rows = lines.where(f"file = '{path}' and start = 0").limit(_FIRST_LINES).collect()
    return b"".join(bytes(row["line"]) + b"\n" for row in rows)


def _json_names(lines: DataFrame, options: ReadOptions) -> list[str]:
    rows = lines.mapInArrow(json_name_finder(options.dialect.encoding), PIECES).toArrow()
    found = []
    for payload in rows.column("payload").to_pylist():
        fields, names = json.loads(payload)
        found.append((Survey(**fields), names))
    found.sort(key=lambda entry: (entry[0].file, entry[0].start))
    _refuse_errors([(survey, None) for survey, _ in found])
    return list(dict.fromkeys(name for _, names in found for name in names))


def _encode_rows(
    spark: SparkSession,
    frame: DataFrame,
    options: ReadOptions,
    name: str,
    *,
    key: str | None = None,
    with_files: bool = False,
    reuse: bool = True,
) -> EncodedTable:
    """Encode typed rows. Without files behind them nothing tells whether they changed, so no reuse."""
    names = list(frame.columns)
    refuse_repeated_names(names, name)
    keep = choose_columns(names, options, name)
    for position in keep:
        type_name = frame.schema[position].dataType.simpleString()
        if type_name.startswith(_UNORDERED) and not type_name.startswith("interval day"):
            raise SourceError(
                f"{name}: column {names[position]!r} has type {type_name}, and laws are about single values",
                "Flatten it first, or leave it out with --columns.",
            )
    quoted = ["`" + names[position].replace("`", "``") + "`" for position in keep]
    origin = ("_metadata.file_path", "_metadata.row_index") if with_files else ("''", "spark_partition_id()")
    rows = frame.selectExpr(
        *(f"{column} as c{index}" for index, column in enumerate(quoted)),
        f"{origin[0]} as file",
        f"cast({origin[1]} as bigint) as start",
    )
    staging = Staging()
    try:
        kept = tuple(names[position] for position in keep)
        asked = tuple(options.types.get(column) for column in kept)
        plan = RankPlan(kept, asked, False, False, options.limit, *_open_token(staging))
        results = _run(rows.mapInArrow(row_parser(with_files), PIECES), plan)
        return _gather(results, plan, staging, key or uuid.uuid4().hex, name, "row", options)
    except BaseException:
        staging.abandon()
        raise


def _open_token(staging: Staging) -> tuple[str, str]:
    token = uuid.uuid4().hex
    (staging.folder / TOKEN_FILE).write_text(token, "utf-8")
    return str(staging.folder), token


@dataclass(frozen=True)
class _Results:
    """What the second step gave back: surveys in the order of the source, and a row for each column."""

    surveys: list[tuple[Survey, npt.NDArray[np.int64] | None]]
    columns: dict[int, dict[str, Any]]
    payloads: dict[int, tuple[bytes | None, bytes | None]]


def _run(pieces: DataFrame, plan: RankPlan) -> _Results:
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
    return _Results([(survey, runs) for _, survey, runs in surveys], columns, payloads)


def _cuts_a_record(surveys: Sequence[tuple[Survey, Any]]) -> bool:
    """Whether some split ends inside quotes and the file goes on after it.

    Every split was parsed as if it started outside of quotes. The first of a file does; so if each ends
    outside, all did, and the first that errs or ends inside was itself read right.
    """
    for index, (survey, _) in enumerate(surveys):
        if survey.error is not None:
            goes_on = index + 1 < len(surveys) and surveys[index + 1][0].file == survey.file
            return survey.ends_inside_quotes and goes_on
    return False


def _refuse_errors(surveys: Sequence[tuple[Survey, Any]]) -> None:
    lines_before, file = 0, None
    for survey, _ in surveys:
        if survey.file != file:
            lines_before, file = 0, survey.file
        if survey.error is not None:
            raise at_line(survey.file, BlockError(*survey.error), lines_before)
        lines_before += survey.lines


def _origins(results: _Results, unit: str, limit: int | None) -> Origins:
    """Rows to files and lines; a line number counts from the start of its file, not of its split."""
    files = sorted({survey.file for survey, _ in results.surveys if survey.file})
    index = {file: position for position, file in enumerate(files)}
    pieces = []
    lines_before, file = 0, None
    for survey, runs in results.surveys:
        if not survey.file or runs is None:
            continue
        if survey.file != file:
            lines_before, file = 0, survey.file
        shifted = runs.copy()
        shifted[:, 1] += lines_before
        pieces.append((index[survey.file], survey.rows, shifted))
        lines_before += survey.lines
    return Origins(tuple(files), unit, join_runs(pieces, limit))


def _gather(
    results: _Results,
    plan: RankPlan,
    staging: Staging,
    key: str,
    name: str,
    unit: str,
    options: ReadOptions,
) -> EncodedTable:
    """Bring the ranked columns into the staging folder and give it its place."""
    origins = _origins(results, unit, options.limit)
    rows = sum(survey.rows for survey, _ in results.surveys)
    rows = rows if options.limit is None else min(rows, options.limit)
    check_row_count(rows)
    columns = []
    for position, column_name in enumerate(plan.names):
        about = results.columns.get(position)
        if about is None:  # not a single row anywhere: no piece was ever made
            empty = plan.rank(position, [])
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
    return staging.publish(key, name, rows, columns, origins, options.to_dict())


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
    ranked = RankedColumn(column.type, np.frombuffer(ranks, np.int32), column_values, column.nulls)
    staging.write_column(position, ranked)
