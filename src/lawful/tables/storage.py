"""Encoded tables on disk: written whole or not at all, found again, and kept within a limit.

A table is written into a hidden folder and takes its place by one rename, so that another process, or the one
after a crash, sees it whole or not at all. The folder's name is a digest of the source's identity and of every
setting that can change the table.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import socket
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.common.errors import DamagedTableError
from lawful.common.paths import cache_dir
from lawful.tables.encoded_table import (
    FORMAT,
    METADATA,
    ORIGINS,
    Column,
    EncodedTable,
    checksum,
    ranks_file,
    values_file,
    write_metadata,
)
from lawful.tables.origins import Origins
from lawful.tables.ranking import RankedColumn

_WRITING = ".writing-"
_LOCK = ".lock"
_DAY = 86_400
_STILL_FRESH = 3_600
_ATTEMPTS = 3
CACHE_LIMIT_VARIABLE = "LAWFUL_CACHE_LIMIT"
_DEFAULT_CACHE_LIMIT = 20 << 30


@dataclass(frozen=True)
class WrittenFile:
    """A file of a table: its name in the folder, size and checksum."""

    name: str
    bytes: int
    crc32: str


def tables_folder() -> Path:
    """Where encoded tables are kept between runs."""
    folder = cache_dir() / "tables"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def table_key(identity: Sequence[Any], settings: dict[str, Any]) -> str:
    """The digest of a source and the settings that it was read with."""
    document = json.dumps([FORMAT, list(identity), settings], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(document.encode()).hexdigest()[:32]


def find_table(key: str) -> EncodedTable | None:
    """The table of this key, if it is there and whole; a damaged one is moved out of the way."""
    folder = tables_folder() / key
    if not folder.is_dir():
        return None
    try:
        table = EncodedTable.open(folder)
    except DamagedTableError:
        _discard_if_damaged(folder)
        return None
    with contextlib.suppress(OSError):
        os.utime(folder / METADATA)  # the cache forgets what was not used for longest
    return table


class Staging:
    """A table that is being written, in a hidden folder beside its place."""

    def __init__(self, parent: Path | None = None) -> None:
        self.parent = parent or tables_folder()
        remove_leftovers(self.parent)
        self.folder = self.parent / f"{_WRITING}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}"
        for part in ("ranks", "values"):
            (self.folder / part).mkdir(parents=True, mode=0o700)
        self._files: dict[str, WrittenFile] = {}

    def write_column(self, position: int, column: RankedColumn) -> None:
        """Write a column that was ranked in this process."""
        self.add(write_column(self.folder, position, column))

    def add(self, files: Iterable[WrittenFile]) -> None:
        """Note files that stand in the folder under their final names."""
        for file in files:
            self._files[file.name] = file

    def publish(
        self,
        key: str,
        name: str,
        rows: int,
        columns: Sequence[Column],
        origins: Origins,
        settings: dict[str, Any],
    ) -> EncodedTable:
        """Give the table its place; where another process was first, its table is as good."""
        np.save(self.folder / ORIGINS, origins.runs)
        self.add([_written(self.folder, ORIGINS)])
        document = {
            "format": FORMAT,
            "name": name,
            "rows": rows,
            "columns": [column.to_dict() for column in columns],
            "settings": settings,
            "origins": {"files": list(origins.files), "unit": origins.unit},
            "files": {file.name: {"bytes": file.bytes, "crc32": file.crc32} for file in self._files.values()},
        }
        write_metadata(self.folder, document)
        target = self.parent / key
        for attempt in range(_ATTEMPTS):
            try:
                with _only_one_process(self.parent):
                    self.folder.rename(target)
                break
            except OSError:
                # Where a table stands already it is taken if it is whole, and else moved out of the way.
                theirs = find_table(key) if self.parent == tables_folder() else None
                if theirs is not None:
                    self.abandon()
                    return theirs
                if attempt == _ATTEMPTS - 1:
                    raise
        shrink_cache(keep=target)
        return EncodedTable.open(target, verify=False)

    def abandon(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def write_column(folder: Path, position: int, column: RankedColumn, suffix: str = "") -> list[WrittenFile]:
    """Write the two files of a column; tasks on Spark add a `suffix` so that repeated attempts never collide."""
    ranks, values = folder / (ranks_file(position) + suffix), folder / (values_file(position) + suffix)
    with ranks.open("wb") as out:
        np.save(out, column.ranks)
    with pa.OSFile(str(values), "wb") as sink:
        batch = pa.table({"value": column.values})
        with pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_table(batch)
    return [_written(folder, ranks_file(position), suffix), _written(folder, values_file(position), suffix)]


def _written(folder: Path, name: str, suffix: str = "") -> WrittenFile:
    path = folder / (name + suffix)
    return WrittenFile(name, path.stat().st_size, checksum(np.memmap(path, np.uint8, mode="r")))


@contextlib.contextmanager
def _only_one_process(parent: Path) -> Iterator[None]:
    """Wait until no other process moves a table in or out of this place."""
    with (parent / _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _discard_if_damaged(folder: Path) -> None:
    """Look once more before the table goes: another process may just have put a whole one in its place."""
    with _only_one_process(folder.parent):
        try:
            EncodedTable.open(folder)
        except DamagedTableError:
            discard(folder)


def discard(folder: Path) -> None:
    """Move a table out of the way at once, then remove it."""
    aside = folder.with_name(f"{_WRITING}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def remove_leftovers(parent: Path) -> None:
    """Remove what processes left behind that were killed while writing."""
    for folder in parent.glob(f"{_WRITING}*"):
        host, _, rest = folder.name.removeprefix(_WRITING).rpartition("-")[0].rpartition("-")
        is_dead = host == socket.gethostname() and rest.isdigit() and not _is_running(int(rest))
        with contextlib.suppress(OSError):
            if is_dead or time.time() - folder.stat().st_mtime > 2 * _DAY:
                shutil.rmtree(folder, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def cache_limit() -> int:
    """How many bytes the tables may take before the ones unused for longest are forgotten."""
    given = os.environ.get(CACHE_LIMIT_VARIABLE, "")
    return int(given) if given.isdecimal() else _DEFAULT_CACHE_LIMIT


def shrink_cache(keep: Path) -> None:
    """Forget the tables that were unused for longest, but none of the last hour: it may be in use."""
    tables = []
    for metadata in keep.parent.glob(f"*/{METADATA}"):
        with contextlib.suppress(OSError):
            size = sum(path.stat().st_size for path in metadata.parent.rglob("*") if path.is_file())
            tables.append((metadata.stat().st_mtime, size, metadata.parent))
    total = sum(size for _, size, _ in tables)
    for used, size, folder in sorted(tables):
        if total <= cache_limit():
            return
        if folder != keep and time.time() - used > _STILL_FRESH:
            discard(folder)
            total -= size
