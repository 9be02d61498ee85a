"""Datasets of shuffled tables on any file system that Spark writes to: found again, and verified before use.

A dataset lies in a folder of its own under the key of its source. What is known of it, one line of JSON, is written
last and under the key alone: whoever finds it finds a whole dataset. Spark reads and writes everything, so that the
folder may be local, HDFS or an object store.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np

from lawful.common.column_names import ColumnNames
from lawful.common.errors import DamagedTableError, EngineError, SourceError
from lawful.tables.encoded_table import METADATA, Column, checksum, left_out_document
from lawful.tables.kept_tables import DATASET, datasets_folder, keep_hold, take_hold
from lawful.tables.origins import Origins
from lawful.tables.shuffled.data import Coding, ShuffledData
from lawful.tables.shuffled.table import ShuffledTable
from lawful.tables.spark_errors import translated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = f"{DATASET}2"
LOCATION_VARIABLE = "LAWFUL_SHUFFLE_DIR"


def root_folder() -> str:
    """Where datasets are kept: `LAWFUL_SHUFFLE_DIR`, which all nodes must see, else lawful's own cache."""
    given = os.environ.get(LOCATION_VARIABLE, "").strip().rstrip("/")
    if given:
        return given if "://" in given else Path(given).absolute().as_uri()
    folder = datasets_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder.as_uri()


@dataclass(frozen=True)
class Place:
    """Where a dataset is written: its folder, and the word of it under its key."""

    key: str
    folder: str
    word: str

    @staticmethod
    def new(key: str) -> Place:
        """A place that nobody else writes to."""
        root = root_folder()
        return Place(key, f"{root}/{key}/{uuid.uuid4().hex}", f"{root}/{key}/table")


def discard_dataset(location: str) -> None:
    """Remove a local dataset; elsewhere only those who own the file system can."""
    if (local := local_path(location)) is not None:
        shutil.rmtree(local, ignore_errors=True)
        shutil.rmtree(local.with_name("table"), ignore_errors=True)
        local.with_name(METADATA).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            local.parent.rmdir()


def write_word(spark: SparkSession, place: Place, document: Mapping[str, Any]) -> dict[str, Any]:
    """Tell of a dataset that is whole; give what was told."""
    members = {**document, "format": FORMAT, "folder": place.folder}
    told = {**members, "crc32": own_checksum(members)}
    text = json.dumps(told, ensure_ascii=True)
    with translated():
        spark.createDataFrame([(text,)], "value string").coalesce(1).write.mode("overwrite").text(place.word)
    if (local := local_path(place.folder)) is not None:  # `lawful cache` reads it without Spark, and locks it
        with contextlib.suppress(OSError):
            local.with_name(METADATA).write_text(text, encoding="utf-8")
    return told


def find_dataset(spark: SparkSession, key: str) -> ShuffledTable | None:
    """The table of this key, if it is there and whole."""
    word = f"{root_folder()}/{key}/table"
    try:
        with translated():
            lines = [row[0] for row in spark.read.text(word).collect()]
    except SourceError:  # there is nothing
        return None
    try:
        return open_dataset(spark, json.loads("".join(lines)))
    except (DamagedTableError, EngineError, SourceError, ValueError):
        return None


