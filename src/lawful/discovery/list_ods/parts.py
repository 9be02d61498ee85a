"""What list-based candidates come down to: FDs and order compatibility within sets of columns.

X -> Y holds if the columns of X determine those of Y, and if X_i and Y_j are order compatible among the rows that agree
on all of X_1 .. X_(i-1) and Y_1 .. Y_(j-1) (`od_mapping`). There are as many lists as orders and directions of their
columns, and far fewer such parts: so parts are what is looked up on the sample, checked on the table, and remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery.list_ods.sample import Sample
from lawful.search.list_ods.od_tree import bits

Pair = tuple[int, int]


class Determines(NamedTuple):
    """A set of columns determines a column."""

    columns: int
    column: int


class Compatible(NamedTuple):
    """Among rows that agree on the context, none are swapped by two columns, the first one smaller.

    Both rise, or the second one falls.
    """

    context: int
    first: int
    second: int
    falls: bool


Part = Determines | Compatible


class Parts:
    """What is known of all parts: by the sample, which refutes, and by the table, which has the last word.

    Parameters
    ----------
    sample
        Rows that refute parts; grows by those that refute more.
    columns
        The columns of the table that bits and marks stand for.
    """

    def __init__(self, sample: Sample, columns: Sequence[int]) -> None:
        self._sample, self._columns = sample, columns
        self._determined: dict[int, int] = {}
        self._compatible: dict[tuple[int, int], int] = {}
        self._certain: set[Part] = set()
        self._least: dict[tuple[int, ...], list[int]] = {}
        """The sets of columns for which a part was confirmed, by the rest of the part."""
        self._open: dict[Part, None] = {}
        self._refuting: set[int] = set()

    def determined(self, columns: int) -> int:
        """What a set of columns determines by the sample, its own columns among them."""
        found = self._determined.get(columns)
        if found is None:
            found = self._determined[columns] = self._sample.determined(columns)
        return found

    def compatible(self, context: int, mark: int) -> int:
        """The marked columns that are order compatible with one in a context, by the sample."""
        column = mark >> 1
        found = self._compatible.get((context, column))
        if found is None:
            found = self._compatible[context, column] = self._sample.compatible(context, column)
        return _turned(found, len(self._columns)) if mark & 1 else found

    def lean_on_fds(self, columns: int, determined: int) -> bool:
        """Take FDs for true that hold on the sample; gives whether all are certain, and asks for those that are not."""
        return self._lean_on(Determines(columns, column) for column in bits(determined & ~columns))

    def lean_on_order(self, context: int, mark: int, marks: int) -> bool:
        """Take for true that marked columns are compatible with one in a context, as `lean_on_fds` does."""
        return self._lean_on(_compatible(context, mark, other) for other in bits(marks))

    def take_open(self) -> list[Part]:
        """Give the parts that were leant on and are not certain, to be checked on the table."""
        taken, self._open = list(self._open), {}
        return taken

    def law(self, part: Part) -> Law:
        """A part as a law of the table."""
        if isinstance(part, Determines):
            return FD(self._named(part.columns), self._columns[part.column])
        first, second = self._columns[part.first], self._columns[part.second]
        return CanonicalOD(self._named(part.context), first, second, "desc" if part.falls else "asc")

    def learn(self, part: Part, witness: Pair | None) -> None:
        """Take in what the table says of a part."""
        if witness is not None:
            self._refuting.update(witness)
            return
        self._certain.add(part)
        self._least.setdefault(part[1:], []).append(part[0])

    def refute_more(self) -> None:
        """Let the rows that refuted parts refute more of them."""
        if self._refuting:
            self._sample.add(self._refuting)
            self._refuting = set()
            self._determined.clear()
            self._compatible.clear()

    def _lean_on(self, parts: Iterable[Part]) -> bool:
        if self._sample.is_whole:
            return True
        unknown = [part for part in parts if part not in self._certain and not self._follows(part)]
        self._open.update(dict.fromkeys(unknown))
        return not unknown

    def _follows(self, part: Part) -> bool:
        """Whether a part follows from one that was confirmed: what holds of all rows holds of those that agree."""
        if isinstance(part, Determines):
            certain = self._is_determined(part.columns, part.column)
        else:
            context, first, second, _ = part
            certain = (
                self._has_confirmed(context, part[1:])
                or self._is_determined(context, first)
                or self._is_determined(context, second)
            )
        if certain:
            self._certain.add(part)
        return certain

    def _is_determined(self, columns: int, column: int) -> bool:
        return columns >> column & 1 == 1 or self._has_confirmed(columns, (column,))

    def _has_confirmed(self, columns: int, rest: tuple[int, ...]) -> bool:
        return any(known & ~columns == 0 for known in self._least.get(rest, ()))

    def _named(self, columns: int) -> tuple[int, ...]:
        return tuple(self._columns[place] for place in bits(columns))


def _compatible(context: int, one: int, other: int) -> Part:
    """The part that says that two marked columns are compatible in a context."""
    first, second = one >> 1, other >> 1
    falls = (one ^ other) & 1 == 1
    if first != second:
        return Compatible(context, min(first, second), max(first, second), falls)
    # A column against itself, turned around, is compatible where it does not change; and is never swapped with itself.
    return Determines(context if falls else context | 1 << first, first)


def _turned(marks: int, width: int) -> int:
    rising = ((1 << 2 * width) - 1) // 3
    return (marks & rising) << 1 | marks >> 1 & rising
