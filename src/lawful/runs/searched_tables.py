"""What searches look at: the whole table, or a sample of one that no process holds, whose rows the engine checks."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from lawful.checks import RankedTable
from lawful.engines.protocol import Checks
from lawful.engines.shuffle.sampled import SampledChecks
from lawful.runs.run import Progress, Run
from lawful.runs.stopping import UserWatch
from lawful.tables.sample import SampleTable
from lawful.tables.shuffled.table import is_shuffled


def searched_table(run: Run, seed: int, progress: Progress) -> RankedTable:
    """The table that searches look at: the whole one, or a sample of one that no process holds."""
    sample = getattr(run.engine, "sample", None)
    if sample is None:
        return run.table
    progress("drawing a sample")
    drawn: SampleTable = sample(seed)
    return drawn


def jobs_ended_by(run: Run, watch: UserWatch) -> AbstractContextManager[None]:
    """Let a limit end jobs that are under way, where they may take long."""
    stopping = getattr(run.engine, "stopping", None)
    ended: AbstractContextManager[None] = nullcontext() if stopping is None else stopping(watch.is_over)
    return ended


def checks_of_table(checks: Checks, table: RankedTable) -> Checks:
    """Checks whose witnesses are rows of the table that searches look at."""
    return SampledChecks(checks, table) if isinstance(table, SampleTable) else checks


def placement_of(table: RankedTable) -> dict[str, str]:
    """What the settings of a result say of where the rows were, if they were not all in one place."""
    return {"placement": "shuffle"} if is_shuffled(table) else {}
