from __future__ import annotations

import oracle
import pytest
from hypothesis import given

from checks.tables import POLICIES, ArrayTable, large_table, laws_over, tables, unchecked_kind
from lawful.checks import Workspace, find_violations
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key, Law


def expected_groups(law: Law, rows: oracle.Table, policy: NullPolicy) -> list[list[int]]:
    """The violating rows, grouped by the columns on which they agree."""
    violating = {row for pair in oracle.violating_pairs(law, rows, policy) for row in pair}
    agreeing = law.columns if isinstance(law, Key) else law.lhs if isinstance(law, FD) else law.context
    classes = oracle.agreeing_classes(agreeing, rows, policy)
    groups = [[row for row in members if row in violating] for members in classes]
    return sorted(group for group in groups if group)


@given(tables(max_rows=8, max_width=4), POLICIES)
def test_rows_pairs_and_removals_are_those_of_the_definition(table: ArrayTable, policy: NullPolicy) -> None:
    rows = table.as_rows()
    workspace = Workspace(table, policy)
    for law in laws_over(table.width, largest=2):
        found = find_violations(law, table, workspace)
        assert found.pairs == len(oracle.violating_pairs(law, rows, policy))
        assert found.removals == oracle.fewest_removals(law, rows, policy)
        assert sorted(group.tolist() for group in found) == expected_groups(law, rows, policy)


@pytest.mark.parametrize("policy", NullPolicy)
def test_longer_tables_agree_with_all_pairs(policy: NullPolicy) -> None:
    table = large_table(seed=11, rows=60)
    rows = table.as_rows()
    workspace = Workspace(table, policy)
    for law in laws_over(table.width, largest=1):
        found = find_violations(law, table, workspace)
        assert found.pairs == len(oracle.violating_pairs(law, rows, policy))
        assert sorted(group.tolist() for group in found) == expected_groups(law, rows, policy)


def test_pairs_are_exact_beyond_32_bits() -> None:
    rows = 66_000
    table = ArrayTable([[1] * rows, list(range(1, rows + 1)), list(range(rows, 0, -1))])
    workspace = Workspace(table, NullPolicy.EQUAL)
    every_pair = rows * (rows - 1) // 2
    for law in (Key((0,)), FD((0,), 1), CanonicalOD((0,), 1, 2, "asc")):
        found = find_violations(law, table, workspace)
        assert (found.pairs, found.removals, found.rows.size) == (every_pair, rows - 1, rows)


def test_a_kind_without_a_check_is_refused() -> None:
    table = ArrayTable([[1, 2], [1, 2]])
    with unchecked_kind() as law, pytest.raises(UsageError, match="cannot be checked"):
        find_violations(law, table, Workspace(table, NullPolicy.EQUAL))
