"""What breaks a law, as a question that SQL answers well: mostly by grouping or by one window, else by pairs of rows.

Most denial constraints, and so most pointwise order dependencies, ask one of the questions that keys, functional and
order dependencies ask: `t.a < s.a` alone says that a varies, `t.a <= s.a` alone says nothing, and where two columns
vary within a group, two of its rows differ on both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Final, NamedTuple, TypeAlias

from lawful.dependencies import (
    DC,
    FD,
    POD,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    Law,
    ListOD,
    Operator,
    Predicate,
    as_denial,
)

_SIGNS: Final[Mapping[Operator, frozenset[str]]] = {
    "=": frozenset("="),
    "!=": frozenset("<>"),
    "<": frozenset("<"),
    "<=": frozenset("<="),
    ">": frozenset(">"),
    ">=": frozenset(">="),
}
_MOST_DIFFERENCES = 2


class Term(NamedTuple):
    """A column to sort by."""

    column: int
    descending: bool = False


@dataclass(frozen=True)
class Nothing:
    """No pair of rows can break the law."""


@dataclass(frozen=True)
class Repeats:
    """Two rows that agree on all of `within`."""

    within: tuple[int, ...]
    filters: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Varies:
    """Rows that agree on `within`, and among which each of `columns` has several values."""

    within: tuple[int, ...]
    columns: tuple[int, ...]
    filters: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Swaps:
    """Two rows that agree on `within`, the first before the second by `order`, and of greater `value`.

    A value is a column, or the place of a row when rows are sorted by a list. `ties` says whether rows that tie in the
    order count as well, `equal` whether equal values do. Where equal values count, ties do: else the roles of the two
    columns are exchanged.
    """

    within: tuple[int, ...]
    order: tuple[Term, ...]
    value: int | tuple[Term, ...]
    ties: bool = False
    equal: bool = False
    filters: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Singles:
    """Rows that satisfy all of `predicates`, where there is another row."""

    predicates: tuple[Predicate, ...]


@dataclass(frozen=True)
class Pairs:
    """Two rows that satisfy all of `predicates`: nothing but comparing pairs will do."""

    predicates: tuple[Predicate, ...]


Shape: TypeAlias = Nothing | Repeats | Varies | Swaps | Singles | Pairs


@singledispatch
def shape_of(law: Law) -> Shape | None:
    """Say what breaks a law; None for a law of a family that is not known here."""
    return None


@shape_of.register
def _(law: Key) -> Shape:
    return Repeats(law.columns)


@shape_of.register
def _(law: FD) -> Shape:
    return Varies(law.lhs, (law.rhs,))


@shape_of.register
def _(law: CanonicalOD) -> Shape:
    return Swaps(law.context, (Term(law.left, law.direction == "desc"),), law.right)


@shape_of.register
def _(law: ListOD) -> Shape:
    if not law.rhs:
        return Nothing()
    # A split is a swap too, once ties count: of two rows that tie on the left, one is greater on the right.
    left, right = (tuple(Term(column, way == "desc") for column, way in side) for side in (law.lhs, law.rhs))
    return Swaps((), left, right, ties=True)


@shape_of.register
def _(law: POD) -> Shape:
    return _of_denial(as_denial(law))


@shape_of.register
def _(law: DC) -> Shape:
    return _of_denial(law)


def _of_denial(law: DC) -> Shape:
    signs: dict[int, frozenset[str]] = {}
    of_one_row, across = [], []
    for predicate in law.predicates:
        left, right = predicate.left, predicate.right
        if isinstance(right, Constant) or left.row == right.row:
            of_one_row.append(predicate)
        elif left.column == right.column:
            signs[left.column] = signs.get(left.column, frozenset("<=>")) & _SIGNS[predicate.operator]
        else:
            across.append(predicate)
    if not all(signs.values()):
        return Nothing()
    equal = {column for column, allowed in signs.items() if allowed == {"="}}
    filters = tuple(each for each in of_one_row if _columns(each) <= equal)  # true of t and s, or of neither
    if across or len(filters) < len(of_one_row):
        rows = {each.left.row for each in of_one_row}
        return Pairs(law.predicates) if across or signs or len(rows) > 1 else Singles(law.predicates)
    return _of_signs(law, signs, tuple(sorted(equal)), filters)


def _of_signs(
    law: DC, signs: Mapping[int, frozenset[str]], equal: tuple[int, ...], filters: tuple[Predicate, ...]
) -> Shape:
    """The shape of what is said column by column."""
    differ = [column for column, allowed in signs.items() if allowed == {"<", ">"}]
    ordered = {column: allowed for column, allowed in signs.items() if allowed & {"<", ">"} and column not in differ}
    if len(ordered) == 1:  # all else is said of both orders of the two rows, and one of them satisfies it
        ((column, allowed),) = ordered.items()
        differ += [] if "=" in allowed else [column]
        ordered = {}
    if not ordered and len(differ) <= _MOST_DIFFERENCES:
        return Varies(equal, tuple(sorted(differ)), filters) if differ else Repeats(equal, filters)
    if len(ordered) == 2 and not differ:
        return _swaps(equal, ordered, filters)
    return Pairs(law.predicates)


def _swaps(equal: tuple[int, ...], ordered: Mapping[int, frozenset[str]], filters: tuple[Predicate, ...]) -> Swaps:
    (order, order_signs), (value, value_signs) = ordered.items()
    if "=" in value_signs and "=" not in order_signs:
        order, order_signs, value, value_signs = value, value_signs, order, order_signs
    # The first row is the one of greater value: t, or s with the signs turned.
    turned = "<" in value_signs
    descending = (">" in order_signs) is not turned
    return Swaps(equal, (Term(order, descending),), value, "=" in order_signs, "=" in value_signs, filters)


def _columns(predicate: Predicate) -> set[int]:
    return {side.column for side in (predicate.left, predicate.right) if isinstance(side, Cell)}
