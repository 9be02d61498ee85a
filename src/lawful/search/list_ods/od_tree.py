"""The tree of candidates for list-based order dependencies (FindOD, sections VI-A and VI-B).

A marked column is a number, twice the column for ascending and one more for descending, so that `mark ^ 1` turns it
around. A list of marked columns is a tuple of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

MarkedList = tuple[int, ...]


class State(IntEnum):
    """What the rows say of a candidate: it holds; it has a split and no swap; it has a swap."""

    VALID = 0
    SPLIT = 1
    SWAP = 2


@dataclass(eq=False, slots=True)
class Node:
    """A candidate X -> Y, made from its parent by one more column at the end of X or of Y."""

    lhs: MarkedList
    rhs: MarkedList
    state: State
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    dropped: bool = False

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

    def add(self, mark: int, state: State) -> Node:
        """Add the child with one more column (ExtendOD)."""
        if self.state is State.VALID:
            child = Node(self.lhs, (*self.rhs, mark), state, parent=self)
        else:
            child = Node((*self.lhs, mark), self.rhs, state, parent=self)
        self.children.append(child)
        return child

    def change(self, state: State) -> None:
        """Take the state that the whole table gives; what grew from the old one falls away."""
        self.state = state
        for child in self.children:
            child.drop()
        self.children.clear()

    def drop(self) -> None:
        """Mark this node and everything below as fallen away."""
        self.dropped = True
        for child in self.children:
            child.drop()

    def orders_more(self) -> bool:
        """Whether a child holds too, which says the same of a longer right side: then this law is not minimal."""
        return any(child.state is State.VALID and not child.dropped for child in self.children)

    def path(self) -> Iterator[Node]:
        """Give the node and those above it, up to a single column on each side."""
        node: Node | None = self
        while node is not None and node.lhs:
            yield node
            node = node.parent


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
        The most columns that a list may have.
    """

    def __init__(self, members: Sequence[int], *, bidirectional: bool = True, longest: int | None = None) -> None:
        self._members = tuple(members)
        self._longest = len(self._members) if longest is None else longest
        self._marks = range(0, 2 * len(self._members), 1 if bidirectional else 2)

    def roots(self) -> list[Node]:
        """The candidates `[] -> B`, taken as split so that they grow on the left.

        A constant is split by convention only: laws with an empty left side are not in the tree. Right sides begin
        with a rising column, because a law says the same with all directions turned around.
        """
        if self._longest == 0:
            return []
        return [Node((), (2 * column,), State.SPLIT) for column in range(len(self._members))]

    def extensions(self, node: Node) -> list[int]:
        """The marked columns that a child may add, whatever its lists are then."""
        grown = node.grown
        if len(grown) >= self._longest:
            return []
        taken = {mark >> 1 for mark in grown}
        other = node.lhs if node.state is State.VALID else node.rhs
        taken.update(mark >> 1 for mark in other if self._members[mark >> 1] == 1)
        return [mark for mark in self._marks if mark >> 1 not in taken]


def column_set(marked: MarkedList) -> int:
    """The columns of a list as bits."""
    members = 0
    for mark in marked:
        members |= 1 << (mark >> 1)
    return members
