"""Pointwise order dependencies as the denial constraints that they are."""

from __future__ import annotations

from lawful.dependencies.laws import DC, NEGATED, POD, Cell, Operator, Predicate


def as_denial(pod: POD) -> DC:
    """The denial constraint that says the same: no pair satisfies the left side and the opposite of the right side."""
    column, operator = pod.rhs
    return DC(tuple(_compared(*marked) for marked in (*pod.lhs, (column, NEGATED[operator]))))


def _compared(column: int, operator: Operator) -> Predicate:
    return Predicate(Cell("t", column), operator, Cell("s", column))
