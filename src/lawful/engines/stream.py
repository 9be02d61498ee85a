"""Checks under way on an engine, fed while earlier ones are still running.

`Engine.check` takes a whole batch. A search that reacts to every verdict has new checks long before a batch is done,
so a stream keeps several calls running and collects what they yield. While all are busy, checks gather for the next
call: the longer an engine takes to start one, the more it gets at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Event
from types import TracebackType
from typing import NamedTuple

from lawful.checks import CheckTask, Verdict
from lawful.engines.protocol import Checks

CALLS = 3
"""With three calls there is one that starts and one that ends beside the one that works."""
_BATCHES = (128, 8192)
_CALL_SECONDS = (0.7, 2.8)


class _Ended(NamedTuple):
    """The end of a call: how many checks it had, when it began, and when it ended."""

    checks: int
    begin: float
    end: float


class CheckStream:
    """A context in which tasks are put to an engine at any time, and verdicts taken as they come."""

    def __init__(self, checks: Checks, calls: int = CALLS, batch: int = _BATCHES[0]) -> None:
        self.running = 0
        """How many calls are under way; their last verdicts may still have to be taken."""
        self._is_costly = getattr(checks, "has_costly_calls", False)  # which only engines far away say of themselves
        self.batch = _BATCHES[1] if self._is_costly else batch
        """How many checks to put at once so that a call lasts a while.

        Fewer would mean more calls, of which Spark starts only some per second; more would be checked before the
        witnesses of the others could have spared them.
        """
        self._checks = checks
        self._calls = calls
        self._threads = ThreadPoolExecutor(calls, thread_name_prefix="lawful-stream")
        self._arrived: SimpleQueue[Verdict | BaseException | _Ended] = SimpleQueue()
        self._left = Event()
        self._last_end = 0.0

    def __enter__(self) -> CheckStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    @property
    def room(self) -> int:
        """How many calls would start at once."""
        return self._calls - self.running

    def put(self, tasks: Sequence[CheckTask]) -> None:
        """Start a batch."""
        self.running += 1
        self._threads.submit(self._run, tasks)

    def take(self, seconds: float) -> list[Verdict]:
        """Wait for verdicts, at most so long, and give all that have come; raise what a call has raised."""
        verdicts: list[Verdict] = []
        try:
            arrived = self._arrived.get(timeout=seconds)
            while True:
                if isinstance(arrived, _Ended):
                    self.running -= 1
                    self._adapt(arrived)
                elif isinstance(arrived, BaseException):
                    raise arrived
                else:
                    verdicts.append(arrived)
                arrived = self._arrived.get_nowait()
        except Empty:
            return verdicts

    def _adapt(self, ended: _Ended) -> None:
        """Let the next batches be longer or shorter, by the time that the engine had for this one alone.

        Calls queue up behind one another: before the last one ended, the engine was busy with that.
        """
        worked = ended.end - max(ended.begin, self._last_end)
        self._last_end = ended.end
        if worked < _CALL_SECONDS[0] and ended.checks >= self.batch:
            self.batch = min(2 * self.batch, _BATCHES[1])
        elif worked > _CALL_SECONDS[1] and ended.checks <= self.batch and not self._is_costly:
            self.batch = max(self.batch // 2, _BATCHES[0])

    def _run(self, tasks: Sequence[CheckTask]) -> None:
        begin = time.monotonic()
        try:
            for verdict in self._checks.check(tasks):
                if self._left.is_set():  # the loop ends, and with it the call
                    return
                self._arrived.put(verdict)
        except BaseException as error:  # whatever it is, the one who waits has to know
            self._arrived.put(error)
            return
        self._arrived.put(_Ended(len(tasks), begin, time.monotonic()))
