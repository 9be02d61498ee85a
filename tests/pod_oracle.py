"""What right pointwise order dependencies are, by brute force over all pairs of rows and all candidates.

Nothing here knows how the product does it. A table is a sequence of rows of plain values, None for null. A law is a
left side, a tuple of (column, operator) by column, and a right side (column, operator).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

Row = Sequence[Any]
Marked = tuple[int, str]
Pointwise = tuple[tuple[Marked, ...], Marked]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
IMPLIED = {"=": {"=", "<=", ">="}, "<": {"<", "<="}, ">": {">", ">="}, "<=": {"<="}, ">=": {">="}}
"""im() of the paper, section III, as corrected."""
TURNED = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
RIGHT = ("<", "<=", "=")


def candidates(width: int, largest: int | None = None) -> Iterator[Pointwise]:
    """All laws over some columns, each column at most once."""
    for right in range(width):
        others = [column for column in range(width) if column != right]
        for size in range(len(others) + 1 if largest is None else min(len(others), largest) + 1):
            for columns in combinations(others, size):
                for marks in product(COMPARE, repeat=size):
                    for mark in RIGHT:
                        yield tuple(zip(columns, marks, strict=True)), (right, mark)


def satisfies(marked: Marked, t: Row, s: Row) -> bool:
    """Whether a pair satisfies a marked column; null comes first and equals itself."""
    column, mark = marked
    one, other = ((row[column] is not None, row[column] if row[column] is not None else 0) for row in (t, s))
    return COMPARE[mark](one, other)


def violates(law: Pointwise, t: Row, s: Row, null: str) -> bool:
    """Whether a pair breaks a law; where nulls are ignored, it has none in the columns of the law."""
    left, right = law
    if null == "ignore" and any(row[column] is None for row in (t, s) for column, _ in (*left, right)):
        return False
    return all(satisfies(marked, t, s) for marked in left) and not satisfies(right, t, s)


def error(law: Pointwise, table: Sequence[Row], null: str) -> float:
    """The share of pairs of rows, whichever comes first, that break a law one way round or the other."""
    pairs = list(combinations(table, 2))
    broken = sum(any(violates(law, t, s, null) for t, s in permutations(pair)) for pair in pairs)
    return broken / max(1, len(pairs))


def follows(law: Pointwise, other: Pointwise) -> bool:
    """Whether a law asks for no less than another on the left, and says no more on the right."""
    marks = dict(law[0])
    contained = all(column in marks and mark in IMPLIED[marks[column]] for column, mark in other[0])
    return contained and law[1][0] == other[1][0] and law[1][1] in IMPLIED[other[1][1]]


def turned(law: Pointwise) -> Pointwise:
    """The law with the two rows exchanged."""
    left, (column, mark) = law
    return tuple((other, TURNED[one]) for other, one in left), (column, TURNED[mark])


def is_told(law: Pointwise) -> bool:
    """Whether a law is the one of two mirror images whose first column with an order rises."""
    left, (_, mark) = law
    first = next((one for _, one in left if one != "="), "<")
    return mark != "=" or first in ("<", "<=")


def minimal_laws(
    table: Sequence[Row], width: int, null: str, *, largest: int | None = None, allowed: float = 0.0
) -> dict[Pointwise, float]:
    """The minimal laws whose error is allowed, one of two mirror images, each with its error.

    A law is minimal whatever the largest size is: what it could follow from is no larger.
    """
    errors = {law: error(law, table, null) for law in candidates(width, largest)}
    held = {law: broken for law, broken in errors.items() if broken <= allowed}
    by_right: dict[int, list[Pointwise]] = {}
    for law in held:
        by_right.setdefault(law[1][0], []).append(law)
    return {
        law: broken
        for law, broken in held.items()
        if is_told(law) and not any(other != law and follows(law, other) for other in by_right[law[1][0]])
    }
