"""Columns in the order of a root change no verdict, no witness and no violation: small tables taken for large ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.denial_tables import Rows, constraints, encoded, rows_of
from checks.tables import POLICIES, ArrayTable, large_table, laws_over, subsets, tables
from lawful.checks import CheckTask, Workspace, arrangements, check, find_violations
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC

ROOMY = 2**24


@pytest.fixture(autouse=True, scope="module")
def _no_table_is_small() -> Iterator[None]:
    with patch.object(arrangements, "WORTH_ARRANGING", 0):
        yield


def plain(table: ArrayTable, policy: NullPolicy) -> Workspace:
    """A workspace that keeps the order of the table: what it would need for another does not fit."""
    return Workspace(table, policy, 0)


@given(tables(), POLICIES, st.integers(0, 5_000), st.randoms(use_true_random=False))
def test_verdicts_and_violations_are_those_of_the_table_order(
    table: ArrayTable, policy: NullPolicy, budget: int, shuffler: random.Random
) -> None:
    tasks = [CheckTask(i, law) for i, law in enumerate(laws_over(table.width))]
    unarranged, arranged = plain(table, policy), Workspace(table, policy, ROOMY)
    expected = [check(task, table, unarranged) for task in tasks]
    shuffled = shuffler.sample(tasks, len(tasks))
    for task in shuffled:
        assert check(task, table, arranged) == expected[task.id]
        if shuffler.random() < 0.1:  # partitions that were made under one budget serve under another
            arranged.resize(shuffler.choice([0, budget, ROOMY]))
            ours, theirs = (find_violations(task.law, table, one) for one in (arranged, unarranged))
            assert (ours.rows.tolist(), ours.offsets.tolist()) == (theirs.rows.tolist(), theirs.offsets.tolist())
            assert (ours.pairs, ours.removals) == (theirs.pairs, theirs.removals)


@given(rows_of(4, max_rows=30), st.lists(constraints(4), max_size=6), POLICIES)
def test_denial_constraints_are_refuted_by_the_same_pairs(rows: Rows, laws: list[DC], policy: NullPolicy) -> None:
    table = encoded(rows, 4)
    unarranged, arranged = Workspace(table, policy, 0), Workspace(table, policy, ROOMY)
    for i, law in enumerate(laws):
        assert check(CheckTask(i, law), table, arranged) == check(CheckTask(i, law), table, unarranged)


@pytest.mark.parametrize("policy", NullPolicy)
def test_classes_are_the_same_rows_in_the_same_order(policy: NullPolicy) -> None:
    table = large_table(seed=7, rows=3_000)
    unarranged, arranged = plain(table, policy), Workspace(table, policy, ROOMY)
    for columns in subsets(range(table.width), 3):
        expected, found = unarranged.partition(columns), arranged.partition(columns)
        assert found.root is None
        assert np.array_equal(found.rows, expected.rows)
        assert np.array_equal(found.offsets, expected.offsets)


def test_ranks_are_numbered_as_the_rows_of_the_partition() -> None:
    table = large_table(seed=3, rows=2_000)
    workspace = Workspace(table, NullPolicy.EQUAL, ROOMY)
    for columns in ((1,), (0, 2), (1, 2, 6)):
        *_, partition = workspace.growing(columns)
        assert partition.root == workspace.chain(columns)[0]
        rows = workspace.table_rows(partition, partition.rows)
        for i in range(table.width):
            assert np.array_equal(workspace.ranks(partition, i)[partition.rows], table.column(i)[rows])


def test_orders_are_given_up_where_they_would_crowd_out_the_partitions() -> None:
    table = large_table(seed=3, rows=1_000)
    twice_the_ranks = 2 * 4 * table.rows * table.width
    for budget, root in ((twice_the_ranks - 1, None), (twice_the_ranks, 1)):
        *_, partition = Workspace(table, NullPolicy.EQUAL, budget).growing((0, 1))
        assert partition.root == root


def test_columns_in_order_are_part_of_the_budget() -> None:
    table = large_table(seed=3, rows=1_000)
    workspace = Workspace(table, NullPolicy.EQUAL, ROOMY)
    *_, partition = workspace.growing((0, 1))
    before = workspace.cache.stats.bytes
    ranks = workspace.ranks(partition, 5)
    assert workspace.cache.stats.bytes == before + ranks.nbytes
    assert workspace.ranks(partition, 5) is ranks
    workspace.resize(0)
    assert workspace.cache.stats.bytes == 0
    again = workspace.ranks(partition, 5)
    assert again is not ranks
    assert np.array_equal(again, ranks)
