"""Checks of list-based order dependencies against brute force: verdict, witness, pairs, removals, all rows."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.tables import ArrayTable, large_table, tables
from lawful.checks import CheckTask, Workspace, check, estimate_cost, find_violations
from lawful.checks.list_ods.orders import expand, sorted_partition
from lawful.common.errors import UsageError
from lawful.common.meanings import Direction, NullPolicy
from lawful.dependencies import ListOD

EQUAL = NullPolicy.EQUAL


def lists(width: int) -> st.SearchStrategy[tuple[tuple[int, Direction], ...]]:
    marked = st.tuples(st.integers(0, width - 1), st.sampled_from(["asc", "desc"]))
    return st.lists(marked, max_size=4, unique_by=lambda mark: mark[0]).map(tuple)


@given(st.data(), tables(max_rows=8, max_width=5))
def test_a_check_judges_like_brute_force(data: st.DataObject, table: ArrayTable) -> None:
    """Lists may be empty and may share columns: only their order counts."""
    law = ListOD(data.draw(lists(table.width)), data.draw(lists(table.width)))
    workspace = Workspace(table, EQUAL, data.draw(st.sampled_from([0, 300, 1 << 20])))
    rows = table.as_rows()
    pairs = oracle.violating_pairs(law, rows, EQUAL)
    verdict = check(CheckTask(7, law), table, workspace)
    assert verdict.holds == (not pairs)
    assert verdict.witness is None if verdict.holds else verdict.witness in pairs
    swaps = {
        (i, j)
        for i, j in pairs
        if oracle.compare_lists(law.lhs, rows[i], rows[j]) * oracle.compare_lists(law.rhs, rows[i], rows[j]) < 0
    }
    assert not swaps or verdict.witness in swaps
    found = find_violations(law, table, workspace)
    assert found.pairs == len(pairs)
    assert check(CheckTask(7, law, "g1"), table, workspace).violations == len(pairs)
    fewest = oracle.fewest_removals(law, rows, EQUAL)
    assert found.removals == fewest
    assert check(CheckTask(7, law, "g3"), table, workspace).violations == fewest
    assert sorted(found.rows.tolist()) == sorted({row for pair in pairs for row in pair})
    groups = [set(group.tolist()) for group in found]
    assert all(len(group) > 1 for group in groups)
    assert all(any({i, j} <= group for group in groups) for i, j in pairs)


@given(st.integers(0, 3), st.sampled_from([0, 400, 3_000]), st.data())
def test_a_sorted_partition_numbers_rows_in_their_order(seed: int, rows: int, data: st.DataObject) -> None:
    """Whichever way it is grown, by a table of pairs or by sorting keys."""
    table = large_table(seed, rows)
    marked = data.draw(lists(table.width).filter(lambda drawn: drawn and drawn[0][1] == "asc"))
    ids = sorted_partition(marked, Workspace(table, EQUAL)).ids
    keys = [column if direction == "asc" else -column for column, direction in _columns(table, marked)]
    order = np.lexsort(keys[::-1])
    steps = np.diff(ids[order])
    same = np.ones(max(0, rows - 1), bool)
    for key in keys:
        same &= np.diff(key[order]) == 0
    assert (steps >= 0).all()
    assert np.array_equal(steps == 0, same)


def _columns(table: ArrayTable, marked: tuple[tuple[int, Direction], ...]) -> list[tuple[np.ndarray, Direction]]:
    return [(table.column(column).astype(np.int64), direction) for column, direction in marked]


def test_all_ways_of_growing_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    table = large_table(1, 2_000)
    for column in range(table.width):
        for direction in ("asc", "desc"):
            grown = []
            for entries, bits in ((10_000, 63), (0, 63), (0, 0)):
                monkeypatch.setattr("lawful.checks.list_ods.orders._TABLE_ENTRIES_A_ROW", entries)
                monkeypatch.setattr("lawful.checks.list_ods.orders._KEY_BITS", bits)
                workspace = Workspace(table, EQUAL)
                first = sorted_partition(((1, "asc"),), workspace)
                grown.append(expand(first, column, direction, workspace))
            assert all(np.array_equal(partition.ids, grown[0].ids) for partition in grown)
            assert len({partition.classes for partition in grown}) == 1


def test_nulls_are_values_or_an_error() -> None:
    table = ArrayTable([np.array([0, 1, 2]), np.array([1, 1, 2])])
    law = ListOD(((0, "asc"),), ((1, "asc"),))
    assert check(CheckTask(0, law), table, Workspace(table, EQUAL)).holds
    with pytest.raises(UsageError, match="ORDER BY"):
        check(CheckTask(0, law), table, Workspace(table, NullPolicy.IGNORE))


def test_longer_lists_cost_more() -> None:
    table = large_table(0, 500)
    short = ListOD(((0, "asc"),), ((1, "asc"),))
    long = ListOD(((0, "asc"), (2, "asc")), ((1, "asc"),))
    assert 1 <= estimate_cost(short, table) < estimate_cost(long, table)


TABLE_II = ArrayTable([np.array(column) for column in ([1, 2, 2, 3], [1, 1, 1, 2], [3, 1, 1, 2], [3, 2, 1, 4])])
"""The second table of FindOD's paper as ranks: columns A to D."""
A, B, C, D = range(4)


