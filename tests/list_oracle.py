"""The right list-based order dependencies, by brute force: every list, every pair of lists, every pair of rows.

A list is a tuple of (column, direction). `holds` everywhere means that the error is allowed: 0 by default. The
definitions are read off one by one; nothing here prunes except that a list with a minimal beginning is grown.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import oracle
from oracle import Table

from lawful.common.meanings import Direction, NullPolicy
from lawful.dependencies.laws import FD, Law, ListOD

Marked = tuple[int, Direction]
List = tuple[Marked, ...]


class ListOracle:
    """The list-based order dependencies of one tiny table.

    Parameters
    ----------
    forward_rule
        "fd" for the rule of minimal lists as it is defined, "od" for the older one: no sublist orders a later one.
    largest
        The most columns of each list of the laws that are given. Longer lists still decide what is minimal.
    """

    def __init__(
        self,
        table: Table,
        width: int,
        *,
        bidirectional: bool = True,
        forward_rule: str = "fd",
        largest: int | None = None,
        allowed: float = 0.0,
        measure: str = "g1",
    ) -> None:
        self._table = table
        self._allowed = allowed
        self._measure = measure
        self._directions: tuple[Direction, ...] = ("asc", "desc") if bidirectional else ("asc",)
        self._width = width
        self._forward_rule = forward_rule
        self._largest = width if largest is None else largest
        self.error = cache(self._error)
        self.minimal_lists = list(self._minimal_lists())

    def holds(self, law: Law) -> bool:
        return self.error(law) <= self._allowed

    def orders(self, lhs: List, rhs: List) -> bool:
        return self.holds(ListOD(lhs, rhs))

    def is_minimal_list(self, marked: List) -> bool:
        return not self._forward_prunes(marked) and not self._backward_prunes(marked)

    def tree_nodes(self) -> set[ListOD]:
        """The valid nodes of the tree: minimal disjoint lists, one ordering the other, no beginning of it doing so."""
        return {
            ListOD(lhs, rhs)
            for rhs in self.minimal_lists
            if rhs[0][1] == "asc"
            for lhs in self.minimal_lists
            if max(len(lhs), len(rhs)) <= self._largest
            and not _columns(lhs) & _columns(rhs)
            and self.orders(lhs, rhs)
            and not any(self.orders(lhs[:length], rhs) for length in range(1, len(lhs)))
        }

    def minimal(self) -> set[ListOD]:
        """The minimal order dependencies: tree nodes whose right side cannot be made longer."""
        return {law for law in self.tree_nodes() if not any(self._longer(law))}

    def _longer(self, law: ListOD) -> Iterator[ListOD]:
        for rhs in self.minimal_lists:
            if (
                len(rhs) > len(law.rhs)
                and rhs[: len(law.rhs)] == law.rhs
                and not _columns(rhs) & _columns(law.lhs)
                and self.orders(law.lhs, rhs)
            ):
                yield ListOD(law.lhs, rhs)

    def _minimal_lists(self) -> Iterator[List]:
        grown: list[List] = [()]
        for _ in range(min(self._largest + 1, self._width)):
            grown = [
                (*marked, (column, direction))
                for marked in grown
                for column in range(self._width)
                if column not in _columns(marked)
                for direction in self._directions
            ]
            grown = [marked for marked in grown if self.is_minimal_list(marked)]
            yield from grown

    def _forward_prunes(self, marked: List) -> bool:
        if self._forward_rule == "fd":
            return any(
                self.holds(FD(tuple(sorted(_columns(marked[:place]))), marked[place][0]))
                for place in range(1, len(marked))
            )
        return any(
            self.orders(marked[i:j], marked[k:m])
            for i, j in combinations(range(len(marked)), 2)
            for k, m in combinations(range(j, len(marked) + 1), 2)
        )

    def _backward_prunes(self, marked: List) -> bool:
        return any(
            self.orders(marked[middle:end], marked[start:middle])
            for start, middle, end in combinations(range(len(marked) + 1), 3)
        )

    def _error(self, law: Law) -> float:
        return oracle.error(law, self._table, NullPolicy.EQUAL, self._measure)


def _columns(marked: List) -> set[int]:
    return {column for column, _ in marked}
