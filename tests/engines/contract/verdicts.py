"""What every engine must say about laws."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from engines.contract.tables import DENIALS, VIOLATED, EngineFactory, in_order, random_tasks, reference
from lawful.checks import CheckTask, Workspace
from lawful.checks.voting.asking import opinion_of
from lawful.common.errors import LawfulError, StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, Cell, ListOD, Predicate, parse_laws
from lawful.engines import spark
from lawful.tables.encoded_table import EncodedTable


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


def tries_laws_of_every_family(make: EngineFactory, table: EncodedTable) -> None:
    """What strength is made of is counted alike everywhere, to the last digit."""
    laws = [*VIOLATED, *parse_laws("\n".join(DENIALS), table.names)]
    laws += [task.law for task in random_tasks(table.width, 60, seed=7, largest=3)]
    for policy in NullPolicy:
        judged = [law for law in laws if policy is NullPolicy.EQUAL or not isinstance(law, ListOD)]
        tasks = [CheckTask(number, law, trial=True) for number, law in enumerate(judged)]
        engine = make()
        engine.open(table, policy)
        found = in_order(engine.check(tasks))
        engine.close()
        assert found == reference(table, tasks, policy)
        assert all(verdict.trial is not None for verdict in found)


def asks_almost_laws(make: EngineFactory, table: EncodedTable) -> None:
    """What laws think of rows is the same everywhere, to the last digit; a stop ends the asking."""
    laws = [task.law for task in random_tasks(table.width, 200, seed=3, largest=2) if isinstance(task.law, FD)][:12]
    chosen = np.array([0, 5, 17, table.rows - 1], np.int32)
    for policy in NullPolicy:
        engine, workspace = make(), Workspace(table, policy)
        engine.open(table, policy)
        for rows in (None, chosen, chosen[:0]):
            with patch.object(spark, "_WORTH_OPINION_JOBS", 0):
                found = engine.opinions(laws, lambda: False, rows)
            for law, opinion in zip(laws, found, strict=True):
                expected = opinion_of(law, workspace, rows)
                assert (opinion.tested, opinion.failed) == (expected.tested, expected.failed)
                for name in ("rows", "weights", "others", "rivals", "suggested"):
                    assert np.array_equal(getattr(opinion, name), getattr(expected, name))
        assert engine.opinions([], lambda: False) == []
        with pytest.raises(StoppedError):
            engine.opinions(laws, lambda: True)
        engine.close()


def accepts_no_tasks(make: EngineFactory, table: EncodedTable) -> None:
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    assert list(engine.check([])) == []
    engine.close()


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
