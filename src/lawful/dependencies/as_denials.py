"""Laws of every family but one as denial constraints: list-based orders compare lists, which no constraint does."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.common.errors import UsageError
from lawful.dependencies.forms import kind_of
from lawful.dependencies.laws import DC, FD, POD, CanonicalOD, Cell, Key, Law, Operator, Predicate
from lawful.dependencies.pointwise import as_denial


def denial_of(law: Law) -> DC:
    """The denial constraint that says what a law says."""
    match law:
        case DC():
            return law
        case POD():
            return as_denial(law)
        case Key(columns):
            return _compared([(column, "=") for column in columns])
        case FD(lhs, rhs):
            return _compared([*((column, "=") for column in lhs), (rhs, "!=")])
        case CanonicalOD(context, left, right, direction):
            falls: Operator = ">" if direction == "asc" else "<"
            return _compared([*((column, "=") for column in context), (left, "<"), (right, falls)])
        case _:
            raise UsageError(f"two rows cannot be held against a law of the kind {kind_of(law)}", "Pin another law.")


def _compared(marked: Sequence[tuple[int, str]]) -> DC:
    return DC(tuple(Predicate(Cell("t", column), operator, Cell("s", column)) for column, operator in marked))  # type: ignore[arg-type]  # all are operators
