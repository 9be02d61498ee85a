"""Arrays as bytes, and files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lawful.common.errors import SourceError

Arrays = dict[str, npt.NDArray[Any]]

_COUNT = struct.Struct("<Q")


def packed(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Arrays one after the other, behind a list of what they are; NumPy's own archives take ten times as long."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    head = json.dumps(listed).encode()
    return b"".join([_COUNT.pack(len(head)), head, *(array.tobytes() for array in plain.values())])


def unpacked(payload: bytes) -> Arrays:
    """Read what `packed` gave."""
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


def write_array(path: Path, array: npt.NDArray[Any]) -> dict[str, Any]:
    """Write an array to a new file, and flush it; return what is to be noted of it."""
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    data: Any = np.memmap(path, np.uint8, mode="r")
    return {"crc32": zlib.crc32(data)}


def write_durably(target: Path, data: bytes) -> None:
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
    flush(target.parent)


def flush(folder: Path) -> None:
    """Make renames in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def telling(folder: Path, hint: str) -> Iterator[None]:
    """Turn a full or read-only disk into an error of ours."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write to {folder}: {error.strerror or error}", hint) from None