def open_dataset(spark: SparkSession, document: Mapping[str, Any], *, verify: bool = True) -> ShuffledTable:
    """Open a dataset by what is known of it.

    Raises
    ------
    DamagedTableError
        Where a file is missing or has another size, or the ranks are not those that were written.
    """
    folder = str(document.get("folder"))
    members = {name: value for name, value in document.items() if name != "crc32"}
    if document.get("format") != FORMAT or document.get("crc32") != own_checksum(members):
        raise _damaged(folder, "what is known of it does not match its checksum")
    columns = tuple(Column.from_dict(entry) for entry in document["columns"])
    left_out = {str(entry["name"]): str(entry["type"]) for entry in document["left_out"]}
    codings = [Coding.from_dict(entry["coding"]) for entry in document["columns"]]
    rows = int(document["rows"])
    data = ShuffledData(spark, folder, [column.type for column in columns], codings, rows)
    if verify:
        _verify(data, document)
    origins = document["origins"]
    table = ShuffledTable(
        str(document["name"]),
        rows,
        ColumnNames((column.name for column in columns), left_out),
        None,
        dict(document["settings"]),
        columns,
        Origins(tuple(origins["files"]), origins["unit"], np.array(origins["runs"], np.int64).reshape(-1, 3)),
        data=data,
        digest=f"{FORMAT} {rows} {document['ranks']}",
    )
    _use(table)
    return table


def _use(table: ShuffledTable) -> None:
    """Keep others from removing a local dataset as long as its table is used, and say that it was used."""
    local = local_path(table.dataset.location)
    lock = None if local is None else take_hold(local.parent)
    if local is not None and lock is not None:
        with contextlib.suppress(OSError):
            os.utime(local.with_name(METADATA))
        keep_hold(table, lock)


def document_of(
    data: ShuffledData,
    name: str,
    columns: list[Column],
    names: ColumnNames,
    settings: Mapping[str, Any],
    origins: Origins,
) -> dict[str, Any]:
    """What is known of a dataset, as plain JSON values."""
    described = zip(columns, data.codings, strict=True)
    return {
        "name": name,
        "rows": data.rows,
        "columns": [{**column.to_dict(), "coding": coding.to_dict()} for column, coding in described],
        "left_out": left_out_document(names),
        "settings": dict(settings),
        "origins": {"files": list(origins.files), "unit": origins.unit, "runs": origins.runs.tolist()},
        "files": files_of(data),
        "ranks": ranks_checksum(data),
    }


def files_of(data: ShuffledData) -> list[list[Any]]:
    """The files of ranks and values with their sizes, listed without being read."""
    folders = [f"{data.location}/ranks"]
    folders += [f"{data.location}/values/{n}" for n, coding in enumerate(data.codings) if coding.low is None]
    reader = data.spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
    with translated():
        listed = reader.load(folders).selectExpr("_metadata.file_path as path", "length").collect()
    return sorted([_within(row["path"], data.location), row["length"]] for row in listed)


def ranks_checksum(data: ShuffledData) -> list[int]:
    """A checksum of all ranks that does not depend on their order: found by one pass."""
    columns = ", ".join(f"c{column}" for column in range(data.width))
    texts = ("count(*)", "coalesce(min(row), 0)", "coalesce(max(row), 0)")
    mixed = f"coalesce(bit_xor(xxhash64(row, {columns})), 0L)"
    with translated():
        row = data.ranks.agg(*map(data.expr, (*texts, mixed))).collect()[0]
    return [int(value) for value in row]


def _verify(data: ShuffledData, document: Mapping[str, Any]) -> None:
    if files_of(data) != document["files"]:
        raise _damaged(data.location, "files are missing or have another size")
    found = ranks_checksum(data)
    if found != document["ranks"] or found[0] != data.rows:
        raise _damaged(data.location, "its ranks do not match their checksum")


def _within(path: str, location: str) -> str:
    """A file's path below a location; Spark writes `file:/` and `file:///` for the same."""
    found, base = (unquote(urlsplit(text).path) for text in (path, location))
    return found.removeprefix(base)


def local_path(location: str) -> Path | None:
    """Where a location is on this machine, None if it is elsewhere."""
    parts = urlsplit(location)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def own_checksum(members: Mapping[str, Any]) -> str:
    """The checksum of a document of plain JSON values."""
    return checksum(json.dumps(members, ensure_ascii=True, sort_keys=True).encode())


def _damaged(folder: str, reason: str) -> DamagedTableError:
    return DamagedTableError(f"the shuffled table {folder} is damaged: {reason}", "Encode the source again.")
