"""What each row has on either side of every comparison of a predicate space: one lane per group of predicates.

A lane gives each row a number for its turn as t and one for its turn as s, and the pair (t, s) has the sign of the
two numbers. For one column these are its ranks; for two columns, ranks that both share. A comparison within one row
or with a constant is decided by that row alone: the row has 1, 2 or 3 on its side, and every row 2 on the other.

Under `NullPolicy.IGNORE` the sign is unknown if either row has a null in any column of the comparison, so that a
constraint is judged on the rows without nulls in its columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Flags, Int32s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies import Cell, Constant
from lawful.dependencies.predicate_space import Group, PredicateSpace
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranked_table import RankedTable, has_nulls
from lawful.tables.shared_ranks import ComparesValues, constant_place, shared_ranks

_MIDDLE = 2


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


def no_look() -> None:
    """Let work go on: nobody has set a limit."""


def lanes_of(
    table: RankedTable, space: PredicateSpace, policy: NullPolicy, look: Callable[[], None] = no_look
) -> list[Lane]:
    """The lanes of all groups of a space, in their order; values of different columns need a table that has them.

    `look` is called now and then, and raises what ends the work.
    """
    shared: dict[int, Int32s] = {}
    for columns in space.linked_columns:
        assert isinstance(table, EncodedTable | ComparesValues)
        shared |= dict(zip(columns, shared_ranks(table, columns), strict=True))
    lanes = []
    for group in space.groups:
        look()
        lanes.append(_lane(table, group, policy, shared))
    return lanes


def column_lane(table: RankedTable, column: int, policy: NullPolicy) -> Lane:
    """The lane of one column of both rows, compared by its order."""
    ranks, highest = np.asarray(table.column(column)), table.distinct(column)
    is_null = ranks == NULL_RANK
    has_nulls = bool(is_null.any())
    nulls = is_null if has_nulls and policy is NullPolicy.IGNORE else None
    return Lane(ranks, ranks, highest, nulls, True, highest + has_nulls > 1 or nulls is not None)


def _lane(table: RankedTable, group: Group, policy: NullPolicy, shared: dict[int, Int32s]) -> Lane:
    left, right = _sides(table, group, shared)
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


def _sides(table: RankedTable, group: Group, shared: dict[int, Int32s]) -> tuple[Int32s, Int32s]:
    if group.same_column:
        ranks = np.asarray(table.column(group.left.column))
        return ranks, ranks
    if isinstance(group.right, Constant):
        assert isinstance(table, EncodedTable | ComparesValues)
        place = constant_place(table, group.left.column, group.right)
        signs = np.sign(2 * table.column(group.left.column).astype(np.int64) - place)
    else:
        left, right = shared[group.left.column], shared[group.right.column]
        if group.row is None:
            return left, right
        signs = np.sign(left.astype(np.int64) - right)
    return _by_one_row(signs.astype(np.int32), group.left)


def _by_one_row(signs: Int32s, cell: Cell) -> tuple[Int32s, Int32s]:
    """Put the sign that one row has by itself on that row's side, so that the comparison of sides gives it."""
    middle = np.full(signs.size, _MIDDLE, np.int32)
    return (middle + signs, middle) if cell.row == "t" else (middle, middle - signs)
