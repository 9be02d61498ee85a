"""What the comparisons of a predicate space look at: of each row one number for every operand.

A column that is compared with itself gives its ranks; one that is compared with others, ranks that all of them share. A
comparison with a constant is decided by one row: its operand is 1, 2 or 3 for less, equal and greater, and the constant
is 2 in every row. So there are about as many operands as columns, however many comparisons are made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.common.memory import make_room
from lawful.dependencies import Constant
from lawful.dependencies.predicate_space import Group, PredicateSpace
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranked_table import RankedTable
from lawful.tables.shared_ranks import ComparesValues, constant_place, shared_ranks

_MIDDLE = 2
_NUMBER = np.dtype(np.int32).itemsize

_Name = int | tuple[int, Constant | None] | None
"""A column on its own, among those that it is compared with, or with a constant; and what stands for constants."""


@dataclass(frozen=True, eq=False, slots=True)
class Operands:
    """The operands of a space.

    Attributes
    ----------
    values
        What each row has, `int32[rows]` for each operand. Nulls are 0, and where they are not ignored, a null is less
        than any constant.
    left, right
        For each group the places of its operands among them.
    """

    values: list[Int32s]
    left: Int64s
    right: Int64s


def no_look() -> None:
    """Let work go on: nobody has set a limit."""


def operands_of(
    table: RankedTable, space: PredicateSpace, policy: NullPolicy, look: Callable[[], None] = no_look
) -> Operands:
    """The operands of a space in a table, which must have values where it compares more than single columns.

    `look` is called now and then, and raises what ends the work.

    Raises
    ------
    StoppedError
        If there is no room for them.
    """
    named = [_names(group) for group in space.groups]
    values: dict[_Name, Int32s] = {}
    for columns in space.linked_columns:
        look()
        make_room(_NUMBER * table.rows * len(columns))
        assert isinstance(table, EncodedTable | ComparesValues)
        ranks = shared_ranks(table, columns)
        values |= {(column, None): of_column for column, of_column in zip(columns, ranks, strict=True)}
    for name in {name: None for pair in named for name in pair if name not in values}:
        look()
        values[name] = _values(table, name, policy)
    places = {name: place for place, name in enumerate(values)}
    left, right = (np.array([places[pair[side]] for pair in named], np.int64) for side in range(2))
    return Operands([*values.values()], left, right)


def _names(group: Group) -> tuple[_Name, _Name]:
    """What tells the operands of a group from those of others."""
    column = group.left.column
    if isinstance(group.right, Constant):
        return (column, group.right), None
    return (column, column) if group.same_column else ((column, None), (group.right.column, None))


def _values(table: RankedTable, name: _Name, policy: NullPolicy) -> Int32s:
    """What each row has of a column on its own, or beside a constant, and of what stands for constants."""
    if name is None:
        return np.full(table.rows, _MIDDLE, np.int32)
    if isinstance(name, int):
        return np.asarray(table.column(name))
    column, constant = name
    assert constant is not None
    assert isinstance(table, EncodedTable | ComparesValues)
    ranks = np.asarray(table.column(column))
    signs = np.sign(2 * ranks.astype(np.int64) - constant_place(table, column, constant))
    is_known = (ranks != NULL_RANK) | (policy is not NullPolicy.IGNORE)
    return np.where(is_known, _MIDDLE + signs, NULL_RANK).astype(np.int32)
