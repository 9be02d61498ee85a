"""The definitions of the laws, evaluated over all ordered pairs of distinct rows of a tiny table.

A row is a tuple of small integers or None. Under `equal` None is a value that sorts first; under `ignore` a
law is judged on the rows without None in its columns.
"""

from __future__ import annotations

import operator
from itertools import permutations

from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Key, Law, ListOD, columns_of

COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NULL = -1_000


def holds(law: Law, table: list[tuple], ignore_nulls: bool = False) -> bool:
    if ignore_nulls:
        table = [row for row in table if all(row[column] is not None for column in columns_of(law))]
    rows = [tuple(NULL if value is None else value for value in row) for row in table]
    return not any(_broken(law, rows[i], rows[j]) for i, j in permutations(range(len(rows)), 2))


def _broken(law: Law, t: tuple, s: tuple) -> bool:
    match law:
        case Key(columns):
            return _agree(t, s, columns)
        case FD(lhs, rhs):
            return _agree(t, s, lhs) and t[rhs] != s[rhs]
        case CanonicalOD(context, left, right, direction):
            against = t[right] > s[right] if direction == "asc" else t[right] < s[right]
            return _agree(t, s, context) and t[left] < s[left] and against
        case ListOD(lhs, rhs):
            return _not_after(t, s, lhs) and not _not_after(t, s, rhs)
        case POD(lhs, rhs):
            return all(COMPARE[op](t[c], s[c]) for c, op in lhs) and not COMPARE[rhs[1]](t[rhs[0]], s[rhs[0]])
        case DC(predicates):
            return all(_satisfied(predicate, {"t": t, "s": s}) for predicate in predicates)
    raise AssertionError(law)


def _agree(t: tuple, s: tuple, columns: tuple[int, ...]) -> bool:
    return all(t[column] == s[column] for column in columns)


def _not_after(t: tuple, s: tuple, marked: tuple) -> bool:
    for column, direction in marked:
        if t[column] != s[column]:
            return (t[column] < s[column]) == (direction == "asc")
    return True


def _satisfied(predicate, rows: dict[str, tuple]) -> bool:
    left = rows[predicate.left.row][predicate.left.column]
    right = predicate.right
    other = rows[right.row][right.column] if isinstance(right, Cell) else right.value
    return COMPARE[predicate.operator](left, other)
