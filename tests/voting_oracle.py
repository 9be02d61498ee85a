"""What the rows of a class say about each other, by looking at all pairs of rows of a tiny table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies.laws import FD, CanonicalOD

Rows = Sequence[Sequence[int]]


def votes(law: FD, rows: Rows, policy: NullPolicy) -> list[tuple[int, int, int, int]]:
    """For each row: the others of its class, those alike, those for the strongest rival, and the rival's rank."""
    return [_votes_on(law, place, rows, policy) for place in range(len(rows))]


def _votes_on(law: FD, place: int, rows: Rows, policy: NullPolicy) -> tuple[int, int, int, int]:
    row = rows[place]
    left = [row[column] for column in law.lhs]
    if NULL_RANK in left or not _takes_part(row[law.rhs], policy):
        return 0, 0, 0, 0
    others = [
        other[law.rhs]
        for number, other in enumerate(rows)
        if number != place and [other[column] for column in law.lhs] == left and _takes_part(other[law.rhs], policy)
    ]
    rivals = Counter(value for value in others if value not in (NULL_RANK, row[law.rhs]))
    most = max(rivals.values(), default=0)
    strongest = min((value for value, count in rivals.items() if count == most), default=0)
    return len(others), others.count(row[law.rhs]), most, strongest


def _takes_part(value: int, policy: NullPolicy) -> bool:
    return policy is NullPolicy.EQUAL or value != NULL_RANK


def swapped(law: CanonicalOD, one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two rows agree on the context and are ordered against each other."""
    if any(one[column] != other[column] for column in law.context):
        return False
    turn = 1 if law.direction == "asc" else -1
    return (one[law.left] - other[law.left]) * (one[law.right] - other[law.right]) * turn < 0


def differ_in_both(law: CanonicalOD, one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two rows agree on the context and differ in both columns of an order."""
    agree = all(one[column] == other[column] for column in law.context)
    return agree and one[law.left] != other[law.left] and one[law.right] != other[law.right]


def longest_chains(law: CanonicalOD, rows: Rows, members: Sequence[int]) -> list[set[int]]:
    """All largest sets of some rows in which no two are swapped, by trying all of them."""
    for size in range(len(members), -1, -1):
        found = [
            set(some)
            for some in combinations(members, size)
            if not any(swapped(law, rows[i], rows[j]) for i, j in combinations(some, 2))
        ]
        if found:
            return found
    return [set()]
