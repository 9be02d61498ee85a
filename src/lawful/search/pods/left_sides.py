"""The minimal left sides of each right side, from what pairs of rows say: hitting sets over marked columns.

BatchPOD, the batch side of IncPOD (section VII), is Hydra's search for denial constraints restricted to such laws. Here
the right side is fixed and the left side is searched for by itself: minimality compares laws of one right
column only, and != stands on no left side, so that minimal constraints are other laws than minimal dependencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.common.memory import make_room
from lawful.dependencies import POD, Operator
from lawful.search.hitting_sets import CHUNK_SETS
from lawful.search.pods.kernels import left_sides as kernels
from lawful.search.sets import distinct_sets, minimal_sets, sets_without, unpack_sets, words_for

COLUMN_BITS: Final = kernels.COLUMN_BITS
_OPERATORS: Final[dict[int, Operator]] = {1: "<=", 2: ">=", 3: "=", 4: "<", 8: ">"}
"""What the literals of one column come down to."""
_WORK = 1 << 25
"""How many edges a search looks at before it gives a clock or Ctrl-C a chance: less than a tenth of a second."""
_FIRST_ROOM = 1 << 12
_COPIES = 3
"""What it takes to sort edges, or to double their list, in copies of them."""


class Goal(NamedTuple):
    """A right side."""

    column: int
    operator: Operator


def goals_of(columns: int) -> list[Goal]:
    """All right sides over some columns."""
    operators: tuple[Operator, ...] = ("=", "<", "<=")
    return [Goal(column, operator) for column in range(columns) for operator in operators]


def pair_edges(less: Words, greater: Words, columns: int) -> Words:
    """For each distinct pair of rows, in either order, the literals that it does not satisfy."""
    make_room(_COPIES * 2 * len(less) * literal_words(columns) * less.itemsize)
    edges = kernels.edges_of_signs(less, greater, columns)
    return distinct_sets(np.concatenate([edges, kernels.turned_literals(edges)]))


def pointwise_laws(goal: Goal, sets: Words) -> Iterator[POD]:
    """The laws with some left sides, as values."""
    for literals in unpack_sets(sets):
        yield pointwise_law(goal, literals)


def pointwise_law(goal: Goal, literals: Iterable[int]) -> POD:
    """The law with some literals on the left."""
    marks: dict[int, int] = {}
    for literal in literals:
        column, place = divmod(literal, COLUMN_BITS)
        marks[column] = marks.get(column, 0) | 1 << place
    return POD(tuple([(column, _OPERATORS[mark]) for column, mark in marks.items()]), (goal.column, goal.operator))


def told_left_sides(goal: Goal, sets: Words) -> npt.NDArray[np.bool_]:
    """Which left sides are told: of two that are mirror images of each other, the one whose first order rises.

    Only = on the right has them. The paper (section III) says that <, <= and = avoid such twins; for = that is not so.
    """
    return kernels.rising_first(sets) if goal.operator == "=" else np.ones(len(sets), np.bool_)


class GoalEdges(NamedTuple):
    """What pairs of rows say of one right side: the edges of those that break it, over all other columns.

    `marked` are the edges of other pairs that keep the marks of <= critical: with the right column less, and equal.
    """

    goal: Goal
    broken_by: Words
    marked: tuple[Words, Words]

    @staticmethod
    def of(edges: Words, goal: Goal) -> GoalEdges:
        """Take from `pair_edges` what is about a right side; a pair whose sign there is unknown breaks nothing."""
        word, place = divmod(goal.column, 64 // COLUMN_BITS)
        shift = np.uint64(COLUMN_BITS * place)
        nibbles = (edges[:, word] >> shift) & np.uint64(15)

        def where(sign: int) -> Words:
            is_there = nibbles == sign
            make_room(_COPIES * int(np.count_nonzero(is_there)) * edges.shape[1] * edges.itemsize)
            others: Words = edges[is_there]
            others[:, word] &= ~(np.uint64(15) << shift)
            return others

        greater = where(kernels.IS_GREATER)
        if goal.operator != "<=":
            more = where(kernels.IS_LESS if goal.operator == "=" else kernels.IS_EQUAL)
            return GoalEdges(goal, distinct_sets(np.concatenate([greater, more])), (greater[:0], greater[:0]))
        # What has to be hit anyway keeps no mark critical.
        less, equal = (sets_without(where(sign), greater) for sign in (kernels.IS_LESS, kernels.IS_EQUAL))
        return GoalEdges(goal, greater, (less, equal))


class LeftSideSearch:
    """A search for the minimal left sides of one right side that can be stopped and resumed.

    Parameters
    ----------
    edges
        What pairs of rows say of the right side.
    max_columns
        The most columns of a left side.
    patience
        After how many edges to stop for whoever has another way then.
    """

    def __init__(self, edges: GoalEdges, max_columns: int, patience: int | None = None) -> None:
        # Without unknown signs no edge contains another one.
        uncovered = minimal_sets(edges.broken_by) if has_unknown(edges.broken_by).any() else edges.broken_by
        marked = edges.marked
        self._words = uncovered.shape[1]
        self._max_columns = max_columns
        self._work = _WORK if patience is None else min(_WORK, patience)
        self.looked_at = 0
        """How many edges were looked at so far, about."""
        self._has_marks = edges.goal.operator == "<="
        is_possible = not self._has_marks or all(len(some) for some in marked)
        self._only_the_empty_set = is_possible and not len(uncovered)
        self._is_cut = max_columns < 1 and len(uncovered) > 0
        self._state = np.zeros(kernels.STATE_SLOTS, np.int64)
        if not is_possible or not len(uncovered) or not uncovered.any(axis=1).all() or max_columns < 1:
            self._state[kernels.LEVEL] = -1
        else:
            self._open(uncovered, np.concatenate(marked), np.repeat(np.arange(2, dtype=np.int16), [*map(len, marked)]))

    def _open(self, uncovered: Words, once: Words, slots: kernels.Slots) -> None:
        levels = COLUMN_BITS * 16 * self._words // 2 + 1
        self._ends = np.zeros((levels + 1, 2), np.int64)
        self._ends[1] = len(uncovered), len(once)
        self._sets = np.empty((levels, kernels.SET_SLOTS, self._words), np.uint64)
        self._uncovered, self._once, self._slots = uncovered, once, slots
        self._make_room()
        kernels.open_root(self._uncovered, self._once, self._slots, self._ends, self._sets)

    def _make_room(self) -> None:
        """Double the lists of edges."""
        make_room(_COPIES * (self._uncovered.nbytes + self._once.nbytes))
        more = np.empty((_FIRST_ROOM + len(self._uncovered), self._words), np.uint64)
        self._uncovered = np.concatenate([self._uncovered, more])
        more = np.empty((2 * _FIRST_ROOM + len(self._uncovered) + len(self._once), self._words), np.uint64)
        self._once = np.concatenate([self._once, more])
        self._slots = np.concatenate([self._slots, np.empty(len(more), np.int16)])

    @property
    def finished(self) -> bool:
        """Whether all left sides were handed out."""
        return bool(self._state[kernels.LEVEL] < 0) and not self._only_the_empty_set

    @property
    def was_cut(self) -> bool:
        """Whether the limit kept anything out so far, so that a higher one might find more."""
        return self._is_cut or bool(self._state[kernels.CUT])

    def advance(self) -> Words:
        """Go on for a short while; return the next left sides, maybe none."""
        if self._only_the_empty_set:
            self._only_the_empty_set = False
            return np.zeros((1, self._words), np.uint64)
        if self.finished:
            return np.zeros((0, self._words), np.uint64)
        if self._state[kernels.NEEDS_ROOM]:
            self._make_room()
        out = np.empty((CHUNK_SETS, self._words), np.uint64)
        n_out = kernels.search_on(
            self._uncovered, self._once, self._slots, self._ends, self._has_marks, self._max_columns,
            self._sets, self._state, self._work, out,
        )  # fmt: skip
        self.looked_at += self._work
        return out[:n_out]


def has_unknown(edges: Words) -> npt.NDArray[np.bool_]:
    """Which columns are unknown in any of some edges."""
    union = np.zeros(edges.shape[1], np.uint64)
    if len(edges):
        pairs = edges & (edges >> np.uint64(1))
        union = np.bitwise_or.reduce(pairs & (pairs >> np.uint64(2)), axis=0)
    places = np.arange(0, 64, COLUMN_BITS, dtype=np.uint64)
    return ((union[:, np.newaxis] >> places) & np.uint64(1)).astype(np.bool_).ravel()


def literal_words(columns: int) -> int:
    """How many words a set of literals takes."""
    return words_for(COLUMN_BITS * columns)
