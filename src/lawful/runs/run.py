"""The frame of every command: a table encoded, an engine opened on it, the time of each step taken."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lawful.common.errors import DamagedTableError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.tables.encoded_table import METADATA, EncodedTable, ranks_file
from lawful.tables.kept_tables import cache_limit, discard, keep_hold, release, take_hold
from lawful.tables.options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.engines import Engine

EngineName = Literal["auto", "local", "spark"]
ENGINES: tuple[EngineName, ...] = ("auto", "local", "spark")
SMALL_FILES = 256 << 20
"""Files up to this size are read in this process when nobody says otherwise: Spark's start would cost more."""
_QUICKLY_READ_FILES = 64 << 20
"""Files up to this size are encoded in this process even when Spark checks: its first query would cost more."""

Progress = Callable[[str], None]
"""Is told what a run is doing now, in a few words."""


def silent(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Where:
    """Where to run: an engine by name, and the Spark that it uses."""

    engine: EngineName = "auto"
    master: str | None = None
    remote: str | None = None
    spark: SparkSession | None = None
    driver_memory: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UsageError(f"unknown engine {self.engine!r}", f"Engines: {', '.join(ENGINES)}.")
        if self.engine == "local" and (self.master or self.remote):
            raise UsageError("the local engine uses no Spark, but a master or a remote is given", "Drop one.")

    def settle(self, source: Any) -> Literal["local", "spark"]:
        """Decide between the engines for a source.

        Spark is taken when it is asked for in any way, for Spark's own tables and frames, and for files that
        are large or not on this machine; everything else is quicker in this process.
        """
        if self.engine != "auto":
            return self.engine
        if self.master or self.remote or self.spark is not None or is_spark_frame(source):
            return "spark"
        if isinstance(source, str | os.PathLike):
            return "local" if _is_small(str(source)) else "spark"
        return "local"


def is_spark_frame(source: Any) -> bool:
    """Whether a source is a DataFrame of Spark, told without importing Spark."""
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "mapInArrow")


def _is_sparks_own(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(("table:", "sql:"))


def _is_small(source: str, limit: int = SMALL_FILES) -> bool:
    if _is_sparks_own(source) or "://" in source:
        return False
    path = Path(source)
    try:
        if not path.exists():
            return True  # the error that says so needs no Spark
    except OSError:  # a name that is too long, a folder that may not be looked into
        return True
    files = [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]
    return sum(file.stat().st_size for file in files) <= limit


@dataclass
class Run:
    """A run under way: its table and engine, and the seconds that its steps took."""

    table: EncodedTable
    engine: Engine
    null_policy: NullPolicy
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time of a block to a step."""
        with _timed(self.seconds, step):
            yield


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    begin = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = round(seconds.get(step, 0.0) + time.perf_counter() - begin, 4)


@contextmanager
def open_run(
    source: Any,
    options: ReadOptions,
    where: Where,
    null_policy: NullPolicy = NullPolicy.EQUAL,
    *,
    reuse: bool = True,
    needs_engine: bool = True,
    progress: Progress = silent,
) -> Iterator[Run]:
    """Encode a source and open an engine on it; both are let go at the end, with everything they hold."""
    seconds: dict[str, float] = {}
    begin = time.perf_counter()
    is_local = where.settle(source) == "local"
    if reuse or not is_local:
        cache_limit()  # a wrong one is told before work is spent
    with ExitStack() as stack:
        if is_local:
            table, engine = _open_local(source, options, where, seconds, reuse, progress)
        else:
            table, engine = _open_spark(source, options, where, seconds, reuse, progress, stack)
        run = Run(table, engine, null_policy, seconds)
        if needs_engine:
            with run.timed("open"):
                engine.open(table, null_policy)
            stack.callback(engine.close)
        yield run
        seconds["total"] = round(time.perf_counter() - begin, 4)


def _open_local(
    source: Any,
    options: ReadOptions,
    where: Where,
    seconds: dict[str, float],
    reuse: bool,
    progress: Progress,
) -> tuple[EncodedTable, Engine]:
    from lawful.engines.local import LocalEngine
    from lawful.tables.local_pipeline import encode_in_process

    if _is_sparks_own(source):
        raise UsageError(f"{source!r} is Spark's, and the local engine has none", "Use --engine spark.")
    progress("encoding the table")
    with _timed(seconds, "encode"):
        if is_encoded_table(source):
            table = _open_encoded(source, options)
        elif is_spark_frame(source):
            from lawful.tables.spark_pipeline import encode_frame_in_process

            table = encode_frame_in_process(source, options)
        else:
            table = encode_in_process(source, options, reuse=reuse)
    return table, LocalEngine(where.threads)


def _open_spark(
    source: Any,
    options: ReadOptions,
    where: Where,
    seconds: dict[str, float],
    reuse: bool,
    progress: Progress,
    stack: ExitStack,
) -> tuple[EncodedTable, Engine]:
    from lawful.engines.session import spark_session
    from lawful.engines.session_settings import quick_start
    from lawful.engines.spark import SparkEngine
    from lawful.tables.local_pipeline import encode_in_process
    from lawful.tables.spark_pipeline import encode_on_spark

    is_path = isinstance(source, str | os.PathLike)
    is_new_here = is_path and where.remote is None and where.spark is None
    is_quickly_read = is_new_here and _is_small(os.fspath(source), _QUICKLY_READ_FILES)
    table: EncodedTable | None = None
    is_kept = is_encoded_table(source) or (is_path and reuse and not _is_sparks_own(source))
    with _timed(seconds, "encode"):
        if is_encoded_table(source):
            table = _open_encoded(source, options)
        elif is_quickly_read:  # the ranks are the same, and a fault of the file is told before Spark has started
            progress("encoding the table")
            table = encode_in_process(source, options, reuse=reuse, in_folder=True)
    progress("starting Spark")
    with _timed(seconds, "start"):
        spark = where.spark or (source.sparkSession if is_spark_frame(source) else None)
        if spark is None:
            extra = quick_start() if table is not None else {}  # then Spark has only checks to hand out
            handle = spark_session(where.master, where.remote, driver_memory=where.driver_memory, extra=extra)
            spark = stack.enter_context(handle).spark
    if table is None:
        progress("encoding the table")
        with _timed(seconds, "encode"):
            table = encode_on_spark(spark, os.fspath(source) if is_path else source, options, reuse=reuse)
    if not is_kept:
        # No later run can find this table: it goes with the last result that speaks of it.
        assert table.folder is not None
        weakref.finalize(table, discard, table.folder)
    return table, SparkEngine(spark)


def is_encoded_table(source: Any) -> bool:
    """Whether a path is a folder that holds an encoded table."""
    if not isinstance(source, str | os.PathLike) or _is_sparks_own(source):
        return False
    folder = Path(source)
    try:
        return (folder / METADATA).is_file() and (folder / ranks_file(0)).parent.is_dir()
    except OSError:
        return False


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
