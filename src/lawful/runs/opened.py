"""A source that was read once and can be asked again and again: its encoded table, and engines that stay open on it."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from lawful.checks import DEFAULT_CACHE_BYTES
from lawful.common.closing import Closing
from lawful.common.errors import DamagedTableError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.results.repaired_tables import ReadSource
from lawful.runs.run import (
    Progress,
    Run,
    Where,
    is_encoded_table,
    is_small,
    is_spark_frame,
    is_sparks_own,
    silent,
    timed,
)
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.kept_tables import cache_limit, discard, keep_hold, release, take_hold
from lawful.tables.options import ReadOptions
from lawful.tables.shown_rows import with_own_names
from lawful.tables.shuffled.table import ShuffledTable, is_shuffled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lawful.engines import Engine
    from lawful.tables.spark_rows import SourceRows

_QUICKLY_READ_FILES = 64 << 20
"""Files up to this size are encoded in this process even when Spark checks: its first query would cost more."""
_KEPT_FOR_FRAMES: list[EncodedTable] = []
"""Tables that are read when DataFrames that were handed out are used; only the end of the program tells when that is
over."""


@dataclass(frozen=True)
class _Spark:
    """The Spark that a source is checked on.

    `is_ours` says whether the session was started here, so that it goes when the source is closed; `rows` leads back to
    the rows of Spark's own tables and frames; `gives_frames` says whether violating rows are shown as a DataFrame.
    """

    session: SparkSession
    is_ours: bool
    rows: SourceRows | None = None
    gives_frames: bool = False


class Opened(Closing):
    """A table that was encoded, and the engines that are open on it: one for each null policy that was asked for.

    Parameters
    ----------
    table
        The encoded table.
    seconds
        What it took to read it, step by step; the first run tells it.
    stack
        What to let go at the end.
    spark
        The Spark that checks; None if this process does.
    threads
        How many threads check in this process; None takes one per core.
    """

    def __init__(
        self,
        table: EncodedTable,
        seconds: dict[str, float],
        stack: ExitStack,
        spark: _Spark | None = None,
        threads: int | None = None,
    ) -> None:
        self.table = table
        self.engine_name = "local" if spark is None else "spark"
        self.is_open = True
        self.given: Any = None
        """What the user gave to be read."""
        self._seconds, self._stack, self._spark, self._threads = seconds, stack, spark, threads
        self._engines: dict[NullPolicy, Engine] = {}
        self._stale: set[NullPolicy] = set()
        self._opening = Lock()

    def close(self) -> None:
        """Let go of the engines, and of Spark if it was started for this."""
        self.is_open = False
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()
        self._stack.close()

    @contextmanager
    def run(self, null_policy: NullPolicy, *, needs_engine: bool = True) -> Iterator[Run]:
        """A run on the table; its engine stays open, and serves the next run whatever becomes of this one."""
        if not self.is_open:
            raise UsageError(f"{self.table.name} was closed", "Open it again with lawful.open.")
        begin, seconds = time.perf_counter(), self._seconds
        reading, self._seconds = sum(seconds.values()), {}
        if needs_engine:
            with timed(seconds, "open"):
                engine = self._open_engine(null_policy)
        else:
            engine = self._make_engine()
        run = Run(self.table, engine, null_policy, _ViolatingRows(self, null_policy), seconds)
        try:
            yield run
        except BaseException:
            run.was_cancelled = True  # whatever the engine was doing, the next run has nothing to do with it
            raise
        finally:
            if run.was_cancelled:
                self._stale.add(null_policy)
            engine.tune(cache_bytes=DEFAULT_CACHE_BYTES, longest_chain=0)  # a search may have asked for something else
            seconds["total"] = round(reading + time.perf_counter() - begin, 4)

    @contextmanager
    def engine(self, null_policy: NullPolicy) -> Iterator[Engine]:
        """The engine that is open; once this is closed, one that is opened for the moment.

        A Spark that was started here is gone by then, and the session of a user may be: then this process does it.
        """
        if self.is_open:
            yield self._open_engine(null_policy)
            return
        engine = self._make_engine()
        engine.open(self.table, null_policy)
        try:
            yield engine
        finally:
            engine.close()

    def frame(self, law: Law, null_policy: NullPolicy, rows: int) -> DataFrame | None:
        """The violating rows of a law as a DataFrame, if the source was Spark's and its session is there."""
        spark = self._spark
        is_given = spark is not None and (spark.gives_frames or is_shuffled(self.table))
        if spark is None or not is_given or not self._has_spark():
            return None
        from lawful.engines.spark import SparkEngine
        from lawful.engines.spark_frames import encoded_frame, joined_frame

        if not any(kept is self.table for kept in _KEPT_FOR_FRAMES):
            _KEPT_FOR_FRAMES.append(self.table)
        if isinstance(self.table, ShuffledTable):
            from lawful.engines.shuffle.engine import ShuffleEngine

            with self.engine(null_policy) as shuffling:
                assert isinstance(shuffling, ShuffleEngine)
                frame = self.table.dataset.with_values(shuffling.violating_frame(law))
                return frame.toDF(*with_own_names(self.table.names, ("group", "row")))
        with self.engine(null_policy) as engine:
            assert isinstance(engine, SparkEngine)
            if spark.rows is not None:
                return joined_frame(engine, law, spark.rows, rows)
            return encoded_frame(engine, law, self.table.names)

    @property
    def source(self) -> ReadSource:
        """What the table was read from."""
        return ReadSource(self.given, None if self._spark is None else self._spark.rows)

    def _open_engine(self, null_policy: NullPolicy) -> Engine:
        with self._opening:
            engine = self._engines.get(null_policy)
            if engine is None or null_policy in self._stale:
                engine = engine or self._make_engine()
                engine.open(self.table, null_policy)
                self._engines[null_policy] = engine
                self._stale.discard(null_policy)
            return engine

    def _make_engine(self) -> Engine:
        if self._spark is not None and self._has_spark():
            if is_shuffled(self.table):
                from lawful.engines.shuffle.engine import ShuffleEngine

                return ShuffleEngine(self._spark.session)
            from lawful.engines.spark import SparkEngine

            return SparkEngine(self._spark.session)
        if isinstance(self.table, ShuffledTable):
            raise self.table.needs_all_rows("work without the session of Spark")
        from lawful.engines.local import LocalEngine

        return LocalEngine(self._threads)

    def _has_spark(self) -> bool:
        from lawful.engines.session import is_alive

        if self._spark is None or (self._spark.is_ours and not self.is_open):
            return False
        return is_alive(self._spark.session)


