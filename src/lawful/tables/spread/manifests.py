"""Numbered manifests on any file system that Spark writes to: the next one makes a change happen.

A manifest is one line of JSON in a folder of its own, which carries its number and a token. Spark moves the file into
place when all of it is written, so it is there whole or not at all. Of two with one number that was written first
counts, for everybody: whoever comes second finds that out when it looks again, and has changed nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lawful.common.errors import DamagedTableError, SourceError
from lawful.tables.shuffled.storage import local_path, own_checksum
from lawful.tables.spark_errors import translated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANIFESTS = "manifests"
_NAME = re.compile(rf"/{MANIFESTS}/(\d{{10}})-([0-9a-f]{{32}})/part-")
_KEPT = 100
"""Manifests that are kept where old ones can be removed."""


@dataclass(frozen=True)
class WrittenFile:
    """A file below a folder: its path as Spark names it, when it was written, and its size."""

    path: str
    time: float
    size: int


def files_below(spark: SparkSession, folder: str) -> list[WrittenFile]:
    """The files that Spark has written whole below a folder, listed without being read."""
    reader = spark.read.format("binaryFile").option("pathGlobFilter", "part-*").option("recursiveFileLookup", "true")
    with translated():
        listed = reader.load(folder).select("path", "modificationTime", "length").collect()
    return [WrittenFile(row[0], row[1].timestamp(), row[2]) for row in listed]


class Manifests:
    """The manifests of one state.

    Parameters
    ----------
    spark
        The session.
    location
        The folder of the state, as Spark names it.
    """

    def __init__(self, spark: SparkSession, location: str) -> None:
        self._spark, self._location = spark, location

    @property
    def _folder(self) -> str:
        return f"{self._location}/{MANIFESTS}"

    def latest(self) -> dict[str, Any]:
        """The manifest that counts.

        Raises
        ------
        SourceError
            If there is none.
        DamagedTableError
            If it is not as it was written.
        """
        found = self._listed()
        if not found:
            raise SourceError(f"{self._location} holds no state", "Make one with --from TABLE.")
        with translated():
            text = "".join(row[0] for row in self._spark.read.text(found[-1]).collect())
        return _opened(text, self._location)

    def last_number(self) -> int:
        """The number of the manifest that counts, -1 if there is none."""
        found = self._listed()
        return _number(found[-1])[0] if found else -1

    def write(self, number: int, document: Mapping[str, Any]) -> None:
        """Make a change happen.

        Raises
        ------
        SourceError
            If somebody else has written a manifest of this number, or a later one.
        """
        if self.last_number() >= number:
            raise _overtaken(self._location)
        token = uuid.uuid4().hex
        members = {**document, "number": number}
        text = json.dumps({**members, "crc32": own_checksum(members)}, ensure_ascii=True)
        with translated():
            frame = self._spark.createDataFrame([(text,)], "value string").coalesce(1)
            frame.write.text(f"{self._folder}/{number:010d}-{token}")
        if not any(_number(path) == (number, token) for path in self._listed()):
            raise _overtaken(self._location)

    def discard_old(self, number: int) -> None:
        """Remove manifests that nobody needs any more, where that can be done."""
        if (folder := local_path(self._folder)) is not None:
            for old in folder.iterdir():
                if old.name[:10].isdigit() and int(old.name[:10]) < number - _KEPT:
                    shutil.rmtree(old, ignore_errors=True)

    def _listed(self) -> list[str]:
        """The manifests that count, one for each number, in the order of these."""
        try:
            files = files_below(self._spark, self._folder)
        except SourceError:  # there is no such folder
            return []
        named = [file for file in files if _NAME.search(file.path)]
        first: dict[int, str] = {}
        for file in sorted(named, key=lambda file: (_number(file.path)[0], file.time, file.path)):
            first.setdefault(_number(file.path)[0], file.path)
        return list(first.values())


def _number(path: str) -> tuple[int, str]:
    found = _NAME.search(path)
    assert found is not None
    return int(found[1]), found[2]


def _opened(text: str, location: str) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(text)
        members = {name: value for name, value in document.items() if name != "crc32"}
        if document["crc32"] == own_checksum(members):
            return members
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedTableError(
        f"the state {location} is damaged: its manifest does not match its checksum",
        "Restore a copy of the folder, or make the state anew.",
    )


def _overtaken(location: str) -> SourceError:
    return SourceError(
        f"another process has changed {location} meanwhile", "Nothing was changed. Apply the batch again."
    )
