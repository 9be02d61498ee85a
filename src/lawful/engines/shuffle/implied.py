"""Keys and FDs that need no shuffle, because smaller ones hold: the smallest left sides are asked first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lawful.checks import CheckTask
from lawful.dependencies import FD, Key, Law


class KnownToHold:
    """Keys and FDs that hold, and what follows from them for larger left sides.

    Only from smaller left sides of the same right side, and from keys: where nulls are ignored, FDs are not transitive.
    """

    def __init__(self) -> None:
        self._left_sides: dict[int | None, list[frozenset[int]]] = {}

    def learn(self, laws: Iterable[Law]) -> None:
        """Take in laws that hold."""
        for law in laws:
            lhs, rhs = _sides(law)
            self._left_sides.setdefault(rhs, []).append(lhs)

    def implies(self, law: Law) -> bool:
        """Whether a law follows."""
        lhs, rhs = _sides(law)
        known = self._left_sides.get(None, []) + (self._left_sides.get(rhs, []) if rhs is not None else [])
        return any(smaller <= lhs for smaller in known)


def least_of(tasks: Sequence[CheckTask]) -> tuple[list[CheckTask], list[CheckTask]]:
    """The tasks that none of the others could imply, and the rest."""
    by_side: dict[int | None, list[frozenset[int]]] = {}
    for task in tasks:
        lhs, rhs = _sides(task.law)
        by_side.setdefault(rhs, []).append(lhs)
    first: list[CheckTask] = []
    rest: list[CheckTask] = []
    for task in tasks:
        lhs, rhs = _sides(task.law)
        # A key of the same columns says more than an FD.
        is_later = any(other < lhs or (rhs is not None and other == lhs) for other in by_side.get(None, ())) or any(
            other < lhs for other in by_side.get(rhs, ())
        )
        (rest if is_later else first).append(task)
    return first, rest


def _sides(law: Law) -> tuple[frozenset[int], int | None]:
    """The left side of a law and its right side, None for a key."""
    if isinstance(law, FD):
        return frozenset(law.lhs), law.rhs
    assert isinstance(law, Key)
    return frozenset(law.columns), None