@dataclass(frozen=True)
class _ViolatingRows:
    """The violating rows of laws on an opened table, for results that outlive their run."""

    opened: Opened
    null_policy: NullPolicy

    def engine(self) -> AbstractContextManager[Engine]:
        return self.opened.engine(self.null_policy)

    def frame(self, law: Law, rows: int) -> DataFrame | None:
        return self.opened.frame(law, self.null_policy, rows)


def open_source(
    source: Any, options: ReadOptions, where: Where, *, reuse: bool = True, progress: Progress = silent
) -> Opened:
    """Encode a source where its engine is; no engine is opened before it is needed."""
    is_local = where.settle(source) == "local"
    if reuse or not is_local:
        cache_limit()  # a wrong one is told before work is spent
    if is_local:
        opened = _open_here(source, options, where, reuse, progress)
    else:
        with ExitStack() as stack:  # what was started goes again if the source cannot be read
            opened = _open_on_spark(source, options, where, reuse, progress, stack)
    opened.given = source
    return opened


def _open_here(source: Any, options: ReadOptions, where: Where, reuse: bool, progress: Progress) -> Opened:
    from lawful.tables.local_pipeline import encode_in_process

    if is_sparks_own(source):
        raise UsageError(f"{source!r} is Spark's, and the local engine has none", "Use --engine spark.")
    progress("encoding the table")
    seconds: dict[str, float] = {}
    with timed(seconds, "encode"):
        if is_encoded_table(source):
            table = _open_encoded(source, options)
        elif is_spark_frame(source):
            from lawful.tables.spark_pipeline import encode_frame_in_process

            table = encode_frame_in_process(source, options)
        else:
            table = encode_in_process(source, options, reuse=reuse)
    return Opened(table, seconds, ExitStack(), threads=where.threads)


