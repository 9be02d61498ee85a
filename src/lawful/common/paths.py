"""Where lawful may keep small files of its own between runs."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lawful.common.errors import UsageError
from lawful.common.machine import is_running


def cache_dir() -> Path:
    """Give the folder for files that can be made again, and create it readable by its owner only.

    It is the `lasting_cache_dir`. Where there is none, it is a folder that only this process, and those that it forks,
    know of, and that is removed when it ends.

    Raises
    ------
    OSError
        Where nothing can be written anywhere.
    """
    return lasting_cache_dir() or _folder_of_this_process()


def lasting_cache_dir() -> Path | None:
    """Give the folder that later processes find again, if there is one that nobody else can write to.

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
    return next((folder for folder in _usual_places() if make_private_folder(folder)), None)


def make_private_folder(folder: Path) -> bool:
    """Make a folder, or take the one that is there; tell whether only we can write to it: what lies in it is run."""
    return _make_private(folder) and _is_private(folder)


@cache
def _folder_of_this_process() -> Path:
    """Make a folder once, and remove it at the end; those of processes that were killed are removed as well."""
    beginning = f"lawful-{os.getuid()}-{socket.gethostname()}-"
    for left in Path(tempfile.gettempdir()).glob(f"{beginning}*"):
        pid = left.name.removeprefix(beginning).partition("-")[0]
        if pid.isdigit() and not is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{beginning}{os.getpid()}-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # and not one that it forked, which may end long before
        shutil.rmtree(folder, ignore_errors=True)


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
    try:
        temporary = tempfile.gettempdir()
    except FileNotFoundError:  # there is no place that can be written to
        return
    yield Path(temporary) / f"lawful-{os.getuid()}"


def _make_private(folder: Path) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _is_private(folder: Path) -> bool:
    """Tell whether nobody else can put a file there."""
    status = folder.lstat()
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
