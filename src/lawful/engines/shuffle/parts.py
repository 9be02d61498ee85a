"""Laws of every family as keys, FDs and orders of two columns, which shuffles decide whatever the size of a class.

What breaks a law is a pair of rows with certain signs in its columns: =, < or >. A pair whose signs are all = breaks
a key; one other sign breaks an FD, two break an order, each among rows that agree on the rest. So a denial constraint
or a pointwise order dependency holds if all these *parts* hold, one for each way in which its operators can be met, and
what breaks a part breaks the law. Parts with three signs and more stay denial constraints (`tiles`). A list-based order
dependency X -> Y has the parts of its mapping: X determines Y, and X_i and Y_j are compatible among the rows that agree
on all columns before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Constant, Key, Law, ListOD, Predicate
from lawful.dependencies.pointwise import as_denial
from lawful.engines.shuffle.classes import SIGNS

_MOST_PARTS = 64
"""A law of more parts is checked as it is."""
_TWO = 2


def parts_of(law: Law) -> list[Law]:
    """Laws that all hold exactly if this one does; a pair that breaks one of them breaks it."""
    if isinstance(law, ListOD):
        return list(dict.fromkeys(_parts_of_lists(law)))
    if isinstance(law, POD | DC):
        return _parts_of_signs(as_denial(law) if isinstance(law, POD) else law)
    return [law]


def _parts_of_lists(law: ListOD) -> Iterator[Law]:
    left, right = [column for column, _ in law.lhs], [column for column, _ in law.rhs]
    for column in right:
        if column not in left:
            yield FD(tuple(left), column)
    for i, (one, one_way) in enumerate(law.lhs):
        for j, (other, other_way) in enumerate(law.rhs):
            context = {*left[:i], *right[:j]}
            if one in context or other in context:
                continue
            if one != other:
                yield CanonicalOD(tuple(context), one, other, "asc" if one_way == other_way else "desc")
            elif one_way != other_way:
                yield FD(tuple(context), one)


def _parts_of_signs(law: DC) -> list[Law]:
    allowed: dict[int, set[int]] = {}
    for predicate in law.predicates:
        left, right = predicate.left, predicate.right
        if isinstance(right, Constant) or left.row == right.row or left.column != right.column:
            return [law]
        allowed.setdefault(left.column, {-1, 0, 1}).intersection_update(SIGNS[predicate.operator])
    columns = sorted(allowed)
    count = 1
    for column in columns:
        count *= len(allowed[column])
    if count > _MOST_PARTS:
        return [law]
    return list(dict.fromkeys(_part(columns, signs) for signs in product(*(sorted(allowed[c]) for c in columns))))


def _part(columns: Sequence[int], signs: Sequence[int]) -> Law:
    equal = tuple(column for column, sign in zip(columns, signs, strict=True) if not sign)
    ordered = [(column, sign) for column, sign in zip(columns, signs, strict=True) if sign]
    if not ordered:
        return Key(equal)
    if len(ordered) == 1:
        return FD(equal, ordered[0][0])
    if len(ordered) == _TWO:
        (left, one), (right, other) = ordered
        return CanonicalOD(equal, left, right, "desc" if one == other else "asc")
    turn = ordered[0][1]  # two rows may be exchanged, so that the first of these columns rises
    predicates = [Predicate(Cell("t", column), "=", Cell("s", column)) for column in equal]
    predicates += [
        Predicate(Cell("t", column), "<" if sign == turn else ">", Cell("s", column)) for column, sign in ordered
    ]
    return DC(tuple(predicates))


def strict_orders(law: Law) -> list[int] | None:
    """The columns in which one of two rows that break a part is below the other; None for other laws."""
    if not isinstance(law, DC):
        return None
    found = []
    for predicate in law.predicates:
        left, right = predicate.left, predicate.right
        if isinstance(right, Constant) or left.row == right.row or left.column != right.column:
            return None
        if predicate.operator in ("<", ">"):
            found.append(left.column)
        elif predicate.operator != "=":
            return None
    return found if len(set(found)) == len(found) else None
