from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.tables import POLICIES, ArrayTable, large_table, laws_over, tables
from lawful.checks import CheckTask, Partition, PartitionCache, Verdict, Workspace, check, find_violations
from lawful.checks import workspace as workspace_module
from lawful.checks.list_ods.orders import sorted_partition
from lawful.common.meanings import NullPolicy


def partition_of(rows: int) -> Partition:
    return Partition(np.arange(rows, dtype=np.int32), np.array([0, rows], np.int32), rows)


@given(tables(), POLICIES, st.integers(0, 5_000), st.randoms(use_true_random=False))
def test_no_budget_and_no_order_of_checks_shows_in_a_verdict(
    table: ArrayTable, policy: NullPolicy, budget: int, shuffler: random.Random
) -> None:
    laws = laws_over(table.width, largest=2)
    roomy = Workspace(table, policy)
    expected = [check(CheckTask(i, law), table, roomy) for i, law in enumerate(laws)]
    for tight in (Workspace(table, policy, 0), Workspace(table, policy, budget)):
        tasks = [CheckTask(i, law) for i, law in enumerate(laws)]
        shuffler.shuffle(tasks)
        for task in tasks:
            if shuffler.random() < 0.1:
                find_violations(task.law, table, tight)
            assert check(task, table, tight) == expected[task.id]
            assert tight.cache.stats.bytes <= budget


@given(tables(max_rows=40, min_width=2), POLICIES)
def test_a_law_refuted_by_the_first_classes_has_the_witness_of_the_whole(table: ArrayTable, policy: NullPolicy) -> None:
    tasks = [CheckTask(i, law) for i, law in enumerate(laws_over(table.width, largest=2))]
    whole, hasty = Workspace(table, policy), Workspace(table, policy, 0)
    expected = [check(task, table, whole) for task in tasks]
    with patch.object(workspace_module, "_FIRST_ROWS", 1), patch.object(workspace_module, "_GROWTH", 2):
        assert [check(task, table, hasty) for task in tasks] == expected
        beginnings = list(hasty.growing((0, 1)))
    *shorter, last = beginnings
    for partition in shorter:
        assert partition.rows.tolist() == last.rows[: partition.size].tolist()
        assert partition.offsets.tolist() == last.offsets[: partition.classes + 1].tolist()


@pytest.mark.parametrize("budget", [0, 20_000, 2**24])
def test_threads_that_share_a_workspace_agree_with_one(budget: int) -> None:
    table = large_table(seed=2, rows=400)
    tasks = [CheckTask(i, law) for i, law in enumerate(laws_over(table.width, largest=2))]
    alone = Workspace(table, NullPolicy.IGNORE)
    expected = [check(task, table, alone) for task in tasks]
    shared = Workspace(table, NullPolicy.IGNORE, budget)

    def run(seed: int) -> list[Verdict]:
        shuffled = random.Random(seed).sample(tasks, len(tasks))
        return sorted((check(task, table, shared) for task in shuffled), key=lambda verdict: verdict.id)

    with ThreadPoolExecutor(4) as pool:
        for outcome in pool.map(run, range(4)):
            assert outcome == expected
    assert shared.cache.stats.bytes <= budget


def test_a_request_is_a_hit_only_if_nothing_had_to_be_built() -> None:
    table = ArrayTable([[1, 1, 2, 2, 2], [1, 2, 3, 4, 4], [1, 1, 1, 1, 1], [1, 2, 3, 3, 3]])
    workspace = Workspace(table, NullPolicy.EQUAL)
    assert workspace.chain([0, 1, 2, 3]) == (1, 3, 0, 2)
    first = workspace.partition([0, 1, 3])
    assert workspace.partition([3, 1, 0]) is first
    workspace.partition([0, 1, 2, 3])
    stats = workspace.cache.stats
    assert (stats.hits, stats.misses, stats.entries) == (1, 2, 4)


