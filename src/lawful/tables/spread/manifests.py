"""Numbered manifests on any file system that Spark writes to: the next one makes a change happen.

A manifest is one line of JSON in a folder of its own, which carries its number. It is there whole or not at all, and
once there is one of a number, all others of that number say the same. On a local folder the file system sees to that: a
manifest is linked to its place, which fails if there is one (`os.link`). Elsewhere writers agree on one of their
manifests by ballots (`ballots`), and only the one that is decided is written. Whoever comes second is told so, and has
changed nothing; if a writer died before its manifest was there, and it may be decided, the next writer writes it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import re
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import DamagedTableError, SourceError
from lawful.tables.shuffled.storage import local_path, own_checksum
from lawful.tables.spark_errors import translated
from lawful.tables.spread.ballots import Pause, Write, agreement, claim_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANIFESTS, BALLOTS = "manifests", "ballots"
_NAME = re.compile(rf"/{MANIFESTS}/(\d{{10}})-([0-9a-f]{{32}})/part-")
_KEPT = 100
"""Manifests that are kept where old ones can be removed."""
_ATTEMPTS, _LONGEST_PAUSE = 10, 0.5
"""How often a writer tries to get a manifest decided, and the first pause between, in seconds."""
_LINKED = "0" * 32


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
        return _opened(self._read_text(found[-1]), self._location)

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
        members = {**document, "number": number}
        text = json.dumps({**members, "crc32": own_checksum(members)}, ensure_ascii=True)
        local = local_path(self._folder)
        try:
            is_first = self._agreed(number, text) if local is None else _linked(local, number, text)
        except _NoLinksError:
            is_first = self._agreed(number, text)
        if not is_first:
            raise _overtaken(self._location)

    def _agreed(self, number: int, text: str) -> bool:
        """Let writers agree on a manifest, and write it; say whether it is this one."""
        token, folder = uuid.uuid4().hex, f"{self._location}/{BALLOTS}/{number:010d}"
        steps = agreement(token, text, _ATTEMPTS)
        answer: list[str] | None = None
        try:
            while True:
                step = steps.send(answer)
                answer = None
                match step:
                    case Write(name, proposal):
                        self._write_text(f"{folder}/{name}", proposal)
                    case Pause(times):
                        time.sleep(random.uniform(0, _LONGEST_PAUSE * 2**times))  # noqa: S311  # no secret
                    case _:
                        answer = [file.path.split("/")[-2] for file in files_below(self._spark, folder)]
        except StopIteration as end:
            decided: str = end.value
        if decided != token:
            names = [file.path.split("/")[-2] for file in files_below(self._spark, folder)]
            text = self._read_text(f"{folder}/{claim_of(decided, names)}")
        self._write_text(f"{self._folder}/{number:010d}-{uuid.uuid4().hex}", text)
        return decided == token

    def _write_text(self, folder: str, text: str) -> None:
        with translated():
            self._spark.createDataFrame([(text,)], "value string").coalesce(1).write.text(folder)

    def _read_text(self, folder: str) -> str:
        with translated():
            return "".join(row[0] for row in self._spark.read.text(folder).collect())

    def discard_old(self, number: int) -> None:
        """Remove manifests that nobody needs any more, where that can be done."""
        if (folder := local_path(self._folder)) is not None:
            for old in folder.iterdir():
                if old.name[:10].isdigit() and int(old.name[:10]) < number - _KEPT:
                    shutil.rmtree(old, ignore_errors=True)

    def _listed(self) -> list[str]:
        """The manifests that count, one for each number, in the order of these.

        Before writers agreed, there could be two of a number that differ. Of these the first counts.
        """
        try:
            files = files_below(self._spark, self._folder)
        except SourceError:  # there is no such folder
            return []
        named = [file for file in files if _NAME.search(file.path)]
        first: dict[int, str] = {}
        for file in sorted(named, key=lambda file: (_number(file.path)[0], file.time, file.path)):
            first.setdefault(_number(file.path)[0], file.path)
        return list(first.values())


class _NoLinksError(Exception):
    """A file system that has no links."""


def _linked(folder: Path, number: int, text: str) -> bool:
    """Put a manifest into its place, unless there is one."""
    place = folder / f"{number:010d}-{_LINKED}"
    if not folder.parent.is_dir():
        raise SourceError(
            f"this process does not see {folder.parent}, which Spark writes to",
            "Use a folder that both see, or one that is no local path, such as hdfs://HOST/FOLDER.",
        )
    place.mkdir(parents=True, exist_ok=True)
    fresh = place / f".{uuid.uuid4().hex}"
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, place / "part-00000.txt")
        for each in (place, folder):
            _flush(each)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise _NoLinksError from error
        raise SourceError(f"cannot write {place}: {error.strerror}", "Nothing was changed.") from error
    finally:
        fresh.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # they stay if anything is in them
            place.rmdir()
            folder.rmdir()
    # A writer that stood still while many others wrote may have taken a place that was freed (`discard_old`).
    newest = max(int(each.name[:10]) for each in folder.iterdir() if each.name[:10].isdigit())
    return newest <= number + _KEPT


def _flush(folder: Path) -> None:
    """See to it that what a folder names is still named after a crash of the machine, where that can be asked for."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


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
