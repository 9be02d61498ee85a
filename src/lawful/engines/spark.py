"""The Spark engine: packs of checks as Spark tasks, several jobs in flight.

A pack is a number; the packs themselves travel in the task's closure, so a job is one narrow stage over a
range of numbers. Outcomes carry the ids of their checks: a job may be run again, on other executors, without
harm.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Damage, GroupRows, Most, Trial, Verdict
from lawful.checks.denials.tree import Path as ConstraintPath
from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.opinions import Opinion
from lawful.checks.workspace import DEFAULT_CACHE_BYTES
from lawful.common.arrays import Int32s, Ints
from lawful.common.errors import EngineError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import Law
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.engines.local import LocalEngine
from lawful.engines.packing import Pack, in_jobs, in_packs
from lawful.engines.payloads import (
    read_array,
    read_batch,
    read_evidence,
    read_opinion,
    read_part,
    read_sets,
    read_summary,
    read_swaps,
)
from lawful.engines.protocol import ShouldStop
from lawful.engines.spark_jobs import JOBS_IN_FLIGHT, LOOK_SECONDS, Call, SparkJobs
from lawful.engines.spark_tables import WorkerSettings
from lawful.engines.spark_worker import (
    ANSWERS,
    END,
    VERDICTS,
    ViolationRequest,
    class_pairs_runner,
    evidence_runner,
    opinion_runner,
    pack_runner,
    pairs_runner,
    piece_runner,
    refuting_runner,
    schema_runner,
    summary_runner,
    swaps_runner,
    tile_runner,
)
from lawful.engines.worker_memory import most_cache_bytes
from lawful.evidence import (
    AgreeSets,
    Pool,
    Rows,
    SwapSets,
    Tile,
    merge,
    merge_swaps,
    tile_of_rows,
    tiles,
)
from lawful.evidence.denials.evidence import DenialEvidence, all_evidence, merge_evidence
from lawful.search.pods.kept_left_sides import LeftSides
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shown_rows import Shown
from lawful.tables.spark_facts import parallelism

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TILES_A_CORE = 4
_WORTH_SWAP_JOBS = 1e8
"""Pairs times columns whose swaps the driver finds in about a second with two threads; jobs cost half of one."""
_WORTH_CLASS_JOBS = 1e8
"""Rows to group and pairs to compare that take the driver about a second with two threads. The classes of ten sets over
a million rows took it 0.2 s, and Spark on the same cores 0.5 to 0.8 s."""


_WORTH_OPINION_JOBS = 2e7
"""Values that laws look at which take the driver less than a second with two threads."""


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
    is_elsewhere = True

    def __init__(self, spark: SparkSession, cache_bytes: int | None = None, *, shares_files: bool = True) -> None:
        self.spark = spark
        self._jobs = SparkJobs(spark, shares_files=shares_files)
        self._cache_bytes = DEFAULT_CACHE_BYTES if cache_bytes is None else cache_bytes
        self.most_cache_bytes = most_cache_bytes(spark) if cache_bytes is None else cache_bytes
        self._longest_chain: int | None = None
        self._settings: WorkerSettings | None = None
        self._here: LocalEngine | None = None
        self._calls = 0
        self._counting = Lock()

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Bring the table to the workers: they map the driver's folder if they see it, else it is shipped."""
        self.close()
        reference = self._jobs.open(table)
        self._settings = WorkerSettings(reference, null_policy, self._cache_bytes, self._longest_chain)
        probes: list[Pack] = [()] * parallelism(self.spark)
        Call(self._jobs).rows(pack_runner(probes, self.settings), VERDICTS, range(len(probes)))

    def tune(self, *, cache_bytes: int | None = None, longest_chain: int | None = None) -> None:
        """Change how every Python worker keeps partitions; one that was at work starts with none."""
        self._cache_bytes = self._cache_bytes if cache_bytes is None else cache_bytes
        self._longest_chain = self._longest_chain if longest_chain is None else longest_chain or None
        if self._settings is not None:
            self._settings = replace(self._settings, cache_bytes=self._cache_bytes, longest_chain=self._longest_chain)

    def relieve(self) -> None:
        """Do nothing: partitions are kept by the workers, which have a budget of their own."""

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Run packs of tasks in jobs and yield the verdicts of each job as it ends."""
        table = self._jobs.table
        remaining = list(tasks)
        expected = {task.id for task in remaining}
        call = Call(self._jobs)
        with self._counted() as calls, ThreadPoolExecutor(JOBS_IN_FLIGHT, thread_name_prefix="lawful-job") as pool:
            jobs = in_jobs(remaining, table, parallelism(self.spark), others_wait=calls >= JOBS_IN_FLIGHT)
            waiting: set[Future[list[Verdict]]] = {pool.submit(self._verdicts, job, call) for job in jobs}
            try:
                while waiting:
                    done, waiting = wait(waiting, LOOK_SECONDS, return_when=FIRST_COMPLETED)
                    for future in done:
                        for verdict in future.result():
                            if verdict.id in expected:  # a repeated outcome is harmless
                                expected.remove(verdict.id)
                                yield verdict
                    call.look()
                if expected:
                    raise EngineError(f"{len(expected)} checks came back without a verdict")
            finally:
                call.leave(waiting)

    def _verdicts(self, packs: Sequence[Pack], call: Call) -> list[Verdict]:
        rows = call.rows(pack_runner(packs, self.settings), VERDICTS, range(len(packs)))
        verdicts = []
        for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            id_, holds, first, second, violations, *counts, told, measured, _ = row
            damage = None if counts[0] is None else Damage(*counts)
            trial = None if told is None else Trial(*json.loads(told))
            measures = None if measured is None else json.loads(measured)
            witness = None if first is None else (first, second)
            verdicts.append(Verdict(id_, holds, witness, violations, damage, trial, measures))
        return verdicts

    def violations(self, law: Law, shown: Shown | None = None, *, in_pairs: bool = False) -> Iterator[pa.RecordBatch]:
        """Let a worker find the rows, and fetch some pieces per job; the next ones while these are looked at."""
        call = Call(self._jobs)
        runner = piece_runner(ViolationRequest(law, shown, in_pairs), self.settings)
        with ThreadPoolExecutor(1, thread_name_prefix="lawful-rows") as pool:
            waiting: Future[pa.Table] | None = pool.submit(call.rows, runner, ANSWERS, range(1))
            try:
                while waiting is not None:
                    wait([waiting], LOOK_SECONDS)
                    call.look()
                    if not waiting.done():
                        continue
                    numbers, pieces, _ = (column.to_pylist() for column in waiting.result().columns)
                    place = max(numbers) + 1
                    waiting = (
                        None if END in numbers else pool.submit(call.rows, runner, ANSWERS, range(place, place + 1))
                    )
                    for number, piece in zip(numbers, pieces, strict=True):
                        if number != END:
                            yield read_batch(piece)
            finally:
                call.leave([] if waiting is None else [waiting])

    def violating_groups(self, law: Law, most: Most) -> list[GroupRows]:
        """Let a worker find the groups and tell them in short."""
        (answer,) = Call(self._jobs).answers(summary_runner(law, most, self.settings), 1)
        return [read_summary(told) for told in json.loads(answer)]

    def shown_schema(self, shown: Shown) -> pa.Schema:
        """Let a worker look at the values."""
        (answer,) = Call(self._jobs).answers(schema_runner(shown, self.settings), 1)
        return pa.ipc.read_schema(pa.py_buffer(answer))

    def agree_sets(
        self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False, rows: Rows | None = None
    ) -> AgreeSets:
        """Compare pairs of rows in tiles, some tiles per job, so that the work can be stopped in between."""
        jobs = self._tiles(rows)
        if not jobs:
            return self._on_the_driver().agree_sets(columns, should_stop, counted=counted, rows=rows)
        call = Call(self._jobs, should_stop)

        def run(job: Sequence[Tile]) -> list[AgreeSets]:
            answers = call.answers(tile_runner(job, columns, counted, self.settings, rows), len(job))
            return [read_sets(answer, columns) for answer in answers]

        return merge(call.in_order(jobs, run))

    def refuting_pairs(self, laws: LeftSides, rows: Rows, should_stop: ShouldStop) -> Int32s:
        """Compare the rows with all in tiles, as `agree_sets` does; the same vector may come from several tiles."""
        jobs = self._tiles(rows)
        if not jobs:
            return self._on_the_driver().refuting_pairs(laws, rows, should_stop)
        call = Call(self._jobs, should_stop)

        def run(job: Sequence[Tile]) -> list[Int32s]:
            return list(map(read_array, call.answers(refuting_runner(job, laws, rows, self.settings), len(job))))

        return np.concatenate(call.in_order(jobs, run))

    def denial_evidence(
        self, space: PredicateSpace, should_stop: ShouldStop, *, counted: bool = False
    ) -> DenialEvidence:
        """Compare all pairs of rows over a predicate space in tiles, as `agree_sets` does."""
        jobs = self._tiles()
        if not jobs:
            return all_evidence(self._jobs.table, space, self.settings.null_policy, 1, counted=counted)
        call = Call(self._jobs, should_stop)

        def run(job: Sequence[Tile]) -> list[DenialEvidence]:
            return list(map(read_evidence, call.answers(evidence_runner(job, space, counted, self.settings), len(job))))

        return merge_evidence(call.in_order(jobs, run))

    def swap_evidence(self, columns: Sequence[int], should_stop: ShouldStop) -> SwapSets:
        """Compare all pairs of rows in tiles, as `agree_sets` does; few of them on the driver."""
        jobs = self._tiles()
        if math.comb(self._jobs.table.rows, 2) * len(columns) < _WORTH_SWAP_JOBS or not jobs:
            return self._on_the_driver().swap_evidence(columns, should_stop)
        call = Call(self._jobs, should_stop)

        def run(job: Sequence[Tile]) -> list[SwapSets]:
            answers = call.answers(swaps_runner(job, columns, self.settings), len(job))
            return [read_swaps(answer, columns) for answer in answers]

        return merge_swaps(call.in_order(jobs, run))

    def _tiles(self, rows: Rows | None = None) -> list[Sequence[Tile]]:
        """All pairs of rows, or all pairs of some rows, in jobs of a tile for each core."""
        cores, table = parallelism(self.spark), self._jobs.table
        parts = _TILES_A_CORE * cores
        cut = tiles(table.rows, parts) if rows is None else tile_of_rows(table, rows).cut(parts)
        return [cut[first : first + cores] for first in range(0, len(cut), cores)]

    def pairs_of_classes(
        self, pool: Pool, sets: Sequence[tuple[int, ...]], most: Sequence[float], should_stop: ShouldStop
    ) -> list[Pool | int]:
        """Compare the classes of each set in a task of its own; few of them on the driver."""
        grouped = self._jobs.table.rows * sum(map(len, sets))
        if grouped + sum(most) < _WORTH_CLASS_JOBS or not sets:
            return self._on_the_driver().pairs_of_classes(pool, sets, most, should_stop)
        call = Call(self._jobs, should_stop)
        cores = parallelism(self.spark)

        def run(numbers: Sequence[int]) -> list[Pool | int]:
            chosen, limits = [sets[number] for number in numbers], [most[number] for number in numbers]
            runner = class_pairs_runner(chosen, limits, pool.columns, self.settings)
            return [read_part(answer, pool) for answer in call.answers(runner, len(numbers))]

        in_turn = range(len(sets))
        return call.in_order([in_turn[first : first + cores] for first in range(0, len(sets), cores)], run)

    def violating_pairs(
        self, space: PredicateSpace, paths: Sequence[ConstraintPath], should_stop: ShouldStop
    ) -> Int32s:
        """Walk parts of the tree of constraints as tasks, some parts per job."""
        call = Call(self._jobs, should_stop)
        found = [np.empty((0, 2), np.int32)]
        packs = in_packs(paths, _TILES_A_CORE * parallelism(self.spark))
        for job in in_packs(packs, _TILES_A_CORE):
            found += map(read_array, call.answers(pairs_runner(job, space, self.settings), len(job)))
        return np.concatenate(found)

    def opinions(self, laws: Sequence[VotingLaw], should_stop: ShouldStop, rows: Ints | None = None) -> list[Opinion]:
        """Ask each law in a task of its own, some per job; few rows on the driver."""
        if self._jobs.table.rows * self._jobs.table.width * len(laws) < _WORTH_OPINION_JOBS:
            return self._on_the_driver().opinions(laws, should_stop, rows)
        call = Call(self._jobs, should_stop)

        def run(job: Sequence[VotingLaw]) -> list[Opinion]:
            return [read_opinion(answer) for answer in call.answers(opinion_runner(job, rows, self.settings), len(job))]

        cores = parallelism(self.spark)
        return call.in_order([laws[first : first + cores] for first in range(0, len(laws), cores)], run)

    def cancel(self) -> None:
        """Interrupt all jobs of this engine on the cluster."""
        if self._here is not None:
            self._here.cancel()
        self._jobs.cancel()

    def close(self) -> None:
        """Let go of the table; the session stays as it is."""
        self._jobs.close()
        self._settings = None
        if self._here is not None:
            self._here.close()
            self._here = None

    @property
    def settings(self) -> WorkerSettings:
        """What a worker needs to know of the table that is open."""
        if self._settings is None:
            raise UsageError("the engine was not opened for a table")
        return self._settings

    def _on_the_driver(self) -> LocalEngine:
        """An engine in this process, for what is done before a job of Spark would have started."""
        with self._counting:
            if self._here is None:
                self._here = LocalEngine()
                self._here.open(self._jobs.table, self.settings.null_policy)
            return self._here

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
