"""How a Spark worker comes to the encoded table, and what it keeps for the tasks after.

No Spark is imported except to ask where shipped files were put.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from lawful.checks import Workspace
from lawful.common.errors import DamagedTableError
from lawful.common.meanings import NullPolicy
from lawful.tables.encoded_table import METADATA, ORIGINS, EncodedTable, checksum, ranks_file, values_file

_MOST_WORKSPACES = 2
_FORGET_AFTER = 2 * 86_400


@dataclass(frozen=True)
class TableReference:
    """How a worker finds a table: the driver's folder, and a digest that tells tables apart."""

    folder: str | None
    digest: str
    width: int

    @staticmethod
    def to(table: EncodedTable, *, shares_files: bool = True) -> TableReference:
        """Refer to a table that stands in a folder; without shared files, only by its digest."""
        assert table.folder is not None
        folder = str(table.folder) if shares_files else None
        return TableReference(folder, digest_of(table.folder), table.width)

    def shipped_names(self) -> dict[str, str]:
        """The files of the table, by the names under which they travel: one namespace holds them all."""
        kinds = (ranks_file, values_file)  # values are needed where a law compares columns, and to show rows
        files = [METADATA, ORIGINS, *(file(position) for file in kinds for position in range(self.width))]
        return {f"lawful-{self.digest}-{file.replace('/', '-')}": file for file in files}


def digest_of(folder: Path) -> str:
    """A digest of the metadata, which hold the checksums of all other files."""
    data = (folder / METADATA).read_bytes()
    return f"{checksum(data)}{len(data):x}"


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs besides the tasks."""

    table: TableReference
    null_policy: NullPolicy
    cache_bytes: int
    longest_chain: int | None = None


_workspaces: OrderedDict[WorkerSettings, Workspace] = OrderedDict()


def workspace_of(settings: WorkerSettings) -> Workspace | None:
    """The workspace of this process for a table, made at first use; None where the table is not here."""
    found = _workspaces.get(settings)
    if found is None:
        table = find_table(settings.table)
        if table is None:
            return None
        found = _workspaces[settings] = Workspace(
            table, settings.null_policy, settings.cache_bytes, settings.longest_chain
        )
        while len(_workspaces) > _MOST_WORKSPACES:
            _workspaces.popitem(last=False)
    _workspaces.move_to_end(settings)
    return found


def find_table(reference: TableReference) -> EncodedTable | None:
    """Look where the driver has the table, then on this node, then among the files that Spark shipped."""
    drivers = [Path(reference.folder)] if reference.folder is not None else []
    for folder in (*drivers, _node_folder() / reference.digest):
        with contextlib.suppress(OSError, DamagedTableError):
            if digest_of(folder) == reference.digest:
                return EncodedTable.open(folder, verify=False)
    shipped = _assemble(reference)
    return None if shipped is None else EncodedTable.open(shipped, verify=False)


def _assemble(reference: TableReference) -> Path | None:
    """Link the shipped files into one folder of this node, which all its workers then map."""
    from pyspark import SparkFiles

    sources = {file: Path(SparkFiles.get(name)) for name, file in reference.shipped_names().items()}
    if not all(source.exists() for source in sources.values()):
        return None
    target = _node_folder() / reference.digest
    staging = _node_folder() / f".writing-{uuid.uuid4().hex}"
    for file, source in sources.items():
        place = staging / file
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, place)
        except OSError:  # another file system
            shutil.copyfile(source, place)
    try:
        staging.rename(target)
    except OSError:  # another worker of this node was first
        shutil.rmtree(staging, ignore_errors=True)
    return target


def _node_folder() -> Path:
    """Where this user keeps shipped tables on this node."""
    folder = Path(tempfile.gettempdir()) / f"lawful-tables-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        # Someone else made it first: never read tables from there.
        return Path(tempfile.mkdtemp(prefix="lawful-tables-"))
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - entry.stat().st_mtime > _FORGET_AFTER:
                shutil.rmtree(entry, ignore_errors=True)
    return folder
