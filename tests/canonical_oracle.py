"""All minimal FDs and canonical order dependencies of a tiny table, by brute force over all pairs of rows."""

from __future__ import annotations

from itertools import combinations

import oracle
from oracle import Table

from lawful.common.meanings import NullPolicy
from lawful.dependencies.laws import DIRECTIONS, FD, CanonicalOD


def minimal_canonical_laws(
    table: Table, width: int, policy: NullPolicy, *, largest: int | None = None
) -> set[FD | CanonicalOD]:
    """The constant and the order-compatible canonical laws that are valid and minimal, left sides up to a size."""
    return set(almost_canonical_laws(table, width, policy, largest=largest))


def almost_canonical_laws(
    table: Table,
    width: int,
    policy: NullPolicy,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
    measure: str = "g1",
) -> dict[FD | CanonicalOD, float]:
    """The same with "valid" read as "within an error", each with its error."""
    fds = oracle.minimal_fds(table, width, policy, largest=largest, allowed=allowed, measure=measure)
    return fds | almost_pairs(table, width, policy, largest=largest, allowed=allowed, measure=measure)


def minimal_pairs(table: Table, width: int, policy: NullPolicy, *, largest: int | None = None) -> set[CanonicalOD]:
    """The order-compatible ones alone."""
    return set(almost_pairs(table, width, policy, largest=largest))


def almost_pairs(
    table: Table,
    width: int,
    policy: NullPolicy,
    *,
    largest: int | None = None,
    allowed: float = 0.0,
    measure: str = "g1",
) -> dict[CanonicalOD, float]:
    """The order-compatible ones within an error, each with its error.

    A pair is minimal in a direction if no smaller context is compatible in the same direction, and if the context
    determines neither of the two columns.
    """
    found = {}
    for left, right in combinations(range(width), 2):
        others = [column for column in range(width) if column not in (left, right)]
        for direction in DIRECTIONS:
            valid: list[set[int]] = []
            for size in range(len(others) + 1 if largest is None else min(largest, len(others)) + 1):
                for context in combinations(others, size):
                    if any(smaller <= set(context) for smaller in valid):
                        continue
                    law = CanonicalOD(context, left, right, direction)
                    wrong = oracle.error(law, table, policy, measure)
                    if wrong > allowed:
                        continue
                    valid.append(set(context))
                    determined = (FD(context, column) for column in (left, right))
                    if all(oracle.error(fd, table, policy, measure) > allowed for fd in determined):
                        found[law] = wrong
    return found
