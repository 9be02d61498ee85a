"""What right denial constraints are, by brute force over all pairs of rows, sets of predicates and orders of cells.

A table is a sequence of rows of plain values, None for null; values of columns that are compared must be comparable
in Python. Sets of predicates are sets of their numbers in a space.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Any

from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, Cell, Constant, Predicate
from lawful.dependencies.predicate_space import PredicateSpace

Row = Sequence[Any]
Numbers = frozenset[int]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def satisfies(predicate: Predicate, t: Row, s: Row, policy: NullPolicy) -> bool:
    """Whether the pair (t, s) satisfies a predicate; one that ignores nulls needs both rows without any in it."""
    rows = {"t": t, "s": s}
    columns = {cell.column for cell in (predicate.left, predicate.right) if isinstance(cell, Cell)}
    if policy is NullPolicy.IGNORE and any(row[column] is None for row in (t, s) for column in columns):
        return False
    left = rows[predicate.left.row][predicate.left.column]
    right = predicate.right
    other = right.value if isinstance(right, Constant) else rows[right.row][right.column]
    return COMPARE[predicate.operator](_sortable(left), _sortable(other))


def _sortable(value: Any) -> tuple[Any, ...]:
    """Null sorts first and equals itself."""
    return (0,) if value is None else (1, value)


def evidence(space: PredicateSpace, t: Row, s: Row, policy: NullPolicy) -> Numbers:
    """The predicates that a pair satisfies."""
    return frozenset(n for n, predicate in enumerate(space.predicates) if satisfies(predicate, t, s, policy))


def minimal_sets(
    table: Sequence[Row],
    space: PredicateSpace,
    policy: NullPolicy,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
) -> dict[Numbers, float]:
    """All set-minimal constraints whose error is allowed, with that error: the share of pairs that break them.

    A pair is two rows, whichever comes first, and breaks a constraint if it satisfies all of it one way round.
    """
    pairs = Counter(
        (_as_bits(evidence(space, t, s, policy)), _as_bits(evidence(space, s, t, policy)))
        for t, s in combinations(list(table), 2)
    )
    found: dict[Numbers, float] = {}
    # All proper subsets of a minimal constraint are wrong: it is found by adding a last predicate to one of them.
    level: list[tuple[int, ...]] = [()]
    for _ in range((len(space) if largest is None else largest) + 1):
        wrong: set[tuple[int, ...]] = set()
        for numbers in level:
            bits = _as_bits(numbers)
            broken = sum(count for (one, other), count in pairs.items() if not bits & ~one or not bits & ~other)
            error = broken / max(1, pairs.total())
            if error > allowed:
                wrong.add(numbers)
            elif broken or is_satisfiable(space, frozenset(numbers)):
                found[frozenset(numbers)] = error
        grown = ((*numbers, last) for numbers in wrong for last in range(max(numbers, default=-1) + 1, len(space)))
        level = sorted(
            numbers
            for numbers in grown
            if all(numbers[:place] + numbers[place + 1 :] in wrong for place in range(len(numbers)))
        )
    return found


def _as_bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def one_per_pair(space: PredicateSpace, sets: dict[Numbers, float]) -> dict[Numbers, float]:
    """Those with at most one predicate for each two cells."""
    return {
        numbers: error
        for numbers, error in sets.items()
        if len({space.group_of[number] for number in numbers}) == len(numbers)
    }


def reduced(space: PredicateSpace, sets: dict[Numbers, float]) -> dict[Numbers, float]:
    """What is left when each that follows from another, as it stands or with t and s exchanged, is removed.

    One follows from another if it implies all of the other's predicates. Of those that follow from each other, the
    one stays that has the fewest predicates, then the weakest, then the first ones.
    """
    closures = {numbers: closure(space, numbers) for numbers in sets}

    def rank(numbers: Numbers) -> tuple[int, int, int, list[int]]:
        weakness = sum(space.signs[number].bit_count() for number in numbers)
        return (len(closures[numbers]), len(numbers), -weakness, sorted(numbers))

    kept: list[Numbers] = []
    for numbers in sorted(sets, key=rank):
        if not any(other <= closures[numbers] or turned(space, other) <= closures[numbers] for other in kept):
            kept.append(numbers)
    return {numbers: sets[numbers] for numbers in kept}


def turned(space: PredicateSpace, numbers: Iterable[int]) -> Numbers:
    return frozenset(space.mirrored[number] for number in numbers)


def closure(space: PredicateSpace, numbers: Numbers) -> Numbers:
    """All predicates of the space that hold wherever the given ones do."""
    return frozenset(
        other
        for other in range(len(space))
        if not _can_hold(tuple(space.predicates[n] for n in sorted(numbers)), space.predicates[other])
    )


def is_satisfiable(space: PredicateSpace, numbers: Numbers) -> bool:
    return _can_hold(tuple(space.predicates[n] for n in sorted(numbers)), None)


@lru_cache(maxsize=200_000)
def _can_hold(predicates: tuple[Predicate, ...], unless: Predicate | None) -> bool:
    """Whether some values of the cells satisfy all predicates and not `unless`: all orders of the cells are tried."""
    everything = predicates if unless is None else (*predicates, unless)
    nodes = list(dict.fromkeys(node for predicate in everything for node in _nodes(predicate)))
    values: dict[Any, int] = {}

    def fits() -> bool:
        """Whether nothing that is decided so far is wrong."""
        for a, b in combinations([node for node in values if not isinstance(node, Cell)], 2):
            if a[0] == b[0] and (values[a] == values[b] or (values[a] < values[b]) != (a[1] < b[1])):
                return False
        wanted = [(predicate, True) for predicate in predicates]
        for predicate, is_wanted in wanted if unless is None else [*wanted, (unless, False)]:
            left, right = _nodes(predicate)
            known = left in values and right in values
            if known and COMPARE[predicate.operator](values[left], values[right]) != is_wanted:
                return False
        return True

    def complete(place: int) -> bool:
        if place == len(nodes):
            return True
        for value in range(len(nodes)):
            values[nodes[place]] = value
            if fits() and complete(place + 1):
                return True
        del values[nodes[place]]
        return False

    return complete(0)


def _nodes(predicate: Predicate) -> tuple[Any, Any]:
    right = predicate.right
    if isinstance(right, Constant):
        value = right.value
        return predicate.left, (predicate.left.column, value if isinstance(value, str | bool) else Decimal(value))
    return predicate.left, right


def constraints(
    table: Sequence[Row],
    space: PredicateSpace,
    policy: NullPolicy,
    convention: str,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
) -> dict[DC, float]:
    """The right answer in one of the three conventions, with errors."""
    found = minimal_sets(table, space, policy, largest=largest, allowed=allowed)
    if convention != "set-minimal":
        found = one_per_pair(space, found)
    if convention == "reduced":
        found = reduced(space, found)
    return {space.dc(numbers): error for numbers, error in found.items()}
