"""The pool of swaps against brute force: which pairs of columns are swapped under which agree sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.evidence import (
    ChosenRows,
    Pool,
    SwapSets,
    WindowSampler,
    all_swaps,
    merge_swaps,
    sample_random_pairs,
    swaps_of_tile,
    tiles,
)
from lawful.evidence.kernels.swaps import ASC, DESC
from lawful.search import unpack_sets
from tests.evidence.pairs import POLICIES, ArrayTable, all_pairs, random_table, tables

Swap = tuple[tuple[int, ...], int, int, int]


def swaps_of(table: ArrayTable, t: int, s: int, policy: NullPolicy) -> set[Swap]:
    """What one pair shows: its agree set, and two columns with the direction against which it swaps them."""
    ranks = [(int(table.column(c)[t]), int(table.column(c)[s])) for c in range(table.width)]
    known = [policy is NullPolicy.EQUAL or min(pair) > 0 for pair in ranks]
    agree = tuple(c for c, (one, other) in enumerate(ranks) if known[c] and one == other)
    signs = {c: one < other for c, (one, other) in enumerate(ranks) if known[c] and one != other}
    return {(agree, a, b, DESC if signs[a] == signs[b] else ASC) for a in signs for b in signs if a <= b}


def swaps_in(pool: Pool | SwapSets) -> set[Swap]:
    words = pool.refuted.shape[3]
    return {
        (agree, a, b, direction)
        for agree, refuted in zip(unpack_sets(np.ascontiguousarray(pool.agree)), pool.refuted, strict=True)
        for a in range(refuted.shape[0])
        for direction in (ASC, DESC)
        for b in range(64 * words)
        if refuted[a, direction, b // 64] >> np.uint64(b % 64) & np.uint64(1)
    }


def shown_by_all_pairs(table: ArrayTable, policy: NullPolicy) -> set[Swap]:
    return {swap for t in range(table.rows) for s in range(t) for swap in swaps_of(table, t, s, policy)}


@given(tables(), POLICIES)
def test_all_pairs_show_all_swaps(table: ArrayTable, policy: NullPolicy) -> None:
    pool = Pool(table, policy, swaps=True)
    pool.add_pairs(*all_pairs(table.rows))
    assert swaps_in(pool) == shown_by_all_pairs(table, policy)


@given(tables(), POLICIES)
def test_pairs_of_rows_that_were_not_chosen_show_their_swaps_too(table: ArrayTable, policy: NullPolicy) -> None:
    some = ChosenRows(table, np.arange(0, table.rows, 2, dtype=np.int32))
    pool = Pool(some, policy, swaps=True)
    left, right = (np.array(rows, np.int32) for rows in np.tril_indices(table.rows, -1))
    pool.add_pairs_of(table, left, right)
    assert swaps_in(pool) == shown_by_all_pairs(table, policy)


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("width", [3, 64, 70])
def test_samples_show_some_of_them(width: int, policy: NullPolicy) -> None:
    table = random_table(width, 12, width)
    pool = Pool(table, policy, swaps=True)
    assert sample_random_pairs(pool, 5) > 0
    WindowSampler(pool, table).run(0, 8)
    some, everything = swaps_in(pool), shown_by_all_pairs(table, policy)
    assert some < everything
    pool.add_pairs(*all_pairs(table.rows))
    assert swaps_in(pool) == everything


def test_pairs_that_show_nothing_new_are_not_counted() -> None:
    pool = Pool(random_table(1, 12, 5), NullPolicy.EQUAL, swaps=True)
    left, right = np.array([0, 1, 2]), np.array([3, 4, 5])
    assert pool.add_pairs(left, right) > 0
    assert pool.add_pairs(right, left) == 0


@given(tables(), POLICIES)
def test_a_pool_with_swaps_knows_the_agree_sets_of_one_without(table: ArrayTable, policy: NullPolicy) -> None:
    plain, swapped = Pool(table, policy), Pool(table, policy, swaps=True)
    left, right = (np.array(rows, np.int32) for rows in np.tril_indices(table.rows, -1))
    for pool in (plain, swapped):
        pool.add_pairs(left, right)
    refuted = []
    for pool in (plain, swapped):  # an FD is refuted where rows agree on its left side and are known to differ
        pairs = zip(unpack_sets(np.ascontiguousarray(pool.agree)), unpack_sets(pool.differ), strict=True)
        refuted.append({(agree, column) for agree, differ in pairs for column in differ})
    assert refuted[0] == refuted[1]
    assert set(unpack_sets(np.ascontiguousarray(plain.agree))) == set(unpack_sets(np.ascontiguousarray(swapped.agree)))


@given(tables(), POLICIES)
def test_the_kept_pairs_show_all_that_was_seen(table: ArrayTable, policy: NullPolicy) -> None:
    pool = Pool(table, policy, swaps=True)
    pool.add_pairs(*all_pairs(table.rows))
    shown = {swap for t, s in pool.pairs.tolist() for swap in swaps_of(table, t, s, policy)}
    assert shown == shown_by_all_pairs(table, policy)
    follower = Pool(table, policy, swaps=True)
    pool.follow(follower)
    assert swaps_in(follower) == shown


@pytest.mark.parametrize("swaps", [False, True])
def test_followers_see_what_comes_later(swaps: bool) -> None:
    table = random_table(3, 30, 4)
    some = ChosenRows(table, np.arange(0, 30, 2, dtype=np.int32))
    pool, follower = Pool(some, NullPolicy.EQUAL, swaps=swaps), Pool(table, NullPolicy.EQUAL, swaps=swaps)
    pool.follow(follower)
    left, right = (np.array(rows, np.int32) for rows in np.tril_indices(some.rows, -1))
    assert pool.add_pairs(left, right) > 0
    assert sorted(unpack_sets(follower.agree)) == sorted(unpack_sets(pool.agree))
    assert set(pool.pairs.ravel().tolist()) <= set(range(0, 30, 2))  # as rows of the whole table
    pool.leave(follower)
    before = len(follower)
    pool.add_pairs_of(table, np.array([1, 3, 5, 7]), np.array([9, 11, 13, 15]))
    assert len(follower) == before


@given(tables(), POLICIES, st.sampled_from([1, 2, 3]), st.integers(1, 9))
def test_tiles_show_all_swaps_however_they_are_cut(
    table: ArrayTable, policy: NullPolicy, threads: int, parts: int
) -> None:
    expected = shown_by_all_pairs(table, policy)
    together = all_swaps(table, policy, threads=threads)
    assert swaps_in(together) == expected
    assert len(together) == len(set(unpack_sets(together.agree)))
    found = [swaps_of_tile(table, policy, tile) for tile in tiles(table.rows, parts)]
    assert not found or swaps_in(merge_swaps(found)) == expected


@given(tables(), POLICIES, st.integers(0, 9))
def test_what_was_seen_elsewhere_joins_a_pool_that_goes_on(table: ArrayTable, policy: NullPolicy, cut: int) -> None:
    pool = Pool(table, policy, swaps=True)
    left, right = (np.array(rows, np.int32) for rows in np.tril_indices(table.rows, -1))
    elsewhere = pool.empty_copy(swaps=True)
    elsewhere.add_pairs(left[:cut], right[:cut])
    pool.add_pairs(left[cut + 3 :], right[cut + 3 :])
    pool.absorb_swaps(elsewhere.seen())
    pool.add_pairs(left[cut : cut + 3], right[cut : cut + 3])
    assert swaps_in(pool) == shown_by_all_pairs(table, policy)


@pytest.mark.parametrize("threads", [1, 3])
def test_comparing_all_pairs_can_be_stopped(threads: int) -> None:
    with pytest.raises(StoppedError):
        all_swaps(random_table(1, 12, 5), NullPolicy.EQUAL, threads=threads, should_stop=lambda: True)
