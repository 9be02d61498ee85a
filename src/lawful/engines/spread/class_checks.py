"""Laws that have to look at the rows of a class: whole classes meet in a task, and the ordinary checks judge them.

Functions that run in a task import no Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check, violating_rows
from lawful.common.arrays import Int64s
from lawful.common.errors import TooLargeError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.classes import LARGEST_CLASS, whole_classes
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.tables.living.text_rows import text_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TALLIES = (
    "t int, bucket int, rows bigint, pairs decimal(38, 0), witness array<struct<row bigint, cells array<string>>>, "
    "fresh array<struct<row bigint, cells array<string>>>, error string"
)
_SHOWN = pa.list_(pa.struct([("row", pa.int64()), ("cells", pa.list_(pa.string()))]))
_SCHEMA = pa.schema(
    [
        ("t", pa.int32()),
        ("bucket", pa.int32()),
        ("rows", pa.int64()),
        ("pairs", pa.decimal128(38, 0)),
        ("witness", _SHOWN),
        ("fresh", _SHOWN),
        ("error", pa.string()),
    ]
)
_KEYS = ("k0", "k1", "k2")
"""The law, the bucket and a hash of the class: classes that share one are checked together, which changes nothing."""
_ROWS_AT_ONCE = 500_000
_CACHE_BYTES = 64 << 20


def in_classes(lines: DataFrame) -> DataFrame:
    """Rows of lines that were added up (`row`, `cells`), in whole classes and sorted by them."""
    keys = [f"cast(t as bigint) as {_KEYS[0]}", f"cast(bucket as bigint) as {_KEYS[1]}", f"xxhash64(key) as {_KEYS[2]}"]
    rows = lines.selectExpr(*keys, "explode(rows) as row", "concat(key, rest) as cells")
    return rows.repartition(*_KEYS).sortWithinPartitions(*_KEYS)


def class_runner(
    laws: Sequence[KeptLaw], types: Sequence[ColumnType], null: NullPolicy, first_new: int, most_shown: int
) -> Runner:
    """A task that counts what breaks laws in whole classes, law by law and bucket by bucket."""
    by_number = {kept.number: kept for kept in laws}

    def judged(rows: pa.Table) -> Iterator[dict[str, Any]]:
        for number, bucket, part in _of_one_bucket(rows):
            told = _judge(by_number[number], part, types, null, first_new, most_shown)
            if told is not None:
                yield {"t": number, "bucket": bucket, **told, "error": None}

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: list[dict[str, Any]] = []
        law: int | None = None

        def noted() -> Iterator[pa.RecordBatch]:
            nonlocal law
            for batch in batches:
                law = batch.column(_KEYS[0])[batch.num_rows - 1].as_py() if batch.num_rows else law
                yield batch

        try:
            for rows in whole_classes(noted(), len(_KEYS), _ROWS_AT_ONCE):
                found += judged(rows)
        except TooLargeError:  # of the class that was read last
            error = f"more than {LARGEST_CLASS:,} rows agree on all columns that it compares by ="
            found = [dict.fromkeys(_SCHEMA.names) | {"t": law, "error": error}]
        yield pa.RecordBatch.from_pylist(found, schema=_SCHEMA)

    return run


def _of_one_bucket(rows: pa.Table) -> Iterator[tuple[int, int, pa.Table]]:
    """Cut sorted rows where the law or the bucket changes."""
    law, bucket = (rows.column(name).to_numpy() for name in _KEYS[:2])
    cuts = np.flatnonzero((np.diff(law) != 0) | (np.diff(bucket) != 0)) + 1
    edges = [0, *cuts.tolist(), len(law)]
    for start, end in pairwise(edges):
        yield int(law[start]), int(bucket[start]), rows.slice(start, end - start)


def _judge(
    kept: KeptLaw, rows: pa.Table, types: Sequence[ColumnType], null: NullPolicy, first_new: int, most_shown: int
) -> Mapping[str, Any] | None:
    """What breaks a law among rows, None if nothing does."""
    ids: Int64s = rows.column("row").to_numpy()
    cells = rows.column("cells").combine_chunks()
    texts = cells.flatten()
    width = len(kept.columns)
    columns = {
        column: texts.take(pa.array(np.arange(place, len(texts), width))) for place, column in enumerate(kept.columns)
    }
    view = text_rows(columns, types, rows.num_rows)
    workspace = Workspace(view, null, _CACHE_BYTES)
    verdict = check(CheckTask(0, kept.law, damage=True), view, workspace)
    if verdict.witness is None or verdict.damage is None:
        return None

    def shown(places: Sequence[int]) -> list[dict[str, Any]]:
        return [{"row": int(ids[place]), "cells": cells[place].as_py()} for place in places]

    breaking = np.unique(np.concatenate([own for _, own in violating_rows(kept.law, view, workspace)]))
    fresh = breaking[ids[breaking] >= first_new][:most_shown]
    return {
        "rows": verdict.damage.rows,
        "pairs": verdict.damage.pairs,
        "witness": shown(verdict.witness),
        "fresh": shown(fresh.tolist()),
    }
