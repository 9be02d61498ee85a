"""A small simulation of Spark's scheduler: stages of tasks on the slots of executors, with stragglers and losses.

A stage begins when those that it waits for have ended and the driver has thought. Its tasks go to free slots, no
faster than the driver hands them out. A task takes its work times a random factor, drawn from those that were measured:
that is what stragglers are. An executor is lost at random times; it comes back after a while, its tasks begin again,
and so do the tasks whose output it held, if a stage that is still to come reads it.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bench.event_log import LoggedRun, StageRun, TaskRun

_COLD, _WARM_AFTER = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0), (5.0, 10.0, 20.0, 40.0, 80.0)
"""What is tried for how much slower executors are at first, and for how many seconds."""


@dataclass(frozen=True)
class Units:
    """What a task costs: seconds for each feature, and how far tasks are from that, as factors.

    An executor is slow at first, while Java compiles what it runs: a task takes `cold` times as much more, less and
    less of it as the executor has worked, in the course of `warm_after` seconds.
    """

    seconds: tuple[float, ...]
    factors: tuple[float, ...]
    cold: float = 0.0
    warm_after: float = 1.0

    def of(self, work: Sequence[float]) -> float:
        return sum(unit * amount for unit, amount in zip(self.seconds, work, strict=True))

    def slowness(self, worked_before: float) -> float:
        """How many times as long a task takes on an executor that has worked for so many seconds."""
        return 1.0 + self.cold * math.exp(-worked_before / self.warm_after)


@dataclass(frozen=True)
class PlannedStage:
    """Tasks of one stage, by their work; `after` are the places of the stages that it waits for."""

    name: str
    tasks: Sequence[float]
    after: tuple[int, ...] = ()
    gap: float = 0.0


@dataclass(frozen=True)
class Cluster:
    """Executors with some slots each; `losses` are those of one executor in an hour."""

    executors: int
    slots: int = 1
    losses: float = 0.0
    comes_back_after: float = 30.0
    handed_out_a_second: float = 1_000.0


@dataclass
class Outcome:
    """What a simulated run took."""

    seconds: float = 0.0
    tasks: int = 0
    lost_executors: int = 0
    repeated_tasks: int = 0
    stage_seconds: dict[str, float] = field(default_factory=dict)


def fitted(runs: Sequence[LoggedRun]) -> Units:
    """Unit costs by least squares over all tasks, none of them negative, so that the sum of all times is kept."""
    tasks = [task for run in runs for stage in run.stages for task in stage.tasks]
    taken = np.array([task.seconds for task in tasks])
    tried = [_fitted_to(tasks, cold, warm_after) for cold in _COLD for warm_after in _WARM_AFTER]
    units = min(tried, key=lambda units: float(np.square(_expected(tasks, units) - taken).sum()))
    whole = taken.sum() / max(_expected(tasks, units).sum(), 1e-12)
    units = replace(units, seconds=tuple(whole * unit for unit in units.seconds))
    # How far tasks are from their share of what their stage took: work that units do not explain is no straggler.
    factors: list[float] = []
    for run in runs:
        for stage in run.stages:
            of_stage = np.array([task.seconds for task in stage.tasks])
            expected = np.maximum(_expected(stage.tasks, units), 1e-9)
            factors += (of_stage / expected * expected.sum() / max(of_stage.sum(), 1e-9)).tolist()
    kept = np.quantile(factors, np.linspace(0.005, 0.995, 100))
    return replace(units, factors=tuple((kept / kept.mean()).tolist()))


def _fitted_to(tasks: Sequence[TaskRun], cold: float, warm_after: float) -> Units:
    """Unit costs, given how slow executors are at first."""
    units = Units((), (), cold, warm_after)
    slowness = np.array([units.slowness(task.worked_before) for task in tasks])
    work = np.array([task.work for task in tasks]) * slowness[:, np.newaxis]
    scale = np.maximum(work.max(axis=0), 1e-12)
    found = _not_negative(work / scale, np.array([task.seconds for task in tasks])) / scale
    return replace(units, seconds=tuple(found.tolist()))


def _expected(tasks: Sequence[TaskRun], units: Units) -> npt.NDArray[np.float64]:
    """The seconds that tasks take, as units tell."""
    return np.array([units.of(task.work) * units.slowness(task.worked_before) for task in tasks])


def _not_negative(work: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Least squares over the features with positive units, found by leaving out the most negative one by one."""
    used = list(range(work.shape[1]))
    while used:
        units, *_ = np.linalg.lstsq(work[:, used], seconds, rcond=None)
        if units.min() >= 0:
            break
        del used[int(np.argmin(units))]
    found = np.zeros(work.shape[1])
    if used:
        found[used] = units
    return found


def plan_of(run: LoggedRun, units: Units) -> list[PlannedStage]:
    """The stages of a measured run with the times that units expect."""
    places = {stage.number: place for place, stage in enumerate(run.stages)}
    return [_planned(stage, places, units) for stage in run.stages]


