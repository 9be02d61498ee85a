"""What a check tells of a broken law beside its witness: how badly it is broken, all rows, and groups in short."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from unittest.mock import patch

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.denial_tables import Rows, constraints, encoded, rows_of, same_column_constraints, violation_matrix
from checks.tables import POLICIES, ArrayTable, large_table, laws_over, tables
from checks.test_list_orders import lists
from lawful.checks import CheckTask, Most, Workspace, check, find_violations, summarize, violating_rows
from lawful.checks.summaries import parts_of
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, CanonicalOD, Law, ListOD
from lawful.dependencies.denial_readings import plain_law

WIDTH = 4


def streamed(law: Law, workspace: Workspace, *, in_pairs: bool = False, at_once: int = 3) -> list[tuple[int, int]]:
    """(group, row) for all violating rows, in small pieces."""
    with patch.dict(violating_rows.__globals__, {"ROWS_AT_ONCE": at_once}):
        pieces = list(violating_rows(law, workspace.table, workspace, in_pairs=in_pairs))
    assert all(0 < piece.rows.size == piece.groups.size <= at_once for piece in pieces)
    return [pair for piece in pieces for pair in zip(piece.groups.tolist(), piece.rows.tolist(), strict=True)]


def _first_pair(law: Law, workspace: Workspace) -> tuple[int, int]:
    """The first two rows in the order of pairs that break a law by themselves."""
    table, ranks = workspace.table, np.stack([workspace.table.column(place) for place in range(workspace.table.width)])
    for pair in combinations(range(table.rows), 2):
        two = Workspace(ArrayTable([*ranks[:, list(pair)]]), workspace.null_policy)
        if check(CheckTask(0, law), two.table, two).witness is not None:
            return pair
    raise AssertionError("no two rows break it")


def tells_the_damage(law: Law, workspace: Workspace) -> None:
    """The numbers are those of all violations, and the rows are all of theirs, group by group."""
    table = workspace.table
    plain, told = (check(CheckTask(3, law, damage=damage), table, workspace) for damage in (False, True))
    found = find_violations(law, table, workspace)
    assert plain.damage is None
    assert (told.id, told.holds) == (3, plain.holds)
    assert (told.witness is None) == told.holds == (told.damage is None)
    if told.witness is not None and plain.witness is not None:
        assert isinstance(law, DC) or tuple(sorted(told.witness)) == _first_pair(law, workspace)
        assert told.damage == found.damage
        assert (told.damage.rows, told.damage.groups) == (found.rows.size, len(list(found)))
        assert (told.damage.pairs, told.damage.removals) == (found.pairs, found.removals)
    expected = [(number, row) for number, group in enumerate(found) for row in group.tolist()]
    assert streamed(law, workspace) == expected


@given(tables(max_rows=8, max_width=4), POLICIES)
def test_damage_of_keys_fds_and_canonical_orders(table: ArrayTable, policy: NullPolicy) -> None:
    workspace = Workspace(table, policy)
    for law in laws_over(table.width, largest=2):
        tells_the_damage(law, workspace)
        assert streamed(law, workspace) == streamed(law, workspace, in_pairs=True)


@given(st.data(), tables(max_rows=8, max_width=4))
def test_damage_of_list_orders(data: st.DataObject, table: ArrayTable) -> None:
    law = ListOD(data.draw(lists(table.width)), data.draw(lists(table.width)))
    tells_the_damage(law, Workspace(table, NullPolicy.EQUAL))


@given(rows_of(WIDTH), st.lists(st.one_of(constraints(WIDTH), same_column_constraints(WIDTH)), max_size=8), POLICIES)
def test_damage_of_denial_constraints(rows: Rows, laws: list[DC], policy: NullPolicy) -> None:
    workspace = Workspace(encoded(rows, WIDTH), policy)
    for law in laws:
        tells_the_damage(law, workspace)
        verdict = check(CheckTask(0, law, damage=True), workspace.table, workspace)
        matrix = violation_matrix(law, rows, policy)
        if verdict.witness is not None:
            assert matrix[verdict.witness]
            assert sorted(verdict.witness) == np.argwhere(np.triu(matrix | matrix.T))[0].tolist()
        in_pairs = streamed(law, workspace, in_pairs=True)
        if plain_law(law) is None:
            pairs = [(t, s) for (_, t), (_, s) in zip(in_pairs[::2], in_pairs[1::2], strict=True)]
            assert [group for group, _ in in_pairs] == [place // 2 for place in range(len(in_pairs))]
            assert all(matrix[pair] for pair in pairs)
            assert sorted(map(sorted, pairs)) == [list(pair) for pair in np.argwhere(np.triu(matrix | matrix.T))]
        else:
            assert in_pairs == streamed(law, workspace)


@pytest.mark.parametrize("most", [Most(100, 100, 100), Most(2, 1, 1), Most(3, 2, 2), Most(0)])
def test_groups_in_short(most: Most) -> None:
    table = large_table(seed=3, rows=80)
    rows = table.as_rows()
    workspace = Workspace(table, NullPolicy.EQUAL)
    laws = [*laws_over(table.width, largest=1), ListOD(((0, "asc"), (1, "desc")), ((3, "asc"),))]
    for law in laws:
        groups = [group.tolist() for group in find_violations(law, table, workspace)]
        told = summarize(law, table, workspace, most)
        assert len(told) == min(most.groups, len(groups))
        for members, group in zip(groups, told, strict=False):
            _, conflicting = parts_of(law)
            values = [tuple(rows[row][column] for column in conflicting) for row in members]
            counts = Counter(values)
            in_order = sorted(counts, key=lambda value: (-counts[value], values.index(value)))
            in_order = sorted(counts) if isinstance(law, CanonicalOD) else in_order
            assert group.first == members[0]
            assert (group.size, group.more_variants) == (len(members), max(0, len(counts) - most.variants))
            assert [(variant.size, variant.first) for variant in group.variants] == [
                (
                    counts[value],
                    tuple([row for row, own in zip(members, values, strict=True) if own == value][: most.rows]),
                )
                for value in in_order[: most.variants]
            ]


def test_damage_is_what_brute_force_counts() -> None:
    table = large_table(seed=4, rows=50)
    workspace = Workspace(table, NullPolicy.IGNORE)
    for law in laws_over(table.width, largest=1):
        told = check(CheckTask(0, law, damage=True), table, workspace).damage
        pairs = oracle.violating_pairs(law, table.as_rows(), NullPolicy.IGNORE)
        counted = (0, 0) if told is None else (told.pairs, told.rows)
        assert counted == (len(pairs), len({row for pair in pairs for row in pair}))
