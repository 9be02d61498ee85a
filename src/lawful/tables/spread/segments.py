"""Datasets that grow by segments, each partitioned in the same way, so that what a batch touches is read alone.

A segment is a folder that is written once. Which segments count is said by a manifest, so one that was written for a
batch that never happened is never read. A large segment lies in folders `segment=NAME/…/bucket=N`, a small one is one
file, in which bucket and the like are columns: a batch of a hundred rows would otherwise be hundreds of files.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from lawful.tables.shuffled.data import functions_of
from lawful.tables.shuffled.storage import local_path
from lawful.tables.spark_errors import translated
from lawful.tables.spread.manifests import files_below

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_MOST_SEGMENTS = 16
_MUCH_LARGER = 4
"""A segment so many times as large as all that came after it is left alone when those are joined."""


@dataclass(frozen=True)
class Segment:
    """What was written at once: its name, its parts, such as `bucket=3`, its size, and whether it is one file."""

    name: str
    parts: tuple[str, ...]
    bytes: int
    is_flat: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"name": self.name, "parts": list(self.parts), "bytes": self.bytes, "flat": self.is_flat}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Segment:
        """Read what `to_dict` wrote."""
        flat = bool(document.get("flat", False))
        return Segment(str(document["name"]), tuple(document["parts"]), int(document["bytes"]), flat)


class Segments:
    """One dataset.

    Parameters
    ----------
    spark, location
        The session, and the folder of the dataset.
    schema
        The columns of a line, but for those in the names of folders.
    by
        The columns in the names of folders, all whole numbers. Without such, a segment is one file.
    """

    def __init__(self, spark: SparkSession, location: str, schema: str, by: Sequence[str]) -> None:
        self._spark, self._location, self._by = spark, location, tuple(by)
        self._schema = ", ".join([schema, "segment string", *(f"{name} int" for name in by)])

    def write(self, frame: DataFrame, *, is_small: bool = False) -> Segment:
        """Write a frame as a new segment; the lines of a part go into one file, those of a small one all together."""
        name, is_flat = uuid.uuid4().hex, is_small and bool(self._by)
        folder = f"{self._location}/segment={name}"
        with translated():
            expr, others = functions_of(self._spark).expr, [each for each in frame.columns if each not in self._by]
            placed = frame.select(*others, *(expr(f"cast({each} as int) as {each}") for each in self._by))
            if is_flat or not self._by:
                placed.coalesce(1).write.parquet(folder)
            else:
                placed.repartition(*self._by).write.partitionBy(*self._by).parquet(folder)
        inside = f"/{self._by[0]}=" if self._by and not is_flat else ""
        files = [file for file in files_below(self._spark, folder) if inside in file.path]
        parts = self._parts_in(folder) if is_flat else {self._part_of(file.path) for file in files}
        return Segment(name, tuple(sorted(parts)), sum(file.size for file in files), is_flat)

    def _parts_in(self, folder: str) -> set[str]:
        """The parts that the lines of one file are of."""
        schema = ", ".join(f"{name} int" for name in self._by)
        with translated():
            lines = self._spark.read.schema(schema).parquet(folder).distinct().collect()
        return {"/".join(f"{name}={line[name]}" for name in self._by) for line in lines}

    def _part_of(self, path: str) -> str:
        return "/".join(unquote(urlsplit(path).path).split("/")[-1 - len(self._by) : -1])

    def read(self, segments: Iterable[Segment], parts: Collection[str] | None = None) -> DataFrame:
        """All lines of some segments, or only those of some parts."""
        folders, files = [], []
        for segment in segments:
            folder = f"{self._location}/segment={segment.name}"
            own = segment.parts if parts is None else [part for part in segment.parts if part in parts]
            if own and segment.is_flat:
                files.append(folder)
            elif own:
                folders += [folder] if parts is None else [f"{folder}/{part}" for part in own]
        with translated():
            reader = self._spark.read.schema(self._schema).option("basePath", self._location)
            if not folders and not files:
                return self._spark.createDataFrame([], self._schema)
            frames = [reader.parquet(*folders)] if folders else []
            if files:
                lines = reader.parquet(*files)
                frames.append(lines if parts is None else lines.where(self._is_of(parts)))
            return reduce(lambda one, other: one.unionByName(other), frames)

    def _is_of(self, parts: Collection[str]) -> Column:
        """A condition for the lines of some parts."""
        names = ", '/', ".join(f"'{name}=', {name}" for name in self._by)
        part: Column = functions_of(self._spark).expr(f"concat({names})")
        return part.isin(sorted(parts))

    def discard(self, names: Iterable[str]) -> None:
        """Remove segments, where that can be done; those that are not here are passed over."""
        if (folder := local_path(self._location)) is not None:
            for name in names:
                shutil.rmtree(folder / f"segment={name}", ignore_errors=True)


def parts_of(segments: Iterable[Segment]) -> set[str]:
    """The parts that some segments have together."""
    return {part for segment in segments for part in segment.parts}


def to_join(segments: Sequence[Segment]) -> int:
    """From which segment on to make one of all that follow, -1 if they are few enough.

    So a line is written again a few times, and not with every batch: those before are much larger than all that follow.
    """
    if len(segments) <= _MOST_SEGMENTS:
        return -1
    start = len(segments) - 2
    size = sum(segment.bytes for segment in segments[start:])
    while start > 0 and segments[start - 1].bytes <= _MUCH_LARGER * size:
        start -= 1
        size += segments[start].bytes
    return start


def bucket_text(values: str, buckets: int) -> str:
    """An expression for the bucket of an array of texts."""
    return f"cast(pmod(xxhash64({values}), {buckets}) as int)"


def texts_of(columns: Sequence[int]) -> str:
    """An expression for the texts of some columns."""
    return f"cast(array({', '.join(f'c{column}' for column in columns)}) as array<string>)"
