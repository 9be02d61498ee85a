"""Pointwise order dependencies: the constraint that each is, and which of two mirror images is told."""

from __future__ import annotations

from lawful.dependencies.implication import mirrored
from lawful.dependencies.laws import DC, NEGATED, POD, Cell, Operator, Predicate

_RISING: tuple[Operator, ...] = ("<", "<=")


def as_denial(pod: POD) -> DC:
    """The denial constraint that says the same: no pair satisfies the left side and the opposite of the right side."""
    column, operator = pod.rhs
    return DC(tuple(_compared(*marked) for marked in (*pod.lhs, (column, NEGATED[operator]))))


def told_form(pod: POD) -> POD:
    """Of a law and its mirror image the one that is told: its first column that is not marked = rises.

    Only laws with = on the right have a mirror image among pointwise order dependencies. The paper (IncPOD, section
    III) says that <, <= and = on the right avoid such twins, which is not so for =.
    """
    image = mirrored(pod)
    if image is None:
        return pod
    first = next((operator for _, operator in pod.lhs if operator != "="), "<")
    return pod if first in _RISING else image


def _compared(column: int, operator: Operator) -> Predicate:
    return Predicate(Cell("t", column), operator, Cell("s", column))
