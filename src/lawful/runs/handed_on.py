"""Events and rows put aside, handed on to files and tables outside a state: nothing twice and nothing lost.

They are made up from the state's own log. Each event has its place there (version and number), and the files say
how far they are: the last line of a file of events, the name of the last file of a quarantine. So they only catch up.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from lawful.common.errors import SourceError, UsageError
from lawful.maintenance.law_events import Event, Place
from lawful.runs.quarantine_tables import PREFIX, QuarantineTable
from lawful.tables.living.living_table import LivingTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BLOCK = 1 << 16
_ASIDE_NAME = re.compile(r"([0-9]{6,})\.jsonl", re.ASCII)
_BEGINNING: Place = (0, -1)

_MARK = ".upto"
"""The file of a quarantine that says how far it is, for those who take files away when they have read them."""

_reached: dict[Path, tuple[int, int]] = {}
"""The version up to which this process has written a file, and the size that it had then: as long as it has that, older
events need not be looked through again."""
_reached_tables: dict[tuple[str, str], int] = {}
"""The same of tables, by their names and those of the states."""

OnEvent = Callable[[dict[str, Any]], None]
"""Is given every event, some of them twice where a process was killed: each says its version and number."""


class Telling(Protocol):
    """A state as far as it tells what happened to laws."""

    @property
    def table(self) -> LivingTable:
        """The table, which knows its version."""

    @property
    def folder(self) -> str | Path:
        """Where the state is."""

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`."""


class Tellers(NamedTuple):
    """Whom to tell what happened to laws: a file of events, a folder or a table for rows put aside, a function.

    `spark` gives the session that has the table.
    """

    events: str | os.PathLike[str] | None = None
    quarantine: str | os.PathLike[str] | None = None
    on_event: OnEvent | None = None
    spark: Callable[[], SparkSession] | None = None

    def tell(self, state: Telling, since: int) -> None:
        """Bring files up to the state, and give the function all events of versions after `since`."""
        if self.events is not None:
            EventFile(Path(self.events)).catch_up(state)
        if (table := self._table(state)) is not None:
            _catch_up(table, state)
        elif self.quarantine is not None:
            QuarantineFolder(Path(self.quarantine)).catch_up(state)
        if self.on_event is not None:
            for event in state.events(since):
                self.on_event(event)

    def prepare(self, state: Telling) -> None:
        """Refuse a table for rows put aside that cannot take them, before anything is done."""
        table, version = self._table(state), state.table.version
        if table is None:
            return
        if _reached_tables.get((table.name, _name_of(state)), version + 1) > version:  # not known, or another state's
            _reached_tables.pop((table.name, _name_of(state)), None)
            table.prepare(_name_of(state), version)

    def _table(self, state: Telling) -> QuarantineTable | None:
        if self.quarantine is None or not is_table(self.quarantine):
            return None
        assert self.spark is not None, "whoever names a table has a session"
        name = os.fspath(self.quarantine).removeprefix(PREFIX)
        return QuarantineTable(self.spark(), name, state.table.names)


