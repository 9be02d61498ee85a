"""What a manifest has no room for: what batches did before the last ones, and where rows came from.

There is a line for each batch, and one for each run of rows that follow each other in a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.tables.living.living_table import RowOrigins
from lawful.tables.origins import Place
from lawful.tables.shuffled.data import functions_of
from lawful.tables.spark_errors import translated
from lawful.tables.spread.segments import Segment, Segments, to_join
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCHES = pa.schema([("version", pa.int64()), ("batch", pa.string()), ("entry", pa.string()), ("notes", pa.string())])
_RUNS = pa.schema([("row", pa.int64()), ("file", pa.string()), ("number", pa.int64()), ("unit", pa.string())])
_SPARK_TYPES = {pa.int64(): "bigint", pa.string(): "string"}

Told = tuple[dict[str, Any], dict[str, Any]]
"""What is told of a batch: its entry in the history, which has its `version` and its id (`batch`), and notes."""


@dataclass(frozen=True)
class PastSegments:
    """The segments of both datasets."""

    batches: tuple[Segment, ...] = ()
    runs: tuple[Segment, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of all of them."""
        return [segment.name for segment in (*self.batches, *self.runs)]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "batches": [segment.to_dict() for segment in self.batches],
            "runs": [segment.to_dict() for segment in self.runs],
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> PastSegments:
        """Read what `to_dict` wrote."""
        batches, runs = (tuple(map(Segment.from_dict, document[name])) for name in ("batches", "runs"))
        return PastSegments(batches, runs)


class Past:
    """Writes and reads both datasets.

    Parameters
    ----------
    spark, location
        The session, and the folder of the state.
    """

    def __init__(self, spark: SparkSession, location: str) -> None:
        self._spark = spark
        self._batches = Segments(spark, f"{location}/batches", _as_spark(_BATCHES), ())
        self._runs = Segments(spark, f"{location}/runs", _as_spark(_RUNS), ())

    def plus(self, before: PastSegments, told: Iterable[Told], origins: RowOrigins) -> PastSegments:
        """Add batches, and where rows came from; many segments become few."""
        lines = [
            {
                "version": entry["version"],
                "batch": entry["batch"],
                "entry": json.dumps(entry),
                "notes": json.dumps(notes),
            }
            for entry, notes in told
        ]
        batches = self._added(self._batches, before.batches, pa.Table.from_pylist(lines, _BATCHES), "version")
        return PastSegments(batches, self._added(self._runs, before.runs, _runs_table(origins), "row"))

    def _added(self, dataset: Segments, before: Sequence[Segment], lines: pa.Table, order: str) -> tuple[Segment, ...]:
        if not lines.num_rows:
            return tuple(before)
        with translated():
            segments = [*before, dataset.write(frame_of(self._spark, lines))]
            if (start := to_join(segments)) >= 0:
                joined = dataset.read(segments[start:]).drop("segment").coalesce(1).sortWithinPartitions(order)
                segments = [*segments[:start], dataset.write(joined)]
        return tuple(segments)

    def told(self, segments: PastSegments, since: int = 0) -> list[Told]:
        """What is told of the batches that made the versions after `since`, in their order."""
        if not segments.batches:
            return []
        with translated():
            lines = self._batches.read(segments.batches).where(f"version > {since}").orderBy("version")
            found = lines.select("entry", "notes").toArrow().to_pylist()
        return [(json.loads(line["entry"]), json.loads(line["notes"])) for line in found]

    def entry(self, segments: PastSegments, batch: str) -> dict[str, Any] | None:
        """The entry of a batch, by its id."""
        if not segments.batches:
            return None
        with translated():
            is_it = functions_of(self._spark).col("batch") == batch
            found = self._batches.read(segments.batches).where(is_it).select("entry").limit(1).collect()
        entry: dict[str, Any] | None = json.loads(found[0][0]) if found else None
        return entry

    def places(self, segments: PastSegments, ids: Sequence[int]) -> dict[int, Place]:
        """Where rows came from, by their ids."""
        expr = functions_of(self._spark).expr
        wanted = frame_of(self._spark, pa.table({"id": pa.array(ids, pa.int64())})).hint("broadcast")
        with translated():
            runs = self._runs.read(segments.runs).join(wanted, expr("row <= id"))
            last = runs.groupBy("id").agg(expr("max_by(struct(row, file, number, unit), row) as run"))
            found = last.selectExpr("id", "run.file", "run.number + id - run.row as number", "run.unit").collect()
        return {row["id"]: Place(row["file"], row["number"], row["unit"]) for row in found}

    def discard(self, names: Sequence[str]) -> None:
        """Remove segments, where that can be done; those that are not here are passed over."""
        for dataset in (self._batches, self._runs):
            dataset.discard(names)


def _as_spark(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {_SPARK_TYPES[field.type]}" for field in schema)


def _runs_table(origins: RowOrigins) -> pa.Table:
    """Where rows came from; those of a batch that is no file are one run, from 1."""
    tables = [_RUNS.empty_table()]
    for first, batch in zip(origins.starts, origins.batches, strict=True):
        runs = batch.runs if len(batch.runs) else np.array([[0, -1, 1]], np.int64)
        files = [batch.files[file] if file >= 0 else None for file in runs[:, 1].tolist()]
        unit = batch.unit if len(batch.runs) else "row"
        columns = [runs[:, 0] + first, files, runs[:, 2], [unit] * len(runs)]
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, _RUNS.types, strict=True)]
        tables.append(pa.Table.from_arrays(arrays, schema=_RUNS))
    return pa.concat_tables(tables)


@dataclass
class RowPlaces(RowOrigins):
    """Where rows came from: of the last batches this is known, and of others it is looked up when somebody asks."""

    look_up: Callable[[Sequence[int]], Mapping[int, Place]] = field(default=lambda _: {})
    found: dict[int, Place] = field(default_factory=dict)

    def learn(self, ids: Iterable[int]) -> None:
        """Look up all of some rows at once."""
        first = self.starts[0] if self.starts else None
        older = {id_ for id_ in ids if (first is None or id_ < first) and id_ not in self.found}
        if older:
            self.found |= self.look_up(sorted(older))

    def place(self, row_id: int) -> Place:
        """The file and line of a row, by its id."""
        self.learn([row_id])
        return self.found[row_id] if row_id in self.found else super().place(row_id)
