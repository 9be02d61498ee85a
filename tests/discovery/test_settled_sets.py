"""Sets of columns whose pairs were all compared: what no pair refutes about their supersets holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import numpy as np
import pytest
from checks.tables import POLICIES, ArrayTable, ranked
from hypothesis import given
from hypothesis import strategies as st

from discovery.test_keys_and_fds import SIZES, finds_exactly_the_minimal_laws, laws, run
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.discovery.keys_and_fds import settled_sets
from lawful.discovery.keys_and_fds.settled_sets import SettledSets
from lawful.discovery.questions import Question, Watch
from lawful.engines.local import LocalEngine
from lawful.evidence import ChosenRows, Pool
from lawful.search import pack_sets, unpack_sets


def opened(table: ArrayTable, policy: NullPolicy = NullPolicy.EQUAL) -> LocalEngine:
    engine = LocalEngine(threads=2)
    engine.open(table, policy)
    return engine


@contextmanager
def settling_whatever_it_costs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settled_sets, "_WORTH_A_LOOK", 0)
        patch.setattr(settled_sets, "_PASSES_A_CHECK", 1e9)
        yield


def correlated_table(seed: int, rows: int, width: int) -> ArrayTable:
    """Columns of many and few values, some of which follow others but for a few rows, and nulls."""
    chance = np.random.default_rng(seed)
    columns = [chance.integers(1, chance.integers(2, rows), rows) for _ in range(3)]
    while len(columns) < width:
        one, other = (columns[i] for i in chance.integers(0, len(columns), 2))
        mixed = (one * int(chance.integers(0, 3)) + other) % int(chance.integers(2, rows)) + 1
        mixed[chance.integers(0, rows, int(chance.integers(0, 3)))] = chance.integers(0, 3)
        columns.append(mixed)
    return ArrayTable([ranked(column.tolist()) for column in columns])


@given(st.data(), POLICIES, SIZES, st.integers(0, 3))
def test_exactly_the_minimal_laws_are_found(
    data: st.DataObject, policy: NullPolicy, largest: int | None, seed: int
) -> None:
    with settling_whatever_it_costs():
        finds_exactly_the_minimal_laws(data, policy, "hybrid", largest, seed)


def settled_equals_full(seed: int, policy: NullPolicy, width: int) -> int:
    table = correlated_table(seed, 60, width)
    largest = None if width < 10 else 3 if width < 20 else 2
    with settling_whatever_it_costs():
        found = run(table, Question(True, True, policy, largest, strategy="hybrid", seed=seed))
    expected = laws(run(table, Question(True, True, policy, largest, strategy="full")))
    assert sorted(map(str, laws(found))) == sorted(map(str, expected))
    return found.counts["settled"]


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [6, 17, pytest.param(66, marks=pytest.mark.slow)])
def test_settled_sets_give_the_laws_of_full_evidence(policy: NullPolicy, width: int) -> None:
    assert sum(settled_equals_full(seed, policy, width) for seed in range(3)) > 0


@given(st.integers(0, 100_000), POLICIES, st.integers(3, 18))
def test_settled_sets_give_the_laws_of_full_evidence_of_many_tables(seed: int, policy: NullPolicy, width: int) -> None:
    settled_equals_full(seed, policy, width)


@pytest.mark.parametrize("policy", NullPolicy)
def test_a_settled_set_leaves_no_pair_unseen(policy: NullPolicy) -> None:
    table = correlated_table(5, 80, 7)
    pool = Pool(table, policy)
    settled = SettledSets(table, opened(table, policy), pool)
    with settling_whatever_it_costs():
        while settled.settle_some_of(pack_sets([(0, 1, 4), (1, 2, 3), (5, 6)], table.width), Watch()):
            pass
    assert settled.decide(pack_sets([(0, 1, 4), (1, 2, 3), (5, 6)], 7)).all()
    everything = Pool(table, policy)
    everything.add_pairs(*np.array(list(combinations(range(table.rows), 2)), np.int32).T)
    known = set(unpack_sets(pool.agree))
    for agree in unpack_sets(everything.agree):
        if settled.decide(pack_sets([agree], 7))[0]:
            assert agree in known


def test_what_is_cheap_to_check_is_not_settled() -> None:
    table = correlated_table(1, 50, 5)
    settled = SettledSets(table, opened(table), Pool(table, NullPolicy.EQUAL))
    assert not settled.settle_some_of(pack_sets([(0, 1), (2, 3)], table.width), Watch())
    assert len(settled) == 0


def test_nothing_is_settled_by_some_of_the_rows() -> None:
    table = correlated_table(1, 50, 5)
    some = ChosenRows(table, np.arange(0, 50, 2, dtype=np.int32))
    with settling_whatever_it_costs():
        assert not SettledSets(table, opened(table), Pool(some, NullPolicy.EQUAL)).settle_some_of(
            pack_sets([(0, 1)], table.width), Watch()
        )


def test_a_set_that_was_not_compared_to_its_end_is_not_settled() -> None:
    table = correlated_table(1, 50, 5)
    settled = SettledSets(table, opened(table), Pool(table, NullPolicy.EQUAL))
    watch = Watch(seconds=1e-9)
    with settling_whatever_it_costs(), pytest.raises(StoppedError):
        settled.settle_some_of(pack_sets([(0, 1)], table.width), watch)
    assert len(settled) == 0
