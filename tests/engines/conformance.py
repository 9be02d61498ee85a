"""What every engine must do, written once: each function takes an opened way of running and asserts.

The same functions run on the local engine in the test's own process and, as a script, on each way of running
Spark.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from lawful.checks import CheckTask, Verdict
from lawful.common.errors import LawfulError, StoppedError
from lawful.common.meanings import NullPolicy
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, Predicate, parse_laws
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.engines import Engine, packing
from lawful.engines.local import LocalEngine
from lawful.engines.stream import CheckStream
from lawful.evidence import all_agree_sets
from lawful.evidence.denials.distinct_pairs import DistinctPairs
from lawful.evidence.denials.evidence import all_evidence, merge_evidence
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


def compares_all_pairs_over_a_space(make: EngineFactory, table: EncodedTable) -> None:
    """The same evidence, counts and witnesses as one thread of this process finds, across columns too."""
    question = DenialQuestion(columns=(5, 6, 10, 11, 12, 13), constants=1, least_mean_ratio=0.01)
    space = predicate_space(table, question)
    assert space.compares_across
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        for counted in (False, True):
            # Merged, both are in the same order.
            found = merge_evidence([engine.denial_evidence(space, lambda: False, counted=counted)])
            expected = merge_evidence([all_evidence(table, space, policy, threads=1, counted=counted)])
            assert np.array_equal(found.signs.less, expected.signs.less)
            assert np.array_equal(found.signs.greater, expected.signs.greater)
            assert np.array_equal(found.witnesses, expected.witnesses)
            assert (found.counts is None) == (not counted)
            assert not counted or np.array_equal(found.counts, expected.counts)
        with pytest.raises(StoppedError):
            engine.denial_evidence(space, lambda: True)
        engine.close()


DENIALS = (
    "not(t.state = s.state and t.salary < s.salary and t.rate > s.rate)",
    "not(t.state = s.state and t.salary <= s.salary and t.rate > s.rate and t.zip != s.zip)",
    "not(t.single_exemption = s.married_exemption and t.salary < s.salary and t.child_exemption > s.child_exemption)",
    "not(t.state = 'NY' and s.state != 'NY' and t.zip = s.zip)",
    "not(t.single_exemption > t.married_exemption and s.salary >= 100000 and t.phone > s.phone and t.zip < s.zip)",
    "not(t.area_code = s.area_code and t.phone = s.phone)",
    "not(t.zip <= s.zip and t.phone >= s.phone and t.salary < s.salary and t.rate < s.rate)",
)


def judges_denial_constraints(make: EngineFactory, table: EncodedTable) -> None:
    """Columns compared with others and with constants included, for which workers need the values."""
    laws = parse_laws("\n".join(DENIALS), table.names)
    tasks = [CheckTask(number, law) for number, law in enumerate(laws)]
    tasks += [CheckTask(len(tasks) + number, law, "g1") for number, law in enumerate(laws)]
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        found = in_order(engine.check(tasks))
        engine.close()
        assert found == reference(table, tasks, policy)
        assert {verdict.holds for verdict in found} == {True, False}


def finds_violating_pairs(make: EngineFactory, table: EncodedTable) -> None:
    """One pair at least for each evidence among the pairs that violate constraints, and no other evidence."""
    laws = [law for law in parse_laws("\n".join(DENIALS[:4]), table.names) if isinstance(law, DC)]
    space = PredicateSpace.of(predicate for law in laws for predicate in law.predicates)
    paths = [tuple((predicate,) for predicate in law.predicates) for law in laws]
    for policy in NullPolicy:
        engine, one_thread = make(), LocalEngine(threads=1)
        engine.open(table, policy)
        one_thread.open(table, policy)
        evidence = DistinctPairs(table, space, policy)
        expected = one_thread.violating_pairs(space, paths, lambda: False)
        found = engine.violating_pairs(space, paths, lambda: False)
        assert evidence.add_pairs(*expected.T) == DistinctPairs(table, space, policy).add_pairs(*found.T) > 0
        assert evidence.add_pairs(*found.T) == 0
        with pytest.raises(StoppedError):
            engine.violating_pairs(space, paths, lambda: True)
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
    """A measure that is too hard, and a law that names a column too many, arrive as errors of ours."""
    hard = CheckTask(0, DC((Predicate(Cell("t", 10), "<=", Cell("s", 12)),)), "g3")
    for task, part in ((hard, "NP-hard"), (CheckTask(0, FD((0,), table.width)), "column")):
        engine = make()
        engine.open(table, NullPolicy.EQUAL)
        with pytest.raises(LawfulError, match=part):
            list(engine.check([task]))
        engine.close()


def refuses_to_check_before_it_is_opened(make: EngineFactory, table: EncodedTable) -> None:
    with pytest.raises(LawfulError, match="open"):
        list(make().check(random_tasks(table.width, 1, 0)))


def stops_when_cancelled(make: EngineFactory, table: EncodedTable) -> None:
    """Cancelling ends a long call soon, with our error, and the engine can be opened again."""
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    # Counting looks at all rows, so that no machine is done before it is cancelled.
    tasks = [replace(task, measure="g3") for task in random_tasks(table.width, 30_000, seed=9, largest=8)]
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


def keeps_its_verdicts_when_tuned(make: EngineFactory, table: EncodedTable) -> None:
    """How partitions are kept shows in no verdict, whether it changes before a table is opened or at work."""
    engine = make()
    engine.tune(longest_chain=1)
    engine.open(table, NullPolicy.EQUAL)
    tasks = random_tasks(table.width, 60, seed=6)
    expected = reference(table, tasks, NullPolicy.EQUAL)
    assert in_order(engine.check(tasks)) == expected
    engine.tune(cache_bytes=20_000)
    assert in_order(engine.check(tasks)) == expected
    engine.relieve()
    assert in_order(engine.check(tasks)) == expected
    engine.close()


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


CONTRACT = (
    gives_the_reference_verdicts,
    compares_all_pairs,
    compares_all_pairs_over_a_space,
    judges_denial_constraints,
    finds_violating_pairs,
    accepts_no_tasks,
    runs_several_calls_at_once,
    refuses_what_it_cannot_check,
    refuses_to_check_before_it_is_opened,
    stops_when_cancelled,
    may_be_left_early,
    ends_one_call_and_no_other,
    keeps_its_verdicts_when_tuned,
    feeds_a_stream,
)


def encoded(path: Path) -> EncodedTable:
    return encode_in_process(path, ReadOptions())
