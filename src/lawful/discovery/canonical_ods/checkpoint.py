"""The checkpoint of a search for canonical order dependencies: the same for every strategy.

Its verdicts are facts about the table, so a run may go on by one strategy with what another one has checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lawful.checks import RankedTable
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.checkpoint import Checkpoint, RememberedChecks
from lawful.discovery.findings import Findings
from lawful.engines import Engine
from lawful.engines.protocol import Checks


@contextmanager
def remembered(engine: Engine, table: RankedTable, question: CanonicalQuestion, findings: Findings) -> Iterator[Checks]:
    """Give the engine; or, if a checkpoint is asked for, what stands before it and remembers.

    At the end the log is closed, as that of a run that has ended if the findings are complete by then.
    """
    if question.checkpoint is None:
        yield engine
        return
    settings = {
        "find": "canonical-od",
        "null": question.null_policy.value,
        "max_size": question.max_size,
        "min_interest": question.min_interest,
    }
    checkpoint = Checkpoint(question.checkpoint, table, settings, resume=question.resume)
    try:
        yield RememberedChecks(engine, checkpoint)
    finally:
        checkpoint.close(is_complete=findings.complete)