def witness(table: ArrayTable, lhs: list[tuple[int, Direction]], rhs: list[tuple[int, Direction]]) -> object:
    return check(CheckTask(0, ListOD(tuple(lhs), tuple(rhs))), table, Workspace(table, EQUAL)).witness


def test_sorted_partitions_of_the_paper() -> None:
    """Section V-A and example 4: classes in the order of a list, refined by one more column."""
    workspace = Workspace(TABLE_II, EQUAL)
    by_b = sorted_partition(((B, "asc"),), workspace)
    assert by_b.ids.tolist() == [1, 1, 1, 2]
    assert expand(by_b, C, "desc", workspace).ids.tolist() == [0, 1, 1, 2]
    assert expand(by_b, C, "asc", workspace).ids.tolist() == [1, 0, 0, 2]


def test_splits_and_swaps_of_the_paper() -> None:
    """Examples 2, 4 and 6: C desc -> D has a swap (rows 1, 2) and a split (2, 3); B -> A splits; C -> A swaps."""
    pairs = oracle.violating_pairs(ListOD(((C, "desc"),), ((D, "asc"),)), TABLE_II.as_rows(), EQUAL)
    assert {(0, 1), (1, 2)} <= pairs
    assert witness(TABLE_II, [(C, "desc")], [(D, "asc")]) in pairs - {(1, 2)}  # a swap
    assert witness(TABLE_II, [(B, "asc")], [(A, "asc")]) == (0, 1)
    assert witness(TABLE_II, [(B, "asc"), (C, "desc")], [(A, "asc")]) is None
    assert witness(TABLE_II, [(C, "asc")], [(A, "asc")]) is not None


def test_a_swap_outdoes_a_split() -> None:
    """Example 5: the second class has a split (rows 3, 4), the third a swap with it (rows 4, 5)."""
    table = ArrayTable([np.array([1, 1, 2, 2, 3]), np.array([1, 1, 1, 2, 1])])
    assert witness(table, [(0, "asc")], [(1, "asc")]) == (3, 4)
    assert witness(ArrayTable([table.column(i)[:4] for i in range(2)]), [(0, "asc")], [(1, "asc")]) == (2, 3)


def test_the_tax_records_of_the_paper() -> None:
    """Example 1: the serial number orders year, month and date; the month does not."""
    number, year, month, date, amount = [1, 2, 3, 4], [1, 1, 2, 3], [3, 3, 2, 1], [1, 3, 4, 2], [2, 3, 1, 2]
    table = ArrayTable([np.array(column) for column in (number, year, month, date, amount)])
    assert witness(table, [(0, "asc")], [(1, "asc"), (2, "asc"), (3, "asc")]) is None
    assert witness(table, [(0, "asc")], [(2, "asc")]) is not None
    assert witness(table, [(0, "asc")], [(2, "desc")]) is None
