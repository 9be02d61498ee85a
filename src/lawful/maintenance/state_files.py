"""The folder of a state: a base, and a log with one file for every batch since.

    STATE/state.json         format, settings, which base, its files with their sizes and checksums
    STATE/base-000012/       all that was true after batch 12: arrays, which are memory-mapped
    STATE/log/000013.batch   what batch 13 changed, and so on, without a gap
    STATE/writer.lock        held by whoever writes

A file is written beside its place, flushed to the disk and renamed. The rename of a batch's file is what makes the
batch happen: a process that is killed leaves the state before it or after it. Nothing that was written is ever changed.
A new base (`compact`) becomes the state by the rename of `state.json`; what it replaces is deleted after that. So a
base never takes the name of the one before it, even where both hold the same version.
Every batch's file names the checksum of the file before it, so that none can be lost from the middle or exchanged.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import itertools
import json
import math
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

from lawful.common.errors import DamagedStateError, SourceError, StateInUseError, UsageError

FORMAT = "lawful-state/1"
_MANIFEST, _LOG, _LOCK, _BASE = "state.json", "log", "writer.lock", "base-"
_MAGIC = b"lawful-batch/1\n\0"
_HEADER = struct.Struct("<16sQII")
"""Magic, bytes of what follows, its checksum, the checksum of the file before."""
_COUNT = struct.Struct("<Q")
_DIGITS = 6
_BATCH_NAME = re.compile(r"[0-9]{6,}\.batch", re.ASCII)
_MAKE_ANOTHER = "Restore it from a copy, or make a new one with lawful maintain STATE --from TABLE."

Arrays = dict[str, npt.NDArray[Any]]


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
        self._lock: io.TextIOWrapper | None = None
        self._files: dict[str, Any] = {}

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
        ours = (_LOG, _LOCK, f"{_MANIFEST}.new")
        others = [path for path in self.folder.iterdir() if path.name not in ours]
        log = self.folder / _LOG
        return all(path.name.startswith(_base_name(0)) for path in others) and not (log.is_dir() and any(log.iterdir()))

    def create(self, document: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Make the folder with its first base, as version 0; the caller is its writer."""
        self.refuse_occupied()
        with _telling(self.folder, "No state was made."):
            (self.folder / _LOG).mkdir(parents=True, exist_ok=True)
        self.take_lock()
        try:
            self.refuse_occupied()  # another process may have made it in the meantime
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

    def take_lock(self) -> None:
        """Become the writer.

        Raises
        ------
        StateInUseError
            If another process is.
        """
        with _telling(self.folder, "Nothing was changed."):
            lock = (self.folder / _LOCK).open("a", encoding="ascii")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise StateInUseError(
                f"another process is writing to {self.folder}", "Wait until it has ended; reading is always possible."
            ) from None
        self._lock = lock

    @property
    def is_writer(self) -> bool:
        """Whether this object may write."""
        return self._lock is not None

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def append(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the next batch; when this returns, it has happened."""
        assert self._lock is not None, "only the writer writes"
        payload = _packed(arrays)
        checksum = zlib.crc32(payload)
        header = _HEADER.pack(_MAGIC, len(payload), checksum, self._last_checksum)
        target = self._log_file(self.version + 1)
        with _telling(self.folder, "Nothing was changed: the state is as it was before this batch."):
            _write_durably(target, header + payload)
        self.version += 1
        self._last_checksum = checksum

    def compact(self, document: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write a new base that holds everything up to this version, and delete what it replaces."""
        assert self._lock is not None, "only the writer writes"
        self._write_base(document, arrays, self.version, "The state is as it was.")
        self.clean_up()

    def clean_up(self) -> None:
        """Delete what a killed writer has left, and what a new base has replaced."""
        for path in self.folder.glob(f"{_BASE}*"):
            if path.name != self._base:
                shutil.rmtree(path, ignore_errors=True)
        (self.folder / f"{_MANIFEST}.new").unlink(missing_ok=True)
        for path in (self.folder / _LOG).iterdir():
            name = path.name.removesuffix(".new")
            if _BATCH_NAME.fullmatch(name) and (name != path.name or _number(path) <= self._base_version):
                path.unlink(missing_ok=True)

    def size(self) -> int:
        """The bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    @property
    def batches_in_log(self) -> int:
        """How many batches were logged since the base was written."""
        return self.version - self._base_version

    def _open(self, manifest: dict[str, Any]) -> tuple[Arrays, list[LoggedBatch]]:
        self._base, self._base_version = manifest["folder"], manifest["base"]
        self.version = self._base_version
        self.document, self._files = manifest["document"], manifest["files"]
        self._last_checksum = manifest["last_checksum"]
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
            yield LoggedBatch(number, _unpacked(payload))

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
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise self._damaged(f"{name}.npy cannot be read: {error}") from None
        return np.asarray(array) if array.size else np.empty(array.shape, array.dtype)

    def _write_base(
        self, document: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]], version: int, hint: str
    ) -> None:
        target = self._unused_folder(version)
        fresh = target.with_name(target.name + ".new")
        with _telling(self.folder, hint):
            try:
                fresh.mkdir()
                files = {name: _write_array(fresh / f"{name}.npy", array) for name, array in arrays.items()}
                _flush(fresh)
                fresh.rename(target)
            except OSError:
                shutil.rmtree(fresh, ignore_errors=True)  # on a full disk others want the room
                raise
            _flush(self.folder)
            manifest = {
                "format": FORMAT,
                "base": version,
                "folder": target.name,
                "last_checksum": self._last_checksum,
                "document": document,
                "files": files,
            }
            manifest["crc32"] = _own_checksum(manifest)
            _write_durably(self.folder / _MANIFEST, _as_text(manifest))
        self.document, self._files = document, files
        self._base, self._base_version = target.name, version

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


def _base_name(version: int) -> str:
    return f"{_BASE}{version:0{_DIGITS}d}"


def _number(path: Path) -> int:
    return int(path.stem)


def _packed(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Arrays one after the other, behind a list of what they are; NumPy's own archives take ten times as long."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    head = json.dumps(listed).encode()
    return b"".join([_COUNT.pack(len(head)), head, *(array.tobytes() for array in plain.values())])


def _unpacked(payload: bytes) -> Arrays:
    (size,) = _COUNT.unpack_from(payload)
    place = _COUNT.size + size
    arrays: Arrays = {}
    for name, kind, shape in json.loads(payload[_COUNT.size : place]):
        dtype = np.dtype(kind)
        assert not dtype.hasobject, "a file must not name objects"
        count = math.prod(shape)
        arrays[name] = np.frombuffer(payload, dtype, count, place).reshape(shape)
        place += count * dtype.itemsize
    return arrays


def _own_checksum(manifest: dict[str, Any]) -> int:
    members = {name: value for name, value in manifest.items() if name != "crc32"}
    return zlib.crc32(json.dumps(members, ensure_ascii=True, sort_keys=True).encode())


def _as_text(manifest: dict[str, Any]) -> bytes:
    return json.dumps(manifest, ensure_ascii=True, indent=1).encode()


def _write_array(path: Path, array: npt.NDArray[Any]) -> dict[str, Any]:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    data: Any = np.memmap(path, np.uint8, mode="r")
    return {"crc32": zlib.crc32(data)}


def _write_durably(target: Path, data: bytes) -> None:
    """Write beside the target, flush, rename: the target is there whole or not at all."""
    fresh = target.with_name(target.name + ".new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    fresh.replace(target)
    _flush(target.parent)


def _flush(folder: Path) -> None:
    """Make renames in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _telling(folder: Path, hint: str) -> Iterator[None]:
    """Turn a full or read-only disk into an error of ours."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write to {folder}: {error.strerror or error}", hint) from None
