"""The folder of a state: a base, and a log with one file for every batch since.

    STATE/state.json         format, settings, which base, its files with their sizes and checksums
    STATE/base-000012/       all that was true after batch 12: arrays, which are memory-mapped
    STATE/log/000013.batch   what batch 13 changed, and so on, without a gap
    STATE/history/           what batches 1 to 12 did, as Parquet (see `history`)
    STATE/writer.lock        held by whoever writes

A file is written beside its place, flushed to the disk and renamed. The rename of a batch's file is what makes the
batch happen: a process that is killed leaves the state before it or after it. Nothing that was written is ever changed.
A new base (`compact`) becomes the state by the rename of `state.json`; what it replaces is deleted after that. So a
base never takes the name of the one before it, even where both hold the same version.
Every batch's file names the checksum of the file before it, so that none can be lost from the middle or exchanged.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.errors import DamagedStateError, UsageError
from lawful.common.npy_files import map_npy
from lawful.maintenance.durable_files import (
    Arrays,
    flush,
    packed,
    telling,
    unpacked,
    write_array,
    write_durably,
)
from lawful.maintenance.writer_lock import LOCK, WriterLock

FORMAT = "lawful-state/1"
_MANIFEST, _LOG, _BASE, _HISTORY = "state.json", "log", "base-", "history"
_MAGIC = b"lawful-batch/1\n\0"
_HEADER = struct.Struct("<16sQII")
"""Magic, bytes of what follows, its checksum, the checksum of the file before."""
_DIGITS = 6
_BATCH_NAME = re.compile(r"[0-9]{6,}\.batch", re.ASCII)
_BASE_NAME = re.compile(r"base-[0-9]{6,}(-[0-9]+)?", re.ASCII)
_ARRAY_NAME = re.compile(r"[^/\\\0]+")
_MAKE_ANOTHER = "Restore it from a copy, or make a new one with lawful maintain STATE --from TABLE."


class LoggedBatch(NamedTuple):
    """A batch as the log has it: the version that it made, and its arrays."""

    version: int
    arrays: Arrays


class StateFiles:
    """Reads and writes the folder of a state; one writer at a time, and readers at any time.

    Attributes
    ----------
    document
        What `state.json` says beside its own affairs.
    version
        The last version that is on disk.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document: dict[str, Any] = {}
        self.version = 0
        self._base = ""
        self._base_version = 0
        self._last_checksum = 0
        self._crc32 = 0
        self._lock = WriterLock(folder)
        self._files: dict[str, Any] = {}
        self._size: int | None = None

    @staticmethod
    def exist(folder: Path) -> bool:
        """Whether a folder holds a state."""
        return (folder / _MANIFEST).is_file()

    def refuse_occupied(self) -> None:
        """Refuse a folder that holds anything but what a process left that was killed while it made this state.

        Raises
        ------
        UsageError
            So nothing is ever written over.
        """
        if StateFiles.exist(self.folder):
            raise UsageError(f"{self.folder} is a state already", "Go on with it, or name a new folder.")
        if os.path.lexists(self.folder) and not self._is_unfinished():
            raise UsageError(f"cannot make a state in {self.folder}: it is there, and not empty", "Name a new folder.")

    def _is_unfinished(self) -> bool:
        if not self.folder.is_dir():
            return False
        ours = (_LOG, LOCK, f"{_MANIFEST}.new")
        others = [path for path in self.folder.iterdir() if path.name not in ours]
        log = self.folder / _LOG
        return all(path.name.startswith(_base_name(0)) for path in others) and not (log.is_dir() and any(log.iterdir()))

    def create(self, document: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Make the folder with its first base, as version 0; the caller is its writer."""
        self.refuse_occupied()
        with telling(self.folder, "No state was made."):
            (self.folder / _LOG).mkdir(parents=True, exist_ok=True)
        self.take_lock()
        try:
            self.refuse_occupied()  # another process may have made it in the meantime
            with self._lock.writing():
                self.clean_up()
                self._write_base(document, arrays, 0, "No state was made.")
        except BaseException:
            self.close()
            raise

    def open(self) -> tuple[Arrays, list[LoggedBatch]]:
        """Read the base and all batches since; a reader that a compaction overtakes looks again."""
        manifest = self._read_manifest()
        while True:
            found, damage = None, None
            try:
                found = self._open(manifest)
            except DamagedStateError as error:
                damage = error
            overtaken_by = self._read_manifest()
            if overtaken_by == manifest:
                if found is None:
                    assert damage is not None
                    raise damage
                return found
            manifest = overtaken_by

    def take_lock(self, patience: float = 0.0) -> None:
        """Become the writer; while another one is, wait so many seconds."""
        self._lock.take(patience)

    def is_current(self) -> bool:
        """Whether the folder holds what this object has read or written last: no more, and no older copy of it."""
        is_same_base = self._read_manifest()["crc32"] == self._crc32
        return is_same_base and self._has_last_batch() and not self._log_file(self.version + 1).exists()

    def _has_last_batch(self) -> bool:
        if not self.batches_in_log:
            return True
        try:
            with self._log_file(self.version).open("rb") as file:
                header = file.read(_HEADER.size)
        except OSError:
            return False
        return len(header) == _HEADER.size and _HEADER.unpack(header)[2] == self._last_checksum

    def require_writer(self) -> None:
        """Refuse to go on with a state that is open only to be read."""
        self._lock.require()

    def close(self) -> None:
        """Let others write."""
        self._lock.let_go()

    def handed_over(self) -> StateFiles:
        """The same folder with its lock for whoever goes on; this object, which work may still have, cannot write."""
        fresh = StateFiles(self.folder)
        fresh._lock = self._lock.handed_over()
        return fresh

    def append(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the next batch; when this returns, it has happened."""
        payload = packed(arrays)
        checksum = zlib.crc32(payload)
        header = _HEADER.pack(_MAGIC, len(payload), checksum, self._last_checksum)
        target = self._log_file(self.version + 1)
        hint = "Nothing was changed: the state is as it was before this batch."
        with self._lock.writing(), telling(self.folder, hint):
            write_durably(target, header + payload)
        self.version += 1
        self._last_checksum = checksum
        if self._size is not None:
            self._size += len(header) + len(payload)

    def compact(self, document: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write a new base that holds everything up to this version, and delete what it replaces."""
        with self._lock.writing():
            self._write_base(document, arrays, self.version, "The state is as it was.")
            self.clean_up()

    def clean_up(self) -> None:
        """Delete what a killed writer has left, and what a new base has replaced."""
        self._size = None
        for path in self.folder.glob(f"{_BASE}*"):
            if path.name != self._base:
                shutil.rmtree(path, ignore_errors=True)
        (self.folder / f"{_MANIFEST}.new").unlink(missing_ok=True)
        for path in (self.folder / _LOG).iterdir():
            name = path.name.removesuffix(".new")
            if _BATCH_NAME.fullmatch(name) and (name != path.name or _number(path) <= self._base_version):
                path.unlink(missing_ok=True)
        listed = {segment_name(what, segment) for segment in self._history() for what in segment["crc32"]}
        for path in (self.folder / _HISTORY).glob("*.parquet*"):
            if path.name not in listed:
                path.unlink(missing_ok=True)

    def write_segment(self, name: str, data: bytes) -> None:
        """Write a file of the history; it counts from the next base on that lists it."""
        with self._lock.writing(), telling(self.folder, "The state is as it was."):
            (self.folder / _HISTORY).mkdir(exist_ok=True)
            write_durably(self.folder / _HISTORY / name, data)

    def read_segment(self, name: str, crc32: int) -> bytes:
        """Read a file of the history."""
        try:
            data = (self.folder / _HISTORY / name).read_bytes()
        except OSError as error:
            raise self._damaged(f"{name} of its history cannot be read: {error.strerror}") from None
        if zlib.crc32(data) != crc32:
            raise self._damaged(f"{name} of its history does not match its checksum")
        return data

    def current_history(self) -> tuple[list[dict[str, Any]], int]:
        """The segments as they are listed now, and the last version that this state needs of them."""
        listed: list[dict[str, Any]] = self._read_manifest()["document"].get("history", [])
        return listed, self._base_version

    def _history(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.document.get("history", [])
        return listed

    def size(self) -> int:
        """The bytes of all files, as far as this object knows of them: a log of a thousand is looked at once."""
        if self._size is None:
            self._size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        return self._size

    @property
    def batches_in_log(self) -> int:
        """How many batches were logged since the base was written."""
        return self.version - self._base_version

    def _open(self, manifest: dict[str, Any]) -> tuple[Arrays, list[LoggedBatch]]:
        self._size = None
        self._base, self._base_version = manifest["folder"], manifest["base"]
        self.version, self._crc32 = self._base_version, manifest["crc32"]
        self.document, self._files = manifest["document"], manifest["files"]
        self._last_checksum = manifest["last_checksum"]
        # A state may come from anyone, checksums and all: what it names must lie in its own folder.
        for name, form in [(self._base, _BASE_NAME), *((name, _ARRAY_NAME) for name in self._files)]:
            if not isinstance(name, str) or not form.fullmatch(name):
                raise self._damaged(f"{_MANIFEST} names {name!r}, which is no part of a state")
        arrays = {name: self._read_array(name, expected) for name, expected in self._files.items()}
        batches = list(self._read_log())
        return arrays, batches

    def _read_log(self) -> Iterator[LoggedBatch]:
        try:
            paths = list((self.folder / _LOG).iterdir())
        except OSError as error:
            raise self._damaged(f"its folder {_LOG} cannot be read: {error.strerror}") from None
        for number in sorted(_number(path) for path in paths if _BATCH_NAME.fullmatch(path.name)):
            if number <= self._base_version:
                continue
            path = self._log_file(number)
            if number != self.version + 1:
                raise self._damaged(f"{self._log_file(self.version + 1).name} is missing from its log")
            payload, checksum, before = self._read_batch(path)
            if before != self._last_checksum:
                raise self._damaged(f"{path.name} does not follow the batch before it")
            self.version, self._last_checksum = number, checksum
            yield LoggedBatch(number, unpacked(payload))

    def _read_batch(self, path: Path) -> tuple[bytes, int, int]:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise self._damaged(f"{path.name} cannot be read: {error.strerror}") from None
        if len(data) < _HEADER.size:
            raise self._damaged(f"{path.name} is cut off")
        magic, size, checksum, before = _HEADER.unpack_from(data)
        payload = data[_HEADER.size :]
        if magic != _MAGIC or size != len(payload) or zlib.crc32(payload) != checksum:
            raise self._damaged(f"{path.name} does not match its checksum")
        return payload, checksum, before

    def _read_manifest(self) -> dict[str, Any]:
        try:
            data = (self.folder / _MANIFEST).read_bytes()
            manifest = json.loads(data)
        except (FileNotFoundError, NotADirectoryError):
            if (self.folder / _LOG).is_dir():
                raise self._damaged(f"{_MANIFEST} is missing") from None
            raise UsageError(
                f"{self.folder} is not a state", "Make one with: lawful maintain STATE --from TABLE"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise self._damaged(f"{_MANIFEST} cannot be read: {error}") from None
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            found = manifest.get("format") if isinstance(manifest, dict) else None
            raise self._damaged(f"{_MANIFEST} has the format {found!r}, and this version of lawful reads {FORMAT!r}")
        if manifest.get("crc32") != _own_checksum(manifest) or data != _as_text(manifest):
            raise self._damaged(f"{_MANIFEST} does not match its checksum")
        return manifest

    def _read_array(self, name: str, expected: dict[str, Any]) -> npt.NDArray[Any]:
        path = self.folder / self._base / f"{name}.npy"
        try:
            data: Any = np.memmap(path, np.uint8, mode="r")
            if zlib.crc32(data) != expected["crc32"]:
                raise self._damaged(f"{name}.npy does not match its checksum")
            return map_npy(path)
        except (OSError, ValueError) as error:
            raise self._damaged(f"{name}.npy cannot be read: {error}") from None

    def _write_base(
        self, document: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]], version: int, hint: str
    ) -> None:
        target = self._unused_folder(version)
        fresh = target.with_name(target.name + ".new")
        with telling(self.folder, hint):
            try:
                fresh.mkdir()
                files = {name: write_array(fresh / f"{name}.npy", array) for name, array in arrays.items()}
                flush(fresh)
                fresh.rename(target)
            except OSError:
                shutil.rmtree(fresh, ignore_errors=True)  # on a full disk others want the room
                raise
            flush(self.folder)
            manifest: dict[str, Any] = {
                "format": FORMAT,
                "base": version,
                "folder": target.name,
                "last_checksum": self._last_checksum,
                "document": document,
                "files": files,
            }
            manifest["crc32"] = _own_checksum(manifest)
            write_durably(self.folder / _MANIFEST, _as_text(manifest))
        self.document, self._files = document, files
        self._base, self._base_version, self._crc32 = target.name, version, manifest["crc32"]

    def _unused_folder(self, version: int) -> Path:
        names = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
        paths = (self.folder / f"{_base_name(version)}{name}" for name in names)
        return next(path for path in paths if not path.exists() and not path.with_name(f"{path.name}.new").exists())

    def _log_file(self, number: int) -> Path:
        return self.folder / _LOG / f"{number:0{_DIGITS}d}.batch"

    def _damaged(self, reason: str) -> DamagedStateError:
        return DamagedStateError(
            f"the state {self.folder} is damaged: {reason}", f"Nothing was changed. {_MAKE_ANOTHER}"
        )


def segment_name(what: str, segment: Mapping[str, Any]) -> str:
    """The name of a file of the history: what it tells, and of which versions."""
    return f"{what}-{segment['first']:0{_DIGITS}d}-{segment['last']:0{_DIGITS}d}.parquet"


def _base_name(version: int) -> str:
    return f"{_BASE}{version:0{_DIGITS}d}"


def _number(path: Path) -> int:
    return int(path.stem)


def _own_checksum(manifest: dict[str, Any]) -> int:
    members = {name: value for name, value in manifest.items() if name != "crc32"}
    return zlib.crc32(json.dumps(members, ensure_ascii=True, sort_keys=True).encode())


def _as_text(manifest: dict[str, Any]) -> bytes:
    return json.dumps(manifest, ensure_ascii=True, indent=1).encode()
