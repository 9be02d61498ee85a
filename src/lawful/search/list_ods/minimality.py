"""Whether a list of marked columns is minimal (FindOD, section VI-D).

A list is not minimal if a column is determined by those before it (forward FD rule), or if a part of it orders
the part directly before (backward OD rule). A list grows at its end, so only its last column needs to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from lawful.search.list_ods.od_tree import MarkedList, column_set

ForwardRule = Literal["fd", "od"]

Determined = Callable[[MarkedList], int]
"""Gives the columns, as bits, that those of a list determine."""


class CheckMinimality:
    """Judges lists by what is known so far, and notes the FDs that it leans on.

    Parameters
    ----------
    determined
        What the columns of a list determine.
    fd_map
        Receives the FDs that ruled a list out.
    forward_rule
        "fd", or "od" for the older forward rule: no part of a list may order a later one.
    """

    def __init__(self, determined: Determined, fd_map: FDMap, forward_rule: ForwardRule = "fd") -> None:
        self._determined = determined
        self._fd_map = fd_map
        self._by_fds = forward_rule == "fd"
        self._index = SuffixIndex()
        self._noted: set[tuple[int, int]] = set()

    def learn(self, lhs: MarkedList, rhs: MarkedList) -> None:
        """Take an order dependency into account. By layers, it comes before the lists that it rules out."""
        self._index.add(lhs, rhs)

    def minimal_extensions(self, marked: MarkedList, marks: list[int]) -> list[int]:
        """Of columns to append to a minimal list, those that leave it minimal."""
        if not marked:
            return marks
        if self._by_fds:
            marks = self._undetermined(marked, marks)
        else:
            marks = [mark for mark in marks if not self._is_ordered(marked, mark)]
        return [mark for mark in marks if not self._index.prunes((*marked, mark))]

    def _undetermined(self, marked: MarkedList, marks: list[int]) -> list[int]:
        determined = self._determined(marked)
        if determined:
            members = column_set(marked)
            for column in {mark >> 1 for mark in marks}:
                if determined >> column & 1 and (members, column) not in self._noted:
                    self._noted.add((members, column))
                    self._fd_map.add(members, column)
        return [mark for mark in marks if not determined >> (mark >> 1) & 1]

    def _is_ordered(self, marked: MarkedList, mark: int) -> bool:
        """Whether some part of the list orders the column that follows it, directly or not.

        Longer right sides need no look: their first column would have ruled out a shorter list.
        """
        return any(
            self._index.holds(marked[start:end], (mark,)) for end in range(1, len(marked) + 1) for start in range(end)
        )


@dataclass(slots=True)
class _Suffix:
    ordered: set[MarkedList] = field(default_factory=set)
    longer: dict[int, _Suffix] = field(default_factory=dict)


class SuffixIndex:
    """Order dependencies X -> Y by X, read from its end, with directions such that the last column of X rises."""

    def __init__(self) -> None:
        self._root = _Suffix()

    def add(self, lhs: MarkedList, rhs: MarkedList) -> None:
        """Keep an order dependency."""
        turn = lhs[-1] & 1
        suffix = self._root
        for mark in reversed(lhs):
            suffix = suffix.longer.setdefault(mark ^ turn, _Suffix())
        suffix.ordered.add(tuple(mark ^ turn for mark in rhs))

    def holds(self, lhs: MarkedList, rhs: MarkedList) -> bool:
        """Whether this very dependency, or the one with all directions turned around, was added."""
        turn = lhs[-1] & 1
        suffix = self._root
        for mark in reversed(lhs):
            longer = suffix.longer.get(mark ^ turn)
            if longer is None:
                return False
            suffix = longer
        return tuple(mark ^ turn for mark in rhs) in suffix.ordered

    def prunes(self, marked: MarkedList) -> bool:
        """Whether an end of the list orders what stands directly before it (backward OD rule)."""
        turn = marked[-1] & 1
        suffix = self._root
        for start in range(len(marked) - 1, 0, -1):
            longer = suffix.longer.get(marked[start] ^ turn)
            if longer is None:
                return False
            suffix = longer
            if suffix.ordered:
                before = tuple(mark ^ turn for mark in marked[:start])
                if any(before[begin:] in suffix.ordered for begin in range(start)):
                    return True
        return False


class Standing(Enum):
    """What is known of an FD on the whole table."""

    UNKNOWN = auto()
    VALID = auto()
    SPLIT = auto()


@dataclass(eq=False, slots=True)
class FDNode:
    """A set of columns, in ascending order along the path, that may determine the right side of its tree.

    `is_used` marks the FDs that ruled out a list; other nodes are their beginnings.
    """

    columns: int
    rhs: int
    is_used: bool = False
    standing: Standing = Standing.UNKNOWN
    children: dict[int, FDNode] = field(default_factory=dict)


class FDMap:
    """The FDs that ruled out lists: a prefix tree for each right side, kept minimal among themselves.

    The paper speaks of the root of a tree as its first column. Two FDs may begin with different ones, so here the root
    is the empty set, which is never asked about: lists do not know constants.
    """

    def __init__(self) -> None:
        self._trees: dict[int, FDNode] = {}

    def add(self, columns: int, rhs: int) -> None:
        """Keep an FD that ruled out a list, unless a smaller one says as much; larger ones go."""
        tree = self._trees.setdefault(rhs, FDNode(0, rhs, standing=Standing.SPLIT))
        if _has_subset(tree, columns):
            return
        _remove_supersets(tree, columns)
        node = tree
        for column in _bits(columns):
            node = node.children.setdefault(column, FDNode(node.columns | 1 << column, rhs))
        node.is_used = True

    def is_confirmed(self, columns: int, rhs: int) -> bool:
        """Whether an FD follows from one that holds on the whole table."""
        tree = self._trees.get(rhs)
        return tree is not None and _has_subset(tree, columns, confirmed=True)

    def trees(self) -> list[FDNode]:
        """The roots."""
        return list(self._trees.values())

    def prune(self) -> None:
        """Forget what turned out wrong and leads to nothing that holds (pruneTree, once a tree is done)."""
        for tree in self._trees.values():
            _prune(tree)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for tree in self._trees.values():
            pending = [tree]
            while pending:
                node = pending.pop()
                if node.is_used:
                    yield node.columns, node.rhs
                pending += node.children.values()


def _has_subset(node: FDNode, columns: int, *, confirmed: bool = False) -> bool:
    if node.is_used and (not confirmed or node.standing is Standing.VALID):
        return True
    return any(
        columns >> column & 1 and _has_subset(child, columns, confirmed=confirmed)
        for column, child in node.children.items()
    )


def _remove_supersets(node: FDNode, columns: int) -> None:
    for column, child in list(node.children.items()):
        if child.columns & columns == columns and child.is_used:
            child.is_used = False
        _remove_supersets(child, columns)
        if not child.children and not child.is_used:
            del node.children[column]


def _prune(node: FDNode) -> bool:
    """Whether something that holds is left at or below the node."""
    node.children = {column: child for column, child in node.children.items() if _prune(child)}
    return bool(node.children) or (node.is_used and node.standing is not Standing.SPLIT)


def _bits(members: int) -> Iterator[int]:
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest
