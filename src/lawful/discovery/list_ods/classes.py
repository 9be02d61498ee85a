"""Columns that order rows alike: searched once, stated once, and on request in full.

Columns of one class order each other, straight or turned, so in a list each stands in for the others, and no minimal
list has two of them. But a law may have one on its left and another on its right, so a class of several columns may
occur on both sides of what is searched. All constants are one class, each both rising and falling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from lawful.checks import RankedTable
from lawful.checks.list_ods.orders import Marked
from lawful.common.arrays import Int32s
from lawful.common.meanings import NULL_RANK
from lawful.dependencies import ListOD
from lawful.search.list_ods.od_tree import MarkedList, column_set
from lawful.tables.sample import SampleTable

Member = tuple[int, bool]
"""A column, and whether it falls where the first one of its class rises."""

_FIRST_ROWS = 64


@dataclass(frozen=True)
class ListClasses:
    """The classes of all columns, each with its members; `constants` is the place of the one that never changes."""

    members: tuple[tuple[Member, ...], ...]
    constants: int | None

    @property
    def columns(self) -> tuple[int, ...]:
        """The column that is searched for each class."""
        return tuple(members[0][0] for members in self.members)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many columns each class has."""
        return tuple(len(members) for members in self.members)

    def count(self, lhs: MarkedList, rhs: MarkedList) -> int:
        """How many laws over all columns a law over classes stands for."""
        laws, left = 1, column_set(lhs)
        for mark in lhs:
            laws *= len(self.members[mark >> 1])
        for mark in rhs:
            laws *= len(self.members[mark >> 1]) - (left >> (mark >> 1) & 1)
        return laws

    def law(self, lhs: MarkedList, rhs: MarkedList) -> ListOD:
        """A law over classes as a law over their first columns; a class on both sides has its second on the right."""
        return next(self.laws(lhs, rhs))

    def laws(self, lhs: MarkedList, rhs: MarkedList) -> Iterator[ListOD]:
        """Every law over columns that a law over classes stands for."""
        for left in product(*(self._marked(mark) for mark in lhs)):
            used = {mark >> 1 for mark in left}
            for right in product(*(self._marked(mark) for mark in rhs)):
                if used.isdisjoint(mark >> 1 for mark in right):
                    yield list_od(left, right)

    def stated_first(self) -> Iterator[ListOD]:
        """What is known before the search: constants, and columns that order each other, stated once each."""
        for place, members in enumerate(self.members):
            if place == self.constants:
                continue
            first, *others = members
            for other in others:
                for left, right in ((first, other), (other, first)):
                    yield list_od((2 * left[0] + left[1],), (2 * right[0] + right[1],))
        if self.constants is not None:
            for column, _ in self.members[self.constants]:
                yield ListOD((), ((column, "asc"),))

    def is_stated_first(self, lhs: MarkedList, rhs: MarkedList) -> bool:
        """Whether a law over classes only repeats that a column is constant, or that two order each other."""
        return rhs[0] >> 1 == self.constants or (len(rhs) == 1 and len(lhs) == 1 and lhs[0] >> 1 == rhs[0] >> 1)

    def folded(self, laws: Iterable[ListOD]) -> Iterator[ListOD]:
        """Of laws over all columns, one for each law over classes, without what is stated first."""
        places = {column: (place, turned) for place, group in enumerate(self.members) for column, turned in group}

        def marks(marked: Marked) -> MarkedList:
            found = ((*places[column], direction == "desc") for column, direction in marked)
            return tuple(2 * place + (turned ^ falls) for place, turned, falls in found)

        seen = dict.fromkeys(_rising(marks(law.lhs), marks(law.rhs)) for law in laws)
        return (self.law(*both) for both in seen if not self.is_stated_first(*both))

    def _marked(self, mark: int) -> list[int]:
        return [2 * column + ((mark & 1) ^ turned) for column, turned in self.members[mark >> 1]]


def list_od(lhs: MarkedList, rhs: MarkedList) -> ListOD:
    """A law over columns, turned around if need be, so that its right side begins with a rising column."""
    left, right = _rising(lhs, rhs)
    return ListOD(_marked_columns(left), _marked_columns(right))


def _rising(lhs: MarkedList, rhs: MarkedList) -> tuple[MarkedList, MarkedList]:
    turn = rhs[0] & 1
    return tuple(mark ^ turn for mark in lhs), tuple(mark ^ turn for mark in rhs)


def _marked_columns(marked: MarkedList) -> Marked:
    return tuple((mark >> 1, "desc" if mark & 1 else "asc") for mark in marked)


def every_column(table: RankedTable) -> ListClasses:
    """Each column alone: under the older forward rule, `a asc, b desc` is a minimal list even if a and b are alike."""
    return ListClasses(tuple(((column, False),) for column in range(table.width)), None)


def classes_of(table: RankedTable, *, bidirectional: bool) -> ListClasses:
    """Group the columns that order rows alike; only as they rise, unless columns may fall too."""
    constants: list[Member] = []
    by_values: dict[int, list[list[Member]]] = defaultdict(list)
    lowest = [_lowest(table, column) for column in range(table.width)]
    for column in range(table.width):
        values = table.distinct(column) + (lowest[column] == NULL_RANK)
        if table.rows == 0 or values <= 1:
            constants.append((column, False))
            continue
        for members in by_values[values]:
            first = members[0][0]
            if isinstance(table, SampleTable):
                turned = _asked(table, first, column)
            else:
                turned = _compared(table, first, column, lowest)
            if turned is not None and (bidirectional or not turned):
                members.append((column, turned))
                break
        else:
            by_values[values].append([(column, False)])
    found = sorted(tuple(members) for alike in by_values.values() for members in alike)
    if constants:
        found.append(tuple(constants))
    return ListClasses(tuple(found), len(found) - 1 if constants else None)


def _compared(table: RankedTable, first: int, second: int, lowest: list[int]) -> bool | None:
    """Whether the second column is the first one turned around, both of as many values; None if it is neither."""
    a, b = table.column(first), table.column(second)
    straight, turned = lowest[first] - lowest[second], table.distinct(first) + lowest[second]
    for rows in (slice(_FIRST_ROWS), slice(None)):  # most differ at once
        is_straight = _is_shifted(a[rows], b[rows], straight)
        is_turned = not is_straight and bool((a[rows] + b[rows] == turned).all())
        if not is_straight and not is_turned:
            return None
    return is_turned


def _lowest(table: RankedTable, column: int) -> int:
    """The lowest rank of a column, of all rows."""
    if isinstance(table, SampleTable):
        return NULL_RANK if table.nulls(column) else NULL_RANK + 1
    return int(table.column(column).min()) if table.rows else NULL_RANK


def _asked(sample: SampleTable, first: int, second: int) -> bool | None:
    """The same of a table of which a sample is here: whoever has all rows is asked if the sample does not know."""
    order = np.argsort(sample.column(first), kind="stable")
    a, b = (np.sign(np.diff(sample.column(column)[order])) for column in (first, second))
    for turned in (False, True):
        if np.array_equal(a, -b if turned else b) and sample.whole.are_ordered_alike(first, second, turned=turned):
            return turned
    return None


def _is_shifted(a: Int32s, b: Int32s, shift: int) -> bool:
    return bool((a - b == shift).all())
