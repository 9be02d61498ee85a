"""What `lawful.maintain`, `lawful.follow` and `lawful.events` do."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from lawful.maintenance.history import events_table
from lawful.maintenance.settings import StateSettings
from lawful.runs.batch_reading import OPERATION
from lawful.runs.following import Followed, follow
from lawful.runs.laws_input import GivenLaws
from lawful.runs.new_states import NewState
from lawful.runs.run import Progress, Where, silent
from lawful.runs.states import is_state, make_state, open_state, where_to_look
from lawful.runs.stream_batches import BatchTold
from lawful.runs.streams import StreamSettings, StreamSource, is_stream, start, stream_of
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from lawful.results.batch_report import BatchReport


def maintain(
    source: Any,
    state: str | os.PathLike[str],
    settings: StateSettings,
    pins: GivenLaws | None,
    how: StreamSettings,
    where: Where,
    options: ReadOptions,
) -> BatchReport | StreamingQuery:
    """Keep a state up to date with a stream; or make it of a table, or apply a table as a batch."""
    if is_stream(source):
        return start(StreamSource(source), state, settings, pins, how, spread=where.placement == "shuffle")
    limits: dict[str, Any] = {"memory_limit": how.memory_limit}
    if not is_state(state, where):
        with make_state(state, NewState(source, options, settings, where, pins, **limits)) as made:
            return made.as_it_is()
    with open_state(state, where) as opened:
        if pins is not None:
            opened.pin(pins)
        columns = list(getattr(source, "column_names", getattr(source, "columns", ())))
        rows = {"changes" if OPERATION in columns else "inserts": source}
        return opened.apply(
            **rows,
            misfits=how.misfits,
            missing=how.missing,
            quarantine=how.quarantine,
            events=how.events,
            on_event=how.on_event,
            format=options.format,
            dialect=None if options.dialect == CsvDialect() else options.dialect,
            **limits,
        )


def follow_source(
    source: str,
    state: str | os.PathLike[str],
    settings: StateSettings,
    pins: GivenLaws | None,
    how: StreamSettings,
    where: Where,
    options: ReadOptions,
    source_options: Mapping[str, str],
    *,
    time_limit: float | None = None,
    told: Callable[[BatchTold], None] | None = None,
    progress: Progress = silent,
) -> Followed:
    """Follow a source by its name until it ends or is told to."""
    from lawful.engines.session import SessionHandle, spark_session

    with ExitStack() as stack:
        progress("starting Spark")
        if where.spark is not None:
            handle = SessionHandle(where.spark, owned=False)
        else:
            handle = spark_session(where.master, where.remote, driver_memory=where.driver_memory, extra=where.conf)
        spark = stack.enter_context(handle).spark

        def begin() -> StreamingQuery:
            named = stream_of(
                spark, source, state, format_=options.format, dialect=options.dialect, options=source_options
            )
            return start(named, state, settings, pins, how, spread=where.placement == "shuffle")

        progress("following the stream")
        return follow(begin, state, how.checkpoint_of(state), told, time_limit, spark)


def events_frame(state: str | os.PathLike[str], spark: SparkSession, since: int) -> DataFrame:
    """What happened to laws as a DataFrame of Spark; the rows of each event are a JSON text."""
    with open_state(state, where_to_look(state, spark), writes=False) as opened:
        return frame_of(spark, events_table(opened.events(since)))
