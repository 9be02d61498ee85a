"""A stream that is followed until it ends: what a command does with a query, signals and failures included."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lawful.common.errors import EngineError, LawfulError, StateInUseError, StoppedError
from lawful.runs.states import is_state, name_of, open_state, where_to_look
from lawful.runs.stream_batches import STREAMS, BatchTold, StreamEndedError, failure_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from lawful.results.batch_report import BatchReport

_SECONDS_BETWEEN_LOOKS = 0.2
_LOCK = "lawful.lock"


@dataclass
class Followed:
    """What a stream has done while it was followed."""

    batches: int = 0
    inserted: int = 0
    deleted: int = 0
    seconds: float = 0.0
    most_lag: float = 0.0
    query: str = ""
    report: BatchReport | None = None
    """How the state is at the end; None if it is on another machine."""

    def add(self, told: BatchTold) -> None:
        """Count a batch."""
        self.batches += 1
        self.inserted += told.report.inserted
        self.deleted += told.report.deleted
        self.most_lag = max(self.most_lag, told.lag)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "query": self.query,
            "batches": self.batches,
            "inserted": self.inserted,
            "deleted": self.deleted,
            "seconds": round(self.seconds, 3),
            "most_lag": round(self.most_lag, 3),
        }


def follow(
    begin: Callable[[], StreamingQuery],
    state: str | os.PathLike[str],
    checkpoint: str,
    told: Callable[[BatchTold], None] | None,
    time_limit: float | None = None,
    spark: SparkSession | None = None,
) -> Followed:
    """Start a query and wait until it ends, by itself, at a limit, or by a signal: then after the batch under way."""
    name, followed = name_of(state), Followed()
    started = time.monotonic()

    def hear(batch: BatchTold) -> None:
        followed.add(batch)
        if told is not None:
            told(batch)

    with _alone(checkpoint), _signals(name) as is_told:
        STREAMS.told[name] = hear
        try:
            query = begin()
            followed.query = str(query.id)
            _until_ended(query, name, lambda: is_told.is_set() or _is_over(started, time_limit))
        except Exception:
            if not is_told.is_set():  # a service manager may tell Spark's Java too, which ends at once
                raise
            STREAMS.ending.add(name)
        finally:
            STREAMS.told.pop(name, None)
    followed.seconds = time.monotonic() - started
    if name not in STREAMS.ending:
        _refuse_failed(query, name)
    elif isinstance(known := STREAMS.failed.get(name), LawfulError) and not isinstance(known, StreamEndedError):
        raise known
    here = where_to_look(state, spark)
    if is_state(state, here):
        with open_state(state, here, writes=False) as opened:
            followed.report = opened.as_it_is()
    return followed


def _is_over(started: float, time_limit: float | None) -> bool:
    return time_limit is not None and time.monotonic() - started > time_limit


def _until_ended(query: StreamingQuery, name: str, is_told: Callable[[], bool]) -> None:
    while query.isActive:
        _wait(query)
        if is_told():
            _end(query, name)


def _wait(query: StreamingQuery) -> None:
    try:
        query.awaitTermination(_SECONDS_BETWEEN_LOOKS)  # type: ignore[arg-type]  # parts of a second are as good
    except Exception:  # it has failed, and tells so below
        if query.isActive:
            raise


def _end(query: StreamingQuery, name: str) -> None:
    """End a query after the batch under way: the next one is refused, and without one it is stopped."""
    STREAMS.ending.add(name)
    is_here = name in STREAMS.opened or not type(query).__module__.startswith("pyspark.sql.connect")
    if not is_here or not query.status["isTriggerActive"]:
        with contextlib.suppress(Exception):  # it may have ended in the meantime
            query.stop()


def _refuse_failed(query: StreamingQuery, name: str) -> None:
    try:
        failure = query.exception()
    except Exception as error:  # a server that is gone
        failure = error  # type: ignore[assignment]  # it is only told
    if failure is None:
        return
    ours = failure_of(name, str(failure))
    if isinstance(ours, StoppedError):
        raise StoppedError(ours.typed_message, "The batch was not applied. Start the stream again with more.") from None
    if isinstance(ours, LawfulError):
        raise ours
    line = next((line.strip() for line in str(failure).splitlines() if line.strip()), type(failure).__name__)
    raise EngineError(f"the stream failed: {line}", "Start it again: it goes on where it is.") from None


@contextlib.contextmanager
def _signals(name: str) -> Iterator[threading.Event]:
    """Let the first Ctrl-C or SIGTERM end the stream after its batch; the next one does what it did before."""
    told = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield told
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def end(number: int, frame: object) -> None:
        restore()
        told.set()

    for number in before:
        signal.signal(number, end)
    try:
        yield told
    finally:
        restore()


@contextlib.contextmanager
def _alone(checkpoint: str) -> Iterator[None]:
    """Refuse to follow a stream that another process follows."""
    if urlsplit(checkpoint).scheme:
        yield
        return
    folder = Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StateInUseError(
                f"another process follows the stream of {checkpoint}", "Wait until it has ended, or end it."
            ) from None
        yield
