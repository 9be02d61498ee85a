"""What right denial constraints are, by brute force over all pairs of rows, sets of comparisons and orders of cells.

Nothing here knows how the product does it. A table is a sequence of rows of plain values, None for null; values of
columns that are compared must be comparable in Python. A space is a sequence of comparisons, plain tuples too:
`comparisons` makes it of the predicates of a law, and `constraint` a law of it. In between, a set of comparisons is a
set of their places in the space.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Any

from lawful.dependencies.laws import DC, Cell, Constant, Predicate

Row = Sequence[Any]
Side = tuple[str, int, Any]
"""A cell is ("t", column, None) or ("s", column, None), what it is held to ("constant", column, value)."""
Comparison = tuple[Side, str, Side]
Space = tuple[Comparison, ...]
Places = frozenset[int]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OTHER_WAY_ROUND = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
OTHER_ROW = {"t": "s", "s": "t", "constant": "constant"}


def comparisons(predicates: Iterable[Predicate]) -> Space:
    """Predicates as plain tuples."""
    return tuple((_side(each.left, each), each.operator, _side(each.right, each)) for each in predicates)


def _side(side: Cell | Constant, predicate: Predicate) -> Side:
    if isinstance(side, Cell):
        return (side.row, side.column, None)
    value = side.value
    return ("constant", predicate.left.column, value if isinstance(value, str | bool) else Decimal(value))


def constraint(space: Space, places: Iterable[int]) -> DC:
    """The law that denies some comparisons of a space."""

    def given(side: Side) -> Cell | Constant:
        kind, column, value = side
        return Constant(value) if kind == "constant" else Cell(kind, column)

    chosen = (space[place] for place in places)
    return DC(tuple(Predicate(given(left), how, given(right)) for left, how, right in chosen))


def evidence(space: Space, t: Row, s: Row, null: str) -> Places:
    """The comparisons that the pair (t, s) satisfies."""
    return frozenset(place for place, comparison in enumerate(space) if satisfies(comparison, t, s, null))


def satisfies(comparison: Comparison, t: Row, s: Row, null: str) -> bool:
    """Whether a pair satisfies a comparison; where nulls are ignored, both rows must be without any in its columns."""
    left, how, right = comparison
    if null == "ignore" and any(row[column] is None for row in (t, s) for _, column, _ in (left, right)):
        return False

    def sortable(side: Side) -> tuple[Any, ...]:
        """Null sorts first and equals itself."""
        kind, column, constant = side
        value = constant if kind == "constant" else {"t": t, "s": s}[kind][column]
        return (0,) if value is None else (1, value)

    return COMPARE[how](sortable(left), sortable(right))


def minimal_sets(
    table: Sequence[Row],
    space: Space,
    null: str,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
) -> dict[Places, float]:
    """All set-minimal constraints whose error is allowed, with that error: the share of pairs that break them.

    A pair is two rows, whichever comes first, and breaks a constraint if it satisfies all of it one way round.
    Constraints that no values at all can break say nothing of a table and are left out.
    """
    pairs = Counter(
        (_as_bits(evidence(space, t, s, null)), _as_bits(evidence(space, s, t, null)))
        for t, s in combinations(list(table), 2)
    )
    found: dict[Places, float] = {}
    # All proper subsets of a minimal constraint are wrong: it is found by adding a last comparison to one of them.
    level: list[tuple[int, ...]] = [()]
    for _ in range((len(space) if largest is None else largest) + 1):
        wrong: set[tuple[int, ...]] = set()
        for places in level:
            bits = _as_bits(places)
            broken = sum(count for (one, other), count in pairs.items() if not bits & ~one or not bits & ~other)
            error = broken / max(1, pairs.total())
            if error > allowed:
                wrong.add(places)
            elif is_satisfiable(space, places):
                found[frozenset(places)] = error
        grown = ((*places, last) for places in wrong for last in range(max(places, default=-1) + 1, len(space)))
        level = [
            places
            for places in grown
            if all(places[:left_out] + places[left_out + 1 :] in wrong for left_out in range(len(places)))
        ]
    return found


def _as_bits(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def one_per_pair(space: Space, sets: dict[Places, float]) -> dict[Places, float]:
    """Those with at most one comparison of each two cells, or of a cell with a constant."""

    def compared(places: Places) -> list[frozenset[Side]]:
        return [frozenset((space[place][0], space[place][2])) for place in places]

    return {places: error for places, error in sets.items() if len(set(compared(places))) == len(places)}


def reduced(space: Space, sets: dict[Places, float]) -> dict[Places, float]:
    """Those that follow from no other, as it stands or with t and s exchanged.

    One follows from another if whatever satisfies it satisfies all of the other. Of those that follow from each
    other, the one stays that has the fewest comparisons, then the weakest, then the first ones.
    """
    satisfied = {places: closure(space, places) for places in sets}

    def follows(one: Places, other: Places) -> bool:
        return other <= satisfied[one] or turned(space, other) <= satisfied[one]

    def preference(places: Places) -> tuple[int, int, list[int]]:
        return (len(places), -sum(_outcomes(space[place][1]) for place in places), sorted(places))

    def stays(one: Places) -> bool:
        premises = [other for other in sets if other != one and follows(one, other)]
        return all(follows(other, one) and preference(one) < preference(other) for other in premises)

    return {places: error for places, error in sets.items() if stays(places)}


def _outcomes(how: str) -> int:
    """How many of less, equal and greater an operator accepts."""
    return sum(COMPARE[how](value, 1) for value in (0, 1, 2))


def turned(space: Space, places: Iterable[int]) -> Places:
    """The comparisons that say of (s, t) what the given ones say of (t, s)."""
    return frozenset(_turned(space)[place] for place in places)


@lru_cache(maxsize=64)
def _turned(space: Space) -> list[int]:
    place_of = {}
    for place, (left, how, right) in enumerate(space):
        place_of[left, how, right] = place_of[right, OTHER_WAY_ROUND[how], left] = place
    return [place_of[_exchanged(left), how, _exchanged(right)] for left, how, right in space]


def _exchanged(side: Side) -> Side:
    kind, column, value = side
    return (OTHER_ROW[kind], column, value)


def closure(space: Space, places: Iterable[int]) -> Places:
    """All comparisons of the space that hold wherever the given ones do."""
    given = _chosen(space, places)
    return frozenset(place for place, other in enumerate(space) if not _can_hold(given, other))


def is_satisfiable(space: Space, places: Iterable[int]) -> bool:
    """Whether any values satisfy all of the given comparisons together."""
    return _can_hold(_chosen(space, places), None)


def _chosen(space: Space, places: Iterable[int]) -> Space:
    return tuple(space[place] for place in sorted(places))


@lru_cache(maxsize=200_000)
def _can_hold(given: Space, unless: Comparison | None) -> bool:
    """Whether some values of the cells satisfy all comparisons and not `unless`: all orders of them are tried.

    Constants of a column have the order of their values. What a constant of one column is to the values of another
    is left open: it is known to the columns' types, not to a law.
    """
    wanted = [(comparison, True) for comparison in given] + ([(unless, False)] if unless else [])
    sides = list(dict.fromkeys(side for (left, _, right), _ in wanted for side in (left, right)))
    constants = [side for side in sides if side[0] == "constant"]
    wanted += [
        ((one, "<", other), one[2] < other[2]) for one, other in combinations(constants, 2) if one[1] == other[1]
    ]
    wanted += [((one, "=", other), False) for one, other in combinations(constants, 2) if one[1] == other[1]]
    values: dict[Side, int] = {}

    def fits() -> bool:
        """Whether nothing that is decided so far is wrong."""
        return all(
            COMPARE[how](values[left], values[right]) == is_wanted
            for (left, how, right), is_wanted in wanted
            if left in values and right in values
        )

    def complete(place: int) -> bool:
        if place == len(sides):
            return True
        for value in range(len(sides)):
            values[sides[place]] = value
            if fits() and complete(place + 1):
                return True
        del values[sides[place]]
        return False

    return complete(0)


def constraints(
    table: Sequence[Row],
    predicates: Iterable[Predicate],
    null: str,
    convention: str,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
) -> dict[DC, float]:
    """The right answer in one of the three conventions, with errors."""
    space = comparisons(predicates)
    found = minimal_sets(table, space, null, largest=largest, allowed=allowed)
    if convention != "set-minimal":
        found = one_per_pair(space, found)
    if convention == "reduced":
        found = reduced(space, found)
    return {constraint(space, places): error for places, error in found.items()}
