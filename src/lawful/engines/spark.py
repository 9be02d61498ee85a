"""The Spark engine: packs of checks as Spark tasks, several jobs in flight.

A pack is a number; the packs themselves travel in the task's closure, so a job is one narrow stage over a
range of numbers. Outcomes carry the ids of their checks: a job may be run again, on other executors, without
harm.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Verdict
from lawful.checks.denials.tree import Path as ConstraintPath
from lawful.checks.workspace import DEFAULT_CACHE_BYTES
from lawful.common.arrays import Int32s
from lawful.common.errors import EngineError, StoppedError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.engines.packing import Pack, in_jobs, in_packs
from lawful.engines.protocol import ShouldStop
from lawful.engines.spark_worker import (
    ABSENT,
    AGREE_SETS,
    EVIDENCE,
    PAIRS,
    VERDICTS,
    Runner,
    TableReference,
    WorkerSettings,
    agree_sets_from_bytes,
    evidence_from_bytes,
    evidence_runner,
    pack_runner,
    pairs_from_bytes,
    pairs_runner,
    tile_runner,
)
from lawful.engines.worker_memory import most_cache_bytes
from lawful.evidence import AgreeSets, Tile, all_agree_sets, merge, tiles
from lawful.evidence.denials.evidence import DenialEvidence, all_evidence, merge_evidence
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import is_connect, parallelism

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Part = TypeVar("Part", AgreeSets, DenialEvidence)

_JOBS_IN_FLIGHT = 3
_ATTEMPTS = 3
_TILES_A_CORE = 4
_LOOK_SECONDS = 0.5
"""How long to wait before looking again whether checks were cancelled, and whether interrupted jobs have ended."""


class _Call:
    """One call for checks: the tag of its jobs, so that no others are interrupted with them, and whether it is over."""

    def __init__(self) -> None:
        self.tag = _new_tag()
        self.is_left = Event()


class SparkEngine:
    """Checks on Spark, through the DataFrame API only.

    Parameters
    ----------
    spark
        A session, classic or Connect. No setting of it is changed, and it is not stopped.
    cache_bytes
        The budget of each Python worker for partitions kept between checks. None takes what is usual; a
        search for order dependencies takes more, up to `most_cache_bytes`.
    shares_files
        Whether workers may look for the table at the driver's path. A worker that does not find it there gets
        it shipped in any case.
    """

    name = "spark"

    def __init__(self, spark: SparkSession, cache_bytes: int | None = None, *, shares_files: bool = True) -> None:
        self._spark = spark
        self._shares_files = shares_files
        self._cache_bytes = DEFAULT_CACHE_BYTES if cache_bytes is None else cache_bytes
        self.most_cache_bytes = most_cache_bytes(spark) if cache_bytes is None else cache_bytes
        self._longest_chain: int | None = None
        self._table: EncodedTable | None = None
        self._settings: WorkerSettings | None = None
        self._tag = _new_tag()
        self._cancelled = False
        self._calls = 0
        self._counting = Lock()
        self._shipping = Lock()
        self._is_shipped = False

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Bring the table to the workers: they map the driver's folder if they see it, else it is shipped."""
        if table.folder is None:
            raise UsageError("the Spark engine needs a table in a folder", "Encode it on Spark, or from a file.")
        self._table = table
        reference = TableReference.to(table, shares_files=self._shares_files)
        self._settings = WorkerSettings(reference, null_policy, self._cache_bytes, self._longest_chain)
        self._cancelled = self._is_shipped = False
        self._tag = _new_tag()
        probes: list[Pack] = [()] * parallelism(self._spark)
        self._run_until_present(probes)

    def tune(self, *, cache_bytes: int | None = None, longest_chain: int | None = None) -> None:
        """Change how every Python worker keeps partitions; one that was at work starts with none."""
        self._cache_bytes = self._cache_bytes if cache_bytes is None else cache_bytes
        self._longest_chain = longest_chain or self._longest_chain
        if self._settings is not None:
            self._settings = replace(self._settings, cache_bytes=self._cache_bytes, longest_chain=self._longest_chain)

    def relieve(self) -> None:
        """Do nothing: partitions are kept by the workers, which have a budget of their own."""

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Run packs of tasks in jobs and yield the verdicts of each job as it ends."""
        table = self._opened()
        remaining = list(tasks)
        expected = {task.id for task in remaining}
        call = _Call()
        with self._counted() as calls, ThreadPoolExecutor(_JOBS_IN_FLIGHT, thread_name_prefix="lawful-job") as pool:
            jobs = in_jobs(remaining, table, parallelism(self._spark), others_wait=calls >= _JOBS_IN_FLIGHT)
            waiting: set[Future[list[Verdict]]] = {pool.submit(self._run_until_present, job, call) for job in jobs}
            try:
                while waiting:
                    done, waiting = wait(waiting, _LOOK_SECONDS, return_when=FIRST_COMPLETED)
                    for future in done:
                        for verdict in future.result():
                            if verdict.id in expected:  # a repeated outcome is harmless
                                expected.remove(verdict.id)
                                yield verdict
                    if self._cancelled:
                        raise StoppedError("the checks were cancelled")
                if expected:
                    raise EngineError(f"{len(expected)} checks came back without a verdict")
            finally:
                # An error, an interrupt, or a caller that has seen enough.
                call.is_left.set()
                for future in waiting:
                    future.cancel()
                while waiting:  # a job that is about to start is not yet there to be interrupted
                    self._interrupt(call.tag)
                    _, waiting = wait(waiting, _LOOK_SECONDS)

    def agree_sets(self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False) -> AgreeSets:
        """Compare all pairs of rows in tiles, some tiles a job, so that the work can be stopped in between."""
        table = self._opened()
        cores = parallelism(self._spark)
        remaining = tiles(table.rows, _TILES_A_CORE * cores)
        if not remaining:
            assert self._settings is not None
            return all_agree_sets(table, self._settings.null_policy, columns, 1, counted=counted)
        jobs = [remaining[first : first + cores] for first in range(0, len(remaining), cores)]

        def run(job: Sequence[Tile]) -> list[AgreeSets]:
            assert self._settings is not None
            runner = tile_runner(job, columns, counted, self._settings)
            payloads = self._run_payloads(runner, AGREE_SETS, len(job), should_stop)
            return [agree_sets_from_bytes(payload, columns) for payload in payloads]

        return merge(self._parts(jobs, run))

    def denial_evidence(
        self, space: PredicateSpace, should_stop: ShouldStop, *, counted: bool = False
    ) -> DenialEvidence:
        """Compare all pairs of rows over a predicate space in tiles, as `agree_sets` does."""
        table = self._opened()
        cores = parallelism(self._spark)
        remaining = tiles(table.rows, _TILES_A_CORE * cores)
        if not remaining:
            assert self._settings is not None
            return all_evidence(table, space, self._settings.null_policy, 1, counted=counted)
        jobs = [remaining[first : first + cores] for first in range(0, len(remaining), cores)]

        def run(job: Sequence[Tile]) -> list[DenialEvidence]:
            assert self._settings is not None
            runner = evidence_runner(job, space, counted, self._settings)
            return list(map(evidence_from_bytes, self._run_payloads(runner, EVIDENCE, len(job), should_stop)))

        return merge_evidence(self._parts(jobs, run))

    def _parts(self, jobs: Sequence[Sequence[Tile]], run: Callable[[Sequence[Tile]], list[Part]]) -> list[Part]:
        """Run jobs over tiles, several in flight, and put what they found in the order of the tiles."""
        parts: list[Part] = []
        with ThreadPoolExecutor(_JOBS_IN_FLIGHT, thread_name_prefix="lawful-tiles") as pool:
            waiting = [pool.submit(run, job) for job in jobs]
            try:
                for future in waiting:
                    parts.extend(future.result())
            except BaseException:
                for future in waiting:
                    future.cancel()
                self._interrupt(self._tag)
                raise
        return parts

    def _run_payloads(self, runner: Runner, schema: str, tasks: int, should_stop: ShouldStop) -> list[bytes]:
        """Run numbered tasks in one job; where a worker does not have the table, ship it and run them again."""
        for _ in range(_ATTEMPTS):
            if self._cancelled or should_stop():
                raise StoppedError("the comparison of pairs was stopped")
            try:
                with translated():
                    self._tag_jobs(self._tag)
                    numbers = self._spark.range(0, tasks, 1, tasks)
                    rows = numbers.mapInArrow(runner, schema).toArrow()
            except EngineError:
                if self._cancelled:
                    raise StoppedError("the comparison of pairs was stopped") from None
                raise
            payloads: list[bytes] = rows.sort_by(rows.column_names[0]).column(1).to_pylist()
            if all(payloads):
                return payloads
            self._ship()
        raise _unreachable_table()

    def violating_pairs(
        self, space: PredicateSpace, paths: Sequence[ConstraintPath], should_stop: ShouldStop
    ) -> Int32s:
        """Walk parts of the tree of constraints as tasks, some parts a job."""
        self._opened()
        assert self._settings is not None
        cores = parallelism(self._spark)
        found = [np.empty((0, 2), np.int32)]
        packs = in_packs(paths, _TILES_A_CORE * cores)
        for job in in_packs(packs, _TILES_A_CORE):
            runner = pairs_runner(job, space, self._settings)
            found += map(pairs_from_bytes, self._run_payloads(runner, PAIRS, len(job), should_stop))
        return np.concatenate(found)

    def cancel(self) -> None:
        """Interrupt all jobs of this engine on the cluster."""
        self._cancelled = True
        self._interrupt(self._tag)

    def close(self) -> None:
        """Let go of the table; the session stays as it is."""
        self._table = self._settings = None

    def _opened(self) -> EncodedTable:
        if self._table is None:
            raise UsageError("the engine was not opened for a table")
        return self._table

    @contextlib.contextmanager
    def _counted(self) -> Iterator[int]:
        """Count a call for checks as long as it is under way, and tell how many there are, this one included."""
        with self._counting:
            self._calls += 1
            calls = self._calls
        try:
            yield calls
        finally:
            with self._counting:
                self._calls -= 1

    def _run_until_present(self, packs: Sequence[Pack], call: _Call | None = None) -> list[Verdict]:
        """Run a job; where a worker does not have the table, ship it and run those packs again."""
        call = call or _Call()
        rows = self._run_with_retries(packs, call)
        if any(error == ABSENT for error in rows.column("error").to_pylist()):
            self._ship()
            rows = self._run_with_retries(packs, call)
        verdicts = []
        for id_, holds, first, second, violations, error in zip(*(c.to_pylist() for c in rows.columns), strict=True):
            if error == ABSENT:
                raise _unreachable_table()
            if error is not None:
                raise EngineError(error)
            verdicts.append(Verdict(id_, holds, None if first is None else (first, second), violations))
        return verdicts

    def _run_with_retries(self, packs: Sequence[Pack], call: _Call) -> pa.Table:
        for attempt in range(_ATTEMPTS):
            try:
                return self._run(packs, call)
            except EngineError:
                if self._cancelled or call.is_left.is_set():
                    raise StoppedError("the checks were cancelled") from None
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    def _run(self, packs: Sequence[Pack], call: _Call) -> pa.Table:
        if self._cancelled or call.is_left.is_set():
            raise StoppedError("the checks were cancelled")
        assert self._settings is not None
        with translated():
            self._tag_jobs(self._tag, call.tag)
            numbers = self._spark.range(0, len(packs), 1, len(packs))
            return numbers.mapInArrow(pack_runner(packs, self._settings), VERDICTS).toArrow()

    def _ship(self) -> None:
        """Send the table's files to every node, once."""
        with self._shipping:
            if self._is_shipped:
                return
            assert self._settings is not None
            assert self._table is not None
            assert self._table.folder is not None
            reference = self._settings.table
            folder = Path(tempfile.mkdtemp(prefix="lawful-ship-"))
            # Spark serves the files to executors that come later too, for as long as the session lives.
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            places = []
            for name, file in reference.shipped_names().items():
                source, place = self._table.folder / file, folder / name
                try:
                    os.link(source, place)
                except OSError:  # another file system
                    shutil.copyfile(source, place)
                places.append(str(place))
            with translated():
                self._spark.addArtifacts(*places, file=True)
            self._is_shipped = True

    def _tag_jobs(self, *tags: str) -> None:
        """Mark the jobs that this thread starts, so that they can be cancelled together."""
        # A classic session's own tags do not reach the thread that runs a job for Python.
        add = self._spark.addTag if is_connect(self._spark) else self._spark.sparkContext.addJobTag
        for tag in tags:
            add(tag)

    def _interrupt(self, tag: str) -> None:
        with contextlib.suppress(Exception):  # whatever is left of the jobs, the checks are over
            if is_connect(self._spark):
                self._spark.interruptTag(tag)
            else:
                self._spark.sparkContext.cancelJobsWithTag(tag)


def _new_tag() -> str:
    return f"lawful-{uuid.uuid4().hex}"


def _unreachable_table() -> EngineError:
    return EngineError(
        "a Spark worker cannot get the encoded table",
        "Keep it where all nodes see it: set LAWFUL_CACHE to a shared folder.",
    )
