"""Where lawful may keep small files of its own between runs."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lawful.common.errors import UsageError


def cache_dir() -> Path:
    """Give the folder for files that can be made again, and create it readable by its owner only.

    `LAWFUL_CACHE` decides where it is set. Else it is `lawful` in `XDG_CACHE_HOME` or in `~/.cache`, and
    where no home can be written to, as in many containers, a private folder among the temporary files.
    """
    asked = os.environ.get("LAWFUL_CACHE")
    if asked:
        folder = Path(asked).expanduser().absolute()
        if not _make_private(folder):
            raise UsageError(
                f"LAWFUL_CACHE names {folder}, which is not a folder that can be written to.",
                "Name another folder in LAWFUL_CACHE, or unset it.",
            )
        return folder
    for folder in _usual_places():
        if _make_private(folder) and _is_private(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="lawful-"))


def _usual_places() -> Iterator[Path]:
    shared_cache = os.environ.get("XDG_CACHE_HOME", "")
    if Path(shared_cache).is_absolute():  # the XDG specification says to ignore relative paths
        yield Path(shared_cache) / "lawful"
    try:
        home = Path.home()
    except RuntimeError:  # no HOME, and the user is unknown to the system
        pass
    else:
        if home.is_dir():  # a home that does not exist is not ours to create
            yield home / ".cache" / "lawful"
    yield Path(tempfile.gettempdir()) / f"lawful-{os.getuid()}"


def _make_private(folder: Path) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _is_private(folder: Path) -> bool:
    """Tell whether nobody else can put a file there: what lies in it is run as a program."""
    status = folder.lstat()
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
