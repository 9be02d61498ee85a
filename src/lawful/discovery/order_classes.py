"""Columns that order rows alike: worked on once, stated in full.

Twins (see `peeling`) agree and differ together, so in a context each stands in for the others. As the two columns of
an order-compatible pair they do so only if they also order rows alike, or exactly the other way round. So twins are
split further into classes of the same order, each member straight or turned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.common.arrays import Words
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.discovery.peeling import Peeled
from lawful.results.canonical_pairs import PackedPairs
from lawful.search import words_for
from lawful.tables.sample import SampleTable


@dataclass(frozen=True)
class OrderClass:
    """Columns of one order: each with whether it is turned, the first one straight; and the group of their twins."""

    members: tuple[tuple[int, bool], ...]
    group: int


@dataclass(frozen=True)
class Orders:
    """The classes of all columns that are searched: first one of each group of twins, in the order of the groups.

    So the sets over the first `groups` classes are the sets over the searched columns of `peeled`.
    """

    peeled: Peeled
    classes: tuple[OrderClass, ...]

    @property
    def groups(self) -> int:
        """How many groups of twins there are."""
        return len(self.peeled.twins)

    @property
    def columns(self) -> tuple[int, ...]:
        """One column of each class."""
        return tuple(order.members[0][0] for order in self.classes)

    def stated_in_full(
        self,
        pairs: npt.NDArray[np.int64],
        contexts: Words,
        interests: npt.NDArray[np.float64],
        errors: npt.NDArray[np.float64] | None = None,
    ) -> Iterator[PackedPairs]:
        """Pairs of two classes, in contexts over the groups, as pairs of columns in contexts over all columns.

        `pairs` is for each context the two classes, and 1 where they descend.
        """
        restored, source = self.peeled.restore(contexts)
        left, right, is_descending = pairs[source].T
        sizes = np.array([len(order.members) for order in self.classes])
        for i in range(sizes[left].max(initial=0)):
            for j in range(sizes[right].max(initial=0)):
                here = np.flatnonzero((sizes[left] > i) & (sizes[right] > j))
                a, a_turned = self._members(i)[left[here]].T
                b, b_turned = self._members(j)[right[here]].T
                yield PackedPairs(
                    restored[here],
                    np.minimum(a, b),
                    np.maximum(a, b),
                    (is_descending[here] ^ a_turned ^ b_turned) != 0,
                    interests[source[here]],
                    errors=None if errors is None else errors[source[here]],
                )

    def _members(self, place: int) -> npt.NDArray[np.int32]:
        """The member at a place of every class, where it has one, and whether it is turned."""
        return np.array([order.members[min(place, len(order.members) - 1)] for order in self.classes], np.int32)

    def pairs_within_classes(self, table: RankedTable, policy: NullPolicy) -> Iterator[PackedPairs]:
        """Columns of one order are compatible without a context, and with none in the other direction.

        A column with one value and nulls, where nulls are ignored, is determined by nothing at all, so its pairs are
        not minimal.
        """
        nothing = np.zeros((1, words_for(self.peeled.width)), np.uint64)
        for order in self.classes:
            if policy is NullPolicy.IGNORE and table.distinct(order.members[0][0]) <= 1:
                continue
            for place, (a, a_turned) in enumerate(order.members):
                for b, b_turned in order.members[place + 1 :]:
                    yield _pairs(nothing, a, b, a_turned ^ b_turned, np.ones(1))


def order_classes(peeled: Peeled, table: RankedTable, policy: NullPolicy) -> Orders:
    """Split every group of twins into classes of one order."""
    firsts: list[OrderClass] = []
    others: list[OrderClass] = []
    for number, group in enumerate(peeled.twins):
        first, *more = [OrderClass(tuple(members), number) for members in _split(group, table, policy)]
        firsts.append(first)
        others += more
    return Orders(peeled, tuple(firsts + others))


def _split(group: tuple[int, ...], table: RankedTable, policy: NullPolicy) -> list[list[tuple[int, bool]]]:
    classes: list[list[tuple[int, bool]]] = []
    for column in group:
        for members in classes:
            is_turned = _compared(members[0][0], column, table, policy)
            if is_turned is not None:
                members.append((column, is_turned))
                break
        else:
            classes.append([(column, False)])
    return classes


def _compared(first: int, second: int, table: RankedTable, policy: NullPolicy) -> bool | None:
    """Whether the second of two twins is the first one turned around; None if it orders rows in another way."""
    if isinstance(table, SampleTable):
        return table.whole.is_turned(first, second, policy)
    a, b = table.column(first), table.column(second)
    if np.array_equal(a, b):
        return False
    has_null = a == NULL_RANK
    if policy is NullPolicy.EQUAL and has_null.any():
        return None  # null comes first in both
    turned = np.where(has_null, NULL_RANK, table.distinct(first) + 1 - a)
    return True if np.array_equal(turned, b) else None


def _pairs(contexts: Words, a: int, b: int, is_descending: bool, interests: npt.NDArray[np.float64]) -> PackedPairs:
    count = len(contexts)
    return PackedPairs(
        contexts,
        np.full(count, min(a, b), np.int32),
        np.full(count, max(a, b), np.int32),
        np.full(count, is_descending),
        interests,
    )
