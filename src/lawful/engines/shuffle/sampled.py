"""Checks of a shuffled table for those who know only a sample of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lawful.checks import CheckTask, Verdict
from lawful.engines.protocol import Checks
from lawful.tables.sample import SampleTable


class SampledChecks:
    """Checks all rows, and names witnesses by their places in a sample, which they join."""

    has_costly_calls = True
    """Every call reads all rows, however few checks it has: so calls should be few and large."""

    def __init__(self, checks: Checks, sample: SampleTable) -> None:
        self._checks, self._sample = checks, sample

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        """Check every task and yield verdicts as they complete."""
        for verdict in self._checks.check(tasks):
            if verdict.witness is None:
                yield verdict
            else:
                first, second = self._sample.places(verdict.witness)
                yield replace(verdict, witness=(first, second))