class EventFile:
    """A file of events as JSON lines.

    Parameters
    ----------
    path
        The file; it is made when the first event comes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()

    def catch_up(self, state: Telling) -> None:
        """Append all events that the file lacks; a last line that was cut off is written anew."""
        try:
            with self._path.open("r+b" if self._path.exists() else "w+b") as file:
                last = self._last_place(file)
                if last[0] > state.table.version:
                    raise UsageError(
                        f"{self._path} tells of version {last[0]}, and the state {state.folder} is at version "
                        f"{state.table.version}",
                        "The batch is in the state. Name a file of its own for the events of each state.",
                    )
                version, size = _reached.get(self._path, (0, -1))
                since = version if file.tell() == size else max(last[0] - 1, 0)
                file.writelines(_line(event) for event in state.events(since) if _place(event) > last)
                file.flush()
                os.fsync(file.fileno())
                _reached[self._path] = state.table.version, file.tell()
        except OSError as error:
            raise _not_written(self._path, error) from None

    def _last_place(self, file: IO[bytes]) -> Place:
        """The place of the last event; what is behind the last whole line is cut off."""
        end = file.seek(0, os.SEEK_END)
        if end == 0:
            return _BEGINNING
        tail = b""
        start = end
        while start > 0 and tail.count(b"\n", 0, -1) < 1:
            start = max(0, start - _BLOCK)
            file.seek(start)
            tail = file.read(end - start)
        whole = tail.rfind(b"\n") + 1
        file.truncate(start + whole)
        file.seek(start + whole)
        lines = tail[:whole].splitlines()
        if not lines:
            return _BEGINNING
        try:
            event = json.loads(lines[-1])
            return int(event["version"]), int(event["number"])
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{self._path} is there, and is no file of events", "Name another file.") from None


class QuarantineFolder:
    """A folder with a file of JSON lines for each version that rows were put aside from.

    Parameters
    ----------
    folder
        The folder; it is made when the first row comes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    def catch_up(self, state: Telling) -> None:
        """Write the files that are missing behind the last one; a file is there whole or not at all."""
        try:
            for version, rows in _put_aside(state, self._last_version()):
                self._folder.mkdir(parents=True, exist_ok=True)
                lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
                self._write(f"{version:06d}.jsonl", lines)
            if self._folder.is_dir():
                self._write(_MARK, str(state.table.version).encode())
        except OSError as error:
            raise _not_written(self._folder, error) from None

    def _write(self, name: str, data: bytes) -> None:
        fresh = self._folder / f"{name}.new"
        fresh.write_bytes(data)
        fresh.replace(self._folder / name)

    def _last_version(self) -> int:
        if not self._folder.is_dir():
            return 0
        names = (_ASIDE_NAME.fullmatch(path.name) for path in self._folder.iterdir())
        last = max((int(name[1]) for name in names if name), default=0)
        mark = self._folder / _MARK
        return max(last, int(mark.read_text("ascii"))) if mark.is_file() else last


def is_table(quarantine: str | os.PathLike[str]) -> bool:
    """Whether rows that are put aside go to a table of Spark's."""
    return os.fspath(quarantine).startswith(PREFIX)


def _catch_up(table: QuarantineTable, state: Telling) -> None:
    """Append the rows of all versions that a table lacks behind the last one."""
    name = _name_of(state)
    if aside := _put_aside(state, _reached_tables.pop((table.name, name), 0)):
        last = table.last_version(name)
        for version, rows in aside:
            if version > last:
                table.append(name, version, rows)
    _reached_tables[table.name, name] = state.table.version


def _name_of(state: Telling) -> str:
    """A name of a state that is the same wherever it is named from."""
    folder = str(state.folder)
    return folder if "://" in folder else str(Path(folder).absolute())


def _put_aside(state: Telling, since: int) -> list[tuple[int, list[dict[str, Any]]]]:
    """The rows that were put aside in the versions after `since`, version by version."""
    aside: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in state.events(since):
        if event["event"] == "aside":
            aside[event["version"]].append(_row(event))
    return sorted(aside.items())


def _place(event: Event) -> Place:
    return event["version"], event["number"]


def _line(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def _row(event: Event) -> dict[str, Any]:
    """A row that was put aside: its values, and what was wrong."""
    row = event["rows"][0]
    values = dict(row["values"])
    where = f"{row['unit']} {row['number']}" if row["file"] is None else f"{row['file']}, {row['unit']} {row['number']}"
    told = {"_law": event["law"], "_reason": event["reason"], "_place": where, "_batch": event["batch"]}
    return values | {_unused(name, values): value for name, value in told.items()}


def _unused(name: str, values: dict[str, Any]) -> str:
    while name in values:
        name = f"_{name}"
    return name


def _not_written(path: Path, error: OSError) -> SourceError:
    return SourceError(
        f"cannot write {path}: {error.strerror or error}",
        "The batch is in the state, and the file is brought up to it when the stream goes on.",
    )