def _open_on_spark(
    source: Any, options: ReadOptions, where: Where, reuse: bool, progress: Progress, stack: ExitStack
) -> Opened:
    from lawful.engines.placement import placed_source
    from lawful.engines.session import SessionHandle, spark_session
    from lawful.engines.session_settings import quick_start
    from lawful.tables.local_pipeline import encode_in_process
    from lawful.tables.shuffled.encode import encode_by_shuffles
    from lawful.tables.shuffled.storage import discard_dataset
    from lawful.tables.spark_pipeline import read_on_spark

    is_path = isinstance(source, str | os.PathLike)
    is_new_here = is_path and where.remote is None and where.spark is None
    is_shuffled_by_wish = where.placement == "shuffle"
    if is_shuffled_by_wish and (is_encoded_table(source) or not (is_path or is_spark_frame(source))):
        raise UsageError("only files and Spark's own tables and frames can be shuffled", "Use --placement replicate.")
    is_quickly_read = is_new_here and not is_shuffled_by_wish and is_small(os.fspath(source), _QUICKLY_READ_FILES)
    is_kept = is_encoded_table(source) or (is_path and reuse and not is_sparks_own(source))
    table: EncodedTable | None = None
    rows: SourceRows | None = None
    seconds: dict[str, float] = {}
    with timed(seconds, "encode"):
        if is_encoded_table(source):
            table = _open_encoded(source, options)
        elif is_quickly_read:  # the ranks are the same, and a fault of the file is told before Spark has started
            progress("encoding the table")
            table = encode_in_process(source, options, reuse=reuse, in_folder=True)
    progress("starting Spark")
    with timed(seconds, "start"):
        spark = where.spark or (source.sparkSession if is_spark_frame(source) else None)
        if spark is None:
            quick = quick_start() if table is not None else {}  # then Spark has only checks to hand out
            extra = {**quick, **where.conf}
            handle = spark_session(where.master, where.remote, driver_memory=where.driver_memory, extra=extra)
        else:
            handle = SessionHandle(spark, owned=False)
        stack.enter_context(handle)
    if table is None:
        progress("encoding the table")
        with timed(seconds, "encode"):
            given = os.fspath(source) if is_path else source
            is_placed = is_shuffled_by_wish
            if where.placement == "auto":
                placed = placed_source(handle.spark, given, options)
                is_placed = placed.is_shuffled
                if is_placed:
                    progress(f"spreading the rows over the nodes: {placed.because}")
            if is_placed:
                table = encode_by_shuffles(handle.spark, given, options, reuse=reuse)
            else:
                table, rows = read_on_spark(handle.spark, given, options, reuse=reuse)
    if not is_kept:
        # No later run can find this table: it goes with the last result that speaks of it.
        if isinstance(table, ShuffledTable):
            weakref.finalize(table, discard_dataset, table.dataset.location)
        else:
            assert table.folder is not None
            weakref.finalize(table, discard, table.folder)
    gives_frames = rows is not None or (is_path and where.spark is not None)
    on_spark = _Spark(handle.spark, handle.owned, rows, gives_frames)
    return Opened(table, seconds, stack.pop_all(), on_spark)


def _open_encoded(source: Any, options: ReadOptions) -> EncodedTable:
    if options != ReadOptions():
        raise UsageError(
            f"{source} is an encoded table, which was read with settings of its own",
            "Leave out the options that say how to read it, or give the table that it was made from.",
        )
    lock = take_hold(Path(source))  # it may be one of those that are kept
    try:
        return keep_hold(EncodedTable.open(Path(source)), lock)
    except DamagedTableError:
        release(lock)
        raise
