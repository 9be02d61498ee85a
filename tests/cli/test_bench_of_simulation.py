"""The simulated scheduler of the benchmarks: what it takes is known where nothing is random."""

from __future__ import annotations

import math

import pytest

from bench.event_log import FEATURES, LoggedRun, StageRun, TaskRun
from bench.scheduler_simulation import Cluster, PlannedStage, Units, fitted, plan_of, simulate

pytestmark = pytest.mark.slow  # of a bench

ALIKE = Units((), (1.0,))


def test_tasks_fill_the_slots_and_stages_wait_for_each_other() -> None:
    plan = [PlannedStage("scan", [1.0] * 8), PlannedStage("merge", [2.0] * 4, (0,), 0.5)]
    outcome = simulate(plan, Cluster(2, handed_out_a_second=1e9), ALIKE)
    assert outcome.tasks == 12
    assert outcome.seconds == pytest.approx(4.0 + 0.5 + 4.0, rel=1e-3)
    assert simulate(plan, Cluster(4, 2, handed_out_a_second=1e9), ALIKE).seconds == pytest.approx(3.5, rel=1e-3)


def test_lost_executors_repeat_their_tasks() -> None:
    plan = [PlannedStage("scan", [1.0] * 200), PlannedStage("merge", [1.0] * 200, (0,))]
    calm = simulate(plan, Cluster(10), ALIKE)
    rough = simulate(plan, Cluster(10, losses=100.0, comes_back_after=3.0), ALIKE, seed=1)
    assert rough.lost_executors > 0
    assert rough.repeated_tasks > 0
    assert 400 <= rough.tasks <= 400 + rough.repeated_tasks
    assert rough.seconds > calm.seconds


def test_stragglers_make_stages_longer() -> None:
    plan = [PlannedStage("scan", [1.0] * 20)]
    assert (
        simulate(plan, Cluster(20), Units((), (0.5, 0.5, 0.5, 2.5))).seconds
        > simulate(plan, Cluster(20), ALIKE).seconds
    )


def test_executors_are_slow_until_they_are_warm() -> None:
    plan = [PlannedStage("scan", [1.0] * 100)]
    told = simulate(plan, Cluster(1), Units((), (1.0,), cold=2.0, warm_after=10.0)).seconds
    assert told == pytest.approx(100.0 + 10.0 * math.log(1.0 + 2.0), rel=0.01)  # the integral over the work


def test_units_are_found_and_a_run_is_told_again() -> None:
    units = [0.1, 2e-7, 3e-9, 0.0, 0.0, 1e-6]
    stages = []
    for number in range(6):
        work = [(1.0, 1e5 * (number + 1), 1e6 * (6 - number) ** 2, 0.0, 0.0, 1e5 * (number % 2))] * 4
        seconds = sum(unit * amount for unit, amount in zip(units, work[0], strict=True))
        after = tuple(range(number))
        stages.append(StageRun(number, 0.0, 0.0, [TaskRun(seconds, one) for one in work], after, 0.25))
    total = sum(0.25 + 2 * stage.tasks[0].seconds for stage in stages)
    run = LoggedRun(stages, total, 2)
    found = fitted([run])
    assert found.seconds == pytest.approx(units, rel=1e-3, abs=1e-12)
    assert len(found.seconds) == len(FEATURES)
    assert simulate(plan_of(run, found), Cluster(2), found).seconds == pytest.approx(total, rel=0.02)
