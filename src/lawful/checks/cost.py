"""How much work a check will be, roughly: enough to pack checks into tasks of similar length."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lawful.checks.fitting import no_check, require_columns
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, ListOD, Predicate
from lawful.tables.ranked_table import RankedTable

_PASSES_OF_REFINING = 3


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
