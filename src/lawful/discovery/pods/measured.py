"""Pointwise order dependencies within an error on a table that no process holds: left sides, measured by the engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.common.arrays import Words
from lawful.dependencies import Law
from lawful.discovery.measured_borders import Border, Numbers, random_signs, unpacked
from lawful.evidence.denials.pool import DenialPool
from lawful.search import pack_sets
from lawful.search.pods.kernels.left_sides import IS_EQUAL, IS_GREATER, IS_LESS, edges_of_signs, turned_literals
from lawful.search.pods.left_sides import COLUMN_BITS, Goal, GoalEdges, LeftSideSearch, pointwise_law
from lawful.search.sets import Look, minimal_sets, sets_without

_STRICT = 2
"""The first of the two strict literals of a column; each follows its weaker form by as many."""
_BREAK = {"=": (IS_LESS, IS_GREATER), "<": (IS_EQUAL, IS_GREATER), "<=": (IS_GREATER,)}
"""What a pair that breaks a right side is in its column."""

Marked = Callable[[], tuple[Words, Words]]


class LeftSides(Border):
    """Left sides of one right side.

    Parameters
    ----------
    goal, columns
        The right side, and how many columns the table has.
    edges
        The literals that pairs of rows of a sample do not satisfy, in either order.
    marked
        For <=, gives the left sides that are too wrong for = and for <: what is none of these follows from such laws.
    look
        Called now and then; what it raises ends the search.
    """

    def __init__(self, goal: Goal, columns: int, edges: Words, marked: Marked | None, look: Look) -> None:
        self._goal, self._columns, self._marked, self._look = goal, columns, marked, look
        missed = unpacked(edges, COLUMN_BITS * columns)
        own = missed[:, COLUMN_BITS * goal.column : COLUMN_BITS * (goal.column + 1)] @ (1 << np.arange(COLUMN_BITS))
        satisfied = ~missed[np.isin(own, _BREAK[goal.operator])]
        super().__init__(satisfied, [self._conflicting(literal) for literal in range(COLUMN_BITS * columns)])

    def _conflicting(self, literal: int) -> set[int]:
        """What makes no operator together with a literal; the right column is on no left side."""
        column, place = divmod(literal, COLUMN_BITS)
        first = COLUMN_BITS * column
        if column == self._goal.column:
            return {literal}
        if place >= _STRICT:
            weaker = literal - _STRICT
            return set(range(first, first + COLUMN_BITS)) - {literal, weaker}
        # Next to <= all but > may stand, which is >= already.
        return {first + _STRICT + 1 - place}

    def minimal(self, wrong: Words, size: int | None) -> Words:
        """The minimal left sides up to a number of columns that lie in none of some."""
        uncovered, marked = self._edges(wrong), (wrong[:0], wrong[:0])
        if self._marked is not None:
            one, other = (sets_without(self._edges(some), uncovered) for some in self._marked())
            marked = one, other
        most = self._columns if size is None else size
        search = LeftSideSearch(GoalEdges(self._goal, uncovered, marked), most)
        found = [wrong[:0]]
        while not search.finished:
            self._look()
            found.append(search.advance())
        return np.concatenate(found)

    def _edges(self, wrong: Words) -> Words:
        others = [n for n in range(self.literals) if n // COLUMN_BITS != self._goal.column]
        return minimal_sets(~wrong & pack_sets([others], self.literals)[0])

    def law(self, literals: Numbers) -> Law | None:
        """The law with some literals on the left, of which strict ones stand for their weaker forms too."""
        stronger = {literal - _STRICT for literal in literals if literal % COLUMN_BITS >= _STRICT}
        return pointwise_law(self._goal, (literal for literal in literals if literal not in stronger))

    def image(self, literal: int) -> int:
        """The same with both rows exchanged, which only = on the right does not notice."""
        return literal ^ 1 if self._goal.operator == "=" else literal

    def brought(self, literal: int) -> set[int]:
        """A strict literal brings its weaker form."""
        return {literal, literal - _STRICT} if literal % COLUMN_BITS >= _STRICT else {literal}


def sampled_edges(pool: DenialPool, columns: int) -> Words:
    """The literals that random pairs of rows do not satisfy, in either order."""
    signs = random_signs(pool)
    edges = edges_of_signs(signs.less, signs.greater, columns)
    return np.concatenate([edges, turned_literals(edges)])
