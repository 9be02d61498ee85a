"""What every engine must do with calls that run at once, are cancelled or are left early."""

from __future__ import annotations

import threading
from dataclasses import replace
from unittest.mock import patch

import pytest

from engines.contract.tables import VIOLATED, EngineFactory, in_order, random_tasks, reference
from lawful.checks import CheckTask, Verdict
from lawful.common.errors import LawfulError, StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD
from lawful.engines import packing
from lawful.engines.stream import CheckStream
from lawful.tables.encoded_table import EncodedTable


def runs_several_calls_at_once(make: EngineFactory, table: EncodedTable) -> None:
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    batches = [random_tasks(table.width, 60, seed) for seed in (1, 2, 3)]
    found: dict[int, list[Verdict]] = {}

    def run(number: int) -> None:
        found[number] = in_order(engine.check(batches[number]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()
    assert [found.get(number) for number in range(len(batches))] == [
        reference(table, batch, NullPolicy.EQUAL) for batch in batches
    ]


def stops_when_cancelled(make: EngineFactory, table: EncodedTable) -> None:
    """Cancelling ends a call that has hardly begun, with our error, and the engine can be opened again."""
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    # Counting looks at all rows, so that much is left to do after the first verdicts, and jobs are under way.
    tasks = [replace(task, measure="g3") for task in random_tasks(table.width, 8_000, seed=9, largest=8)]
    with patch.object(packing, "_ROW_VISITS_A_JOB", 1e7):
        verdicts = engine.check(tasks)
        found = [next(verdicts)]
        elsewhere = threading.Thread(target=engine.cancel)
        elsewhere.start()
        with pytest.raises(StoppedError):
            found.extend(verdicts)
    elsewhere.join()
    assert len(found) < len(tasks)
    with pytest.raises(StoppedError):
        list(engine.violations(VIOLATED[0]))
    engine.open(table, NullPolicy.EQUAL)
    few = tasks[:10]
    assert in_order(engine.check(few)) == reference(table, few, NullPolicy.EQUAL)
    engine.close()


def may_be_left_early(make: EngineFactory, table: EncodedTable) -> None:
    """Stopping the iteration stops the work, and the engine goes on to serve."""
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    tasks = random_tasks(table.width, 200, seed=4)
    verdicts = engine.check(tasks)
    first = next(verdicts)
    verdicts.close()
    assert first in reference(table, tasks, NullPolicy.EQUAL)
    assert len(list(engine.check(tasks))) == len(tasks)
    engine.close()


def ends_one_call_and_no_other(make: EngineFactory, table: EncodedTable) -> None:
    """A call that is left early takes no verdict from one that goes on beside it."""
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    tasks = random_tasks(table.width, 400, seed=6)
    found: list[Verdict] = []
    beside = threading.Thread(target=lambda: found.extend(engine.check(tasks)))
    with patch.object(packing, "_ROW_VISITS_A_JOB", 1e6):  # jobs are under way when a call is left
        beside.start()
        for _ in range(4):
            verdicts = engine.check(tasks)
            next(verdicts)
            verdicts.close()
        beside.join()
    engine.close()
    assert in_order(found) == reference(table, tasks, NullPolicy.EQUAL)


def feeds_a_stream(make: EngineFactory, table: EncodedTable) -> None:
    """Tasks that are put while others run get their verdicts, each once; an error reaches the one who waits."""
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    tasks = random_tasks(table.width, 90, seed=8)
    found: list[Verdict] = []
    with CheckStream(engine) as stream:
        waiting = [tasks[first : first + 15] for first in range(0, len(tasks), 15)]
        while waiting or stream.running:
            if waiting and stream.room:
                stream.put(waiting.pop())
            else:
                found += stream.take(1.0)
    assert in_order(found) == reference(table, tasks, NullPolicy.EQUAL)
    with CheckStream(engine) as stream:
        stream.put([CheckTask(0, FD((0,), table.width))])
        with pytest.raises(LawfulError, match="column"):
            stream.take(60.0)
    engine.close()
