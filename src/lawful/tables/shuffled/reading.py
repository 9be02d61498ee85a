"""Texts that are encoded by shuffles: parsed once, written, and read as the type that fits the whole of each column.

Text files are parsed split by split and written as Parquet, so that rows can be numbered: how many rows each split has
is known afterwards. Then every part says which texts fit which types, the driver settles the types, and every part
turns its texts into keys (`order_keys`), which are written again. What was written goes once rows have their ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lawful.common.column_names import ColumnNames
from lawful.common.meanings import ColumnType
from lawful.tables.local_pipeline import not_convertible
from lawful.tables.options import ReadOptions
from lawful.tables.origins import Origins
from lawful.tables.ranking import NotConvertibleError, column_type
from lawful.tables.shuffled.data import functions_of, with_offsets
from lawful.tables.shuffled.order_keys import Reading
from lawful.tables.shuffled.text_tasks import MISFITS, ROWS, key_maker, misfit_finder, split_key, text_rows
from lawful.tables.shuffled.text_types import Misfit, settled
from lawful.tables.spark_files import SparkFiles, as_whole_files
from lawful.tables.spark_gathering import Results, cuts_a_record, origins_of, refuse_errors
from lawful.tables.spark_pipeline import readable, text_source
from lawful.tables.spark_tasks import Survey, read_runs, read_survey_text
from lawful.tables.text_layout import TextLayout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXTS, KEYS = "texts", "keys"
"""The folders for what is written on the way."""
_MOST_RUNS = 1_000_000
"""Cells with newlines, and blank lines, break the lines of rows into runs. If there are more, rows have numbers."""
_RUN_BYTES = 16


class TextRows(NamedTuple):
    """The rows of text files, ids (`row`) and texts (`c0`, …), what columns they have, and where they are from."""

    frame: DataFrame
    layout: TextLayout
    origins: Origins


def parsed_rows(spark: SparkSession, files: SparkFiles, options: ReadOptions, below: str) -> TextRows:
    """Parse text files into rows, written below a folder, and number them as they follow each other in the files."""
    source, layout, encoding = text_source(spark, files, options)
    folder, width = f"{below}/{TEXTS}", len(layout.keep)
    schema = ", ".join((ROWS, *(f"c{column} string" for column in range(width))))
    with readable(files.local):
        source.mapInArrow(text_rows(layout, encoding), schema).write.parquet(folder)
    surveys = _surveys(spark, folder)
    if cuts_a_record(_needed(surveys, options, files)):
        # A quoted cell runs over the end of a split: read each file as one stream.
        whole = as_whole_files(source).mapInArrow(text_rows(layout), schema)
        whole.write.mode("overwrite").parquet(folder)
        surveys = _surveys(spark, folder)
    refuse_errors(_needed(surveys, options, files))
    sizes = [(split_key(survey.file, survey.start), survey.rows) for survey in surveys]
    texts = spark.read.parquet(folder).where("about is null")
    rows = with_offsets(texts, sizes).selectExpr("first + place as row", *(f"c{column}" for column in range(width)))
    if options.limit is not None:
        rows = rows.where(f"row < {options.limit}")
    return TextRows(rows, layout, _origins(spark, folder, surveys, files, options.limit))


def _surveys(spark: SparkSession, folder: str) -> list[Survey]:
    told = spark.read.parquet(folder).where("about is not null").select("about").toArrow()
    surveys = [read_survey_text(about) for about in told.column("about").to_pylist()]
    return sorted(surveys, key=lambda survey: (survey.file, survey.start))


def _needed(surveys: Sequence[Survey], options: ReadOptions, files: SparkFiles) -> list[Survey]:
    shown = [(replace(survey, file=files.shown(survey.file)), np.zeros((0, 2), np.int64)) for survey in surveys]
    return Results(shown, {}, {}).needed(options.limit)


def _origins(
    spark: SparkSession, folder: str, surveys: Sequence[Survey], files: SparkFiles, limit: int | None
) -> Origins:
    """Where rows are from, by their lines as long as the driver has room for these, else by their places in files."""
    told = spark.read.parquet(folder).where("about is not null")
    (size,) = told.selectExpr("coalesce(sum(length(runs)), 0) as size").collect()[0]
    runs, unit = {}, "row"
    if size <= _MOST_RUNS * _RUN_BYTES:
        found = told.select("file", "runs").toArrow().to_pydict()
        runs, unit = dict(zip(found["file"], map(read_runs, found["runs"]), strict=True)), "line"
    else:
        firsts = {survey.file: survey.start for survey in reversed(surveys)}
        for survey in surveys:  # the rows of a file follow those of its first split
            own = [[0, 1]] if survey.start == firsts[survey.file] else []
            runs[split_key(survey.file, survey.start)] = np.array(own, np.int64).reshape(-1, 2)
    shown = [
        (replace(survey, file=files.shown(survey.file)), runs[split_key(survey.file, survey.start)])
        for survey in surveys
    ]
    return origins_of(Results(shown, {}, {}), unit, limit)


def retyped(rows: DataFrame, names: ColumnNames, options: ReadOptions) -> dict[int, ColumnType | None]:
    """The columns that are to have another type than their own, which is read from their texts."""
    if not options.types:
        return {}
    own = rows.limit(0).toArrow().schema
    asked = {column: options.types.get(name) for column, name in enumerate(names)}
    return {
        column: type_
        for column, type_ in asked.items()
        if type_ is not None and column_type(own.field(f"c{column}").type) is not type_
    }


def settled_readings(
    rows: DataFrame,
    names: ColumnNames,
    asked: Mapping[int, ColumnType | None],
    origins: Origins,
    *,
    is_json: bool = False,
) -> dict[int, Reading]:
    """How the texts of some columns are read: as the types asked for, or where that is None as all of them allow."""
    chosen = rows.select("row", *(f"c{column}" for column in asked))
    misfits = chosen.mapInArrow(misfit_finder(list(asked), is_json=is_json), MISFITS)
    first = functions_of(rows.sparkSession).expr("min(struct(row, text)) as first")
    found: dict[int, dict[str, Misfit]] = {column: {} for column in asked}
    for line in misfits.groupBy("column", "test").agg(first).toArrow().to_pylist():
        found[line["column"]][line["test"]] = Misfit(line["first"]["row"], line["first"]["text"])
    readings = {}
    for column, wanted in asked.items():
        try:
            readings[column] = settled(found[column], wanted)
        except NotConvertibleError as error:
            raise not_convertible(names[column], str(wanted), error, origins) from None
    return readings


def keyed_rows(
    spark: SparkSession, rows: DataFrame, readings: Mapping[int, Reading], below: str, *, is_json: bool = False
) -> DataFrame:
    """Write the rows below a folder, with the keys of their texts, and the texts where keys do not tell them."""
    types = {field.name: field.dataType.simpleString() for field in rows.schema}
    types |= {f"c{column}": reading.form.spark_type for column, reading in readings.items()}
    types |= {f"t{column}": "string" for column, reading in readings.items() if not reading.is_plain}
    schema = ", ".join(f"{name} {type_}" for name, type_ in types.items())
    folder = f"{below}/{KEYS}"
    rows.mapInArrow(key_maker(readings, is_json=is_json), schema).write.parquet(folder)
    return spark.read.parquet(folder)


def forget(spark: SparkSession, folder: str) -> None:
    """Free the room of what was written on any file system: Spark writes a table without rows over it."""
    spark.range(0).write.mode("overwrite").parquet(folder)
