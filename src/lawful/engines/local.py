"""The local engine: threads in this process, over kernels that release the GIL."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from lawful.checks import CheckTask, Verdict, Workspace, check
from lawful.checks.workspace import DEFAULT_CACHE_BYTES
from lawful.engines.packing import Pack, pack_by_cost
from lawful.engines.protocol import ShouldStop
from lawful.errors import StoppedError, UsageError
from lawful.evidence import AgreeSets, all_agree_sets
from lawful.meanings import NullPolicy
from lawful.tables.encoded_table import EncodedTable

_PACKS_A_THREAD = 8
_WORTH_THREADS = 2_000
"""All pairs of fewer rows than this are compared before threads would have started."""


class LocalEngine:
    """Checks in this process: the reference for every other engine, and the quick way for small tables.

    Parameters
    ----------
    threads
        How many checks run at once; None takes one a core.
    cache_bytes
        The budget for partitions kept between checks, shared by all threads.
    """

    name = "local"

    def __init__(self, threads: int | None = None, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        if threads is not None and threads < 1:
            raise UsageError(f"the number of threads must be at least 1, and is {threads}")
        self._threads = threads or os.cpu_count() or 1
        self._cache_bytes = cache_bytes
        self._workspace: Workspace | None = None
        self._table: EncodedTable | None = None
        self._cancelled = Event()

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Make a workspace for the table."""
        self._table = table
        self._workspace = Workspace(table, null_policy, self._cache_bytes)
        self._cancelled.clear()

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check packs of tasks on the threads and yield verdicts pack by pack."""
        table, workspace = self._opened()
        packs = pack_by_cost(list(tasks), table, self._threads * _PACKS_A_THREAD)
        stop = Event()

        def run(pack: Pack) -> list[Verdict]:
            verdicts = []
            for task in pack:
                if stop.is_set() or self._cancelled.is_set():
                    break
                verdicts.append(check(task, table, workspace))
            return verdicts

        with ThreadPoolExecutor(self._threads, thread_name_prefix="lawful-check") as pool:
            waiting: set[Future[list[Verdict]]] = {pool.submit(run, pack) for pack in packs}
            try:
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield from future.result()
                    if self._cancelled.is_set():
                        raise StoppedError("the checks were cancelled")
            finally:
                stop.set()
                for future in waiting:
                    future.cancel()

    def agree_sets(self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False) -> AgreeSets:
        """Compare all pairs of rows with all threads."""
        table, workspace = self._opened()

        def stops() -> bool:
            return self._cancelled.is_set() or should_stop()

        threads = self._threads if table.rows >= _WORTH_THREADS else 1
        return all_agree_sets(table, workspace.null_policy, columns, threads, stops, counted=counted)

    def cancel(self) -> None:
        """Stop after the checks that are under way."""
        self._cancelled.set()

    def close(self) -> None:
        """Let go of the table and its partitions."""
        self._table = self._workspace = None

    def _opened(self) -> tuple[EncodedTable, Workspace]:
        if self._table is None or self._workspace is None:
            raise UsageError("the engine was not opened for a table")
        return self._table, self._workspace