def test_the_least_recently_used_goes_first_and_single_columns_last() -> None:
    size = partition_of(100).nbytes
    cache = PartitionCache(3 * size)
    cache.put((0,), partition_of(100))
    cache.put((0, 1), partition_of(100))
    cache.put((0, 2), partition_of(100))
    cache.longest_prefix((0, 1))
    cache.put((0, 3), partition_of(100))
    assert cache.longest_prefix((0, 2))[0] == 1
    assert cache.longest_prefix((0, 1))[0] == 2
    cache.resize(size)
    assert cache.longest_prefix((0, 1))[0] == 1
    cache.resize(0)
    assert cache.longest_prefix((0, 1)) == (0, None)
    stats = cache.stats
    assert (stats.bytes, stats.entries, stats.evictions) == (0, 0, 4)


def test_who_asks_for_a_partition_uses_its_prefixes_too() -> None:
    cache = PartitionCache(3 * partition_of(100).nbytes)
    for chain in ((0, 1), (0, 2), (0, 1, 3)):
        cache.put(chain, partition_of(100))
    cache.longest_prefix((0, 1, 3, 4))
    cache.put((0, 1, 5), partition_of(100))
    cache.put((0, 1, 6), partition_of(100))
    assert [cache.longest_prefix(chain)[0] for chain in ((0, 2), (0, 1, 3), (0, 1))] == [0, 2, 2]


def test_what_nobody_asks_for_is_dropped_as_others_arrive_but_single_columns_stay() -> None:
    cache: PartitionCache[Partition] = PartitionCache(2**20, disuse_seconds=0.05)
    for chain in ((0,), (0, 1), (0, 2)):
        cache.put(chain, partition_of(10))
    time.sleep(0.06)
    cache.longest_prefix((0, 2))
    cache.put((0, 3), partition_of(10))
    assert [cache.longest_prefix(chain)[0] for chain in ((0,), (0, 1), (0, 2), (0, 3))] == [1, 1, 2, 2]
    assert cache.stats.evictions == 1


def test_a_long_way_to_a_partition_leaves_only_its_end_in_the_cache() -> None:
    table = large_table(seed=2, rows=1000)
    whole, direct = Workspace(table, NullPolicy.EQUAL), Workspace(table, NullPolicy.EQUAL, longest_chain=2)
    columns = (0, 1, 2, 6)
    for partition in (direct.partition(columns), direct.partition(columns)):
        assert partition.rows.tolist() == whole.partition(columns).rows.tolist()
    assert whole.cache.stats.entries == 4
    assert direct.cache.stats.entries == 2  # the first column and the end
    direct.partition(direct.chain(columns)[:3])  # two products: a short way
    assert direct.cache.stats.entries == 4


def test_a_partition_larger_than_the_budget_is_handed_out_but_not_kept() -> None:
    table = large_table(seed=2, rows=1000)
    workspace = Workspace(table, NullPolicy.EQUAL, cache_bytes=1000)
    assert workspace.partition([0]).size == 1000
    assert workspace.cache.stats.bytes == 0


def test_partitions_of_sets_and_of_lists_share_one_budget() -> None:
    table = large_table(seed=2, rows=1000)
    workspace = Workspace(table, NullPolicy.EQUAL)
    of_set = workspace.partition([0, 1])
    of_list = sorted_partition(((0, "asc"), (1, "asc")), workspace)
    assert workspace.partition([0, 1]) is of_set
    assert sorted_partition(((0, "asc"), (1, "asc")), workspace) is of_list
    workspace.resize(5_000)
    assert workspace.partition([0, 1]).rows.tolist() == of_set.rows.tolist()
    assert sorted_partition(((0, "asc"), (1, "asc")), workspace).ids.tolist() == of_list.ids.tolist()
    assert 0 < workspace.cache.stats.bytes <= 5_000


def test_empty_partitions_are_not_free() -> None:
    cache = PartitionCache(2_000)
    nothing = Partition(np.empty(0, np.int32), np.zeros(1, np.int32), 9)
    for i in range(100):
        cache.put((i, i + 1), nothing)
    assert 0 < cache.stats.entries < 10
