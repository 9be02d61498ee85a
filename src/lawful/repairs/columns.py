"""What is known of single values, beside all laws: how rare they are, and what they look like."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lawful.common.arrays import Floats, Int64s
from lawful.common.meanings import NULL_RANK
from lawful.repairs.similarity import similarity

Text = Callable[[int, int], str | None]
"""Gives the text of a rank of a column."""

_RARE_AMONG_WRONG = 0.5
"""The share of wrong values that are as rare as typos are."""
_MOST_OF_RARITY = 2.0
_MOST_OF_LIKENESS, _ALIKE_FROM = 3.0, 0.5
USUAL = 0.9
"""A column has a usual value if so many of its rows have it."""
_MOST_TYPOS = 5_000
"""A column with more values than this beside its usual one has values of its own, and not typos."""
LEAST_LIKENESS, LEAST_LENGTH = 0.75, 4
"""How like the usual value another one has to be, and how long, to be taken for a typo of it."""


class ColumnFacts:
    """Frequencies and texts of the values of all columns.

    Parameters
    ----------
    counts
        For each column, how many rows have each rank, null first.
    text
        Gives texts.
    """

    def __init__(self, counts: Sequence[Int64s], text: Text) -> None:
        self.text = text
        self._counts = counts
        self._rarities: dict[int, Floats] = {}
        self._alike: dict[tuple[int, int, int], float] = {}

    def count(self, column: int, rank: int) -> int:
        """How many rows have a value."""
        return int(self._counts[column][rank])

    def evidence(self, column: int, own: int, suggested: int) -> float:
        """How much more likely a wrong cell has this value than a right one, given what it should be: a logarithm.

        Only where the suggestion is the more frequent of the two: of two values that occur once, either may be the
        typo.
        """
        if own == NULL_RANK or self.count(column, suggested) <= self.count(column, own):
            return 0.0
        alike = self.likeness(column, own, suggested)
        bonus = _MOST_OF_LIKENESS * max(0.0, (alike - _ALIKE_FROM) / (1.0 - _ALIKE_FROM))
        return float(self._rarity(column)[own]) + bonus

    def likeness(self, column: int, own: int, other: int) -> float:
        """How alike two values of a column look."""
        key = column, own, other
        if key not in self._alike:
            self._alike[key] = similarity(self.text(column, own), self.text(column, other))
        return self._alike[key]

    def typos_of_the_usual(self, column: int) -> list[tuple[int, int, float]]:
        """The values of a column that look like typos of its usual one: their ranks, that one's, and how alike."""
        counts = self._counts[column]
        usual = int(counts.argmax())
        if usual == NULL_RANK or counts[usual] < USUAL * counts.sum() or counts.size > _MOST_TYPOS:
            return []
        if len(self.text(column, usual) or "") < LEAST_LENGTH:
            return []
        others = (int(rank) for rank in np.flatnonzero(counts) if rank not in (NULL_RANK, usual))
        compared = ((rank, usual, self.likeness(column, rank, usual)) for rank in others)
        return [each for each in compared if each[2] >= LEAST_LIKENESS]

    def _rarity(self, column: int) -> Floats:
        """For each value how much its rarity speaks against it: how few rows have values as rare."""
        if column not in self._rarities:
            counts = self._counts[column]
            order = np.argsort(counts, kind="stable")
            ends = np.searchsorted(counts[order], counts, side="right")
            as_rare = np.cumsum(counts[order])[ends - 1] / max(1, int(counts.sum()))
            likely = np.log(_RARE_AMONG_WRONG) - np.log(np.maximum(as_rare, math.exp(-_MOST_OF_RARITY) / 100))
            self._rarities[column] = np.clip(likely, 0.0, _MOST_OF_RARITY)
        return self._rarities[column]
