"""Putting checks into packs of similar cost, with checks that share partitions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from lawful.checks import CheckTask, RankedTable, checks_of, task_cost

Pack = tuple[CheckTask, ...]
Shares = Sequence[float]
"""The relative sizes of packs."""
_Item = TypeVar("_Item")

_ROW_VISITS_A_JOB = 16e9
"""About two seconds of work per core, as partitions are found in the cache and refuted laws are left early: longer jobs
would hold verdicts back, and shorter ones cost Java as much as the checks (on 3 million rows a quarter of all time)."""
_SHARES_OF_A_CORE = (4, 3, 2, 1)
"""The relative sizes of the packs that a job has for each core, while no other job waits for cores. How long a pack
takes is a guess, so the last ones are small."""


def pack_by_cost(tasks: Sequence[CheckTask], table: RankedTable, shares: Shares) -> list[Pack]:
    """Cut tasks into packs that have these shares of the estimated cost.

    Tasks are put in the order in which their partitions are built (see `Workspace.chain`), so that neighbours
    share long prefixes and a worker finds them in its cache. A pack that would be empty is left out.
    """
    return _cut(_costed(tasks, table), shares)


def in_jobs(tasks: Sequence[CheckTask], table: RankedTable, cores: int, *, others_wait: bool) -> list[list[Pack]]:
    """Cut tasks into jobs that are long enough to pay for their start, each with packs for every core.

    If other jobs wait for cores, one pack for each is enough, and fewer partitions are made by several workers.
    """
    if not tasks:
        return []
    costed = _costed(tasks, table)
    jobs = sum(cost for _, cost in costed) / (_ROW_VISITS_A_JOB * cores)
    # Counting takes its time and is waited for by people: a verdict should not wait for many others. Several jobs of
    # one call keep all cores busy as well as small packs do.
    is_slow = jobs > 1 and any(task.damage for task in tasks)
    shares = [share for share in ((1,) if others_wait or is_slow else _SHARES_OF_A_CORE) for _ in range(cores)]
    packs = _cut(costed, shares * max(1, round(jobs)))
    return [packs[first : first + len(shares)] for first in range(0, len(packs), len(shares))]


def _costed(tasks: Sequence[CheckTask], table: RankedTable) -> list[tuple[CheckTask, float]]:
    ordered = sorted(tasks, key=lambda task: checks_of(task.law).chain(task.law, table))
    return [(task, task_cost(task, table)) for task in ordered]


def _cut(costed: Sequence[tuple[CheckTask, float]], shares: Shares) -> list[Pack]:
    total = sum(cost for _, cost in costed)
    ends = [total * share / sum(shares) for share in accumulate(shares)]
    filled: list[Pack] = []
    current: list[CheckTask] = []
    spent = 0.0
    for task, cost in costed:
        current.append(task)
        spent += cost
        if spent >= ends[len(filled)] and len(filled) < len(ends) - 1:
            filled.append(tuple(current))
            current = []
    if current:
        filled.append(tuple(current))
    return filled


def in_packs(items: Sequence[_Item], packs: int) -> list[Sequence[_Item]]:
    """Cut a sequence into at most `packs` parts of about the same length, none empty."""
    size = -(-len(items) // packs) or 1
    return [items[first : first + size] for first in range(0, len(items), size)]
