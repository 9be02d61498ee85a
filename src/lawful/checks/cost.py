"""How much work a check will be, roughly: enough to pack checks into tasks of similar length."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lawful.checks.fitting import no_check, require_columns
from lawful.checks.verdict import CheckTask
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, ListOD, Predicate
from lawful.dependencies.denial_readings import plain_law
from lawful.tables.ranked_table import RankedTable

_PASSES_OF_REFINING = 3
_COUNTED_SETS, _COUNTED_LISTS, _COUNTED_DENIALS = 20, 250, 400
"""How many times as long it takes to count all violations. A check in a search takes about 0.125 ns per visited row:
partitions are found in the cache, and broken laws left early. Counting on 2 million rows took 3, 30 and 50 ns."""


def estimate_cost(law: Law, table: RankedTable) -> float:
    """Estimate how many rows a check visits if nothing is cached and the law holds.

    Columns are taken as independent and their values as equally frequent. The result is at least 1.
    """
    require_columns(law, table)
    match law:
        case Key(columns):
            work, _ = _partition_cost(columns, table)
        case FD(lhs, _):
            work, covered = _partition_cost(lhs, table)
            work += covered
        case CanonicalOD(context, _, _, _):
            work, covered = _partition_cost(context, table)
            class_rows = table.rows / _combinations(context, table)
            work += covered * (2 + math.log2(1 + class_rows))
        case ListOD(left_list, right_list):
            expansions = max(0, len(left_list) - 1) + max(0, len(right_list) - 1)
            work = table.rows * (2.0 + _PASSES_OF_REFINING * expansions)
        case DC(predicates):
            work, covered = _partition_cost(equal_columns(predicates), table)
            compared = len(predicates) - len(equal_columns(predicates))
            # Each order beyond two halves the rows again and again.
            halvings = math.log2(2 + covered) ** max(0, _orders(predicates) - 2)
            work += covered * (2 + compared) * halvings
        case _:
            raise no_check(law)
    return max(1.0, work)


def task_cost(task: CheckTask, table: RankedTable) -> float:
    """Estimate the work of a task, in rows that a check visits."""
    cost = estimate_cost(task.law, table)
    if not task.damage:
        return cost
    match task.law:
        case ListOD():
            return _COUNTED_LISTS * cost
        case DC() if plain_law(task.law) is None:
            return _COUNTED_DENIALS * cost
        case _:
            return _COUNTED_SETS * cost


def _partition_cost(columns: Sequence[int], table: RankedTable) -> tuple[float, float]:
    """Return the rows visited to build a partition, and the rows that it covers."""
    rows = table.rows
    covered = work = float(rows)
    combinations = 1.0
    for distinct in sorted(map(table.distinct, columns), reverse=True):
        work += _PASSES_OF_REFINING * covered
        # A row shares its values with no other row with a chance of about exp(-rows / combinations).
        combinations *= max(1, distinct)
        covered = rows * -math.expm1(-rows / combinations)
    return work, covered


def _combinations(columns: Sequence[int], table: RankedTable) -> float:
    return math.prod(float(max(1, table.distinct(i))) for i in columns)


def equal_columns(predicates: Sequence[Predicate]) -> list[int]:
    """The columns on which a denial constraint wants t and s to be equal."""
    return [
        predicate.left.column
        for predicate in predicates
        if predicate.operator == "=" and predicate.right == Cell("s", predicate.left.column)
    ]


def _orders(predicates: Sequence[Predicate]) -> int:
    return sum(predicate.operator not in ("=", "!=") and isinstance(predicate.right, Cell) for predicate in predicates)
