"""What each row has on either side of every comparison of a predicate space: one lane per group of predicates.

A lane gives each row a number for its turn as t and one for its turn as s, and the pair (t, s) has the sign of the
two numbers. For one column these are its ranks; for two columns, ranks that both share. A comparison within one row
or with a constant is decided by that row alone: the row has 1, 2 or 3 on its side, and every row 2 on the other.

Under `NullPolicy.IGNORE` the sign is unknown if either row has a null in any column of the comparison, so that a
constraint is judged on the rows without nulls in its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Flags, Int32s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.common.memory import make_room
from lawful.dependencies.predicate_space import Group, PredicateSpace
from lawful.evidence.denials.operands import operands_of
from lawful.tables.ranked_table import RankedTable, has_nulls

_MIDDLE = 2
_NUMBER = np.dtype(np.int32).itemsize


@dataclass(frozen=True, eq=False, slots=True)
class Lane:
    """One comparison.

    Attributes
    ----------
    left, right
        What each row has as t and as s, `int32[rows]`, from 1 on except for null; one array if they are the same.
    highest
        No number is larger.
    nulls
        The rows that make the sign unknown, if there are any.
    is_ordered
        Whether less and greater are told apart.
    varies
        Whether any two rows are known to differ or not known to be equal.
    """

    left: Int32s
    right: Int32s
    highest: int
    nulls: Flags | None
    is_ordered: bool
    varies: bool


def lanes_of(table: RankedTable, space: PredicateSpace, policy: NullPolicy) -> list[Lane]:
    """The lanes of all groups of a space, in their order; see `operands_of` for the table that they need.

    Raises
    ------
    StoppedError
        If there is no room for them.
    """
    flags = len(space.groups) if policy is NullPolicy.IGNORE else 0
    make_room(table.rows * (flags + _NUMBER * sum(group.row is not None for group in space.groups)))
    operands, middle = operands_of(table, space, policy), np.full(table.rows, _MIDDLE, np.int32)
    values, places = operands.values, zip(operands.left.tolist(), operands.right.tolist(), strict=True)
    return [
        _lane(table, group, policy, _sides(group, values[left], values[right], middle))
        for group, (left, right) in zip(space.groups, places, strict=True)
    ]


def column_lane(table: RankedTable, column: int, policy: NullPolicy) -> Lane:
    """The lane of one column of both rows, compared by its order."""
    ranks, highest = np.asarray(table.column(column)), table.distinct(column)
    is_null = ranks == NULL_RANK
    has_nulls = bool(is_null.any())
    nulls = is_null if has_nulls and policy is NullPolicy.IGNORE else None
    return Lane(ranks, ranks, highest, nulls, True, highest + has_nulls > 1 or nulls is not None)


def _lane(table: RankedTable, group: Group, policy: NullPolicy, sides: tuple[Int32s, Int32s]) -> Lane:
    left, right = sides
    nulls = None
    if policy is NullPolicy.IGNORE and any(has_nulls(table, column) for column in group.columns):
        nulls = np.logical_or.reduce([table.column(column) == NULL_RANK for column in group.columns])
    if group.same_column:
        column = group.left.column
        highest = table.distinct(column)
        varies = highest + has_nulls(table, column) > 1
    else:
        ends = {int(end) for side in (left, right) if side.size for end in (side.min(), side.max())}
        highest, varies = max(ends, default=0), len(ends) > 1
    return Lane(left, right, highest, nulls, group.is_ordered, varies or nulls is not None)


def _sides(group: Group, left: Int32s, right: Int32s, middle: Int32s) -> tuple[Int32s, Int32s]:
    """What a row has as t and as s; where one row alone decides the sign, it is all on that row's side."""
    if group.row is None:
        return left, right
    signs = (left > right).astype(np.int32) - (left < right)
    return (middle + signs, middle) if group.row == "t" else (middle, middle - signs)
