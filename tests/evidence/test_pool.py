from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from lawful.common.meanings import NullPolicy
from lawful.evidence import (
    ChosenRows,
    Pool,
    all_agree_sets,
    some_rows,
)
from tests.evidence.pairs import (
    POLICIES,
    WIDTHS,
    ArrayTable,
    all_pairs,
    as_known,
    brute_agree,
    compared_signs,
    known,
    random_table,
    signs_of,
    tables,
)


def check_pool(table: ArrayTable, pool: Pool) -> None:
    """Every vector is there once and is really that of its witness."""
    sets = as_known(np.ascontiguousarray(pool.agree), pool.differ)
    assert len(set(sets)) == len(sets)
    for expected, (t, s) in zip(sets, pool.witnesses.tolist(), strict=True):
        assert known(signs_of(table, t, s, pool.policy, pool.columns)) == expected


@given(tables(), POLICIES)
def test_pairs_compare_as_their_signs_say(table: ArrayTable, policy: NullPolicy) -> None:
    left, right = all_pairs(table.rows)
    expected = [signs_of(table, t, s, policy) for t, s in zip(left, right, strict=True)]
    assert compared_signs(table, left, right, policy) == expected


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_pool_of_all_pairs_holds_the_keys_of_the_multiset(width: int, policy: NullPolicy) -> None:
    table = random_table(width, 12, width)
    left, right = all_pairs(table.rows)
    pool, exact = Pool(table, policy), all_agree_sets(table, policy)
    assert pool.add_pairs(left, right) == len(pool) == len(exact)
    check_pool(table, pool)
    assert set(as_known(pool.agree, pool.differ)) == brute_agree(table, policy).keys()
    assert pool.add_pairs(right, left) == 0
    assert pool.compared == 2 * left.size


@pytest.mark.parametrize("policy", NullPolicy)
def test_a_pool_filled_in_pieces_is_the_same(policy: NullPolicy) -> None:
    table = random_table(23, 100, 30)  # more pairs than are compared at once
    left, right = all_pairs(table.rows)
    order = np.random.default_rng(1).permutation(left.size)
    pool = Pool(table, policy, columns=range(3, 28))
    for piece in np.array_split(order, 7):
        before = len(pool)
        new = pool.add_pairs(left[piece], right[piece])
        assert len(pool) == before + new
        assert len(pool.pairs) == len(pool)
    check_pool(table, pool)
    at_once = Pool(table, policy, columns=range(3, 28))
    assert at_once.add_pairs(left[order], right[order]) == len(pool)
    assert np.array_equal(at_once.agree, pool.agree)
    assert np.array_equal(at_once.witnesses, pool.witnesses)


@pytest.mark.parametrize("policy", NullPolicy)
def test_a_pool_of_some_rows_takes_pairs_of_the_whole_table(policy: NullPolicy) -> None:
    table = random_table(53, 40, 70)
    complete = ArrayTable(
        [np.where(np.arange(40) < 20, np.maximum(table.column(c), 1), table.column(c)) for c in range(70)]
    )
    pool = Pool(ChosenRows(complete, np.arange(20, dtype=np.int32)), policy)
    left, right = all_pairs(complete.rows)
    assert pool.add_pairs_of(complete, left, right) == len(pool)
    check_pool(complete, pool)
    assert set(as_known(pool.agree, pool.differ)) == brute_agree(complete, policy).keys()


def test_some_rows_are_drawn_by_the_seed() -> None:
    table = random_table(59, 1000, 3)
    assert some_rows(table, 1, most=1000) is table
    some, same, other = (some_rows(table, seed, most=300) for seed in (1, 1, 2))
    assert 200 < some.rows < 400
    assert np.array_equal(some.column(2), same.column(2))
    assert some.distinct(2) == table.distinct(2)
    assert not np.array_equal(some.column(2), other.column(2))


def test_a_pool_takes_real_pairs_only() -> None:
    pool = Pool(random_table(29, 5, 3), NullPolicy.EQUAL)
    assert pool.add_pairs(np.empty(0, np.int32), np.empty(0, np.int32)) == 0
    for left, right in (([0], [5]), ([-1], [2]), ([3], [3])):
        with pytest.raises(IndexError, match="0 to 4"):
            pool.add_pairs(np.array(left), np.array(right))
    with pytest.raises(ValueError, match="one left row"):
        pool.add_pairs(np.array([1, 2]), np.array([3]))
    assert len(pool) == 0


def classes_of(table: ArrayTable, column: int, policy: NullPolicy) -> tuple[np.ndarray, np.ndarray]:
    """The rows that agree on a column, class by class, and where the classes start."""
    ranks = table.column(column)
    kept = [np.flatnonzero(ranks == rank) for rank in np.unique(ranks) if rank > 0 or policy is NullPolicy.EQUAL]
    offsets = np.cumsum([0, *(rows.size for rows in kept)])
    return np.concatenate([np.empty(0, np.int32), *kept]).astype(np.int32), offsets.astype(np.int32)


def filled_by_classes(table: ArrayTable, policy: NullPolicy) -> Pool:
    pool = Pool(table, policy)
    for column in range(table.width):
        part = pool.empty_copy()
        assert part.add_pairs_of_classes(*classes_of(table, column, policy), lambda: False)
        assert len(part.witnesses) == len(part)
        pool.absorb(part)
        assert pool.absorb(part) == 0
    return pool


@given(tables(max_rows=12), POLICIES)
def test_all_pairs_of_classes_are_compared(table: ArrayTable, policy: NullPolicy) -> None:
    pool = filled_by_classes(table, policy)
    check_pool(table, pool)
    assert set(as_known(pool.agree, pool.differ)) == {found for found in brute_agree(table, policy) if found[0]}


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [17, 65])
def test_more_pairs_of_a_class_than_are_listed_at_once(width: int, policy: NullPolicy) -> None:
    table = random_table(width, 70, width)
    pool = Pool(table, policy)
    assert pool.add_pairs_of_classes(np.arange(70, dtype=np.int32), np.array([0, 70], np.int32), lambda: False)
    check_pool(table, pool)
    assert set(as_known(pool.agree, pool.differ)) == brute_agree(table, policy).keys()


def test_the_comparison_of_classes_stops_when_it_is_told_to() -> None:
    table = random_table(5, 150, 5)
    assert not Pool(table, NullPolicy.EQUAL).add_pairs_of_classes(*classes_of(table, 0, NullPolicy.EQUAL), lambda: True)
