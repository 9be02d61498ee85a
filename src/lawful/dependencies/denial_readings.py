"""Denial constraints that are keys, functional dependencies or order dependencies in disguise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lawful.common.meanings import Direction
from lawful.dependencies.forms import format_law, kind_of
from lawful.dependencies.laws import (
    DC,
    FD,
    MIRRORED,
    NEGATED,
    POD,
    CanonicalOD,
    Constant,
    Key,
    Law,
    LawKind,
    ListOD,
    Operator,
)
from lawful.dependencies.pointwise import as_denial

_WORDS: Final[Mapping[LawKind, str]] = {
    "key": "key",
    "fd": "functional dependency",
    "canonical-od": "order compatibility",
    "list-od": "order dependency",
    "pod": "pointwise order dependency",
}
_MOST_UNEQUAL: Final = 2  # columns that a canonical or list-based order dependency orders


Operators = dict[int, Operator]
"""What a constraint compares, if it compares columns with themselves and none twice: the operator of each."""


def plain_law(dc: DC) -> Key | FD | CanonicalOD | None:
    """Return the law of a simpler family that says exactly what a constraint says, if there is one."""
    operators = _by_column(dc)
    return None if operators is None else _plain_law(operators)


def plain_reading(dc: DC, names: Sequence[str]) -> str | None:
    """What a constraint says in plainer words, if a simpler law says exactly the same."""
    law = simpler_law(dc)
    return None if law is None else f"{_WORDS[kind_of(law)]}: {format_law(law, names)}"


def pointwise_reading(pod: POD, names: Sequence[str]) -> str | None:
    """What a pointwise order dependency says in plainer words, if a law of a simpler family says exactly the same."""
    law = simpler_law(as_denial(pod))
    return None if law is None or isinstance(law, POD) else f"{_WORDS[kind_of(law)]}: {format_law(law, names)}"


def simpler_law(dc: DC) -> Law | None:
    """What `plain_law` gives, else the list or pointwise order dependency that says the same, if there is one."""
    operators = _by_column(dc)
    return None if operators is None else _plain_law(operators) or _list_od(operators) or _pointwise(operators)


def _plain_law(operators: Operators) -> Key | FD | CanonicalOD | None:
    """The key, functional dependency or order compatibility that says the same, if one does.

    Equalities on columns alone deny that two rows agree: a key. One difference beside them makes a functional
    dependency, and two strict orders make an order dependency within what is equal.
    """
    equal = tuple([column for column, operator in operators.items() if operator == "="])
    if len(operators) - len(equal) > _MOST_UNEQUAL:
        return None
    others = sorted([(column, operator) for column, operator in operators.items() if operator != "="])
    match others:
        case []:
            return Key(equal)
        case [(column, "!=")]:
            return FD(equal, column)
        case [(left_column, ("<" | ">") as one), (right_column, ("<" | ">") as other)]:
            return CanonicalOD(equal, left_column, right_column, "desc" if one == other else "asc")
        case _:
            return None


def _list_od(operators: Operators) -> ListOD | None:
    """The order dependency between two columns that says the same, if one does."""
    if len(operators) != _MOST_UNEQUAL:
        return None
    match sorted(operators.items()):
        case [(left, ("<=" | ">=") as one), (right, ("<" | ">") as other)]:
            return ListOD(((left, "asc"),), ((right, _direction(one, other)),))
        case [(right, ("<" | ">") as other), (left, ("<=" | ">=") as one)]:
            return ListOD(((left, "asc"),), ((right, _direction(one, other)),))
    return None


def _direction(one: Operator, other: Operator) -> Direction:
    """What is denied is a pair that goes up in one column and down in the other, if both should rise."""
    return "asc" if one[0] != other[0] else "desc"


def _pointwise(operators: Operators) -> POD | None:
    """The pointwise order dependency that says the same, if there are no two !=.

    One predicate is taken as the denial of the right side and the others as the left side, turned round if need be.
    """
    for turned in (operators, {column: MIRRORED[operator] for column, operator in operators.items()}):
        different = [column for column, operator in turned.items() if operator == "!="]
        if len(different) > 1:
            return None
        falling = [column for column, operator in turned.items() if operator in (">", ">=")]
        for right in different or falling[-1:]:
            left = tuple([(column, operator) for column, operator in turned.items() if column != right])
            return POD(left, (right, NEGATED[turned[right]]))
    return None


def _by_column(dc: DC) -> Operators | None:
    """The operator of each column, if every predicate compares a column of both rows that no other one does."""
    operators: Operators = {}
    for predicate in dc.predicates:
        left, right = predicate.left, predicate.right
        if isinstance(right, Constant) or left.row == right.row or left.column != right.column:
            return None
        if left.column in operators:
            return None
        operators[left.column] = predicate.operator
    return operators
