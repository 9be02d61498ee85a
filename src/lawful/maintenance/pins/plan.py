"""How a pinned law is kept: what its index has to count.

Laws of all kinds come down to few shapes. A pair is two rows, whichever comes first, so among rows that are all asked
for the same, `t.a < s.a` is true of a pair one way round if the two differ, and `t.a <= s.a` always is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawful.dependencies import DC, Constant, Law, ListOD, Predicate
from lawful.dependencies.as_denials import denial_of
from lawful.dependencies.laws import Operator

Signed = tuple[int, int]
"""A column, and 1 if its values rise or -1 if they fall."""

_LESS, _EQUAL, _GREATER = 1, 2, 4
_ALLOWED: Mapping[Operator, int] = {
    "<": _LESS,
    "<=": _LESS | _EQUAL,
    "=": _EQUAL,
    ">=": _GREATER | _EQUAL,
    ">": _GREATER,
    "!=": _LESS | _GREATER,
}
_TWO = 2


@dataclass(frozen=True)
class Agree:
    """No two rows may agree on the group."""


@dataclass(frozen=True)
class Differ:
    """Rows of a group may not differ on a column."""

    right: int


@dataclass(frozen=True)
class Ordered:
    """Rows of a group that stand in the order of some columns may not fall in the order of others.

    Rows that are equal in the first stand by falling values of the others if `turned`, else by rising ones. Where it is
    not `strict`, equal values break the law too.
    """

    by: tuple[Signed, ...]
    then: tuple[Signed, ...]
    turned: bool
    strict: bool


@dataclass(frozen=True)
class Plan:
    """What breaks a law: two rows that agree on the columns of `group`, pass the filters, and are of the shape.

    Attributes
    ----------
    filters
        Comparisons that look at one row: they say who may be t, and who may be s.
    alike
        Whether they ask both rows for the same.
    """

    group: tuple[int, ...]
    shape: Agree | Differ | Ordered
    filters: tuple[Predicate, ...] = ()
    alike: bool = True


def plan_of(law: Law) -> Plan | None:
    """The plan of a law, None if it is kept by checks."""
    if isinstance(law, ListOD):
        by, then = (tuple((c, 1 if way == "asc" else -1) for c, way in marked) for marked in (law.lhs, law.rhs))
        return Plan((), Ordered(by, then, turned=True, strict=True)) if then else None
    return _of_denial(denial_of(law))


def _of_denial(dc: DC) -> Plan | None:
    allowed: dict[int, int] = {}
    filters = []
    for predicate in dc.predicates:
        if isinstance(predicate.right, Constant) or predicate.left.row == predicate.right.row:
            filters.append(predicate)
        elif predicate.left.column != predicate.right.column:
            return None
        else:
            column = predicate.left.column
            allowed[column] = allowed.get(column, _LESS | _EQUAL | _GREATER) & _ALLOWED[predicate.operator]
    if not all(allowed.values()):
        return None
    alike = _asks_alike(filters)
    group = tuple(sorted(column for column, relations in allowed.items() if relations == _EQUAL))
    unequal = {column: relations for column, relations in allowed.items() if relations != _EQUAL}
    if alike:
        unequal = _as_unordered(unequal)
    shape = _shape(unequal)
    if shape is None or not (alike or isinstance(shape, Agree)):
        return None
    return Plan(group, shape, tuple(filters), alike)


def _asks_alike(filters: Sequence[Predicate]) -> bool:
    """Whether comparisons with constants and within a row are the same for t and for s."""

    def of(row: str) -> set[tuple[object, ...]]:
        return {
            (each.left.column, each.operator, each.right if isinstance(each.right, Constant) else each.right.column)
            for each in filters
            if each.left.row == row
        }

    return of("t") == of("s")


def _as_unordered(unequal: dict[int, int]) -> dict[int, int]:
    """The same without the one comparison that orders, if there is only one: it holds one way round or the other."""
    orders = [column for column, relations in unequal.items() if relations != _LESS | _GREATER]
    if len(orders) != 1:
        return unequal
    (column,) = orders
    if unequal[column] & _EQUAL:
        return {other: relations for other, relations in unequal.items() if other != column}
    return unequal | {column: _LESS | _GREATER}


def _shape(unequal: Mapping[int, int]) -> Agree | Differ | Ordered | None:
    if not unequal:
        return Agree()
    differing = [column for column, relations in unequal.items() if relations == _LESS | _GREATER]
    if len(unequal) == 1 and differing:
        return Differ(differing[0])
    if len(unequal) != _TWO or differing:
        return None
    (a, first), (b, second) = unequal.items()
    # As t.a < s.a and t.b > s.b, or with <= and >=: turned round, and with b falling, if need be.
    if first & _GREATER:
        first, second = _mirrored(first), _mirrored(second)
    sign = 1 if second & _GREATER else -1
    first_strict, second_strict = not first & _EQUAL, not second & _EQUAL
    if first_strict and not second_strict:
        return Ordered(((b, -sign),), ((a, -1),), turned=True, strict=True)
    return Ordered(((a, 1),), ((b, sign),), turned=not first_strict, strict=second_strict)


def _mirrored(relations: int) -> int:
    return (relations & _EQUAL) | (_LESS if relations & _GREATER else _GREATER)
