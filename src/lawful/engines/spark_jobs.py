"""The jobs of a Spark engine: started under tags, ended together, with the table brought to whoever lacks it."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.engines.spark_tables import TableReference
from lawful.engines.spark_worker import ABSENT, ANSWERS, Runner
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOBS_IN_FLIGHT = 3
LOOK_SECONDS = 0.5
"""How long to wait before looking again whether a call was cancelled, and whether interrupted jobs have ended."""
_ATTEMPTS = 3

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class _Era:
    """From one opening of an engine to the next: what is cancelled stays so, whatever is opened later."""

    def __init__(self) -> None:
        self.tag = _new_tag()
        self.is_over = Event()


class SparkJobs:
    """What all calls of one engine share: the session, the table and how it gets to the workers.

    Parameters
    ----------
    spark
        A session, classic or Connect. No setting of it is changed, and it is not stopped.
    shares_files
        Whether workers may look for the table at the driver's path.
    """

    def __init__(self, spark: SparkSession, *, shares_files: bool) -> None:
        self.spark = spark
        self.era = _Era()
        self._shares_files = shares_files
        self._table: EncodedTable | None = None
        self._reference: TableReference | None = None
        self._shipping = Lock()
        self._is_shipped = False

    def open(self, table: EncodedTable) -> TableReference:
        """Take a table, and say how workers find it; from now on nothing is cancelled."""
        if table.folder is None:
            raise UsageError("the Spark engine needs a table in a folder", "Encode it on Spark, or from a file.")
        self._table = table
        self._reference = TableReference.to(table, shares_files=self._shares_files)
        self._is_shipped = False
        self.begin()
        return self._reference

    def begin(self) -> None:
        """From now on nothing is cancelled."""
        self.era = _Era()

    def close(self) -> None:
        """Let go of the table."""
        self._table = self._reference = None

    @property
    def table(self) -> EncodedTable:
        """The table that is open."""
        if self._table is None:
            raise UsageError("the engine was not opened for a table")
        return self._table

    def cancel(self) -> None:
        """Interrupt all jobs that are under way."""
        era = self.era
        era.is_over.set()
        self.interrupt(era.tag)

    def interrupt(self, tag: str) -> None:
        """Interrupt the jobs of one tag."""
        with contextlib.suppress(Exception):  # whatever is left of the jobs, the work is over
            if is_connect(self.spark):
                self.spark.interruptTag(tag)
            else:
                self.spark.sparkContext.cancelJobsWithTag(tag)

    def tag_jobs(self, *tags: str) -> None:
        """Mark the jobs that this thread starts, so that they can be interrupted together."""
        # A classic session's own tags do not reach the thread that runs a job for Python.
        add = self.spark.addTag if is_connect(self.spark) else self.spark.sparkContext.addJobTag
        for tag in tags:
            add(tag)

    def ship(self) -> None:
        """Send the table's files to every node, once."""
        with self._shipping:
            if self._is_shipped:
                return
            reference, source = self._reference, self.table.folder
            assert reference is not None
            assert source is not None
            folder = Path(tempfile.mkdtemp(prefix="lawful-ship-"))
            # Spark serves the files to executors that come later too, for as long as the session lives.
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            places = []
            for name, file in reference.shipped_names().items():
                try:
                    os.link(source / file, folder / name)
                except OSError:  # another file system
                    shutil.copyfile(source / file, folder / name)
                places.append(str(folder / name))
            with translated():
                self.spark.addArtifacts(*places, file=True)
            self._is_shipped = True


