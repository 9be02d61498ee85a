"""What each row has on either side of every comparison of a predicate space: one lane a group of predicates.

A lane gives each row a number for its turn as t and one for its turn as s, and the pair (t, s) has the sign of the
two numbers. For one column these are its ranks; for two columns, ranks that both share. A comparison within one row
or with a constant is decided by that row alone: the row has 1, 2 or 3 on its side, and every row 2 on the other.

Under `NullPolicy.IGNORE` the sign is unknown if either row has a null in any column of the comparison, so that a
constraint is judged on the rows without nulls in its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lawful.dependencies import Cell, Constant
from lawful.dependencies.predicate_space import Group, PredicateSpace
from lawful.evidence.words_kernels import Int32s
from lawful.meanings import NULL_RANK, NullPolicy
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shared_ranks import constant_place, shared_ranks

Flags = npt.NDArray[np.bool_]

_MIDDLE = 2


@dataclass(frozen=True, eq=False, slots=True)
class Lane:
    """One comparison.

    Attributes
    ----------
    left, right
        What each row has as t and as s, `int32[rows]`, from 1 on except for null; one array if they are the same.
    nulls
        The rows that make the sign unknown, if there are any.
    is_ordered
        Whether less and greater are told apart.
    varies
        Whether any two rows are known to differ or not known to be equal.
    """

    left: Int32s
    right: Int32s
    nulls: Flags | None
    is_ordered: bool
    varies: bool


def lanes_of(table: EncodedTable, space: PredicateSpace, policy: NullPolicy) -> list[Lane]:
    """The lanes of all groups of a space, in their order."""
    shared = _shared(table, space)
    return [_lane(table, group, policy, shared) for group in space.groups]


def _shared(table: EncodedTable, space: PredicateSpace) -> dict[int, Int32s]:
    """The columns that are compared with others, in ranks that all columns share that any chain of groups links."""
    linked: list[set[int]] = []
    for group in space.groups:
        if len(group.columns) > 1:
            joined = set(group.columns).union(*(other for other in linked if other & set(group.columns)))
            linked = [*(other for other in linked if not other & joined), joined]
    shared: dict[int, Int32s] = {}
    for columns in map(sorted, linked):
        shared |= dict(zip(columns, shared_ranks(table, columns), strict=True))
    return shared


def _lane(table: EncodedTable, group: Group, policy: NullPolicy, shared: dict[int, Int32s]) -> Lane:
    left, right = _sides(table, group, shared)
    nulls = None
    with_nulls = [column for column in group.columns if table.columns[column].nulls]
    if policy is NullPolicy.IGNORE and with_nulls:
        nulls = np.logical_or.reduce([table.column(column) == NULL_RANK for column in with_nulls])
    varies = nulls is not None or _has_several(table, group, left, right)
    return Lane(left, right, nulls, group.is_ordered, varies)


def _has_several(table: EncodedTable, group: Group, left: Int32s, right: Int32s) -> bool:
    """Whether rows have different numbers, on one side or on both."""
    if group.same_column:
        known = table.columns[group.left.column]
        return known.distinct + bool(known.nulls) > 1
    ends = {int(end) for side in (left, right) if side.size for end in (side.min(), side.max())}
    return len(ends) > 1


def _sides(table: EncodedTable, group: Group, shared: dict[int, Int32s]) -> tuple[Int32s, Int32s]:
    if group.same_column:
        ranks = np.asarray(table.column(group.left.column))
        return ranks, ranks
    if isinstance(group.right, Constant):
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
