"""Verdicts on disk, so that a run that was killed goes on where it was.

What a discovery waits for are checks, and a verdict is a fact: it depends on the law, the table and the null policy and
on nothing else. So the state of a run is the verdicts that came in. They are appended to a log as they arrive; a run
that resumes thinks again from the start, is answered from the log wherever it can be, and so comes to the same end
whatever the moment it was killed at. This serves every strategy that asks an engine, and needs nothing of it.

A line of the log is a checksum and a JSON value: first the table and the settings that the log belongs to, then one
verdict per line. A line that does not match its checksum, such as the last one of a process that was killed, is passed
over: its law is checked again. A log that cannot be written any more, as on a full disk, ends the run as a limit does:
going on would be work that a kill destroys.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lawful.checks import CheckTask, RankedTable, Verdict
from lawful.common.errors import LawfulError, StoppedError, UsageError
from lawful.common.meanings import MEASURES, Measure
from lawful.dependencies import Law
from lawful.dependencies.documents import from_document, to_document
from lawful.engines.protocol import Checks

_FORMAT = "lawful checkpoint 1"
_SECONDS_BETWEEN_SYNCS = 2.0

Asked = tuple[Law, Measure | None]
Answer = tuple[bool, tuple[int, int] | None, int | None]


class Checkpoint:
    """A log of verdicts, open for one run at a time.

    Parameters
    ----------
    path
        The file.
    table, settings
        What the verdicts belong to: the ranks of the table, and everything of the question that changes the answer,
        as JSON values.
    resume
        Whether to go on from what is there. Without it a log that is not concluded is left alone, with an error.
    """

    def __init__(self, path: Path, table: RankedTable, settings: dict[str, Any], *, resume: bool) -> None:
        self.path = path
        self.verdicts: dict[Asked, Answer] = {}
        """What earlier runs have found."""
        self._names = [str(place) for place in range(table.width)]
        self._rows = table.rows
        self._lock = threading.Lock()
        self._synced = time.monotonic()
        self._file = _opened(path)
        header = {"format": _FORMAT, "table": fingerprint(table), "settings": settings}
        try:
            self._begin(header, resume)
        except BaseException:
            self._file.close()
            raise

    def append(self, asked: Asked, answer: Answer) -> None:
        """Write a verdict; it outlives this process from now on, and the machine a little later."""
        law, measure = asked
        document = to_document(law, self._names)
        del document["text"]
        self._write([document, measure, *answer])

    def close(self, *, is_complete: bool) -> None:
        """End the log; one of a complete run may be written over."""
        if is_complete:
            with contextlib.suppress(StoppedError):  # the answer is complete, whatever becomes of the log
                self._write({"complete": True})
        self._file.close()

    def _begin(self, header: dict[str, Any], resume: bool) -> None:
        lines, end = _intact_lines(self._file)
        if lines:
            found = lines[0]
            if not isinstance(found, dict) or found.get("format") != _FORMAT:
                raise UsageError(f"{self.path} is not a checkpoint", "Name another file.")
            is_concluded = lines[-1] == {"complete": True}
            if resume:
                self._require_same(found, header)
                self._remember(lines[1:])
                self._file.truncate(end)
                self._file.seek(end)
                return
            if not is_concluded:
                raise UsageError(
                    f"{self.path} is the checkpoint of a run that did not end",
                    "Go on with it by --resume, or remove the file.",
                )
        elif self._file.seek(0, os.SEEK_END) > 0 and not self._is_cut_header():
            raise UsageError(f"{self.path} is not a checkpoint", "Name another file.")
        self._file.truncate(0)
        self._file.seek(0)
        self._write(header)

    def _is_cut_header(self) -> bool:
        """Whether the file is what a run leaves that was killed while it wrote the first line."""
        self._file.seek(0)
        start = self._file.read(256)[9:]
        expected = _dumped({"format": _FORMAT})[:-1]
        return b"\n" not in start and (start.startswith(expected) or expected.startswith(start))

    def _require_same(self, found: dict[str, Any], header: dict[str, Any]) -> None:
        if found.get("table") != header["table"]:
            raise UsageError(
                f"{self.path} is the checkpoint of another table, or of this one read in another way",
                "Resume with the same table and reading options, or name another file.",
            )
        before, now = found.get("settings"), header["settings"]
        if before != now:
            before = before if isinstance(before, dict) else {}
            changed = [
                f"{name} was {before.get(name)!r} and is {now.get(name)!r}"
                for name in sorted({*before, *now})
                if before.get(name) != now.get(name)
            ]
            raise UsageError(
                f"{self.path} is the checkpoint of another question: {'; '.join(changed)}",
                "Resume with the same options, or name another file.",
            )

    def _remember(self, lines: list[Any]) -> None:
        for line in lines:
            read = self._read_verdict(line)
            if read is not None:
                self.verdicts[read[0]] = read[1]

    def _read_verdict(self, line: Any) -> tuple[Asked, Answer] | None:
        """Read a verdict; None if the line is no verdict on this table."""
        if not isinstance(line, list) or len(line) != 5:
            return None
        document, measure, holds, witness, violations = line
        if measure not in (None, *MEASURES) or not isinstance(holds, bool):
            return None
        if (measure is None) != (violations is None) or not isinstance(violations, int | None):
            return None
        try:
            law = from_document(document, self._names)
        except LawfulError:
            return None
        if measure is None and holds is not (witness is None):
            return None
        if witness is not None:
            if not isinstance(witness, list) or len(witness) != 2 or not all(_is_row(r, self._rows) for r in witness):
                return None
            witness = (witness[0], witness[1])
        return (law, measure), (holds, witness, violations)

    def _write(self, value: Any) -> None:
        text = _dumped(value)
        line = b"%08x %s\n" % (zlib.crc32(text), text)
        with self._lock:
            try:
                while line:  # a disk that is almost full takes a part
                    line = line[self._file.write(line) :]
                if time.monotonic() - self._synced > _SECONDS_BETWEEN_SYNCS:
                    os.fsync(self._file.fileno())
                    self._synced = time.monotonic()
            except OSError as error:
                raise StoppedError(
                    f"the checkpoint {self.path} cannot be written: {error.strerror}",
                    "What was found so far is kept and marked incomplete.",
                ) from None


class RememberedChecks:
    """Stands before an engine: answers from a checkpoint what it can, and writes down what the engine finds."""

    def __init__(self, engine: Checks, checkpoint: Checkpoint) -> None:
        self._engine = engine
        self._checkpoint = checkpoint

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Yield the verdicts that are known, then those that come in."""
        unknown = {}
        for task in tasks:
            known = None if task.trial else self._checkpoint.verdicts.get((task.law, task.measure))
            if known is None:
                unknown[task.id] = task
            else:
                yield Verdict(task.id, *known)
        if unknown:
            for verdict in self._engine.check(unknown.values()):
                task = unknown[verdict.id]
                if not task.trial:
                    answer = (verdict.holds, verdict.witness, verdict.violations)
                    self._checkpoint.append((task.law, task.measure), answer)
                yield verdict


