from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from lawful.common.meanings import NullPolicy
from lawful.evidence import (
    FocusedSampler,
    Pool,
    Strategy,
    WindowSampler,
    YieldSampler,
    all_agree_sets,
    sample_random_pairs,
)
from lawful.evidence.clusters import Clusters
from lawful.evidence.kernels import sampling as sampling_kernels
from tests.evidence.pairs import POLICIES, ArrayTable, as_known, brute_agree, known, random_table, signs_of, tables

Filler = Callable[[Pool, ArrayTable, int], object]


def fill_by_windows(pool: Pool, table: ArrayTable, seed: int) -> object:
    return WindowSampler(pool, table, seed).run(0.01, 3000)


def fill_by_focus(pool: Pool, table: ArrayTable, seed: int) -> object:
    return FocusedSampler(pool, table, seed).run(0.01, 3000)


def fill_at_random(pool: Pool, table: ArrayTable, seed: int) -> object:
    return sample_random_pairs(pool, 700, seed)


@pytest.mark.parametrize("fill", [fill_by_windows, fill_by_focus, fill_at_random])
@pytest.mark.parametrize("policy", NullPolicy)
def test_the_same_seed_gives_the_same_pool(fill: Filler, policy: NullPolicy) -> None:
    table = random_table(31, 90, 12)
    pools = [Pool(table, policy, swaps=True) for _ in range(3)]
    told = [fill(pool, table, seed) for pool, seed in zip(pools, (5, 5, 6), strict=True)]
    assert told[0] == told[1]
    assert np.array_equal(pools[0].pairs, pools[1].pairs)
    assert np.array_equal(pools[0].agree, pools[1].agree)
    assert not np.array_equal(pools[0].pairs, pools[2].pairs)
    sets = as_known(pools[0].agree, pools[0].differ)
    for expected, (t, s) in zip(sets, pools[0].witnesses.tolist(), strict=True):
        assert known(signs_of(table, t, s, policy))[0] == expected[0]


@given(tables(max_rows=12), POLICIES)
def test_windows_to_the_end_find_every_agree_set_but_the_empty(table: ArrayTable, policy: NullPolicy) -> None:
    pool = Pool(table, policy)
    stats = WindowSampler(pool, table).run(0)
    assert stats.best_yield is None
    assert stats.new == len(pool)
    expected = {found for found in brute_agree(table, policy) if found[0]}
    assert set(as_known(pool.agree, pool.differ)) == expected


@given(tables(max_rows=12), POLICIES)
def test_one_window_a_column_refutes_all_columns_that_are_no_keys(table: ArrayTable, policy: NullPolicy) -> None:
    pool = Pool(table, policy)
    WindowSampler(pool, table).run(2.0)  # no yield is that good: only the first round of each column runs
    seen = np.bitwise_or.reduce(pool.agree, axis=0, initial=0)
    refuted = {c for c in range(table.width) if int(seen[c // 64]) >> (c % 64) & 1}
    repeated = {c for found, _ in brute_agree(table, policy) for c in range(table.width) if found >> c & 1}
    assert refuted == repeated


def make_windows(pool: Pool, table: ArrayTable) -> YieldSampler:
    return WindowSampler(pool, table, 3)


def make_focused(pool: Pool, table: ArrayTable) -> YieldSampler:
    return FocusedSampler(pool, table, 3)


@pytest.mark.parametrize("make", [make_windows, make_focused])
def test_a_run_in_pieces_samples_the_same_pairs(make: Callable[[Pool, ArrayTable], YieldSampler]) -> None:
    table = random_table(37, 120, 9)
    whole, pieces = Pool(table, NullPolicy.EQUAL), Pool(table, NullPolicy.EQUAL)
    at_once = make(whole, table).run(0, 4000)
    sampler = make(pieces, table)
    told = [sampler.run(0, budget) for budget in (1, 119, 1, 879, 3000)]
    assert at_once.pairs == sum(stats.pairs for stats in told) == 4000
    assert at_once.new == sum(stats.new for stats in told)
    assert np.array_equal(whole.agree, pieces.agree)
    assert np.array_equal(whole.witnesses, pieces.witnesses)


def test_a_lower_threshold_goes_on_where_a_higher_one_stopped() -> None:
    table = random_table(41, 200, 10)
    pool = Pool(table, NullPolicy.EQUAL)
    sampler = WindowSampler(pool, table)
    first = sampler.run(0.2)
    assert first.best_yield is not None
    assert first.best_yield < 0.2
    assert sampler.run(0.2).pairs == 0
    second = sampler.run(0.001)
    assert second.pairs > 0
    assert not sampler.run(0, should_stop=lambda: True).pairs
    assert sampler.run(0).best_yield is None
    occurring = all_agree_sets(table, NullPolicy.EQUAL)
    assert len(pool) == len(occurring) - (not occurring.agree[0].any())


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("strategy", Strategy)
def test_every_focus_enforces_its_predicate(strategy: Strategy, policy: NullPolicy) -> None:
    table = random_table(43, 50, 6)
    allowed = {Strategy.WITHIN: "=", Strategy.OTHER: "<>", Strategy.BACK: ">", Strategy.FORTH: "<"}[strategy]
    left, right = np.empty(7, np.int32), np.empty(7, np.int32)
    for column in range(table.width):
        clusters = Clusters.of(table, column, policy, np.arange(table.rows, dtype=np.int32))
        pairs, place = [], (0, 0)
        while True:
            listed, *place = sampling_kernels.focused_pairs(
                clusters.rows, clusters.starts, int(strategy), np.uint64(9), *place, left, right
            )
            pairs.extend(zip(left[:listed].tolist(), right[:listed].tolist(), strict=True))
            if listed < left.size:
                break
        assert all(t != s and signs_of(table, t, s, policy, [column])[0] in allowed for t, s in pairs)
        partnered = {
            t
            for t in range(table.rows)
            if any(s != t and signs_of(table, t, s, policy, [column])[0] in allowed for s in range(table.rows))
        }
        # Every row that has a partner was given one, and each once.
        assert sorted(t for t, _ in pairs) == sorted(partnered)


def test_order_is_sampled_where_it_matters_only() -> None:
    table = random_table(47, 60, 4)
    all_foci = FocusedSampler(Pool(table, NullPolicy.EQUAL, swaps=True), table)
    some_foci = FocusedSampler(Pool(table, NullPolicy.EQUAL, swaps=True), table, ordered=[1])
    assert len(all_foci._sources) == 16
    assert len(some_foci._sources) == 10


@pytest.mark.parametrize("policy", NullPolicy)
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_samplers_on_hardly_any_rows(rows: int, policy: NullPolicy) -> None:
    table = ArrayTable([np.ones(rows), np.arange(rows), np.zeros(rows)])
    for fill in (fill_by_windows, fill_by_focus, fill_at_random):
        pool = Pool(table, policy, swaps=True)
        fill(pool, table, 1)
        assert len(pool) == (rows == 2)
