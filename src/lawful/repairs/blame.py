"""Settling which cells of a row are wrong, by what all almost-laws think of it.

A law that finds something wrong blames its right side or a column on its left, and cannot say which. So the laws are
heard together: a cell is wrong if that explains what fails, and if little speaks for it that does not fail.

    until nothing that fails is left to explain
        for each cell: the odds that it is wrong = how often cells of its column are
            + what it looks like beside what it should be + what fails with it - what speaks for it
        take the likeliest, and hear no law that it takes part in any more

Laws that say the same, such as those of all columns that identify a thing, count less than their number: k of them
count as 2 - 1 / 2^(k - 1).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawful.checks.strength.trial import most_lost
from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.opinions import FAILS, Opinion
from lawful.common.arrays import Floats, Ints
from lawful.common.meanings import NULL_RANK
from lawful.dependencies import FD, CanonicalOD
from lawful.dependencies.forms import columns_of
from lawful.repairs.columns import ColumnFacts

_LEAST_WRONG, _MOST_WRONG = 0.003, 0.05
"""The share of wrong cells that a column is thought to have before any law is heard, at least and at most."""
_NO_SUGGESTION = 1.6
"""What it costs to blame a cell that no law has a better value for."""
_MOST_AGREE = 0.5
_RIGHT_SIDES, _VOTES = 2, 2
"""Such a cell has to fail with so many different right sides, each with so many votes against it."""


@dataclass(frozen=True)
class Suspicion:
    """A cell that is probably wrong: its row and column, the rank it should have (None: unknown), and who says so."""

    row: int
    column: int
    suggested: int | None
    probability: float
    laws: tuple[VotingLaw, ...]
    own: int = NULL_RANK
    """The rank that it has."""


@dataclass(frozen=True, eq=False)
class Hearing:
    """What all laws think of some rows: a line per law, a place per row; and the ranks of the rows' own cells."""

    rows: Ints
    weights: Floats
    rivals: Ints
    suggested: Ints
    cells: Ints

    @staticmethod
    def of(rows: Ints, opinions: Sequence[Opinion], cells: Ints) -> Hearing:
        """Put the opinions of all laws on the same rows together with the ranks of these rows, a line per column."""
        weights, rivals, suggested = (
            np.stack([getattr(opinion, name) for opinion in opinions]) for name in ("weights", "rivals", "suggested")
        )
        return Hearing(rows, weights, rivals, suggested, cells)

    def asked_about(self, laws: Sequence[VotingLaw]) -> Iterator[tuple[int, int]]:
        """The values that may be compared or blamed, as columns and ranks: of what laws find wrong, and suggest."""
        for number, law in enumerate(laws):
            fails, doubted = self.weights[number] < FAILS, self.weights[number] < 0.0
            sides = [(column, self.cells[column, fails]) for column in columns_of(law)]
            if isinstance(law, FD):
                sides += [(law.rhs, self.cells[law.rhs, doubted]), (law.rhs, self.suggested[number, doubted])]
            for column, ranks in sides:
                yield from ((column, rank) for rank in np.unique(ranks).tolist())


