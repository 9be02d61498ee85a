"""Java's classes kept ready on disk: a session that lawful starts is up in about half the time.

Spark loads some fifteen thousand classes before its first answer. Java can write those that a process used to a
file when it ends, checked and laid out, and later processes map that file (a dynamic class data archive). The first
session on a machine has it written, after the user's command has ended; later ones use it. Java itself refuses an
archive that does not fit its version or Spark's files, and then starts as ever. It does not survive one that was cut
short, so the name of an archive holds its size.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from lawful.common.paths import lasting_cache_dir

SWITCH = "LAWFUL_CLASS_ARCHIVE"
"""`off` in this variable of the environment keeps archives from being written and used."""

_UNSAFE = frozenset(" \t\n\"'\\")


@dataclass(frozen=True)
class ClassArchive:
    """What a Java process is told about the archive; `started` is to be called with its process id."""

    option: str | None
    started: Callable[[int], None]


def class_archive(java_home: Path) -> ClassArchive:
    """Decide between using the archive for this Java and this Spark, having it written, and neither."""
    nothing = ClassArchive(None, lambda _: None)
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return nothing
    try:
        lasting = lasting_cache_dir()
        if lasting is None:  # an archive is for sessions to come
            return nothing
        folder = lasting / "java"
        folder.mkdir(mode=0o700, exist_ok=True)
        return _archive_in(folder, _key(java_home)) or nothing
    except OSError:  # a disk that is full or not ours to write: it is only about speed
        return nothing


def _key(java_home: Path) -> str:
    import pyspark

    release = java_home / "release"
    parts = (
        str(java_home.resolve()),
        release.read_text(errors="replace") if release.is_file() else "",
        version("pyspark"),
        str(Path(pyspark.__file__).parent),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _archive_in(folder: Path, key: str) -> ClassArchive | None:
    if any(character in _UNSAFE for character in str(folder)):
        return None  # Spark cuts Java's options at blanks
    unfinished, maker = folder / f"{key}.unfinished", folder / f"{key}.maker"
    if maker.exists():
        if _is_alive(maker):
            return None
        # It has ended. If it was killed while writing, the file has no head, and Java will not take it.
        with suppress(FileNotFoundError):
            unfinished.rename(folder / f"{key}.{unfinished.stat().st_size}.jsa")
        maker.unlink(missing_ok=True)
    for finished in folder.glob(f"{key}.*.jsa"):
        if finished.name == f"{key}.{finished.stat().st_size}.jsa":
            return ClassArchive(f"-XX:SharedArchiveFile={finished} -Xshare:auto", lambda _: None)
        finished.unlink()
    try:
        with maker.open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:  # another process has just begun
        return None
    return ClassArchive(f"-XX:ArchiveClassesAtExit={unfinished}", lambda pid: _replace(maker, str(pid)))


def _is_alive(maker: Path) -> bool:
    try:
        os.kill(int(maker.read_text()), 0)
    except (ValueError, OSError):
        return False
    return True


def _replace(file: Path, text: str) -> None:
    with suppress(OSError):
        file.write_text(text)
