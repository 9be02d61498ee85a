"""Streams: a streaming DataFrame, or a source by its name, becomes a query that keeps a state up to date."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lawful.common.errors import SourceError, UsageError
from lawful.common.sizes import size_in_bytes
from lawful.dependencies import format_law
from lawful.maintenance.batches import Batch, Missing
from lawful.maintenance.settings import StateSettings
from lawful.runs.change_feeds import BESIDE, columns_beside
from lawful.runs.handed_on import OnEvent, is_table
from lawful.runs.laws_input import GivenLaws, given_laws
from lawful.runs.run import Where
from lawful.runs.spread_states import is_spread
from lawful.runs.states import is_state, name_of, open_state, where_to_look
from lawful.runs.stream_batches import STREAMS, StreamJob
from lawful.tables.files import format_of, list_files
from lawful.tables.living.incoming import Misfits
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import CsvDialect, ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_INTERVAL = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|min|h|seconds?|minutes?|hours?)\s*", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "second": 1, "minute": 60, "hour": 3600}
_FILES_SCHEMA = "path string, modificationTime timestamp, length bigint, content binary"
_TRIES = 4
CHECKPOINT = ".checkpoint"
"""What the default checkpoint has behind the name of the state."""


@dataclass(frozen=True)
class StreamSettings:
    """How a stream runs, and what becomes of what it tells.

    Parameters
    ----------
    checkpoint
        The folder of the query's checkpoint; beside the state if left out.
    trigger
        `once`, `available-now`, or an interval such as `10s`; a batch as soon as there are rows if left out.
    misfits, missing
        What becomes of values that do not fit, and of rows to delete that are not there; as for `apply`.
    quarantine
        A folder, or a table as `table:NAME`, for rows that would break pinned laws or do not fit; they are put aside
        and the rest is let through.
    events, on_event
        A file that events are appended to as JSON lines, and a function that each is given to.
    memory_limit
        The memory of the process that keeps the state beyond which the stream stops.
    new_query
        Whether a query may begin that the state does not know.
    engine
        Where laws are checked: `local`, in the process that keeps the state; or `spark`.
    """

    checkpoint: str | os.PathLike[str] | None = None
    trigger: str | None = None
    misfits: Misfits = "refuse"
    missing: Missing = "refuse"
    quarantine: str | os.PathLike[str] | None = None
    events: str | os.PathLike[str] | None = None
    on_event: OnEvent | None = None
    memory_limit: int | str | None = None
    new_query: bool = False
    engine: str = "auto"

    def __post_init__(self) -> None:
        trigger_of(self.trigger)
        Batch("", misfits=self.misfits, missing=self.missing)  # which refuses what it does not know
        if self.quarantine is not None and self.misfits == "refuse":
            object.__setattr__(self, "misfits", "quarantine")

    def checkpoint_of(self, state: str | os.PathLike[str]) -> str:
        """The folder of the checkpoint, as Spark is given it."""
        given = f"{name_of(state)}{CHECKPOINT}" if self.checkpoint is None else os.fspath(self.checkpoint)
        return given if urlsplit(given).scheme else str(Path(given).absolute())


@dataclass(frozen=True)
class StreamSource:
    """A streaming DataFrame, and how its rows are read."""

    frame: DataFrame
    files: bool = False
    is_text: bool = False
    names: tuple[str, ...] | None = None
    format: str | None = None
    dialect: CsvDialect = field(default_factory=CsvDialect)


def trigger_of(text: str | None) -> dict[str, Any]:
    """The arguments of Spark's `trigger`."""
    if text is None:
        return {}
    if text == "once":
        return {"once": True}
    if text == "available-now":
        return {"availableNow": True}
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise UsageError(f"unknown trigger {text!r}", "Use once, available-now, or an interval such as 10s.")
    unit = match[2] if match[2] in _SECONDS else match[2].removesuffix("s")
    return {"processingTime": f"{round(1000 * float(match[1]) * _SECONDS[unit])} milliseconds"}


def is_stream(source: Any) -> bool:
    """Whether a source is a streaming DataFrame of Spark, told without importing Spark."""
    return type(source).__module__.startswith("pyspark.") and getattr(source, "isStreaming", False) is True


def start(
    source: StreamSource,
    state: str | os.PathLike[str],
    settings: StateSettings,
    pins: GivenLaws | None,
    how: StreamSettings,
    *,
    spread: bool = False,
) -> StreamingQuery:
    """Start a query that keeps a state up to date; it is Spark's own. A state that is to be spread has to be there."""
    if spread and not is_state(state, Where(spark=source.frame.sparkSession)):
        raise UsageError(
            f"there is no state in {name_of(state)}, and a stream makes none that is spread over a cluster",
            "Make it of a first table: --from TABLE --placement shuffle.",
        )
    job = StreamJob(
        state=name_of(state),
        checkpoint=how.checkpoint_of(state),
        settings=settings if settings.way != "auto" else _for_streams(settings),
        pins=_pinned(pins, source),
        files=source.files,
        is_text=source.is_text,
        names=source.names,
        format=source.format,
        dialect=source.dialect,
        misfits=how.misfits,
        missing=how.missing,
        quarantine=_absolute(how.quarantine),
        events=_absolute(how.events),
        on_event=how.on_event,
        memory_limit=size_in_bytes(how.memory_limit),
        new_query=how.new_query,
        engine="spark" if how.engine == "spark" else "local",
        is_spread=is_spread(state),
    )
    STREAMS.ending.discard(job.state)
    STREAMS.failed.pop(job.state, None)
    writer = source.frame.writeStream.foreachBatch(job).option("checkpointLocation", job.checkpoint)
    arguments = trigger_of(how.trigger)
    if arguments:
        writer = writer.trigger(**arguments)
    for _ in range(_TRIES - 1):
        try:
            return writer.start()
        except Exception as error:  # Spark has several kinds, and one text for it
            # A server of Spark Connect gives its Python process ten seconds to start, which a busy one needs alone
            # to import what it has to; the next time that is quicker.
            if "failed to connect back" not in str(error):
                raise
    return writer.start()


