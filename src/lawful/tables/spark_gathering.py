"""Gathering on the driver: what the tasks of an encoding gave back becomes the folder of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import SourceError
from lawful.tables.encoded_table import Column, EncodedTable, check_row_count
from lawful.tables.local_pipeline import at_line, not_convertible
from lawful.tables.origins import Origins, join_runs
from lawful.tables.ranking import NotConvertibleError, RankedColumn, dictionary_piece
from lawful.tables.spark_tasks import TOKEN_FILE, RankPlan, Survey
from lawful.tables.storage import Staging, WrittenFile
from lawful.tables.text_blocks import BlockError


@dataclass(frozen=True)
class Target:
    """What the encoded table is to be."""

    key: str
    name: str
    unit: str
    settings: dict[str, Any]
    names: ColumnNames


@dataclass(frozen=True)
class Results:
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
        """The surveys up to the one that fills the row limit; an error that comes after those rows does not matter."""
        rows = 0
        needed: list[Survey] = []
        for survey, _ in self.surveys:
            rows += survey.rows
            if limit is not None and rows >= max(limit, 1):
                return [*needed, replace(survey, error=None)]
            needed.append(survey)
        return needed


def cuts_a_record(surveys: Sequence[Survey]) -> bool:
    """Whether some split ends inside quotes and the file goes on after it.

    Every split was parsed as if it started outside of quotes. The first of a file does; so if each ends
    outside, all did, and the first that errs or ends inside was itself read right.
    """
    for index, survey in enumerate(surveys):
        if survey.error is not None:
            goes_on = index + 1 < len(surveys) and surveys[index + 1].file == survey.file
            return survey.ends_inside_quotes and goes_on
    return False


def refuse_errors(surveys: Sequence[Survey]) -> None:
    """Raise the first error of the source, with its line counted from the start of the file."""
    lines_before, file = 0, None
    for survey in surveys:
        if survey.file != file:
            lines_before, file = 0, survey.file
        if survey.error is not None:
            raise at_line(survey.file, BlockError(*survey.error), lines_before)
        lines_before += survey.lines


def origins_of(results: Results, unit: str, limit: int | None) -> Origins:
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


def gather(results: Results, plan: RankPlan, staging: Staging, target: Target) -> EncodedTable:
    """Bring the ranked columns into the staging folder and give it its place."""
    origins = origins_of(results, target.unit, plan.limit)
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
