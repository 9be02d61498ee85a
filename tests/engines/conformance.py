"""What every engine must do, written once: each function takes an opened way of running and asserts.

The same functions run on the local engine in the test's own process and, as a script, on each way of running
Spark.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from lawful.checks import CheckTask, Verdict
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, Predicate
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.errors import LawfulError, StoppedError
from lawful.evidence import all_agree_sets
from lawful.meanings import NullPolicy
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

EngineFactory = Callable[[], Engine]


def write_table(folder: Path, rows: int, seed: int = 3) -> Path:
    """A CSV file with ties, nulls and duplicate rows: the tax table, with cells knocked out of two columns."""
    table = make_tax_table(rows, 0, seed).table
    knocked_out = np.random.default_rng(seed).random(rows) < 0.1
    for name in ("rate", "city"):
        position = table.column_names.index(name)
        texts = table.column(name).cast(pa.string()).combine_chunks()
        table = table.set_column(position, name, pa.array(texts.to_pylist(), mask=knocked_out))
    table = pa.concat_tables([table, table.slice(0, rows // 50)])
    path = folder / f"tax-{rows}.csv"
    csv.write_csv(table, path)
    return path


def random_tasks(width: int, count: int, seed: int, largest: int = 4) -> list[CheckTask]:
    """Laws of the three families that have a check, some of which hold."""
    chance = random.Random(seed)
    tasks = []
    for number in range(count):
        columns = chance.sample(range(width), chance.randint(2, largest + 2))
        kind = number % 3
        law: Law
        if kind == 0:
            law = Key(tuple(columns))
        elif kind == 1:
            law = FD(tuple(columns[1:]), columns[0])
        else:
            law = CanonicalOD(tuple(columns[2:]), columns[0], columns[1], chance.choice(("asc", "desc")))
        tasks.append(CheckTask(number, law, chance.choice((None, None, None, "g1", "g3"))))
    return tasks


def reference(table: EncodedTable, tasks: Sequence[CheckTask], policy: NullPolicy) -> list[Verdict]:
    """The verdicts of the local engine with one thread."""
    engine = LocalEngine(threads=1)
    engine.open(table, policy)
    return in_order(engine.check(tasks))


def in_order(verdicts: object) -> list[Verdict]:
    found = list(verdicts)
    return sorted(found, key=lambda verdict: verdict.id)


def gives_the_reference_verdicts(make: EngineFactory, table: EncodedTable) -> None:
    """Same verdicts and witnesses as the reference, each once, under both null policies."""
    for policy in NullPolicy:
        tasks = random_tasks(table.width, 240, seed=5)
        engine = make()
        engine.open(table, policy)
        found = in_order(engine.check(tasks))
        engine.close()
        assert found == reference(table, tasks, policy)
        assert {verdict.holds for verdict in found} == {True, False}
        assert {verdict.violations is None for verdict in found} == {True, False}


def compares_all_pairs(make: EngineFactory, table: EncodedTable) -> None:
    """The same agree sets, counts and witnesses as one thread of this process finds, under both null policies."""
    columns = (1, 3, 5, 6, 8, 11)
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        for counted in (False, True):
            found = engine.agree_sets(columns, lambda: False, counted=counted)
            expected = all_agree_sets(table, policy, columns, threads=1, counted=counted)
            assert np.array_equal(found.agree, expected.agree)
            assert np.array_equal(found.differ, expected.differ)
            assert np.array_equal(found.witnesses, expected.witnesses)
            if counted:
                assert found.counts is not None
                assert np.array_equal(found.counts, expected.counts)
                assert found.counts.sum() == table.rows * (table.rows - 1) // 2
        with pytest.raises(StoppedError):
            engine.agree_sets(columns, lambda: True)
        engine.close()


def accepts_no_tasks(make: EngineFactory, table: EncodedTable) -> None:
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    assert list(engine.check([])) == []
    engine.close()


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


def refuses_what_it_cannot_check(make: EngineFactory, table: EncodedTable) -> None:
    """A law without a check, and one that names a column too many, arrive as errors of ours."""
    unchecked = DC((Predicate(Cell("t", 0), "=", Cell("s", 0)),))
    for law, part in ((unchecked, "dc"), (FD((0,), table.width), "column")):
        engine = make()
        engine.open(table, NullPolicy.EQUAL)
        with pytest.raises(LawfulError, match=part):
            list(engine.check([CheckTask(0, law)]))
        engine.close()


def refuses_to_check_before_it_is_opened(make: EngineFactory, table: EncodedTable) -> None:
    with pytest.raises(LawfulError, match="open"):
        list(make().check(random_tasks(table.width, 1, 0)))


def stops_when_cancelled(make: EngineFactory, table: EncodedTable) -> None:
    """Cancelling ends a long call soon, with our error, and the engine can be opened again."""
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    tasks = random_tasks(table.width, 30_000, seed=9, largest=8)
    threading.Timer(0.5, engine.cancel).start()
    begin = time.monotonic()
    with pytest.raises(StoppedError):
        list(engine.check(tasks))
    assert time.monotonic() - begin < 60
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


CONTRACT = (
    gives_the_reference_verdicts,
    compares_all_pairs,
    accepts_no_tasks,
    runs_several_calls_at_once,
    refuses_what_it_cannot_check,
    refuses_to_check_before_it_is_opened,
    stops_when_cancelled,
    may_be_left_early,
)


def encoded(path: Path) -> EncodedTable:
    return encode_in_process(path, ReadOptions())
