"""Putting checks into packs of similar cost, with checks that share partitions side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lawful.checks import CheckTask, RankedTable, estimate_cost
from lawful.checks.cost import equal_columns
from lawful.dependencies import DC, FD, CanonicalOD, Key, Law, ListOD

Pack = tuple[CheckTask, ...]
_Item = TypeVar("_Item")


def pack_by_cost(tasks: Sequence[CheckTask], table: RankedTable, packs: int | Callable[[float], int]) -> list[Pack]:
    """Cut tasks into at most `packs` packs of about the same estimated cost; `packs` may depend on the cost of all.

    Tasks are put in the order in which their partitions are built (see `Workspace.chain`), so that neighbours
    share long prefixes and a worker finds them in its cache.
    """
    ordered = sorted(tasks, key=lambda task: _chain(task.law, table))
    costs = [estimate_cost(task.law, table) for task in ordered]
    total = sum(costs)
    packs = packs if isinstance(packs, int) else packs(total)
    share = total / max(1, packs)
    filled: list[Pack] = []
    current: list[CheckTask] = []
    spent = 0.0
    for task, cost in zip(ordered, costs, strict=True):
        current.append(task)
        spent += cost
        if spent >= share * (len(filled) + 1) and len(filled) < packs - 1:
            filled.append(tuple(current))
            current = []
    if current:
        filled.append(tuple(current))
    return filled


def in_packs(items: Sequence[_Item], packs: int) -> list[Sequence[_Item]]:
    """Cut a sequence into at most `packs` parts of about the same length, none empty."""
    size = -(-len(items) // packs) or 1
    return [items[first : first + size] for first in range(0, len(items), size)]


def _chain(law: Law, table: RankedTable) -> list[tuple[int, int]]:
    match law:
        case Key(columns) | FD(columns, _) | CanonicalOD(columns, _, _, _):
            return sorted((-table.distinct(column), column) for column in columns)
        case DC(predicates):
            return sorted((-table.distinct(column), column) for column in equal_columns(predicates))
        case ListOD(left, right):
            return [(column, int(direction == "desc")) for column, direction in left + right]
        case _:
            return []
