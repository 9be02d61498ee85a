"""Denial constraints that are keys, functional dependencies or order dependencies in disguise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lawful.dependencies.denial_implication import swapped
from lawful.dependencies.laws import (
    DC,
    FD,
    NEGATED,
    POD,
    CanonicalOD,
    Cell,
    Constant,
    Key,
    Law,
    LawKind,
    ListOD,
    Operator,
    kind_of,
)
from lawful.dependencies.notation import format_law
from lawful.meanings import Direction

_WORDS: Final[Mapping[LawKind, str]] = {
    "key": "key",
    "fd": "functional dependency",
    "canonical-od": "order compatibility",
    "list-od": "order dependency",
    "pod": "pointwise order dependency",
}


def plain_law(dc: DC) -> Key | FD | CanonicalOD | None:
    """Return the law of a simpler family that says exactly what a constraint says, if there is one.

    Equalities on columns alone deny that two rows agree: a key. One difference beside them makes a functional
    dependency, and two strict orders make an order dependency within what is equal.
    """
    operators = _by_column(dc)
    if operators is None:
        return None
    equal = tuple(column for column, operator in operators.items() if operator == "=")
    others = sorted((column, operator) for column, operator in operators.items() if operator != "=")
    match others:
        case []:
            return Key(equal)
        case [(column, "!=")]:
            return FD(equal, column)
        case [(left_column, ("<" | ">") as one), (right_column, ("<" | ">") as other)]:
            return CanonicalOD(equal, left_column, right_column, "desc" if one == other else "asc")
        case _:
            return None


def plain_reading(dc: DC, names: Sequence[str]) -> str | None:
    """What a constraint says in plainer words, if a simpler law says exactly the same."""
    law = simpler_law(dc)
    return None if law is None else f"{_WORDS[kind_of(law)]}: {format_law(law, names)}"


def simpler_law(dc: DC) -> Law | None:
    """What `plain_law` gives, else the list or pointwise order dependency that says the same, if there is one.

    A pointwise order dependency says whatever compares each column once, and only with itself, without two !=.
    """
    plain = plain_law(dc)
    operators = _by_column(dc)
    if plain is not None or operators is None:
        return plain
    match sorted(operators.items()):
        case [(left, ("<=" | ">=") as one), (right, ("<" | ">") as other)]:
            return ListOD(((left, "asc"),), ((right, _direction(one, other)),))
        case [(right, ("<" | ">") as other), (left, ("<=" | ">=") as one)]:
            return ListOD(((left, "asc"),), ((right, _direction(one, other)),))
    return _pointwise(dc)


def _direction(one: Operator, other: Operator) -> Direction:
    """What is denied is a pair that goes up in one column and down in the other, if both should rise."""
    return "asc" if one[0] != other[0] else "desc"


def _pointwise(dc: DC) -> POD | None:
    """Take one predicate as the denial of a right side and the others as the left side, turned round if need be."""
    for one in (dc, swapped(dc)):
        operators = _by_column(one)
        assert operators is not None
        different = [column for column, operator in operators.items() if operator == "!="]
        if len(different) > 1:
            return None
        falling = [column for column, operator in operators.items() if operator in (">", ">=")]
        for right in different or falling[-1:]:
            left = tuple((column, operator) for column, operator in operators.items() if column != right)
            return POD(left, (right, NEGATED[operators[right]]))
    return None


def _by_column(dc: DC) -> dict[int, Operator] | None:
    """The operator of each column, if every predicate compares a column of both rows that no other one does."""
    operators: dict[int, Operator] = {}
    for predicate in dc.predicates:
        left, right = predicate.left, predicate.right
        if isinstance(right, Constant) or left.row == right.row or not _is_new(left, right, operators):
            return None
        operators[left.column] = predicate.operator
    return operators


def _is_new(left: Cell, right: Cell, operators: dict[int, Operator]) -> bool:
    return left.column == right.column and left.column not in operators
