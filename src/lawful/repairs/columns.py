"""What is known of single values, beside all laws: how rare they are, and what they look like."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from lawful.common.arrays import Int64s
from lawful.common.meanings import NULL_RANK
from lawful.repairs.similarity import similarity

_RARE_AMONG_WRONG = 0.5
"""The share of wrong values that are as rare as typos are."""
_MOST_OF_RARITY = 2.0
_MOST_OF_LIKENESS, _ALIKE_FROM = 3.0, 0.5
USUAL = 0.9
"""A column has a usual value if so many of its rows have it."""
_MOST_TYPOS = 5_000
"""A column with more values than this, null counted, has values of its own, and not typos."""
LEAST_LIKENESS, LEAST_LENGTH = 0.75, 4
"""How like the usual value another one has to be, and how long, to be taken for a typo of it."""


class Values(Protocol):
    """What can be asked about the values of all columns; a value is known by its column and its rank."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    def count(self, column: int, rank: int) -> int:
        """How many rows have a value."""

    def rows_as_rare(self, column: int, count: int) -> int:
        """How many rows have values that no more than so many rows have."""

    def frequencies(self, column: int, least: float, most_values: int) -> dict[int, int]:
        """How many rows have each value of a column, in their order.

        Nothing if there are so many values, null counted, and unless one of them has a share of all rows.
        """

    def text(self, column: int, rank: int) -> str | None:
        """The text of a value, None for null."""

    def know(self, cells: Iterable[tuple[int, int]]) -> None:
        """Find out all about some values, which will be asked for."""


class HeldValues:
    """The values of a table whose columns are in this process.

    Parameters
    ----------
    counts
        For each column, how many rows have each rank, null first.
    text
        Gives the text of a rank of a column.
    """

    def __init__(self, counts: Sequence[Int64s], text: Callable[[int, int], str | None]) -> None:
        self.text = text
        self._counts = counts
        self._rarest: dict[int, tuple[Int64s, Int64s]] = {}
        self.rows = int(counts[0].sum()) if counts else 0

    def count(self, column: int, rank: int) -> int:
        """How many rows have a value."""
        return int(self._counts[column][rank])

    def rows_as_rare(self, column: int, count: int) -> int:
        """How many rows have values that no more than so many rows have."""
        if column not in self._rarest:
            ordered = np.sort(self._counts[column])
            self._rarest[column] = ordered, np.cumsum(ordered)
        ordered, rows = self._rarest[column]
        end = int(np.searchsorted(ordered, count, side="right"))
        return int(rows[end - 1]) if end else 0

    def frequencies(self, column: int, least: float, most_values: int) -> dict[int, int]:
        """How many rows have each value of a column, in their order; nothing unless one has a share of all rows."""
        counts = self._counts[column]
        if counts.size > most_values or counts.max(initial=0) < least * self.rows:
            return {}
        return {int(rank): int(counts[rank]) for rank in np.flatnonzero(counts)}

    def know(self, cells: Iterable[tuple[int, int]]) -> None:
        """Do nothing: all is known."""


class ColumnFacts:
    """What the frequencies and texts of values say of them."""

    def __init__(self, values: Values) -> None:
        self.text, self.know, self.count = values.text, values.know, values.count
        self._values = values
        self._alike: dict[tuple[int, int, int], float] = {}

    def evidence(self, column: int, own: int, suggested: int) -> float:
        """How much more likely a wrong cell has this value than a right one, given what it should be: a logarithm.

        Only where the suggestion is the more frequent of the two: of two values that occur once, either may be the
        typo.
        """
        if own == NULL_RANK or self.count(column, suggested) <= self.count(column, own):
            return 0.0
        alike = self.likeness(column, own, suggested)
        bonus = _MOST_OF_LIKENESS * max(0.0, (alike - _ALIKE_FROM) / (1.0 - _ALIKE_FROM))
        return self._rarity(column, own) + bonus

    def likeness(self, column: int, own: int, other: int) -> float:
        """How alike two values of a column look."""
        key = column, own, other
        if key not in self._alike:
            self._alike[key] = similarity(self.text(column, own), self.text(column, other))
        return self._alike[key]

    def typos_of_the_usual(self, column: int) -> list[tuple[int, int, float]]:
        """The values of a column that look like typos of its usual one: their ranks, that one's, and how alike."""
        counts = self._values.frequencies(column, USUAL, _MOST_TYPOS)
        if not counts:
            return []
        usual = max(counts, key=lambda rank: (counts[rank], -rank))
        if usual == NULL_RANK or len(self.text(column, usual) or "") < LEAST_LENGTH:
            return []
        others = [rank for rank in counts if rank not in (NULL_RANK, usual)]
        self.know((column, rank) for rank in others)
        compared = ((rank, usual, self.likeness(column, rank, usual)) for rank in others)
        return [each for each in compared if each[2] >= LEAST_LIKENESS]

    def _rarity(self, column: int, rank: int) -> float:
        """How much its rarity speaks against a value: how few rows have values as rare."""
        as_rare = self._values.rows_as_rare(column, self.count(column, rank)) / max(1, self._values.rows)
        likely = math.log(_RARE_AMONG_WRONG) - math.log(max(as_rare, math.exp(-_MOST_OF_RARITY) / 100))
        return min(max(likely, 0.0), _MOST_OF_RARITY)
