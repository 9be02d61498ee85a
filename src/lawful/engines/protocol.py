"""Where checks run: the one small protocol that discovery knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from lawful.checks import CheckTask, Verdict
from lawful.evidence import AgreeSets
from lawful.meanings import NullPolicy
from lawful.tables.encoded_table import EncodedTable

ShouldStop = Callable[[], bool]
"""Is asked now and then by long work; once it says yes, the work ends with `StoppedError`."""


class Engine(Protocol):
    """Runs checks somewhere and streams their verdicts back.

    An engine is opened for one table at a time. Verdicts come in any order, each task's exactly once; a law
    that cannot be checked raises an error of ours. Several `check` calls may run at once from several threads.
    """

    @property
    def name(self) -> str:
        """What people call this engine."""

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Make the table available wherever checks will run."""

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check every task and yield verdicts as they complete; stopping the iteration stops the work."""

    def agree_sets(self, columns: Sequence[int], should_stop: ShouldStop, *, counted: bool = False) -> AgreeSets:
        """Compare all pairs of rows on some columns and give their distinct agree sets, counted if asked."""

    def cancel(self) -> None:
        """Stop all checks under way: their `check` calls end with `StoppedError`."""

    def close(self) -> None:
        """Let go of the table and of everything held for it."""
