"""How checks are cut into packs and jobs: nothing lost, neighbours together, small packs last."""

from __future__ import annotations

from itertools import accumulate, pairwise
from unittest.mock import patch

import pytest
from checks.tables import ArrayTable, large_table, laws_over
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask, estimate_cost
from lawful.dependencies import FD
from lawful.engines import packing
from lawful.engines.packing import in_jobs, pack_by_cost

TABLE = large_table(1, 500)
LAWS = laws_over(4)


def tasks_for(numbers: list[int]) -> list[CheckTask]:
    return [CheckTask(i, LAWS[number % len(LAWS)]) for i, number in enumerate(numbers)]


def cost_of(tasks: list[CheckTask] | tuple[CheckTask, ...]) -> float:
    return sum(estimate_cost(task.law, TABLE) for task in tasks)


@given(st.lists(st.integers(0, 10_000), max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_packs_hold_every_task_once_and_end_where_their_shares_do(numbers: list[int], shares: list[int]) -> None:
    tasks = tasks_for(numbers)
    packs = pack_by_cost(tasks, TABLE, shares)
    assert sorted(task.id for pack in packs for task in pack) == list(range(len(tasks)))
    assert len(packs) <= len(shares)
    assert all(packs)
    ends = [cost_of(tasks) * share / sum(shares) for share in accumulate(shares)]
    spent = 0.0
    for pack, end in zip(packs, ends, strict=False):
        # A pack never goes on after its share is used up; one task that is larger than that stands alone.
        assert len(pack) == 1 or spent + cost_of(pack[:-1]) < end * (1 + 1e-9)
        spent += cost_of(pack)


def test_tasks_that_grow_from_the_same_partition_stand_side_by_side() -> None:
    laws = [FD(context, 3) for context in ((2, 1), (0, 1), (0,), (2,), (0, 2), (1,))]
    packs = pack_by_cost([CheckTask(i, law) for i, law in enumerate(laws)], TABLE, [1])
    ordered = [task.law for task in packs[0]]
    firsts = [max(law.lhs, key=TABLE.distinct) for law in ordered if isinstance(law, FD)]
    assert len(ordered) == len(laws)
    assert sum(a != b for a, b in pairwise(firsts)) == len(set(firsts)) - 1


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_last_packs_are_the_smallest_unless_others_wait(cores: int) -> None:
    tasks = tasks_for(list(range(400)))
    (alone,) = in_jobs(tasks, TABLE, cores, others_wait=False)
    (among_others,) = in_jobs(tasks, TABLE, cores, others_wait=True)
    assert len(among_others) == cores
    assert len(alone) == 4 * cores
    assert cost_of(alone[-1]) * 2 < cost_of(alone[0]) < cost_of(tasks) / cores


def test_much_work_is_cut_into_several_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_for(list(range(400)))
    monkeypatch.setattr(packing, "_ROW_VISITS_A_JOB", cost_of(tasks) / 6)
    jobs = in_jobs(tasks, TABLE, 2, others_wait=True)
    assert [len(job) for job in jobs] == [2, 2, 2]
    assert sorted(task.id for job in jobs for pack in job for task in pack) == list(range(len(tasks)))


def test_no_tasks_make_no_job() -> None:
    assert in_jobs([], ArrayTable([[1]]), 2, others_wait=False) == []


def test_counting_is_cut_into_more_jobs_so_that_verdicts_come_one_by_one() -> None:
    laws = [FD((place % 4,), (place + 1) % 4) for place in range(12)]
    plain = [CheckTask(number, law) for number, law in enumerate(laws)]
    counted = [CheckTask(number, law, damage=True) for number, law in enumerate(laws)]
    visits = sum(estimate_cost(law, TABLE) for law in laws)
    with patch.object(packing, "_ROW_VISITS_A_JOB", visits):
        assert len(in_jobs(plain, TABLE, 2, others_wait=False)) == 1
        jobs = in_jobs(counted, TABLE, 2, others_wait=False)
    assert sorted(task.id for job in jobs for pack in job for task in pack) == list(range(12))
    assert len(jobs) > 4
    assert all(len(job) <= 2 for job in jobs)