def _for_streams(settings: StateSettings) -> StateSettings:
    """Nobody knows how far a stream grows: counting all pairs is for those who ask for it."""
    return replace(settings, way="witnesses")


def _absolute(path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return None
    return os.fspath(path) if is_table(path) else str(Path(path).absolute())


def _pinned(pins: GivenLaws | None, source: StreamSource) -> list[str]:
    """Pinned laws in their notation, which travels to wherever the function runs."""
    if pins is None:
        return []
    own = source.names or [name for name in source.frame.columns if name not in BESIDE]
    return [format_law(law, own) for law in given_laws(pins).laws(own)]


def stream_of(
    spark: SparkSession,
    given: str,
    state: str | os.PathLike[str],
    *,
    format_: str | None,
    dialect: CsvDialect,
    options: Mapping[str, str],
) -> StreamSource:
    """A source by its name.

    | name | rows |
    |---|---|
    | a folder | those of the files that arrive in it: CSV, JSON lines or Parquet |
    | `kafka:HOST:PORT/TOPIC` | the values of a topic, each a JSON object |
    | `delta:PATH` | the change feed of a Delta table |
    | `changes:TABLE` | the change feed of a table, as Spark 4.2 and newer read it |
    | `table:NAME` | those that are appended to a table |
    | `rate:N` | N a second, for trying things out |
    """
    kind, colon, rest = given.partition(":")
    reader = spark.readStream.options(**options)
    if colon and kind in ("kafka", "delta", "changes", "table", "rate"):
        if not rest:
            raise UsageError(f"{given!r} names no source", f"Write {_HOW[kind]}.")
        if kind == "kafka":
            return _kafka(spark, reader, rest, state)
        if kind == "rate":
            return StreamSource(reader.format("rate").option("rowsPerSecond", rest).load())
        if kind == "delta":
            return StreamSource(reader.format("delta").option("readChangeFeed", "true").load(rest))
        if kind == "changes":
            if not hasattr(reader, "changes"):
                raise UsageError("this Spark cannot read the changes of a table", "It takes Spark 4.2 or newer.")
            return StreamSource(reader.changes(rest))
        return StreamSource(reader.table(rest))
    return _arriving(spark, given, state, format_, dialect, options)


_HOW = {
    "kafka": "kafka:HOST:PORT/TOPIC",
    "delta": "delta:PATH",
    "changes": "changes:TABLE",
    "table": "table:NAME",
    "rate": "rate:ROWS_PER_SECOND",
}


def _kafka(spark: SparkSession, reader: Any, rest: str, state: str | os.PathLike[str]) -> StreamSource:
    servers, slash, topic = rest.rpartition("/")
    if not slash or not servers or not topic:
        raise UsageError(f"{rest!r} names no topic", f"Write {_HOW['kafka']}.")
    names = _names_of_state(state, spark)
    if names is None:
        raise UsageError(
            "a topic does not say which columns there are", "Make the state of a first table: --from TABLE."
        )
    frame = reader.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", topic).load()
    return StreamSource(json_rows(frame, [*names, "_op"]), is_text=True)


def json_rows(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The rows of a topic, whose values are JSON objects; `_op` only if some value has it."""
    fields = ", ".join(f"`{name.replace('`', '``')}` string" for name in names)
    literal = fields.replace("\\", "\\\\").replace("'", "\\'")
    parsed = frame.selectExpr(f"from_json(cast(value as string), '{literal}') as v").select("v.*")
    return parsed.selectExpr("* except (_op)", "coalesce(_op, '+') as _op") if "_op" in names else parsed


def _names_of_state(state: str | os.PathLike[str], spark: SparkSession) -> tuple[str, ...] | None:
    where = where_to_look(state, spark)
    if not is_state(state, where):
        return None
    with open_state(state, where, writes=False) as opened:
        return tuple(opened.names)


def _arriving(
    spark: SparkSession,
    given: str,
    state: str | os.PathLike[str],
    format_: str | None,
    dialect: CsvDialect,
    options: Mapping[str, str],
) -> StreamSource:
    """Files that arrive in a folder: Spark tells which are new, and lawful reads them."""
    if urlsplit(given).scheme not in ("", "file"):
        raise UsageError(
            f"{given} is not a folder of this machine",
            "Read it in Python: lawful.maintain(spark.readStream.schema(…).csv(…), state=…).",
        )
    folder = Path(given.removeprefix("file://") if given.startswith("file://") else given)
    if not folder.is_dir():
        raise SourceError(f"{given}: there is no such folder", "Name the folder where files arrive.")
    names = _names_of_state(state, spark)
    if names is None or format_ is None:
        try:
            files = list_files(folder)
        except SourceError:
            files = []
        if not files and names is None:
            raise SourceError(
                f"{given} holds no file yet that would say which columns there are",
                "Make the state of a first table with --from TABLE, or wait for a file.",
            )
        if format_ is None and files:
            format_ = format_of([str(file) for file in files], ReadOptions(), given)
        if names is None:
            read = ReadOptions(format_, dialect)
            table = encode_in_process(os.fspath(files[0]), read, reuse=False)
            names = tuple(name for name in table.names if name not in columns_beside(table.names, None))
    frame = spark.readStream.options(**options).format("binaryFile").schema(_FILES_SCHEMA).load(str(folder.absolute()))
    listed = frame.select("path", "modificationTime")
    return StreamSource(listed, files=True, names=names, format=format_, dialect=dialect)
