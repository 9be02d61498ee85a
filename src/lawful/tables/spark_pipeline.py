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
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lawful.tables.encoded_table import EncodedTable
from lawful.tables.files import format_of, read_chunks, spark_unpacks
from lawful.tables.json_text import JsonNames
from lawful.tables.left_out import choose_ordered_columns
from lawful.tables.local_pipeline import (
    as_arrow,
    at_line,
    encode_arrow,
    encode_arrow_into_folder,
    find_csv_layout,
    refuse_repeated_names,
    refuse_unreadable,
)
from lawful.tables.options import ReadOptions
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
from lawful.tables.spark_gathering import Results, Target, cuts_a_record, gather, refuse_errors
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
from lawful.tables.storage import Staging, find_table, table_key
from lawful.tables.text_blocks import BlockError
from lawful.tables.text_layout import TextLayout, add_names, csv_layout, json_layout

HOW_TO_RENAME = "Rename one first: frame.toDF(...) names all columns, and a query can say AS."

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
        return _encode_rows(
            parquet_rows(spark, files, options.columns), options, Path(path).name, key=key, files=files
        ).table
    return _encode_text(spark, files, options, key)


def _fresh_key() -> str:
    return uuid.uuid4().hex


class TextSource(NamedTuple):
    """The lines of text files, or with an `encoding` their whole contents, and what columns they have."""

    frame: DataFrame
    layout: TextLayout
    encoding: str | None


def text_source(spark: SparkSession, files: SparkFiles, options: ReadOptions) -> TextSource:
    """Find the lines of text files, or their contents if they cannot be cut into lines, and their columns."""
    encoding = None
    if options.dialect.splits_at_newline_bytes and all(map(spark_unpacks, files.paths)):
        source = lines_of(spark, files)
    else:
        encoding = options.dialect.encoding
        source = contents_of(spark, files)
        options = replace(options, dialect=replace(options.dialect, encoding="utf-8"))
    return TextSource(source, _find_layout(spark, source, files, options, encoding), encoding)


def _encode_text(spark: SparkSession, files: SparkFiles, options: ReadOptions, key: str) -> EncodedTable:
    source, layout, encoding = text_source(spark, files, options)
    plan_types = tuple(options.types.get(column) for column in layout.kept_names)
    staging = Staging()
    try:
        plan = RankPlan(
            tuple(layout.kept_names), plan_types, True, layout.is_json, options.limit, *_open_token(staging)
        )
        with readable(files.local):
            results = _run(source.mapInArrow(text_parser(layout, encoding), PIECES), plan, files)
        if cuts_a_record(results.needed(options.limit)):
            # A quoted cell runs over the end of a split: read each file as one stream.
            results = _run(as_whole_files(source).mapInArrow(text_parser(layout), PIECES), plan, files)
        refuse_errors(results.needed(options.limit))
        target = Target(key, Path(files.source).name, "line", options.to_dict(), layout.kept_names)
        return gather(results, plan, staging, target)
    except BaseException:
        staging.abandon()
        raise


@contextmanager
def readable(files: Sequence[Path]) -> Iterator[None]:
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
    refuse_errors([replace(survey, file=files.shown(survey.file)) for survey, _ in found])
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
    refuse_repeated_names(names, where, HOW_TO_RENAME)
    kept = choose_ordered_columns(names, unordered_types(frame), options, where)
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
        target = Target(key or _fresh_key(), name, "row", options.to_dict(), kept)
        table = gather(results, plan, staging, target)
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
        refuse_repeated_names(names, "dataframe", HOW_TO_RENAME)
        kept = choose_ordered_columns(names, unordered_types(frame), options, "dataframe")
        frame, columns = _by_place(frame, kept)
        return encode_arrow(frame.select(*columns).toArrow().rename_columns(list(kept)), options, names=kept)


def _by_place(frame: DataFrame, kept: Sequence[str]) -> tuple[DataFrame, list[str]]:
    """The frame with its columns named by their places, and those to keep: to Spark `a` and `A` are one name."""
    places = {name: f"c{position}" for position, name in enumerate(frame.columns)}
    return frame.toDF(*places.values()), [places[name] for name in kept]


def unordered_types(frame: DataFrame) -> dict[str, str]:
    """The columns of a frame whose values have no order, with their types."""
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    return {
        name: type_
        for name, type_ in types.items()
        if type_.startswith(_UNORDERED) and not type_.startswith(_ORDERED_INTERVALS)
    }


def _open_token(staging: Staging) -> tuple[str, str]:
    token = uuid.uuid4().hex
    (staging.folder / TOKEN_FILE).write_text(token, "utf-8")
    return str(staging.folder), token


def _run(pieces: DataFrame, plan: RankPlan, files: SparkFiles | None) -> Results:
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
    return Results([(survey, runs) for _, survey, runs in surveys], columns, payloads)
