"""Pointwise order dependencies as they are given back: packed, with how interesting each is.

The interest of a law is the coverage of its left side: the chance that two rows drawn at random satisfy it, one way
round or the other. For a left side of = alone that is the coverage of functional dependencies, and it is taken from the
same pairs. A law whose left side no two rows satisfy holds for want of cases, and comes last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Floats, Int64s, Words
from lawful.dependencies import POD, LawKind, Operator
from lawful.dependencies.denial_readings import pointwise_reading
from lawful.discovery.coverage import covering_ids
from lawful.discovery.kernels.pointwise_coverage import count_missed
from lawful.evidence.denials.pool import ComparesPairs
from lawful.search.kernels.sets import transpose
from lawful.search.pods.kernels.left_sides import count_columns, edges_of_signs, turned_literals
from lawful.search.pods.left_sides import Goal, pointwise_law
from lawful.search.sets import unpack_sets

_OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=")
_GOALS_A_COLUMN = len(_OPERATORS)
_UNPACKED_AT_ONCE = 4096


class PairsCovered:
    """The coverage of left sides on one table.

    Parameters
    ----------
    rated
        What compares pairs of rows over all columns.
    columns
        How many these are.
    """

    def __init__(self, rated: ComparesPairs, columns: int) -> None:
        left, right = covering_ids(rated.rows)
        signs = rated.compare(left, right)
        self._pairs = left.size
        self._alone = 1.0 / max(1, rated.rows)  # a row counts as covered with itself, as for other families
        self._missed = transpose(edges_of_signs(signs.less, signs.greater, columns))

    def of(self, sets: Words) -> Floats:
        """The coverage of each left side, from 0 to 1."""
        share = np.ones(len(sets))
        if self._pairs:
            share = 1.0 - count_missed(sets, turned_literals(sets), self._missed) / self._pairs
        covered: Floats = self._alone + (1.0 - self._alone) * share
        return covered


@dataclass(frozen=True, eq=False)
class PointwiseListing:
    """Pointwise order dependencies of one table.

    Attributes
    ----------
    names
        The columns.
    goals
        The right side of each law, as `goal_number` has it.
    sets
        The left sides as sets of literals, packed.
    covered
        Says how interesting each is, once somebody asks.
    errors
        The error of each, where one was allowed.
    """

    names: tuple[str, ...]
    goals: Int64s
    sets: Words
    covered: PairsCovered
    errors: Floats | None = None

    @staticmethod
    def joined(listings: Sequence[PointwiseListing]) -> PointwiseListing:
        """One listing of several."""
        errors = [listing.errors for listing in listings if listing.errors is not None]
        return PointwiseListing(
            listings[0].names,
            np.concatenate([listing.goals for listing in listings]),
            np.concatenate([listing.sets for listing in listings]),
            listings[0].covered,
            np.concatenate(errors) if errors else None,
        )

    @cached_property
    def interests(self) -> Floats:
        """How interesting each is, from 0 to 1."""
        return self.covered.of(self.sets)

    @property
    def kind(self) -> LawKind:
        """The kind of all of these laws."""
        return "pod"

    def __len__(self) -> int:
        return len(self.sets)

    def laws(self) -> Iterator[POD]:
        """The laws as values, made as they are asked for."""
        for start in range(0, len(self), _UNPACKED_AT_ONCE):
            some = slice(start, start + _UNPACKED_AT_ONCE)
            for number, literals in zip(self.goals[some].tolist(), unpack_sets(self.sets[some]), strict=True):
                yield pointwise_law(goal_of(number), literals)

    def readings(self) -> Iterator[str | None]:
        """What each says in plain words, where a simpler law says the same."""
        for law in self.laws():
            yield pointwise_reading(law, self.names)

    def ties(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Laws of the same interest are told small ones first, then by right side, then by left side."""
        return (*(self.sets[:, word].view(np.int64) for word in range(self.sets.shape[1])), self.goals, self._sizes)

    @property
    def _sizes(self) -> Int64s:
        return count_columns(self.sets)

    def chosen(self, places: npt.NDArray[np.int64]) -> PointwiseListing:
        """Some of the laws, in that order."""
        errors = None if self.errors is None else self.errors[places]
        some = PointwiseListing(self.names, self.goals[places], self.sets[places], self.covered, errors)
        some.__dict__["interests"] = self.interests[places]
        return some


def goal_number(goal: Goal) -> int:
    """A right side as a number, by column and operator."""
    return goal.column * _GOALS_A_COLUMN + _OPERATORS.index(goal.operator)


def goal_of(number: int) -> Goal:
    """The right side of a number."""
    column, place = divmod(number, _GOALS_A_COLUMN)
    return Goal(column, _OPERATORS[place])
