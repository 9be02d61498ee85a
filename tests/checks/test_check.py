from __future__ import annotations

import pickle

import numpy as np
import oracle
import pytest
from hypothesis import given

from checks.tables import POLICIES, ArrayTable, large_table, laws_over, tables, unchecked_kind
from lawful.checks import CheckTask, Verdict, Workspace, check, estimate_cost
from lawful.checks.kernels import orders as order_kernels
from lawful.common.errors import EngineError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law


def verdicts(laws: list[Law], table: ArrayTable, workspace: Workspace) -> list[Verdict]:
    return [check(CheckTask(i, law), table, workspace) for i, law in enumerate(laws)]


def assert_right(law: Law, verdict: Verdict, rows: oracle.Table, policy: NullPolicy) -> None:
    refuting = oracle.violating_pairs(law, rows, policy)
    assert verdict.holds == (not refuting)
    assert verdict.witness is None if verdict.holds else verdict.witness in refuting


@given(tables(), POLICIES)
def test_verdicts_and_witnesses_are_those_of_the_definition(table: ArrayTable, policy: NullPolicy) -> None:
    rows = table.as_rows()
    laws = laws_over(table.width, largest=2)
    for law, verdict in zip(laws, verdicts(laws, table, Workspace(table, policy)), strict=True):
        assert verdict.id == laws.index(law)
        assert_right(law, verdict, rows, policy)


def swaps_exist(law: CanonicalOD, table: ArrayTable, policy: NullPolicy) -> bool:
    """The definition once more, on all pairs at once, for tables that are too long for the oracle."""
    columns = [table.column(i).astype(np.int64) for i in (*law.context, law.left, law.right)]
    judged = np.full(table.rows, True)
    if policy is NullPolicy.IGNORE:
        judged = np.logical_and.reduce([column > 0 for column in columns])
    *context, a, b = (column[judged] for column in columns)
    refuting = b[:, None] > b if law.direction == "asc" else b[:, None] < b
    refuting &= a[:, None] < a
    for column in context:
        refuting &= column[:, None] == column
    return bool(refuting.any())


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("rows", [60, 1500])
def test_classes_of_every_size_are_searched_right(policy: NullPolicy, rows: int) -> None:
    table = large_table(seed=5, rows=rows)
    workspace = Workspace(table, policy)
    as_rows = table.as_rows()
    for left, right in [(1, 2), (2, 6), (3, 4), (3, 5), (3, 6), (3, 7), (6, 7)]:
        for context in [(), (0,), (6 if 1 in (left, right) else 1,)]:
            for direction in ("asc", "desc"):
                law = CanonicalOD(context, left, right, direction)
                verdict = check(CheckTask(0, law), table, workspace)
                assert verdict.holds == (not swaps_exist(law, table, policy))
                if verdict.witness is not None:
                    t, s = (as_rows[i] for i in verdict.witness)
                    assert oracle.refutes(law, t, s) or oracle.refutes(law, s, t)


def test_each_way_to_search_a_class_is_taken_by_the_tables_above() -> None:
    table = large_table(seed=5, rows=1500)
    ranks = min(table.distinct(3), table.distinct(5))
    middling = max(np.diff(Workspace(table, NullPolicy.EQUAL).partition((1,)).offsets))
    assert middling > order_kernels.INSERTION_LIMIT
    assert not order_kernels.uses_table(middling, ranks)
    assert order_kernels.uses_table(table.rows, ranks)
    assert table.rows > 4 * order_kernels.PROBE


def test_one_direction_alone_gives_the_same_witness_as_both() -> None:
    table = large_table(seed=7, rows=200)
    laws = [law for law in laws_over(table.width, largest=2) if isinstance(law, CanonicalOD)]
    shared = Workspace(table, NullPolicy.EQUAL)
    backwards = Workspace(table, NullPolicy.EQUAL)
    together = verdicts(laws, table, shared)
    reversed_order = [check(CheckTask(i, laws[i]), table, backwards) for i in reversed(range(len(laws)))]
    assert together == reversed_order[::-1]


def test_the_other_direction_is_remembered() -> None:
    table = large_table(seed=8, rows=100)
    workspace = Workspace(table, NullPolicy.EQUAL)
    asc, desc = CanonicalOD((), 3, 6, "asc"), CanonicalOD((), 3, 6, "desc")
    check(CheckTask(0, asc), table, workspace)
    before = workspace.cache.stats
    check(CheckTask(1, desc), table, workspace)
    after = workspace.cache.stats
    assert (after.hits, after.misses) == (before.hits, before.misses)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_at_most_one_row_obeys_every_law(rows: int) -> None:
    table = ArrayTable([[1] * rows, [0] * rows, [1] * rows])
    workspace = Workspace(table, NullPolicy.EQUAL)
    assert all(verdict.holds for verdict in verdicts(laws_over(3), table, workspace))


def test_a_kind_without_a_check_is_refused() -> None:
    table = ArrayTable([[1, 2], [1, 2]])
    with unchecked_kind() as law:
        with pytest.raises(UsageError, match="kind unchecked cannot be checked"):
            check(CheckTask(0, law), table, Workspace(table, NullPolicy.EQUAL))
        with pytest.raises(UsageError, match="kind unchecked cannot be checked"):
            estimate_cost(law, table)


def test_a_column_that_is_not_there_is_refused() -> None:
    table = ArrayTable([[1, 2], [1, 2]])
    with pytest.raises(UsageError, match="names column 5, but the table has 2"):
        check(CheckTask(0, Key((0, 5))), table, Workspace(table, NullPolicy.EQUAL))
    with pytest.raises(UsageError, match="names column 5, but the table has 2"):
        estimate_cost(Key((0, 5)), table)


def test_the_workspace_of_another_table_is_refused() -> None:
    first, second = ArrayTable([[1, 2]]), ArrayTable([[1, 2]])
    with pytest.raises(EngineError, match="another table"):
        check(CheckTask(0, Key((0,))), first, Workspace(second, NullPolicy.EQUAL))


def test_tasks_and_verdicts_travel() -> None:
    task, verdict = CheckTask(3, FD((0,), 1)), Verdict(3, False, (1, 2))
    assert pickle.loads(pickle.dumps((task, verdict))) == (task, verdict)


def test_costs_grow_with_rows_and_shrink_with_distinct_values() -> None:
    small, large = large_table(1, 100), large_table(1, 1000)
    for law in laws_over(4):
        assert 1 <= estimate_cost(law, small) < estimate_cost(law, large)
    assert estimate_cost(FD((0, 3), 1), large) < estimate_cost(FD((0, 2), 1), large)
    assert estimate_cost(FD((), 0), ArrayTable([[]])) == 1