class Call:
    """One call of an engine: its jobs have a tag of their own, so that no others are interrupted with them."""

    def __init__(self, jobs: SparkJobs, should_stop: Callable[[], bool] | None = None) -> None:
        self._jobs, self._era, self._tag = jobs, jobs.era, _new_tag()
        self._is_left = Event()
        self._should_stop = should_stop

    def look(self) -> None:
        """Raise if the call was cancelled or left."""
        asked = self._should_stop is not None and self._should_stop()
        if asked or self._is_over:
            raise StoppedError("the checks were cancelled")

    @property
    def _is_over(self) -> bool:
        return self._era.is_over.is_set() or self._is_left.is_set()

    def rows(self, runner: Runner, schema: str, numbers: range) -> pa.Table:
        """Run numbered tasks, each in a partition of its own, as one job; where a worker lacks the table, ship it.

        A job may be run again, on other executors, without harm: what it gives back depends on the numbers alone.
        """
        shipped = False
        for attempt in range(_ATTEMPTS):
            try:
                rows = self._run(runner, schema, numbers)
            except EngineError:
                if self._is_over:
                    raise StoppedError("the checks were cancelled") from None
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            errors = set(rows.column("error").to_pylist()) - {None}
            if ABSENT not in errors:
                if errors:
                    raise EngineError(min(errors))
                return rows
            if shipped:
                break
            self._jobs.ship()
            shipped = True
        raise _unreachable_table()

    def _run(self, runner: Runner, schema: str, numbers: range) -> pa.Table:
        self.look()
        with translated():
            self._jobs.tag_jobs(self._era.tag, self._tag)
            given = self._jobs.spark.range(numbers.start, numbers.stop, 1, len(numbers))
            return given.mapInArrow(runner, schema).toArrow()

    def gathered(self, frame: DataFrame) -> pa.Table:
        """Run the job of a frame, which may be run again without harm, and give its rows, which must be few."""
        with ThreadPoolExecutor(1, thread_name_prefix="lawful-job") as pool:
            waiting = pool.submit(self._gathered, frame)
            try:
                while not wait([waiting], LOOK_SECONDS).done:
                    self.look()
                return waiting.result()
            finally:
                self.leave([waiting])

    def _gathered(self, frame: DataFrame) -> pa.Table:
        for attempt in range(_ATTEMPTS):
            self.look()
            try:
                with translated():
                    self._jobs.tag_jobs(self._era.tag, self._tag)
                    return frame.toArrow()
            except EngineError:
                if self._is_over:
                    raise StoppedError("the checks were cancelled") from None
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def streamed(self, frame: DataFrame) -> Iterator[Any]:
        """Run the job of a frame and give its lines one by one, in its order; a partition is held at once, no more."""
        with ThreadPoolExecutor(1, thread_name_prefix="lawful-rows") as pool:  # a thread has the tags of its jobs
            waiting: Future[Any] = pool.submit(self._lines, frame)
            try:
                lines = self._waited(waiting)
                while True:
                    waiting = pool.submit(_next_line, lines)
                    line = self._waited(waiting)
                    if line is None:
                        return
                    yield line
            finally:
                self.leave([waiting])

    def _lines(self, frame: DataFrame) -> Iterator[Any]:
        with translated():
            self._jobs.tag_jobs(self._era.tag, self._tag)
            return iter(frame.toLocalIterator())

    def _waited(self, waiting: Future[Any]) -> Any:
        while not wait([waiting], LOOK_SECONDS).done:
            self.look()
        try:
            return waiting.result()
        except EngineError:
            if self._is_over:
                raise StoppedError("the checks were cancelled") from None
            raise

    def answers(self, runner: Runner, tasks: int) -> list[bytes]:
        """Run numbered tasks as one job, and give the answer to each in the order of the numbers."""
        rows = self.rows(runner, ANSWERS, range(tasks))
        answers: list[bytes] = rows.sort_by("number").column("answer").to_pylist()
        return answers

    def in_order(self, jobs: Iterable[_Item], run: Callable[[_Item], Sequence[_Result]]) -> list[_Result]:
        """Run jobs, several in flight, and put what they give in the order of the jobs."""
        found: list[_Result] = []
        with ThreadPoolExecutor(JOBS_IN_FLIGHT, thread_name_prefix="lawful-job") as pool:
            waiting = [pool.submit(run, job) for job in jobs]
            try:
                for future in waiting:
                    found.extend(future.result())
            except BaseException:
                self.leave(waiting)
                raise
        return found

    def leave(self, waiting: Iterable[Future[Any]]) -> None:
        """End the call: an error, an interrupt, or a caller that has seen enough."""
        self._is_left.set()
        running = {future for future in waiting if not future.cancel() and not future.done()}
        while running:  # a job that is about to start is not yet there to be interrupted
            self._jobs.interrupt(self._tag)
            _, running = wait(running, LOOK_SECONDS)


def _next_line(lines: Iterator[Any]) -> Any:
    with translated():
        return next(lines, None)


def _new_tag() -> str:
    return f"lawful-{uuid.uuid4().hex}"


def _unreachable_table() -> EngineError:
    return EngineError(
        "a Spark worker cannot get the encoded table",
        "Keep it where all nodes see it: set LAWFUL_CACHE to a shared folder.",
    )
