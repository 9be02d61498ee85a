"""Denial constraints against brute force over all pairs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import oracle
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from checks.denial_tables import (
    Rows,
    constraints,
    encoded,
    random_rows,
    rows_of,
    same_column_constraints,
    violation_matrix,
)
from checks.tables import POLICIES, ArrayTable
from lawful.checks import CheckTask, Workspace, check, find_violations
from lawful.checks.denials.counts import count_ordered_pairs, count_pairs
from lawful.checks.denials.denial import violating_pair
from lawful.checks.denials.groups import Groups
from lawful.checks.denials.pairs import ordered_violating_pairs, violating_pairs
from lawful.checks.denials.refining import Join, JoinOfTwo, Pairs, pairs_of, refined_pairs
from lawful.common.errors import EngineError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Constant, Key, Predicate
from lawful.dependencies.denial_readings import plain_law
from lawful.dependencies.laws import OPERATORS

WIDTH = 4


def ordered_pairs(law: DC, rows: Rows, policy: NullPolicy) -> set[tuple[int, int]]:
    judged = oracle.judged_rows(law, rows, policy)
    return {(i, j) for i in judged for j in judged if i != j and oracle.refutes(law, rows[i], rows[j])}


@given(rows_of(WIDTH), st.lists(st.one_of(constraints(WIDTH), same_column_constraints(WIDTH)), max_size=12), POLICIES)
def test_a_violating_pair_is_found_where_there_is_one(rows: Rows, laws: list[DC], policy: NullPolicy) -> None:
    workspace = Workspace(encoded(rows, WIDTH), policy)
    for law in laws:
        expected = ordered_pairs(law, rows, policy)
        found = violating_pair(law, workspace)
        assert (found is None) == (not expected)
        assert found is None or found in expected


SEEDS = st.integers(0, 2**32 - 1)


def as_matrix(chunks: Iterable[Pairs], size: int) -> np.ndarray:
    """How often each pair comes."""
    times = np.zeros((size, size), np.int64)
    for t, s in chunks:
        np.add.at(times, (t, s), 1)
    return times


def assert_right(law: DC, rows: Rows, workspace: Workspace) -> None:
    """Verdict, witness, counts and violating rows are those of the definition."""
    table, policy = workspace.table, workspace.null_policy
    expected = violation_matrix(law, rows, policy)
    either = np.triu(expected | expected.T)
    verdict = check(CheckTask(7, law), table, workspace)
    assert verdict.holds == (not expected.any())
    assert (verdict.witness is None) if verdict.holds else either[verdict.witness]
    assert count_ordered_pairs(law, workspace) == expected.sum()
    assert check(CheckTask(7, law, "g1"), table, workspace).violations == either.sum()
    assert np.array_equal(as_matrix(ordered_violating_pairs(law, workspace), len(rows)), expected)
    chosen = expected & (np.triu(np.ones_like(expected)) | ~expected.T)
    assert np.array_equal(as_matrix(violating_pairs(law, workspace), len(rows)), chosen)
    found = find_violations(law, table, workspace)
    assert found.pairs == either.sum()
    assert sorted(found.rows.tolist()) == np.flatnonzero((either | either.T).any(axis=1)).tolist()
    group_of = {row: number for number, group in enumerate(found) for row in group.tolist()}
    assert all(group_of[t] == group_of[s] for t, s in np.argwhere(either))


@given(SEEDS, st.integers(2, 90), st.data(), POLICIES)
def test_longer_tables_take_every_way_to_search(seed: int, size: int, data: st.DataObject, policy: NullPolicy) -> None:
    rows = random_rows(seed, size, WIDTH)
    workspace = Workspace(encoded(rows, WIDTH), policy)
    for law in data.draw(st.lists(st.one_of(constraints(WIDTH), same_column_constraints(WIDTH)), max_size=12)):
        assert_right(law, rows, workspace)


@given(SEEDS, st.data(), POLICIES)
def test_many_comparisons_are_searched_right(seed: int, data: st.DataObject, policy: NullPolicy) -> None:
    width = 7
    rows = random_rows(seed, 120, width)
    workspace = Workspace(encoded(rows, width), policy)
    for law in data.draw(st.lists(same_column_constraints(width, largest=7), max_size=8)):
        assert_right(law, rows, workspace)


@one_in(2)  # brute force over all pairs of 600 rows
@given(SEEDS, st.data())
def test_values_far_apart_are_sorted(seed: int, data: st.DataObject) -> None:
    """Small groups of a long table: their ranks are too far apart for tables over all values."""
    rng = np.random.default_rng(seed)
    size = 600
    groups = rng.integers(1, 12, size)
    columns = [groups, *(rng.permutation(size * 9)[:size] + 1 for _ in range(3))]
    columns[2] = np.where(rng.random(size) < 0.97, columns[1] + groups, columns[2])
    rows = [tuple(map(int, row)) for row in zip(*columns, strict=True)]
    workspace = Workspace(encoded(rows, 4), NullPolicy.EQUAL)
    same_group = Predicate(Cell("t", 0), "=", Cell("s", 0))
    for law in data.draw(st.lists(same_column_constraints(4), max_size=6)):
        others = tuple(predicate for predicate in law.predicates if predicate.left.column > 0)
        assert_right(DC((same_group, *others)), rows, workspace)


def test_what_is_a_key_a_dependency_or_an_order_is_checked_as_that() -> None:
    def same(column: int, operator: str) -> Predicate:
        return Predicate(Cell("t", column), operator, Cell("s", column))

    assert plain_law(DC(())) == Key(())
    assert plain_law(DC((same(0, "="), same(2, "=")))) == Key((0, 2))
    assert plain_law(DC((same(0, "="), same(2, "!=")))) == FD((0,), 2)
    assert plain_law(DC((same(0, "="), same(1, "<"), same(2, ">")))) == CanonicalOD((0,), 1, 2, "asc")
    assert plain_law(DC((same(1, ">"), same(2, ">")))) == CanonicalOD((), 1, 2, "desc")
    assert plain_law(DC((same(1, ">"), same(2, ">=")))) is None
    assert plain_law(DC((same(1, ">"), same(1, "!=")))) is None
    assert plain_law(DC((Predicate(Cell("t", 0), "=", Cell("s", 1)),))) is None
    assert plain_law(DC((Predicate(Cell("t", 0), "=", Cell("t", 1)),))) is None
    assert plain_law(DC((Predicate(Cell("t", 0), "=", Constant(1)),))) is None


def test_the_fewest_removals_are_refused_where_they_are_hard() -> None:
    rows = [(1, 2), (2, 1), (3, 3)]
    workspace = Workspace(encoded(rows, 2), NullPolicy.EQUAL)
    hard = DC((Predicate(Cell("t", 0), "<", Cell("s", 1)),))
    with pytest.raises(UsageError, match="NP-hard"):
        check(CheckTask(0, hard, "g3"), workspace.table, workspace)
    assert find_violations(hard, workspace.table, workspace).removals is None
    easy = DC((Predicate(Cell("t", 0), "<", Cell("s", 0)), Predicate(Cell("t", 1), ">", Cell("s", 1))))
    assert check(CheckTask(0, easy, "g3"), workspace.table, workspace).violations == 1


def test_pairs_are_counted_exactly_beyond_32_bits() -> None:
    size = 70_000
    rows = np.arange(1, size + 1)
    workspace = Workspace(ArrayTable([rows, rows[::-1], np.ones(size)]), NullPolicy.EQUAL)
    less = [Predicate(Cell("t", column), "<", Cell("s", column)) for column in range(2)]
    assert count_pairs(DC((less[0],)), workspace) == size * (size - 1) // 2
    assert count_ordered_pairs(DC(()), workspace) == size * (size - 1)
    assert count_pairs(DC((less[0], Predicate(Cell("t", 1), ">=", Cell("s", 1)))), workspace) == size * (size - 1) // 2
    assert violating_pair(DC(tuple(less)), workspace) is None


def test_a_table_without_values_compares_no_columns() -> None:
    workspace = Workspace(ArrayTable([[1, 2], [1, 2]]), NullPolicy.EQUAL)
    with pytest.raises(EngineError, match="has its values"):
        violating_pair(DC((Predicate(Cell("t", 0), "<", Cell("s", 1)),)), workspace)


@given(SEEDS, st.integers(1, 300), st.lists(st.sampled_from(OPERATORS), min_size=1, max_size=3))
def test_refiners_split_clusters_into_exactly_the_pairs_that_satisfy(
    seed: int, size: int, operators: list[str]
) -> None:
    """Also where clusters stand for so few pairs that a check would write them out."""
    rows = np.array(random_rows(seed, size, 4), np.int32).T.copy()
    rng = np.random.default_rng(seed)
    members = [np.sort(rng.choice(size, rng.integers(0, size + 1), replace=False)).astype(np.int32) for _ in range(2)]
    clusters = Groups(
        members[0], np.array([0, members[0].size], np.int32), members[1], np.array([0, members[1].size], np.int32)
    )
    expected = np.zeros((size, size), np.bool_)
    expected[np.ix_(members[0], members[1])] = True
    np.fill_diagonal(expected, False)
    joins = [Join(rows[rng.integers(4)], rows[rng.integers(4)], operator) for operator in operators]
    for join in joins:
        expected &= oracle.COMPARE[join.operator](join.left[:, None], join.right[None, :])
    refined = clusters
    for join in joins:
        refined = join.refine(refined)
    assert np.array_equal(as_matrix(pairs_of(refined), size), expected)
    assert np.array_equal(as_matrix(refined_pairs(clusters, joins), size), expected)
    if len(joins) == 2 and all(join.operator not in ("=", "!=") for join in joins):
        both = JoinOfTwo(*joins)
        assert np.array_equal(as_matrix(pairs_of(both.refine(clusters)), size), expected)


def test_a_witness_depends_neither_on_the_cache_nor_on_other_checks() -> None:
    size = 100_000
    rng = np.random.default_rng(4)
    classes = np.sort(rng.integers(0, 3_000, size))
    classes[classes > 2_000] = 2_001  # one class that is long enough to be sampled
    rising = rng.permutation(size)
    falling = np.where(rng.random(size) < 0.999, rising, size - rising)
    columns = [classes, classes // 7, rising, falling, rng.integers(0, 5, size)]
    table = ArrayTable([np.unique(column, return_inverse=True)[1] + 1 for column in columns])

    def law(*comparisons: tuple[int, str]) -> DC:
        return DC(tuple(Predicate(Cell("t", c), operator, Cell("s", c)) for c, operator in comparisons))

    laws = [
        law((0, "="), (2, "<"), (3, ">"), (4, "!=")),
        law((1, "="), (2, "<="), (3, ">")),
        law((0, "="), (1, "="), (2, "<="), (3, ">")),
        law((0, "="), (4, "="), (2, "<="), (3, ">")),
        law((2, "<="), (3, ">"), (4, "<=")),
    ]
    fresh = [violating_pair(each, Workspace(table, NullPolicy.EQUAL)) for each in laws]
    assert all(found is not None for found in fresh)
    shared = Workspace(table, NullPolicy.EQUAL)
    for columns_of_chain in ((0, 4), (0, 1), (1,), (0,)):
        shared.partition(columns_of_chain)
    assert [violating_pair(each, shared) for each in laws] == fresh
    assert [violating_pair(each, Workspace(table, NullPolicy.EQUAL, cache_bytes=0)) for each in laws] == fresh


def test_more_orders_than_a_word_has_bits_are_refused() -> None:
    table = ArrayTable([[1, 2]] * 61)
    law = DC(tuple(Predicate(Cell("t", column), "<=", Cell("s", column)) for column in range(61)))
    with pytest.raises(UsageError, match="more than 60"):
        violating_pair(law, Workspace(table, NullPolicy.EQUAL))


def test_uncompiled_kernels_agree() -> None:
    script = Path(__file__).with_name("uncompiled.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    run = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
