"""Encoded tables on disk: written whole or not at all, found again, and kept within a limit.

A table is written into a hidden folder and takes its place by one rename, so that another process, or the one
after a crash, sees it whole or not at all. The folder's name is a digest of the source's identity and of every
setting that can change the table.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import DamagedTableError
from lawful.tables.encoded_table import (
    FORMAT,
    METADATA,
    ORIGINS,
    Column,
    EncodedTable,
    checksum,
    left_out_document,
    ranks_file,
    values_file,
    write_metadata,
)
from lawful.tables.kept_tables import (
    aside_name,
    discard,
    keep_hold,
    only_one_process,
    release,
    remove_leftovers,
    shrink_cache,
    tables_folder,
    take_hold,
)
from lawful.tables.origins import Origins
from lawful.tables.ranking import RankedColumn
from lawful.tables.text_values import TYPES_THAT_ARE_FOUND

_ATTEMPTS = 3


@dataclass(frozen=True)
class WrittenFile:
    """A file of a table: its name in the folder, size and checksum."""

    name: str
    bytes: int
    crc32: str


def table_key(identity: Sequence[Any], settings: dict[str, Any]) -> str:
    """The digest of a source and the settings that it was read with."""
    document = json.dumps([FORMAT, TYPES_THAT_ARE_FOUND, list(identity), settings], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(document.encode()).hexdigest()[:32]


def find_table(key: str) -> EncodedTable | None:
    """The table of this key, if it is there and whole; a damaged one is moved out of the way."""
    folder = tables_folder() / key
    if not folder.is_dir():
        return None
    with contextlib.ExitStack() as unless_it_is_whole:
        lock = take_hold(folder)
        unless_it_is_whole.callback(release, lock)
        try:
            table = keep_hold(EncodedTable.open(folder), lock)
        except DamagedTableError:
            _discard_if_damaged(folder)
            return None
        unless_it_is_whole.pop_all()
    with contextlib.suppress(OSError):
        os.utime(folder / METADATA)  # the cache forgets what was not used for longest
    return table


class Staging:
    """A table that is being written, in a hidden folder beside its place."""

    def __init__(self) -> None:
        self.parent = tables_folder()
        remove_leftovers(self.parent)
        self.folder = self.parent / aside_name()
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
        names: ColumnNames,
    ) -> EncodedTable:
        """Give the table its place; where another process was first, its table is as good."""
        np.save(self.folder / ORIGINS, origins.runs)
        self.add([_written(self.folder, ORIGINS)])
        document = {
            "format": FORMAT,
            "name": name,
            "rows": rows,
            "columns": [column.to_dict() for column in columns],
            "left_out": left_out_document(names),
            "settings": settings,
            "origins": {"files": list(origins.files), "unit": origins.unit},
            "files": {file.name: {"bytes": file.bytes, "crc32": file.crc32} for file in self._files.values()},
        }
        write_metadata(self.folder, document)
        target = self.parent / key
        with contextlib.ExitStack() as unless_it_is_ours:
            lock = take_hold(self.folder)  # before others see the table
            unless_it_is_ours.callback(release, lock)
            if (theirs := self._take_place(target)) is not None:
                return theirs
            unless_it_is_ours.pop_all()
        table = keep_hold(EncodedTable.open(target, verify=False), lock)
        shrink_cache(keep=target)
        return table

    def _take_place(self, target: Path) -> EncodedTable | None:
        """Move the folder to its place; or give the table that stands there, if it is whole."""
        for attempt in range(_ATTEMPTS):
            try:
                with only_one_process(self.parent):
                    self.folder.rename(target)
                break
            except OSError:
                # Where a table stands already it is taken if it is whole, and else moved out of the way.
                if (theirs := find_table(target.name)) is not None:
                    self.abandon()
                    return theirs
                if attempt == _ATTEMPTS - 1:
                    raise
        return None

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


def _discard_if_damaged(folder: Path) -> None:
    """Look once more before the table goes: another process may just have put a whole one in its place."""
    with only_one_process(folder.parent):
        try:
            EncodedTable.open(folder)
        except DamagedTableError:
            discard(folder)