class Judge:
    """Settles the blame within rows.

    Parameters
    ----------
    laws
        The laws that are heard.
    first
        What each of them found on the whole table.
    entities
        A number for each column, the same for columns that determine each other.
    facts
        What is known of single values.
    least
        The probability from which on a cell counts as wrong.
    """

    def __init__(
        self,
        laws: Sequence[VotingLaw],
        first: Sequence[Opinion],
        entities: Sequence[int],
        facts: ColumnFacts,
        least: float = 0.5,
    ) -> None:
        self._laws, self._entities, self._facts = laws, entities, facts
        self._least = math.log(least / (1.0 - least)) if least < 1.0 else math.inf
        self._touching: dict[int, list[int]] = defaultdict(list)
        self._priors: dict[int, float] = defaultdict(lambda: _MOST_WRONG)
        for number, (law, opinion) in enumerate(zip(laws, first, strict=True)):
            for column in columns_of(law):
                self._touching[column].append(number)
            if opinion.tested:
                share = most_lost(float(opinion.failed)) / opinion.tested
                for column in _judged(law):
                    self._priors[column] = min(self._priors[column], max(_LEAST_WRONG, share))

    def settle(self, hearing: Hearing, place: int) -> Iterator[Suspicion]:
        """Name the cells of one of the rows that are probably wrong."""
        weights = hearing.weights[:, place].tolist()
        heard = {number for number, weight in enumerate(weights) if weight != 0.0}
        while any(weights[number] < FAILS for number in heard):
            columns = {c for number in heard if weights[number] < FAILS for c in columns_of(self._laws[number])}
            judged = (self._judge(column, heard, weights, hearing, place) for column in sorted(columns))
            odds, column, suggested = max((j for j in judged if j is not None), default=(-math.inf, 0, 0))
            if odds < self._least:
                return
            blamed = [number for number in self._touching[column] if number in heard]
            laws = tuple(self._laws[number] for number in blamed if weights[number] < FAILS)
            row, probability = int(hearing.rows[place]), 1.0 / (1.0 + math.exp(-min(odds, 50.0)))
            own = int(hearing.cells[column, place])
            yield Suspicion(row, column, suggested or None, probability, laws, own)
            heard.difference_update(blamed)

    def _judge(
        self, column: int, heard: set[int], weights: Sequence[float], hearing: Hearing, place: int
    ) -> tuple[float, int, int] | None:
        """The odds that a cell is wrong, as a logarithm, and what it should be (0: unknown)."""
        numbers = [number for number in self._touching[column] if number in heard]
        counted = self._counted(column, numbers, weights)
        suggested = self._suggestion(column, counted, hearing, place)
        own = int(hearing.cells[column, place])
        prior = self._priors[column]
        odds = math.log(prior / (1.0 - prior))
        worth = 1.0
        if suggested:
            odds += self._facts.evidence(column, own, suggested)
            # A wrong value on the left is right beside its own copies, and proves nothing by that.
            mine, other = self._facts.count(column, own), self._facts.count(column, suggested)
            worth = mine / (mine + other)
        elif self._is_lonely(column, numbers, weights, hearing, place):
            return None
        else:
            odds -= _NO_SUGGESTION
        for number, weight in counted.items():
            speaks_from_the_left = weight > 0.0 and column not in _judged(self._laws[number])
            odds -= weight * worth if speaks_from_the_left else weight
        return odds, column, suggested

    def _counted(self, column: int, numbers: Sequence[int], weights: Sequence[float]) -> dict[int, float]:
        """What each law counts for about a column, where those that say the same count less."""
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number in numbers:
            groups[self._beside(number, column)].append(number)
        counted: dict[int, float] = {}
        for group in groups.values():
            together = sum(abs(weights[number]) for number in group)
            shares = (2.0 - 0.5 ** (len(group) - 1)) / together
            counted |= {number: weights[number] * abs(weights[number]) * shares for number in group}
        return counted

    def _beside(self, number: int, column: int) -> tuple[int, ...]:
        """What tells laws apart that do not say the same about a column: the entities that they hold it against.

        Of an FD that is its left side, or its right side where the column is on the left, whatever else is there. Of an
        order it is the other column.
        """
        law = self._laws[number]
        match law:
            case FD():
                others = set(law.lhs) if law.rhs == column else {law.rhs}
            case CanonicalOD():
                others = {law.left, law.right} - {column}
            case _:
                others = set(law.columns) - {column}
        return tuple(sorted({self._entities[other] for other in others}))

    def _suggestion(self, column: int, counted: dict[int, float], hearing: Hearing, place: int) -> int:
        """The value that the laws with this right side would rather see; 0 if there is none."""
        wanted: dict[int, float] = defaultdict(float)
        for number, weight in counted.items():
            law = self._laws[number]
            if isinstance(law, FD) and law.rhs == column and weight < 0.0:
                wanted[int(hearing.suggested[number, place])] -= weight
        return max(wanted, key=lambda rank: (wanted[rank], -rank), default=0)

    def _is_lonely(
        self, column: int, numbers: Sequence[int], weights: Sequence[float], hearing: Hearing, place: int
    ) -> bool:
        """Whether too few laws fail with a cell that none has a better value for."""
        failing = (n for n in numbers if weights[n] < FAILS and hearing.rivals[n, place] >= _VOTES)
        return len({self._beside(number, column) for number in failing}) < _RIGHT_SIDES


def _judged(law: VotingLaw) -> tuple[int, ...]:
    """The columns whose values a law holds against those of other rows; of a key none, since any may be wrong."""
    match law:
        case FD():
            return (law.rhs,)
        case CanonicalOD():
            return law.left, law.right
        case _:
            return ()


def reverse_law(suspicion: Suspicion) -> FD | None:
    """The law to ask what a cell should be that only left sides speak of: which value have rows with the same right
    sides? None where a value is suggested already.
    """
    if suspicion.suggested is not None:
        return None
    right_sides = {law.rhs for law in suspicion.laws if isinstance(law, FD)} - {suspicion.column}
    return FD(tuple(sorted(right_sides)), suspicion.column) if right_sides else None


def with_suggestion(suspicion: Suspicion, place: int, opinion: Opinion) -> Suspicion:
    """The suspicion with the value that most rows with the same right sides have, if most have one."""
    rivals, others = int(opinion.rivals[place]), int(opinion.others[place])
    if rivals < _VOTES or rivals <= _MOST_AGREE * others:
        return suspicion
    return replace(suspicion, suggested=int(opinion.suggested[place]))


def entities_among(width: int, strengths: dict[FD, float], least: float = 0.8) -> list[int]:
    """Number the columns, those that determine each other alike, going by laws of one column."""
    entities = list(range(width))
    for second in range(width):
        for first in range(second):
            both = FD((first,), second), FD((second,), first)
            if min(strengths.get(law, 0.0) for law in both) >= least:
                entities[second] = entities[first]
                break
    return entities
