"""What tells that a file is still the one that was encoded, without reading all of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from lawful.common.errors import SourceError

_END_BYTES = 64 << 10


def local_identity(files: Sequence[Path]) -> list[list[Any]]:
    """Of each file its path, size, times of change, number on its disk, and a checksum of its two ends.

    Size and time of change alone are not enough: many tools set the time back (`touch -r`, `cp -p`, `rsync -t`). The
    time at which the system itself saw the last change cannot be set.
    """
    return [_identity_of(file) for file in files]


def _identity_of(file: Path) -> list[Any]:
    try:
        with file.open("rb") as opened:
            found = os.fstat(opened.fileno())
            ends = _checksum_of_ends(opened, found.st_size)
        path = str(file.resolve())
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror or error}") from None
    return [path, found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns, ends]


def _checksum_of_ends(opened: IO[bytes], size: int) -> str:
    """A checksum of the first and the last bytes, which are all of a small file."""
    digest = hashlib.blake2b(opened.read(_END_BYTES), digest_size=16)
    opened.seek(max(size - _END_BYTES, opened.tell()))
    digest.update(opened.read(_END_BYTES))
    return digest.hexdigest()
