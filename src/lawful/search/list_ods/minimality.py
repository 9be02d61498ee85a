"""Whether a list of marked columns is minimal (FindOD, section VI-D).

A list is not minimal if a column is determined by those before it (forward FD rule), or if a part of it orders
the part directly before (backward OD rule). A list grows at its end, so only its last column needs to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from lawful.search.list_ods.od_tree import MarkedList

ForwardRule = Literal["fd", "od"]


class OrderedLists:
    """Which lists are not minimal by the order dependencies that are known: all but the forward FD rule.

    Parameters
    ----------
    forward_rule
        "fd", or "od" for the older forward rule, which is one of order too: no part of a list may order a later one.
    """

    def __init__(self, forward_rule: ForwardRule = "fd") -> None:
        self._orders_forward = forward_rule == "od"
        self._index = SuffixIndex()

    def learn(self, lhs: MarkedList, rhs: MarkedList) -> None:
        """Take an order dependency into account. By layers, it comes before the lists that it rules out."""
        self._index.add(lhs, rhs)

    def minimal_ends(self, marked: MarkedList, marks: Iterable[int]) -> list[int]:
        """Of columns to append to a minimal list, those that no order dependency rules out."""
        if self._orders_forward:
            marks = (mark for mark in marks if not self._is_ordered(marked, mark))
        return [mark for mark in marks if not self._index.prunes((*marked, mark))]

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
