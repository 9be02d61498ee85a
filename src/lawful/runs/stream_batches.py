"""What a streaming query calls for every micro-batch: the batch is applied to a state, once whatever is killed.

The function runs where the driver is: in this process on a classic Spark, in a Python process of the server on Spark
Connect. So it carries no more than plain values, and the state is a folder of that machine, unless it is spread over a
cluster. Between batches a state stays in memory, but its lock is let go: others may apply a batch of their own, and the
stream follows.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pyarrow as pa

from lawful.common.errors import LawfulError, SourceError, StoppedError
from lawful.common.memory import resident_bytes
from lawful.maintenance.batches import Batch, Missing
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles
from lawful.maintenance.stream_place import StreamPlace
from lawful.runs.any_state import laws_of
from lawful.runs.arrived_files import ArrivedRows, local_path, named_rows, read_arrived
from lawful.runs.batch_reading import KeptTable
from lawful.runs.change_feeds import cancelled_by_key, columns_beside, split_changes
from lawful.runs.handed_on import OnEvent, Tellers
from lawful.runs.maintain import OpenState
from lawful.runs.run import Where
from lawful.runs.spread_states import OpenSpreadState, open_spread_state
from lawful.runs.stopping import UserWatch
from lawful.tables.living.incoming import Incoming, Misfits, match_columns
from lawful.tables.local_pipeline import encode_arrow
from lawful.tables.options import CsvDialect, ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.results.batch_report import BatchReport

_PATIENCE = 60.0
"""Seconds that a stream waits for somebody else who is writing to its state."""


class StreamEndedError(StoppedError):
    """The stream was asked to end, and no batch is under way."""


class BatchTold(NamedTuple):
    """A batch that was applied: its number in the query, what it did, how long it took and how old its rows are."""

    number: int
    report: BatchReport
    seconds: float
    lag: float
    bytes: int
    memory: int


@dataclass
class StreamWatch:
    """What this process knows of the streams that it runs, by the folder of their state."""

    ending: set[str] = field(default_factory=set)
    failed: dict[str, Exception] = field(default_factory=dict)
    told: dict[str, Callable[[BatchTold], None]] = field(default_factory=dict)
    opened: dict[str, OpenState] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


STREAMS = StreamWatch()


@dataclass(frozen=True)
class StreamJob:
    """Applies the micro-batches of one query to one state.

    Parameters
    ----------
    state, checkpoint
        The folder of the state, and that of the query's checkpoint.
    settings, pins
        What a state keeps that is made for the first batch, and the laws to watch.
    files
        Whether rows are the paths of files that arrived, to be read with `options`; else they are the rows themselves.
    is_text
        Whether the rows themselves are texts, whose types are those of the state or are still to be found.
    is_spread
        Whether the state is spread over a cluster.
    """

    state: str
    checkpoint: str
    settings: StateSettings
    pins: Sequence[str] = ()
    files: bool = False
    is_text: bool = False
    names: Sequence[str] | None = None
    format: str | None = None
    dialect: CsvDialect = field(default_factory=CsvDialect)
    misfits: Misfits = "refuse"
    missing: Missing = "refuse"
    quarantine: str | None = None
    events: str | None = None
    on_event: OnEvent | None = None
    memory_limit: int | None = None
    new_query: bool = False
    engine: str = "local"
    is_spread: bool = False

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Apply a micro-batch; Spark calls this."""
        with STREAMS.lock:
            try:
                if self.state in STREAMS.ending:
                    raise StreamEndedError("the stream was asked to end", "It goes on where it is when it is started.")
                self._apply(frame, number)
            except Exception as error:  # whatever it is, whoever waits for the query in this process wants it as it is
                STREAMS.failed[self.state] = error
                raise

    def _apply(self, frame: DataFrame, number: int) -> None:
        begin = time.time()
        place = place_of(self.checkpoint, number, frame)
        arrived: list[float] = []
        with self._held(frame) as opened:
            state = opened._state
            before = state.table.version
            if state.stream is not None and (state.stream.query, state.stream.batch) == (place.query, place.batch):
                come = gone = None  # it may have happened; then its rows need not be read
                batch = Batch(place.id, stream=place)
            else:
                rows = self._rows(frame, number, state, arrived)
                come, gone = self._incoming(state, rows)
                batch = Batch(
                    place.id,
                    come,
                    gone,
                    misfits=self.misfits,
                    missing=self.missing,
                    offenders="quarantine" if self.quarantine is not None else "keep",
                    stream=place,
                    new_query=self.new_query,
                )
            tellers = Tellers(self.events, self.quarantine, self.on_event, lambda: frame.sparkSession)
            tellers.prepare(state)
            watch = UserWatch(None, self.memory_limit)
            sources = [frame] if self.engine == "spark" else []
            report = opened.apply_batch(batch, come, watch, sources)
            tellers.tell(state, before if not report.was_known else state.table.version - 1)
            size = state.bytes_on_disk
        ended = time.time()
        if self.state in STREAMS.told:
            lag = ended - min(arrived, default=begin)
            told = BatchTold(number, report, ended - begin, lag, size, resident_bytes())
            STREAMS.told[self.state](told)

    def _held(self, frame: DataFrame) -> AbstractContextManager[OpenState | OpenSpreadState]:
        """The state, as it is after what others may have applied."""
        return _opened_spread(self, frame) if self.is_spread else _Held(self, frame)

    def _rows(self, frame: DataFrame, number: int, state: KeptTable, arrived: list[float]) -> ArrivedRows:
        if not self.files:
            from lawful.tables.spark_pipeline import encode_frame_in_process

            table = encode_frame_in_process(frame, ReadOptions())
            return ArrivedRows(named_rows(table, f"batch {number}"), self.is_text)
        rows = frame.collect()
        arrived += [row["modificationTime"].timestamp() for row in rows]
        pinned = state.settings.dialect
        options = ReadOptions(self.format, pinned if self.dialect == CsvDialect() else self.dialect)
        return read_arrived([local_path(row["path"]) for row in rows], options, state.table.names)

    def _incoming(self, state: KeptTable, rows: ArrivedRows) -> tuple[Incoming | None, Incoming | None]:
        table, batch = state.table, rows.table
        if not batch.rows:
            return None, None
        beside = columns_beside(batch.names, table.names)
        positions = match_columns(table, batch, beside=beside)
        come, gone = split_changes(batch, beside)
        by_key = {column: positions[column] for column in state.key or positions}
        incoming = Incoming(batch, come, positions, rows.is_text)
        leaving = Incoming(batch, gone, by_key, rows.is_text)
        come, gone = cancelled_by_key(state, incoming, leaving)
        return (
            Incoming(batch, come, positions, rows.is_text) if len(come) else None,
            Incoming(batch, gone, by_key, rows.is_text) if len(gone) else None,
        )

    def make(self, frame: DataFrame) -> LivingState:
        """Make the state: without rows, with the columns of the stream."""
        from lawful.engines.local import LocalEngine

        if self.names is not None:
            empty = encode_arrow(pa.table({name: pa.nulls(0) for name in self.names}), ReadOptions(), "stream")
        else:
            from lawful.tables.spark_pipeline import encode_frame_in_process

            beside = columns_beside(frame.columns, None)
            empty = encode_frame_in_process(frame.drop(*beside).limit(0), ReadOptions())
        pins = laws_of(list(self.pins), empty.names) if self.pins else []
        watch = UserWatch(None, self.memory_limit)
        return LivingState.create(Path(self.state), empty, self.settings, pins, LocalEngine, watch)


class _Held(AbstractContextManager["OpenState"]):
    """A state of one process that is locked for one batch."""

    def __init__(self, job: StreamJob, frame: DataFrame) -> None:
        self._job, self._frame = job, frame

    def __enter__(self) -> OpenState:
        job, folder = self._job, Path(self._job.state)
        opened = STREAMS.opened.get(job.state)
        if opened is not None and StateFiles.exist(folder):
            opened._state.take_lock(_PATIENCE)
        else:
            if StateFiles.exist(folder):
                state = LivingState.open(folder)
                state.take_lock(_PATIENCE)
            else:
                state = job.make(self._frame)
            opened = OpenState(state, Where("spark" if job.engine == "spark" else "local"))
            STREAMS.opened[job.state] = opened
        try:
            if job.pins:
                opened.pin(list(job.pins))
        except BaseException:
            opened._release()
            raise
        self._opened = opened
        return opened

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self._opened._state.forget_rows_that_left()
        finally:
            self._opened._release()


@contextmanager
def _opened_spread(job: StreamJob, frame: DataFrame) -> Iterator[OpenSpreadState]:
    """A spread state, opened anew for each batch: nobody locks it, so others may have changed it."""
    with open_spread_state(job.state, Where(spark=frame.sparkSession)) as opened:
        if job.pins:
            opened.pin(list(job.pins))
        yield opened


def place_of(checkpoint: str, number: int, frame: DataFrame) -> StreamPlace:
    """Which micro-batch this is: the query's id and the plan of the batch are in the checkpoint."""
    metadata = _read(checkpoint, "metadata", frame)
    plan = _read(checkpoint, f"offsets/{number}", frame)
    try:
        query = str(json.loads(metadata or "")["id"])
    except (ValueError, KeyError, TypeError):
        raise SourceError(
            f"the checkpoint {checkpoint} does not say which query it belongs to", "Nothing was changed."
        ) from None
    return StreamPlace(query, number, None if plan is None else hashlib.sha256(plan.encode()).hexdigest()[:16])


def _read(checkpoint: str, name: str, frame: DataFrame) -> str | None:
    if urlsplit(checkpoint).scheme in ("", "file"):
        try:
            return (local_path(checkpoint) / name).read_text("utf-8")
        except OSError:
            return None
    try:
        lines = frame.sparkSession.read.text(f"{checkpoint.rstrip('/')}/{name}").collect()
    except Exception:  # a file system that Spark cannot read either; the number of the batch has to do then
        return None
    return "\n".join(row[0] for row in lines)


def failure_of(state: str, text: str) -> LawfulError | None:
    """What went wrong with a query, as lawful said it: in this process, or on a server whose words these are."""
    known = STREAMS.failed.get(state)
    if isinstance(known, LawfulError):
        return known
    for line in text.splitlines():
        name, _, message = line.strip().partition(": ")
        if name.startswith("lawful.common.errors.") and message:
            return SourceError(message)
    return None


def described(told: BatchTold) -> Mapping[str, Any]:
    """A batch of a stream as plain JSON values."""
    return {
        "batch": told.number,
        "seconds": round(told.seconds, 3),
        "lag": round(told.lag, 3),
        "bytes": told.bytes,
        "memory": told.memory,
    }
