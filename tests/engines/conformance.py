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

from lawful.checks import CheckTask, Most, Verdict, Workspace, find_violations, summarize
from lawful.checks.denials.pairs import violating_pairs
from lawful.common.errors import LawfulError, StoppedError
from lawful.common.meanings import NullPolicy
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, ListOD, Predicate, parse_laws
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.engines import Engine, packing
from lawful.engines.class_pairs import compared_classes
from lawful.engines.local import LocalEngine
from lawful.engines.stream import CheckStream
from lawful.evidence import Pool, all_agree_sets, merge_swaps
from lawful.evidence.denials.distinct_pairs import DistinctPairs
from lawful.evidence.denials.evidence import all_evidence, merge_evidence
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shown_rows import Shown

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


def random_tasks(width: int, count: int, seed: int, largest: int = 4, *, lists: bool = False) -> list[CheckTask]:
    """Laws of the families that have a check, some of which hold; list-based ones only where they are asked for."""
    chance = random.Random(seed)
    tasks = []
    for number in range(count):
        columns = chance.sample(range(width), chance.randint(2, largest + 2))
        kind = number % (4 if lists else 3)
        law: Law
        if kind == 0:
            law = Key(tuple(columns))
        elif kind == 1:
            law = FD(tuple(columns[1:]), columns[0])
        elif kind == 2:
            law = CanonicalOD(tuple(columns[2:]), columns[0], columns[1], chance.choice(("asc", "desc")))
        else:
            marked = [(column, chance.choice(("asc", "desc"))) for column in columns]
            law = ListOD(tuple(marked[:-1]), tuple(marked[-1:]))
        measure = chance.choice((None, None, None, "g1", "g3"))
        tasks.append(CheckTask(number, law, measure, damage=measure is None and chance.random() < 0.4))
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
    """Same verdicts, witnesses and counts as the reference, each once, under both null policies."""
    for policy in NullPolicy:
        tasks = random_tasks(table.width, 240, seed=5, lists=policy is NullPolicy.EQUAL)
        engine = make()
        engine.open(table, policy)
        found = in_order(engine.check(tasks))
        engine.close()
        assert found == reference(table, tasks, policy)
        assert {verdict.holds for verdict in found} == {True, False}
        assert {verdict.violations is None for verdict in found} == {True, False}
        assert {verdict.damage is None for verdict in found} == {True, False}


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
    "{state=, salary<} -> {rate<=}",
    "{zip<=, phone>=, salary<} -> {rate<}",
)


def judges_denial_constraints(make: EngineFactory, table: EncodedTable) -> None:
    """Columns compared with others and with constants included, for which workers need the values."""
    laws = parse_laws("\n".join(DENIALS), table.names)
    tasks = [CheckTask(number, law) for number, law in enumerate(laws)]
    tasks += [CheckTask(len(tasks) + number, law, "g1") for number, law in enumerate(laws)]
    tasks += [CheckTask(len(tasks) + number, law, damage=True) for number, law in enumerate(laws)]
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


VIOLATED: tuple[Law, ...] = (
    Key((4, 5)),
    FD((6,), 5),
    CanonicalOD((7,), 10, 11, "asc"),
    ListOD(((10, "asc"), (6, "desc")), ((11, "asc"),)),
    Key((0, 1, 2, 3, 10)),
)


def streams_all_violating_rows(make: EngineFactory, table: EncodedTable) -> None:
    """The rows of `find_violations`, group by group, with whatever is to be shown of them, and in pieces."""
    laws = [*VIOLATED, *parse_laws("\n".join(DENIALS[:5]), table.names)]
    everything = tuple(range(table.width))
    for policy in NullPolicy:
        engine, workspace = make(), Workspace(table, policy)
        engine.open(table, policy)
        for law in laws:
            if isinstance(law, ListOD) and policy is NullPolicy.IGNORE:
                with pytest.raises(LawfulError, match="as ORDER BY does"):
                    list(engine.violations(law))
                continue
            expected = find_violations(law, table, workspace)
            groups = np.repeat(np.arange(expected.offsets.size - 1), np.diff(expected.offsets))
            found = list(engine.violations(law))
            assert np.array_equal(np.concatenate([np.zeros(0), *(batch["row"] for batch in found)]), expected.rows)
            assert np.array_equal(np.concatenate([np.zeros(0), *(batch["group"] for batch in found)]), groups)
        law = VIOLATED[1]
        rows = find_violations(law, table, workspace).rows
        for as_text in (True, False):
            batches = list(engine.violations(law, Shown(everything, as_text)))
            shown = pa.Table.from_batches(batches)
            assert engine.shown_schema(Shown(everything, as_text)) == shown.schema
            assert shown["row"].to_pylist() == rows.tolist()
            assert shown["number"].to_pylist() == [table.place(row).number for row in rows.tolist()]
            assert shown["file"].to_pylist() == [table.place(row).file for row in rows.tolist()]
            if as_text:
                assert shown["10"].to_pylist() == table.texts(rows.tolist(), 10).to_pylist()
                assert shown["5"].to_pylist() == table.texts(rows.tolist(), 5).to_pylist()
            else:
                assert shown.schema.field("10").type == pa.int64()
                assert shown["10"].to_pylist() == [int(text) for text in table.texts(rows.tolist(), 10).to_pylist()]
        engine.close()


