"""What an index is asked: the rows that compare with a new row in two given ways, or are equal and compare in two ways.

A pair of rows breaks X -> B^op if it satisfies all of X and the *inverse* of B^op (I4: section V-B of IncPOD prints
B^op itself). So it satisfies any two of these comparisons, and asking for two of them finds it. A pair can break a law
with its rows in either order: the answer to a question and that to its mirror image, T and T-bar in the paper, are
wanted together, and the two images count as one question.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from lawful.dependencies.implication import IMPLIED_OPERATORS
from lawful.dependencies.laws import MIRRORED, NEGATED, POD, Operator

Mark = tuple[int, Operator]
"""A marked attribute: a column and how the first row compares with the second there."""


class Fetch(NamedTuple):
    """Rows s with `t first_op s` in one column and `t second_op s` in another; None where one column is enough.

    `!=` stands for `<` and for `>`, which an index is asked one after the other. `within` is a further column in which
    the rows have the same value.
    """

    first: int
    first_op: Operator
    second: int | None = None
    second_op: Operator | None = None
    within: int | None = None

    @staticmethod
    def of(one: Mark, other: Mark | None = None, within: int | None = None) -> Fetch:
        """The question for one or two comparisons, with the smaller column first and in one of its two images."""
        if other is None:
            return min(Fetch(*one), Fetch(*one).mirrored())
        fetch = Fetch(*min(one, other), *max(one, other), within)
        return min(fetch, fetch.mirrored())

    def mirrored(self) -> Fetch:
        """The same with the rows exchanged."""
        second_op = self.second_op and MIRRORED[self.second_op]
        return self._replace(first_op=MIRRORED[self.first_op], second_op=second_op)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that are compared."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def is_equality(self) -> bool:
        """Whether rows with the same value in one column are wanted, and nothing else."""
        return self.second is None and self.first_op == "="

    def parts(self) -> list[Fetch]:
        """The same as questions that each have an interval of a sorted list for their answer."""
        firsts: tuple[Operator, ...] = ("<", ">") if self.first_op == "!=" else (self.first_op,)
        seconds: tuple[Operator | None, ...] = ("<", ">") if self.second_op == "!=" else (self.second_op,)
        parts = [self._replace(first_op=one, second_op=other) for one in firsts for other in seconds]
        return [part for k, part in enumerate(parts) if part.mirrored() not in parts[:k]]

    def is_within(self, other: Fetch) -> bool:
        """Whether all rows that this one finds are found by the other, both without `!=`."""
        if self.columns != other.columns or other.within not in (None, self.within):
            return False
        return _implies(self, other) or _implies(self.mirrored(), other)


def _implies(one: Fetch, other: Fetch) -> bool:
    if other.first_op not in IMPLIED_OPERATORS[one.first_op]:
        return False
    return one.second_op is None or other.second_op in IMPLIED_OPERATORS[one.second_op]


def widest(fetches: Iterable[Fetch]) -> tuple[Fetch, ...]:
    """The parts of some fetches, without those that others find too."""
    kept: list[Fetch] = []
    for part in sorted({part for fetch in fetches for part in fetch.parts()}):
        if not any(part.is_within(other) for other in kept):
            kept = [other for other in kept if not other.is_within(part)]
            kept.append(part)
    return tuple(kept)


def fetches_of(pod: POD) -> list[Fetch]:
    """All fetches that find every pair that breaks a POD.

    Beside the pairs of section V-B these are pairs with an `=`: in a list that is sorted on both columns, the rows that
    are equal in one and smaller in the other are an interval too. A POD without a left side has one comparison only
    (I10: algorithm 3 forgets it).
    """
    column, operator = pod.rhs
    literals: list[Mark] = [*pod.lhs, (column, NEGATED[operator])]
    found = [Fetch.of(literal) for literal in pod.lhs if literal[1] == "="]
    found += [Fetch.of(one, other) for one, other in combinations(literals, 2) if (one[1], other[1]) != ("=", "=")]
    return found or [Fetch.of(literals[0])]


def finer_fetches_of(pod: POD) -> list[Fetch]:
    """All fetches with three comparisons, one of them by =, that find every pair that breaks a POD.

    Beyond the paper. A law such as {state=, salary<} -> rate<= has no two comparisons that few pairs satisfy, however
    well it holds: what an index on two of them lists grows with the table. The three together find what breaks it.
    """
    column, operator = pod.rhs
    literals: list[Mark] = [*pod.lhs, (column, NEGATED[operator])]
    return [
        Fetch.of(one, other, equal)
        for equal, op in pod.lhs
        if op == "="
        for one, other in combinations([literal for literal in literals if literal[0] != equal], 2)
    ]
