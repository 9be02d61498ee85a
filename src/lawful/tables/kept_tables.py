"""The encoded tables that are kept between runs: who uses one, which there are, and which are forgotten.

A process that uses a table holds a shared lock on its metadata as long as the table's value lives. Whoever wants
a table gone needs that lock for itself, so that no run loses a table that it has still to read.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import time
import uuid
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.common.errors import DamagedTableError, UsageError
from lawful.common.machine import is_running
from lawful.common.paths import cache_dir
from lawful.common.sizes import parse_size
from lawful.tables.encoded_table import METADATA, EncodedTable, read_metadata

WRITING = ".writing-"
DATASET = "lawful-shuffled/"
"""How the format of a dataset begins."""
_LOCK = ".lock"
_DAY = 86_400
_STILL_FRESH = 3_600
_SHORTEST_KEY = 8
CACHE_LIMIT_VARIABLE = "LAWFUL_CACHE_LIMIT"
_DEFAULT_CACHE_LIMIT = 20 << 30


def tables_folder() -> Path:
    """Where encoded tables are kept between runs."""
    folder = cache_dir() / "tables"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def can_keep_tables() -> bool:
    """Whether there is a place for tables at all: in some containers nothing can be written."""
    try:
        tables_folder()
    except OSError:
        return False
    return True


def cache_limit() -> int:
    """How many bytes the tables may take before the ones unused for longest are forgotten."""
    given = os.environ.get(CACHE_LIMIT_VARIABLE, "").strip()
    return parse_size(given, CACHE_LIMIT_VARIABLE) if given else _DEFAULT_CACHE_LIMIT


@dataclass(frozen=True)
class KeptTable:
    """A table that stands in the cache; one that is damaged, or of another version of lawful, has no name."""

    folder: Path
    bytes: int
    used: float
    name: str | None = None
    rows: int | None = None
    columns: int | None = None

    @property
    def key(self) -> str:
        """The digest that it is found by."""
        return self.folder.name

    @staticmethod
    def at(folder: Path) -> KeptTable:
        """Look at a table's folder."""
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        metadata = folder / METADATA
        used = (metadata if metadata.exists() else folder).stat().st_mtime
        try:
            document = _of_dataset(metadata) or read_metadata(folder)
            return KeptTable(folder, size, used, str(document["name"]), document["rows"], len(document["columns"]))
        except (DamagedTableError, KeyError, TypeError):
            return KeptTable(folder, size, used)


def kept_tables() -> list[KeptTable]:
    """All tables in the cache, the one used last in front."""
    found = []
    for folder in (*tables_folder().iterdir(), *_datasets()):
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        with contextlib.suppress(FileNotFoundError):  # another process has just removed it
            found.append(KeptTable.at(folder))
    return sorted(found, key=lambda table: (-table.used, table.key))


def datasets_folder() -> Path:
    """Where the datasets of shuffled tables are kept, unless all nodes share another place."""
    return cache_dir() / "shuffled"


def _datasets() -> Iterator[Path]:
    """The datasets that are here; each has a file of metadata, which says what it is, beside what Spark wrote."""
    folder = datasets_folder()
    return folder.iterdir() if folder.is_dir() else iter(())


def _of_dataset(metadata: Path) -> dict[str, Any] | None:
    """What a file of metadata says of a dataset, if it speaks of one."""
    try:
        document = json.loads(metadata.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_dataset = isinstance(document, dict) and str(document.get("format", "")).startswith(DATASET)
    return document if is_dataset else None


def chosen_tables(tables: Sequence[KeptTable], names: Sequence[str]) -> list[KeptTable]:
    """The tables of these names, or with keys that begin so."""
    chosen: list[KeptTable] = []
    for name in names:
        matching = [table for table in tables if table.name == name]
        if not matching and len(name) >= _SHORTEST_KEY:
            matching = [table for table in tables if table.key.startswith(name)]
        if not matching:
            raise UsageError(
                f"no table in the cache has the name {name!r}, or a key that begins so",
                f"`lawful cache` lists them; of a key, {_SHORTEST_KEY} characters are enough.",
            )
        chosen += [table for table in matching if table not in chosen]
    return chosen


def forget(folder: Path) -> bool:
    """Remove a table for good, unless some process uses it; give whether it has gone."""
    with only_one_process(folder.parent):
        lock = _lock_of(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is None and (folder / METADATA).exists():
            return False
        try:
            aside = _move_aside(folder)
        finally:
            release(lock)
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)
    return aside is not None


def take_hold(folder: Path) -> int | None:
    """A lock that keeps a table from being removed until it is closed; None where there is no table."""
    lock = _lock_of(folder, fcntl.LOCK_SH)
    if lock is None:
        return None
    try:
        is_still_there = os.path.samestat(os.fstat(lock), (folder / METADATA).stat())
    except OSError:
        is_still_there = False
    if is_still_there:
        return lock
    os.close(lock)
    return None


def release(lock: int | None) -> None:
    """Let a lock go."""
    if lock is not None:
        os.close(lock)


def keep_hold(table: EncodedTable, lock: int | None) -> EncodedTable:
    """Let the lock go when the table's value does."""
    weakref.finalize(table, release, lock)
    return table


def _lock_of(folder: Path, kind: int) -> int | None:
    """The lock of a table's metadata; None where there are none, or where others have a lock that does not allow it."""
    try:
        lock = os.open(folder / METADATA, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, kind)
    except OSError:
        os.close(lock)
        return None
    return lock


@contextlib.contextmanager
def only_one_process(parent: Path) -> Iterator[None]:
    """Wait until no other process moves a table in or out of this place."""
    with (parent / _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def aside_name() -> str:
    """A name that no table has, and that tells which process made the folder."""
    return f"{WRITING}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}"


def discard(folder: Path) -> None:
    """Move a table out of the way at once, whoever uses it, then remove it."""
    aside = _move_aside(folder)
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def _move_aside(folder: Path) -> Path | None:
    aside = folder.with_name(aside_name())
    try:
        folder.rename(aside)
    except OSError:
        return None
    return aside


def remove_leftovers(parent: Path) -> None:
    """Remove what processes left behind that were killed while writing."""
    for folder in parent.glob(f"{WRITING}*"):
        host, _, rest = folder.name.removeprefix(WRITING).rpartition("-")[0].rpartition("-")
        is_dead = host == socket.gethostname() and rest.isdigit() and not is_running(int(rest))
        with contextlib.suppress(OSError):
            if is_dead or time.time() - folder.stat().st_mtime > 2 * _DAY:
                shutil.rmtree(folder, ignore_errors=True)


def shrink_cache(keep: Path) -> None:
    """Forget the tables that were unused for longest, but none that is in use or was in the last hour.

    The hour is for workers on other machines that share the folder: not all file systems pass locks on.
    """
    tables = kept_tables()
    total, limit = sum(table.bytes for table in tables), cache_limit()
    for table in reversed(tables):
        if total <= limit:
            return
        is_fresh = time.time() - table.used <= _STILL_FRESH
        if table.folder != keep and not is_fresh and forget(table.folder):
            total -= table.bytes