def streams_all_violating_pairs(make: EngineFactory, table: EncodedTable) -> None:
    """Two rows a group, t first, however many jobs it takes; other laws as always; and it may be left early."""
    many = "not(t.phone < s.phone and t.salary > s.salary and t.rate >= s.rate)"
    law, plain = parse_laws(f"{many}\n{DENIALS[5]}", table.names)
    assert isinstance(law, DC)
    for policy in NullPolicy:
        engine, workspace = make(), Workspace(table, policy)
        engine.open(table, policy)
        expected = [np.stack(pairs, axis=1) for pairs in violating_pairs(law, workspace)]
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *expected])
        assert len(pairs) > 1_000_000  # more than comes with one job of Spark
        found = pa.Table.from_batches(list(engine.violations(law, in_pairs=True)))
        assert np.array_equal(found["row"].to_numpy(), pairs.ravel())
        assert np.array_equal(found["group"].to_numpy(), np.arange(2 * len(pairs)) // 2)
        assert list(engine.violations(plain, in_pairs=True)) == list(engine.violations(plain))
        left = engine.violations(law, in_pairs=True)
        first = next(left)
        assert first["row"].to_pylist() == pairs.ravel()[: len(first)].tolist()
        left.close()
        again = next(engine.violations(law, in_pairs=True))
        assert again["group"][0].as_py() == 0
        engine.close()


def tells_groups_in_short(make: EngineFactory, table: EncodedTable) -> None:
    workspace = Workspace(table, NullPolicy.EQUAL)
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    for law in VIOLATED:
        for most in (Most(3), Most(2, 1, 1), Most(0)):
            assert engine.violating_groups(law, most) == summarize(law, table, workspace, most)
    with pytest.raises(LawfulError, match="column"):
        engine.violating_groups(FD((0,), table.width), Most(1))
    engine.close()


def finds_all_swaps(make: EngineFactory, table: EncodedTable) -> None:
    """What one thread of this process finds by comparing all pairs, whatever the threshold below which it does so."""
    columns = (1, 3, 5, 6, 8, 11)
    for policy in NullPolicy:
        pool = Pool(table, policy, columns, swaps=True)
        pool.add_pairs(*np.triu_indices(table.rows, 1))
        expected = merge_swaps([pool.seen()])
        engine = make()
        engine.open(table, policy)
        for least in (0.0, 1e18):
            with patch("lawful.engines.spark._WORTH_SWAP_JOBS", least):
                found = merge_swaps([engine.swap_evidence(columns, lambda: False)])
                with pytest.raises(StoppedError):
                    engine.swap_evidence(columns, lambda: True)
            assert found.columns == expected.columns
            assert np.array_equal(found.agree, expected.agree)
            assert np.array_equal(found.refuted, expected.refuted)
        engine.close()


def compares_the_pairs_of_classes(make: EngineFactory, table: EncodedTable) -> None:
    """All pairs that agree on a set, or only how many they are; on the driver or elsewhere."""
    columns, sets = tuple(range(1, 13)), [(6, 7), (4,), (5, 6, 9), (2,)]
    for policy in NullPolicy:
        engine, workspace, pool = make(), Workspace(table, policy), Pool(table, policy, columns)
        engine.open(table, policy)
        expected = [compared_classes(one, pool, workspace, 1e5, lambda: False) for one in sets]
        assert {type(part) for part in expected} == {Pool, int}
        for least in (0.0, 1e18):
            with patch("lawful.engines.spark._WORTH_CLASS_JOBS", least):
                found = engine.pairs_of_classes(pool, sets, [1e5] * len(sets), lambda: False)
                with pytest.raises(StoppedError):
                    engine.pairs_of_classes(pool, sets, [1e12] * len(sets), lambda: True)
                assert engine.pairs_of_classes(pool, [], [], lambda: False) == []
            for one, other in zip(found, expected, strict=True):
                if isinstance(one, Pool) and isinstance(other, Pool):
                    assert np.array_equal(one.agree, other.agree)
                    assert np.array_equal(one.differ, other.differ)
                    assert np.array_equal(one.witnesses, other.witnesses)
                else:
                    assert one == other
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
    with pytest.raises(LawfulError, match="open"):
        list(make().violations(VIOLATED[0]))


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
    streams_all_violating_rows,
    streams_all_violating_pairs,
    tells_groups_in_short,
    finds_all_swaps,
    compares_the_pairs_of_classes,
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
