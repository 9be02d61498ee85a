"""From canonical order dependencies to list-based ones, without looking at a table.

A list-based order dependency says the same as its canonical parts (`implication.canonical_parts`; DISTOD, section
3.3.1, with the context of its definition 10 read as Y_1 .. Y_(j-1)). So all minimal FDs and canonical order
dependencies of a table decide every list-based one. DISTOD (section 3.3.2) turns single canonical laws into lists
in all permutations of the context, which gives laws that are neither minimal nor, as printed, valid: `{A}: B ~ C` is
[A, B] ~ [A, C], and orders nothing without the FD {A, B} -> C. Here the lists are grown instead, as FindOD grows
them on data, and every question that would go to the data is answered by the canonical laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from lawful.common.meanings import Direction
from lawful.dependencies.laws import FD, CanonicalOD, ListOD

Marked = tuple[int, Direction]
List = tuple[Marked, ...]

_REMEMBERED = 1 << 18


def list_ods_from_canonical(
    fds: Iterable[FD],
    canonical_ods: Iterable[CanonicalOD],
    width: int,
    *,
    bidirectional: bool = True,
    max_size: int | None = None,
) -> list[ListOD]:
    """All minimal list-based order dependencies of the tables that obey exactly these laws and what they imply.

    Parameters
    ----------
    fds, canonical_ods
        All minimal ones of a table, null being a value. With some missing, what is found is still valid, but need
        be neither minimal nor everything.
    width
        The number of columns of the table.
    bidirectional
        Whether lists may descend.
    max_size
        The most columns that either list may have; of all minimal laws, longer ones are left out.

    Returns
    -------
    list of ListOD
        The shortest left sides first, of these the longest right sides.
    """
    theory = CanonicalTheory(fds, canonical_ods, width)
    found = _Growth(theory, width, bidirectional, max_size).minimal()
    return sorted(found, key=lambda law: (len(law.lhs), -len(law.rhs), law.lhs, law.rhs))


class CanonicalTheory:
    """Decides laws by all minimal FDs and canonical order dependencies of a table. Sets of columns are bitmaps."""

    def __init__(self, fds: Iterable[FD], canonical_ods: Iterable[CanonicalOD], width: int) -> None:
        self._left_sides: list[list[int]] = [[] for _ in range(width)]
        self._contexts: dict[tuple[int, int, bool], list[int]] = {}
        for fd in fds:
            self._left_sides[fd.rhs].append(_bits(fd.lhs))
        for od in canonical_ods:
            self._contexts.setdefault((od.left, od.right, od.direction == "asc"), []).append(_bits(od.context))
        self.determines = lru_cache(_REMEMBERED)(self._determines)
        self.is_compatible = lru_cache(_REMEMBERED)(self._is_compatible)
        self.orders = lru_cache(_REMEMBERED)(self._orders)

    def _determines(self, columns: int, column: int) -> bool:
        """Whether rows that agree on all of `columns` agree on `column`."""
        return columns >> column & 1 == 1 or any(lhs & ~columns == 0 for lhs in self._left_sides[column])

    def _is_compatible(self, context: int, one: Marked, other: Marked) -> bool:
        """Whether rows that agree on the context are never ordered one way by one column, against it by the other."""
        (a, a_direction), (b, b_direction) = one, other
        same = a_direction == b_direction
        if self.determines(context, a) or self.determines(context, b) or (a == b and same):
            return True
        contexts = self._contexts.get((min(a, b), max(a, b), same), ())
        return any(smaller & ~context == 0 for smaller in contexts)

    def _orders(self, lhs: List, rhs: List) -> bool:
        """Whether one list orders another: its canonical parts are all there."""
        columns = _columns(lhs)
        return all(self.determines(columns, column) for column, _ in rhs) and all(
            self.has_no_swap(lhs[: place + 1], rhs) for place in range(len(lhs))
        )

    def has_no_swap(self, lhs: List, rhs: List) -> bool:
        """Whether the last column of `lhs` swaps with no column of `rhs`, in the context of all before them."""
        context = _columns(lhs[:-1])
        for marked in rhs:
            if not self.is_compatible(context, lhs[-1], marked):
                return False
            context |= 1 << marked[0]
        return True


class _Growth:
    """Pairs of minimal lists, grown from single columns as FindOD does.

    Where X orders Y, Y is made longer; where it does not because rows tie on X, X is; where rows are swapped, no longer
    list mends it. To every minimal X -> Y one way leads, on which all beginnings of X that are passed order less.
    """

    def __init__(self, theory: CanonicalTheory, width: int, bidirectional: bool, max_size: int | None) -> None:
        self._theory = theory
        self._directions: tuple[Direction, ...] = ("asc", "desc") if bidirectional else ("asc",)
        self._columns = range(width)
        self._everything = (1 << width) - 1
        self._longest = width if max_size is None else max_size
        self._is_minimal_end = lru_cache(_REMEMBERED)(self._ends_minimally)

    def minimal(self) -> Iterator[ListOD]:
        """The minimal order dependencies, in no particular order."""
        if self._longest < 1:
            return
        pairs: list[tuple[List, List]] = [
            (((a, direction),), ((b, "asc"),))
            for b in self._columns
            for a in self._columns
            if a != b
            for direction in self._directions
            if self._theory.is_compatible(0, (a, direction), (b, "asc"))
        ]
        while pairs:
            lhs, rhs = pairs.pop()
            if self._theory.orders(lhs, rhs):
                if len(rhs) > self._longest:
                    continue  # looked at because it says that a shorter one is not minimal
                longer = list(self._with_longer_right(lhs, rhs))
                if not any(self._theory.orders(lhs, longer_rhs) for _, longer_rhs in longer):
                    yield ListOD(lhs, rhs)
                pairs += longer
            elif max(len(lhs) + 1, len(rhs)) <= self._longest and self._can_be_determined(rhs):
                pairs += self._with_longer_left(lhs, rhs)

    def _with_longer_right(self, lhs: List, rhs: List) -> Iterator[tuple[List, List]]:
        for longer in self._longer(rhs, _columns(lhs)):
            if all(self._last_has_no_swap(lhs, longer, place) for place in range(len(lhs))):
                yield lhs, longer

    def _last_has_no_swap(self, lhs: List, rhs: List, place: int) -> bool:
        context = _columns(lhs[:place]) | _columns(rhs[:-1])
        return self._theory.is_compatible(context, lhs[place], rhs[-1])

    def _with_longer_left(self, lhs: List, rhs: List) -> Iterator[tuple[List, List]]:
        for longer in self._longer(lhs, _columns(rhs)):
            if self._theory.has_no_swap(longer, rhs):
                yield longer, rhs

    def _can_be_determined(self, rhs: List) -> bool:
        """Whether all columns together that may enter the left side determine the right one."""
        others = self._everything & ~_columns(rhs)
        return all(self._theory.determines(others, column) for column, _ in rhs)

    def _longer(self, marked: List, taken: int) -> Iterator[List]:
        """The minimal lists that are longer by one column that is not taken."""
        taken |= _columns(marked)
        for column in self._columns:
            if taken >> column & 1 == 0:
                for direction in self._directions:
                    longer = (*marked, (column, direction))
                    if self._is_minimal_end(longer):
                        yield longer

    def _ends_minimally(self, marked: List) -> bool:
        """Whether a list is minimal, given that it is without its last column.

        The columns before the last must not determine it, and no sublist that ends with it may order another that
        comes right before.
        """
        if self._theory.determines(_columns(marked[:-1]), marked[-1][0]):
            return False
        return not any(
            self._theory.orders(marked[middle:], marked[start:middle])
            for middle in range(1, len(marked))
            for start in range(middle)
        )


def _bits(columns: Iterable[int]) -> int:
    bits = 0
    for column in columns:
        bits |= 1 << column
    return bits


def _columns(marked: List) -> int:
    return _bits(column for column, _ in marked)