@contextlib.contextmanager
def remembered(
    engine: Checks,
    table: RankedTable,
    path: Path | None,
    settings: dict[str, Any],
    is_complete: Callable[[], bool],
    *,
    resume: bool = False,
) -> Iterator[Checks]:
    """Give the engine; or, if a checkpoint is asked for, what stands before it and remembers.

    At the end the log is closed, as that of a run that has ended if `is_complete` says so by then.
    """
    if path is None:
        yield engine
        return
    checkpoint = Checkpoint(path, table, settings, resume=resume)
    try:
        yield RememberedChecks(engine, checkpoint)
    finally:
        checkpoint.close(is_complete=is_complete())


def fingerprint(table: RankedTable) -> str:
    """A digest of all ranks: the same for every copy of a table, wherever it was encoded."""
    known: str | None = getattr(table, "digest", None)
    if known is not None:  # its ranks are not here
        return known
    digest = hashlib.blake2b(f"{table.rows} {table.width}".encode(), digest_size=16)
    for column in range(table.width):
        digest.update(np.ascontiguousarray(table.column(column)).data)
    return digest.hexdigest()


def _opened(path: Path) -> BinaryIO:
    """Open a log without buffering, for this process alone."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe may have no end, and keeps nothing
            raise UsageError(f"cannot keep a checkpoint in {path}: it is no regular file", "Name another file.")
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0)
    except OSError as error:
        raise UsageError(f"cannot keep a checkpoint in {path}: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(f"another run keeps its checkpoint in {path}", "Name another file.") from None
    return file


def _intact_lines(file: BinaryIO) -> tuple[list[Any], int]:
    """All lines that match their checksums, and where the last complete line ends."""
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    return [value for line in data[:end].splitlines() if (value := _parsed(line)) is not None], end


def _dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


def _parsed(line: bytes) -> Any:
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_row(value: Any, rows: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < rows
