"""The tree of candidates for list-based order dependencies (FindOD, sections VI-A and VI-B).

A marked column is a number, twice the column for ascending and one more for descending, so that `mark ^ 1` turns it
around. A list of marked columns is a tuple of them. Sets of columns, and of marked columns, are bits of an integer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

MarkedList = tuple[int, ...]


class State(IntEnum):
    """What the rows say of a candidate: it holds; it has a split and no swap; it has a swap."""

    VALID = 0
    SPLIT = 1
    SWAP = 2


@dataclass(eq=False, slots=True)
class Node:
    """A candidate X -> Y, made from its parent by one more column at the end of X or of Y.

    `orders_more` says that a child holds too: then the law is not minimal, because its right side can be longer.
    """

    lhs: MarkedList
    rhs: MarkedList
    state: State
    orders_more: bool = False

    @property
    def law(self) -> tuple[MarkedList, MarkedList]:
        """Both lists, which tell candidates apart."""
        return self.lhs, self.rhs

    @property
    def grown(self) -> MarkedList:
        """The list that children make longer: what is valid may order more, what is split needs more to order by.

        Anything longer on the left of a valid candidate is not minimal, and no longer right side mends a split.
        """
        return self.rhs if self.state is State.VALID else self.lhs

    def child(self, mark: int, state: State) -> Node:
        """The child with one more column (ExtendOD)."""
        if self.state is State.VALID:
            return Node(self.lhs, (*self.rhs, mark), state)
        return Node((*self.lhs, mark), self.rhs, state)


class ODTree:
    """Which candidates there are, before anything is known of the rows.

    Parameters
    ----------
    members
        How many columns of the table each column of the search stands for. One that stands for several may occur on
        both sides: as different ones of them.
    bidirectional
        Whether columns may also fall.
    longest
        The most columns that a list of a wanted law may have. Right sides grow one longer: a law is not minimal if
        that holds.
    """

    def __init__(self, members: Sequence[int], *, bidirectional: bool = True, longest: int | None = None) -> None:
        self._width = len(members)
        self._longest = self._width if longest is None else longest
        self._alone = sum(1 << place for place, count in enumerate(members) if count == 1)
        self._marks = sum((0b11 if bidirectional else 0b01) << 2 * place for place in range(self._width))

    def roots(self) -> list[Node]:
        """The candidates `[] -> B`, taken as split so that they grow on the left.

        A constant is split by convention only: laws with an empty left side are not in the tree. Right sides begin
        with a rising column, because a law says the same with all directions turned around.
        """
        if self._longest == 0:
            return []
        return [Node((), (2 * column,), State.SPLIT) for column in range(self._width)]

    def extensions(self, node: Node) -> int:
        """The marked columns, as bits, that a child may add, whatever its lists are then."""
        if len(node.rhs) > self._longest or (node.state is State.SPLIT and len(node.lhs) >= self._longest):
            return 0
        other = node.lhs if node.state is State.VALID else node.rhs
        return self.marks_beside(column_set(node.grown), column_set(other))

    def marks_beside(self, grown: int, other: int) -> int:
        """The marked columns that a list with these columns may take on, beside another list with those."""
        return self._marks & ~both_directions(grown | other & self._alone)

    def is_wanted(self, node: Node) -> bool:
        """Whether a candidate holds, and is not longer than the laws that were asked for."""
        return node.state is State.VALID and len(node.rhs) <= self._longest


def column_set(marked: MarkedList) -> int:
    """The columns of a list as bits."""
    members = 0
    for mark in marked:
        members |= 1 << (mark >> 1)
    return members


def both_directions(columns: int) -> int:
    """The marked columns, as bits, of a set of columns."""
    return sum(0b11 << 2 * column for column in bits(columns))


def bits(members: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest
