"""The minimal left sides of a right side that few enough pairs of rows break, by the search of denial constraints.

A pair breaks a law if it does so in either order, and counts once. Literals beside those of the columns stand for what
the right side says of a pair: that the pair cannot break it in this order, and, for <=, that < or = would be broken
too. Every left side has them; of the last two each must be needed, or the law follows from one with < or =.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.common.arrays import Int64s, Words
from lawful.search.denials.inversion import ALMOST_NODES
from lawful.search.denials.kernels import almost as kernels
from lawful.search.denials.literals import members_of
from lawful.search.hitting_sets import CHUNK_SETS, nodes_a_slice
from lawful.search.pods.kernels.left_sides import IS_EQUAL, IS_LESS, IS_UNKNOWN, turned_literals
from lawful.search.pods.left_sides import COLUMN_BITS, Goal, literal_words, told_left_sides
from lawful.search.sets import Look, pack_set, padded_lists, words_for

_UNBROKEN, _LESS, _EQUAL = range(3)
"""The literals beside those of the columns, in this order."""
_BESIDE = 3
_AT_MOST, _AT_LEAST = 0, 1


def almost_left_sides(
    edges: Words, weights: Int64s, goal: Goal, columns: int, allowed: int, max_columns: int, look: Look
) -> Iterator[tuple[Words, Int64s]]:
    """Yield the minimal left sides that pairs of at most the allowed weight break, and that weight for each.

    Parameters
    ----------
    edges, weights
        The literals that each distinct pair of rows does not satisfy, in one order, and how many pairs are like it.
    """
    beside = COLUMN_BITS * columns
    one, other = (_with_right_side(some, goal, beside) for some in (edges, turned_literals(edges)))
    marks = (_UNBROKEN, _LESS, _EQUAL) if goal.operator == "<=" else (_UNBROKEN,)
    depth = beside + _BESIDE + 2
    state, todo = np.zeros(kernels.STATE_SLOTS, np.int64), np.zeros(depth, np.int64)
    sets = np.zeros((depth, kernels.SET_SLOTS, one.shape[1]), np.uint64)
    sets[0, kernels.SOLUTION] = pack_set([beside + mark for mark in marks], beside + _BESIDE)
    others = [literal for literal in range(beside) if literal // COLUMN_BITS != goal.column]
    sets[0, kernels.CANDIDATES] = pack_set(others if max_columns > 0 else (), beside + _BESIDE)
    units, members, rivals, weaker = _literals(columns)
    given = pack_set([beside + _UNBROKEN], beside + _BESIDE)
    while state[kernels.LEVEL] >= 0:
        look()
        out, counts = np.empty((CHUNK_SETS, one.shape[1]), np.uint64), np.empty(CHUNK_SETS, np.int64)
        n_out = kernels.search_almost_on(
            one, other, weights, allowed, units, members, rivals, max_columns + len(marks), weaker, given,
            state, todo, sets, nodes_a_slice(one, ALMOST_NODES), out, counts,
        )  # fmt: skip
        found = _without_beside(out[:n_out], columns)
        told = told_left_sides(goal, found)
        yield found[told], counts[:n_out][told]


def _with_right_side(edges: Words, goal: Goal, beside: int) -> Words:
    """Edges without the right column, but with what it says of each pair."""
    word, place = divmod(goal.column, 64 // COLUMN_BITS)
    shift = np.uint64(COLUMN_BITS * place)
    signs = (edges[:, word] >> shift) & np.uint64(15)
    result = np.zeros((len(edges), words_for(beside + _BESIDE)), np.uint64)
    result[:, : edges.shape[1]] = edges
    result[:, word] &= ~(np.uint64(15) << shift)

    def add(mark: int, sign: int) -> None:
        at, bit = divmod(beside + mark, 64)
        result[signs == sign, at] |= np.uint64(1) << np.uint64(bit)

    add(_UNBROKEN, IS_UNKNOWN)
    add(_UNBROKEN if goal.operator == "<" else _LESS, IS_LESS)
    add(_UNBROKEN if goal.operator == "=" else _EQUAL, IS_EQUAL)
    return result


def _literals(columns: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """For each literal its column, for each column its literals, then those that exclude each other, and weaker forms.

    Columns are followed by what stands beside them, each on its own.
    """
    size = COLUMN_BITS * columns + _BESIDE
    units = np.concatenate([np.arange(COLUMN_BITS * columns) // COLUMN_BITS, columns + np.arange(_BESIDE)])
    rivals: list[list[int]] = []
    weaker = np.full(size, -1, np.int64)
    for literal in range(COLUMN_BITS * columns):
        first, place = literal - literal % COLUMN_BITS, literal % COLUMN_BITS
        # Next to <= only >= may stand, which makes =.
        partners = {place, _AT_MOST, _AT_LEAST} if place in (_AT_MOST, _AT_LEAST) else {place}
        rivals.append([first + other for other in range(COLUMN_BITS) if other not in partners])
        if place not in (_AT_MOST, _AT_LEAST):
            weaker[literal] = literal - 2
    return units, members_of(units), padded_lists([*rivals, *[[]] * _BESIDE]), weaker


def _without_beside(sets: Words, columns: int) -> Words:
    words = literal_words(columns)
    found = np.ascontiguousarray(sets[:, :words])
    left = COLUMN_BITS * columns - 64 * (words - 1)
    if left < 64:
        found[:, -1] &= np.uint64((1 << left) - 1)
    return found