def _planned(stage: StageRun, places: dict[int, int], units: Units) -> PlannedStage:
    after = tuple(places[number] for number in stage.after)
    return PlannedStage(f"stage {stage.number}", [units.of(task.work) for task in stage.tasks], after, stage.gap)


class _Simulation:
    def __init__(self, plan: Sequence[PlannedStage], cluster: Cluster, units: Units, seed: int) -> None:
        self.plan, self.cluster, self.units = plan, cluster, units
        self.random = random.Random(seed)
        self.now, self.next_handout = 0.0, 0.0
        self.events: list[tuple[float, int, str, tuple[int, ...]]] = []
        self.count = 0
        self.free = dict.fromkeys(range(cluster.executors), cluster.slots)
        self.idle = list(self.free) * cluster.slots
        self.worked = dict.fromkeys(self.free, 0.0)
        self.waiting: list[list[int]] = [[] for _ in plan]
        self.left = [len(stage.tasks) for stage in plan]
        self.begun: dict[int, float] = {}
        self.released: set[int] = set()
        self.ended: set[int] = set()
        self.open: set[int] = set()
        self.done_on: list[dict[int, list[int]]] = [{} for _ in plan]
        self.running: dict[int, tuple[int, int, int]] = {}
        self.outcome = Outcome()

    def at(self, when: float, what: str, *about: int) -> None:
        self.count += 1
        heapq.heappush(self.events, (when, self.count, what, about))

    def run(self) -> Outcome:
        for place, stage in enumerate(self.plan):
            if not stage.after:
                self.at(stage.gap, "begin", place)
        if self.cluster.losses:
            for executor in self.free:
                self._will_be_lost(executor)
        while any(self.left):
            self.now, _, what, about = heapq.heappop(self.events)
            getattr(self, f"_{what}")(*about)
            self._hand_out()
        self.outcome.seconds = self.now
        return self.outcome

    def _begin(self, place: int) -> None:
        self.begun[place] = self.now
        self.waiting[place] = list(range(len(self.plan[place].tasks)))[::-1]
        self.open.add(place)

    def _hand_out(self) -> None:
        if not self.idle:
            return
        for place in sorted(self.open):
            waiting = self.waiting[place]
            while waiting and self.idle:
                executor = self.idle.pop()
                if executor not in self.free:  # lost
                    continue
                task = waiting.pop()
                begin = max(self.now, self.next_handout)
                self.next_handout = begin + 1.0 / self.cluster.handed_out_a_second
                slowness = self.units.slowness(self.worked[executor] / self.cluster.slots)
                takes = self.plan[place].tasks[task] * slowness * self.random.choice(self.units.factors)
                self.worked[executor] += takes
                self.at(begin + takes, "end", self.count + 1, place, task, executor)
                self.running[self.count] = (place, task, executor)
            if not waiting:
                self.open.discard(place)

    def _end(self, number: int, place: int, task: int, executor: int) -> None:
        if self.running.pop(number, None) is None:  # its executor was lost meanwhile
            return
        self.idle.append(executor)
        self.outcome.tasks += 1
        self.left[place] -= 1
        self.done_on[place].setdefault(executor, []).append(task)
        if self.left[place]:
            return
        self.outcome.stage_seconds[self.plan[place].name] = self.now - self.begun[place]
        self.ended.add(place)
        for later, stage in enumerate(self.plan):
            if place not in stage.after or later in self.released or not self._can_begin(stage):
                continue
            self.released.add(later)
            self.at(self.now + stage.gap, "begin", later)

    def _can_begin(self, stage: PlannedStage) -> bool:
        """Whether all before it have ended, and what the last of them wrote, which it reads, is still there."""
        return self.ended.issuperset(stage.after) and not any(self.left[one] for one in stage.after[-1:])

    def _will_be_lost(self, executor: int) -> None:
        self.at(self.now + self.random.expovariate(self.cluster.losses / 3600.0), "lose", executor)

    def _lose(self, executor: int) -> None:
        self.outcome.lost_executors += 1
        self.free.pop(executor, None)
        self.idle = [other for other in self.idle if other != executor]
        for number, (place, task, other) in list(self.running.items()):
            if other == executor:
                del self.running[number]
                self.waiting[place].append(task)
                self.open.add(place)
                self.outcome.repeated_tasks += 1
        needed = {one for later, stage in enumerate(self.plan) if self.left[later] for one in stage.after[-1:]}
        for place in needed:
            tasks = self.done_on[place].pop(executor, [])
            self.left[place] += len(tasks)
            self.waiting[place] += tasks
            self.open.add(place)
            self.outcome.repeated_tasks += len(tasks)
        self.at(self.now + self.cluster.comes_back_after, "come_back", executor)

    def _come_back(self, executor: int) -> None:
        self.free[executor] = self.cluster.slots
        self.worked[executor] = 0.0
        self.idle += [executor] * self.cluster.slots
        self._will_be_lost(executor)


def simulate(plan: Sequence[PlannedStage], cluster: Cluster, units: Units, seed: int = 0) -> Outcome:
    """Run a plan on a cluster."""
    return _Simulation(plan, cluster, units, seed).run()
