"""The local engine: threads in this process, over kernels that release the GIL.

What only some laws need is loaded when it is first asked for: a small table is done before all of it were loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import TYPE_CHECKING

import numpy as np

from lawful.checks import CheckTask, GroupRows, Most, Verdict, Workspace, check, summarize, violating_rows
from lawful.checks.workspace import DEFAULT_CACHE_BYTES
from lawful.common.errors import StoppedError, UsageError
from lawful.common.machine import cores, memory_bytes
from lawful.engines.packing import Pack, in_packs, pack_by_cost
from lawful.tables.shown_rows import RowShower, Shown

if TYPE_CHECKING:
    import pyarrow as pa

    from lawful.checks.denials.tree import Path
    from lawful.checks.voting.asking import VotingLaw
    from lawful.checks.voting.opinions import Opinion
    from lawful.common.arrays import Int32s, Ints
    from lawful.common.meanings import NullPolicy
    from lawful.dependencies import Law
    from lawful.dependencies.predicate_space import PredicateSpace
    from lawful.engines.protocol import ShouldStop
    from lawful.evidence import AgreeSets, Pool, Rows, SwapSets
    from lawful.evidence.denials.evidence import DenialEvidence
    from lawful.search.pods.kept_left_sides import LeftSides
    from lawful.tables.encoded_table import EncodedTable

_PACKS_A_THREAD = 8
_WORTH_THREADS = 2_000
"""All pairs of fewer rows than this are compared before threads would have started."""
_WORTH_A_POOL = 300_000
"""Checks of fewer rows in all are done before a pool of threads would have started and ended."""


class LocalEngine:
    """Checks in this process: the reference for every other engine, and the quick way for small tables.

    Parameters
    ----------
    threads
        How many checks run at once, whatever the number of calls; None takes one per core.
    cache_bytes
        The budget for partitions kept between checks, shared by all threads. None takes what is usual; a search for
        order dependencies takes more, up to `most_cache_bytes`.
    """

    name = "local"
    is_elsewhere = False

    def __init__(self, threads: int | None = None, cache_bytes: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise UsageError(f"the number of threads must be at least 1, and is {threads}")
        self._threads = threads or cores()
        self._cache_bytes = DEFAULT_CACHE_BYTES if cache_bytes is None else cache_bytes
        self.most_cache_bytes = memory_bytes() // 4 if cache_bytes is None else cache_bytes
        self._longest_chain: int | None = None
        self._opened_on: tuple[EncodedTable, NullPolicy] | None = None
        self._workspace: Workspace | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._making = Lock()
        self._is_cancelled = False

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Take the table; the workspace and the threads that all checks share are made for the first of them."""
        self.close()
        self._opened_on = table, null_policy
        self._is_cancelled = False

    def tune(self, *, cache_bytes: int | None = None, longest_chain: int | None = None) -> None:
        """Change how partitions are kept, from now on."""
        self._cache_bytes = self._cache_bytes if cache_bytes is None else cache_bytes
        self._longest_chain = self._longest_chain if longest_chain is None else longest_chain or None
        if self._workspace is not None:
            self._workspace.resize(self._cache_bytes)
            self._workspace.longest_chain = self._longest_chain

    def relieve(self) -> None:
        """Drop all partitions (DISTOD's eviction, section 7.4.2), and keep half as much of them from now on."""
        if self._workspace is not None:
            self._workspace.resize(0)
        self.tune(cache_bytes=self._cache_bytes // 2)
        with contextlib.suppress(OSError, AttributeError):  # only some C libraries can
            ctypes.CDLL(None).malloc_trim(0)

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check packs of tasks on the threads and yield verdicts pack by pack; few short ones in this thread."""
        table, _ = self._opened()
        workspace, pool = self._for_checks()
        given = list(tasks)
        if len(given) * table.rows < _WORTH_A_POOL:
            yield from self._check_here(given, table, workspace)
            return
        packs = pack_by_cost(given, table, [1.0] * (self._threads * _PACKS_A_THREAD))
        stop = Event()

        def run(pack: Pack) -> list[Verdict]:
            verdicts = []
            for task in pack:
                if stop.is_set() or self._is_cancelled:
                    break
                verdicts.append(check(task, table, workspace))
            return verdicts

        waiting = {pool.submit(run, pack) for pack in packs}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
                self._look()
        finally:
            stop.set()
            wait(future for future in waiting if not future.cancel())

    def _check_here(self, tasks: list[CheckTask], table: EncodedTable, workspace: Workspace) -> Iterator[Verdict]:
        for task in tasks:
            self._look()
            yield check(task, table, workspace)

    def _look(self) -> None:
        """Raise if the checks were cancelled."""
        if self._is_cancelled:
            raise StoppedError("the checks were cancelled")

    def violations(self, law: Law, shown: Shown | None = None, *, in_pairs: bool = False) -> Iterator[pa.RecordBatch]:
        """Find the rows in this thread and yield them batch by batch."""
        table, _ = self._opened()
        workspace, _ = self._for_checks()
        self._look()
        shower = RowShower(table, shown)
        for groups, rows in violating_rows(law, table, workspace, in_pairs=in_pairs):
            self._look()
            yield shower.batch(groups, rows)

    def shown_schema(self, shown: Shown) -> pa.Schema:
        """Look at the values here."""
        return RowShower(self._opened()[0], shown).schema

    def violating_groups(self, law: Law, most: Most) -> list[GroupRows]:
        """Find the groups in this thread."""
        table, _ = self._opened()
        workspace, _ = self._for_checks()
        self._look()
        return summarize(law, table, workspace, most)

    def agree_sets(
        self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False, rows: Rows | None = None
    ) -> AgreeSets:
        """Compare pairs of rows with all threads."""
        from lawful.evidence import agree_sets_of_rows, all_agree_sets, tile_of_rows

        table, null_policy = self._opened()

        def stops() -> bool:
            return self._is_cancelled or should_stop()

        if rows is not None:
            tile = tile_of_rows(table, rows)
            return agree_sets_of_rows(table, null_policy, rows, tile, columns, self._threads, stops, counted=counted)
        threads = self._threads if table.rows >= _WORTH_THREADS else 1
        return all_agree_sets(table, null_policy, columns, threads, stops, counted=counted)

    def violating_pairs(self, space: PredicateSpace, paths: Sequence[Path], should_stop: ShouldStop) -> Int32s:
        """Walk parts of the tree of constraints on the threads."""
        from lawful.checks.denials.tree import distinct_violating_pairs

        workspace, pool = self._for_checks()
        failed = Event()

        def stops() -> bool:
            return failed.is_set() or self._is_cancelled or should_stop()

        waiting = [
            pool.submit(distinct_violating_pairs, pack, space, workspace, stops)
            for pack in in_packs(paths, self._threads * _PACKS_A_THREAD)
        ]
        try:
            parts = [future.result() for future in waiting]
        finally:  # an interrupt reaches this thread alone: the others must not go on to the end
            failed.set()
            wait(future for future in waiting if not future.cancel())
        return np.concatenate([np.empty((0, 2), np.int32), *parts])

    def refuting_pairs(self, laws: LeftSides, rows: Rows, should_stop: ShouldStop) -> Int32s:
        """Compare the rows with all threads."""
        from lawful.engines.refuting_pairs import refuting_pairs_of_rows
        from lawful.evidence import tile_of_rows

        table, null_policy = self._opened()

        def stops() -> bool:
            return self._is_cancelled or should_stop()

        tile = tile_of_rows(table, rows)
        return refuting_pairs_of_rows(table, null_policy, laws, rows, tile, self._threads, stops)

    def denial_evidence(
        self, space: PredicateSpace, should_stop: ShouldStop, *, counted: bool = False
    ) -> DenialEvidence:
        """Compare all pairs of rows with all threads."""
        from lawful.evidence.denials.evidence import all_evidence

        table, null_policy = self._opened()

        def stops() -> bool:
            return self._is_cancelled or should_stop()

        threads = self._threads if table.rows >= _WORTH_THREADS else 1
        return all_evidence(table, space, null_policy, threads, stops, counted=counted)

    def swap_evidence(self, columns: Sequence[int], should_stop: ShouldStop) -> SwapSets:
        """Compare all pairs of rows with all threads."""
        from lawful.evidence import all_swaps

        table, null_policy = self._opened()

        def stops() -> bool:
            return self._is_cancelled or should_stop()

        threads = self._threads if table.rows >= _WORTH_THREADS else 1
        return all_swaps(table, null_policy, columns, threads, stops)

    def pairs_of_classes(
        self, pool: Pool, sets: Sequence[tuple[int, ...]], most: Sequence[float], should_stop: ShouldStop
    ) -> list[Pool | int]:
        """Compare the classes of the sets on the threads."""
        from lawful.engines.class_pairs import compared_classes

        workspace, threads = self._for_checks()
        failed = Event()

        def stops() -> bool:
            return failed.is_set() or self._is_cancelled or should_stop()

        waiting = [
            threads.submit(compared_classes, columns, pool, workspace, limit, stops)
            for columns, limit in zip(sets, most, strict=True)
        ]
        try:
            return [future.result() for future in waiting]
        finally:
            failed.set()
            wait(future for future in waiting if not future.cancel())

    def opinions(self, laws: Sequence[VotingLaw], should_stop: ShouldStop, rows: Ints | None = None) -> list[Opinion]:
        """Ask the laws on the threads."""
        from lawful.checks.voting.asking import opinion_of

        workspace, threads = self._for_checks()
        failed = Event()

        def ask(law: VotingLaw) -> Opinion:
            if failed.is_set() or self._is_cancelled or should_stop():
                raise StoppedError("the laws were not asked to the end")
            return opinion_of(law, workspace, rows)

        waiting = [threads.submit(ask, law) for law in laws]
        try:
            return [future.result() for future in waiting]
        finally:
            failed.set()
            wait(future for future in waiting if not future.cancel())

    def cancel(self) -> None:
        """Stop after the checks that are under way."""
        self._is_cancelled = True

    def close(self) -> None:
        """Let go of the table, its partitions and the threads."""
        if self._pool is not None:
            # What was cancelled may be left behind: nobody waits for it.
            self._pool.shutdown(wait=not self._is_cancelled, cancel_futures=True)
        self._opened_on = self._workspace = self._pool = None

    def _opened(self) -> tuple[EncodedTable, NullPolicy]:
        if self._opened_on is None:
            raise UsageError("the engine was not opened for a table")
        return self._opened_on

    def _for_checks(self) -> tuple[Workspace, ThreadPoolExecutor]:
        with self._making:
            if self._workspace is None or self._pool is None:
                self._workspace = Workspace(*self._opened(), self._cache_bytes, self._longest_chain)
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="lawful-local")
            return self._workspace, self._pool
