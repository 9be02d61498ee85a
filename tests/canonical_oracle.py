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
    fds = set(oracle.minimal_fds(table, width, policy, largest=largest))
    return fds | minimal_pairs(table, width, policy, largest=largest)


def minimal_pairs(table: Table, width: int, policy: NullPolicy, *, largest: int | None = None) -> set[CanonicalOD]:
    """The order-compatible ones alone.

    A pair is minimal in a direction if no smaller context is compatible in the same direction, and if the context
    determines neither of the two columns.
    """
    found = set()
    for left, right in combinations(range(width), 2):
        others = [column for column in range(width) if column not in (left, right)]
        for direction in DIRECTIONS:
            valid: list[set[int]] = []
            for size in range(len(others) + 1 if largest is None else min(largest, len(others)) + 1):
                for context in combinations(others, size):
                    if any(smaller <= set(context) for smaller in valid):
                        continue
                    law = CanonicalOD(context, left, right, direction)
                    if not oracle.holds(law, table, policy):
                        continue
                    valid.append(set(context))
                    if not _determines_one(law, table, policy):
                        found.add(law)
    return found


def _determines_one(law: CanonicalOD, table: Table, policy: NullPolicy) -> bool:
    return any(oracle.holds(FD(law.context, column), table, policy) for column in (law.left, law.right))
