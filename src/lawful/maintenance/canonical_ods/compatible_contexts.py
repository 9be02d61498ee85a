"""In which contexts two columns are order compatible: what follows from pairs of rows, and from FDs.

The minimal contexts in which no pair of rows swaps A and B are the answers, and besides left sides of A or of B: rows
that agree on these do not differ on both (see `discovery.canonical_ods.evidence`). So one follows from the other: all
minimal contexts from the answers and the FDs, the answers from all minimal contexts and the FDs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from lawful.common.arrays import Flags, Words
from lawful.discovery.findings import Block
from lawful.evidence.living.suspects import Contexts, Swap
from lawful.evidence.signs import WORD_BITS
from lawful.maintenance.sign_witnesses import Signs
from lawful.search import minimal_hitting_sets, pack_set, words_for
from lawful.search.kernels.extensions import find_supersets
from lawful.search.sets import full_set, minimal_sets, sets_without

LeftSides = Sequence[Words]
"""The minimal left sides of each column."""


def swaps_of(width: int) -> list[Swap]:
    """Each two columns, both directions."""
    return [Swap(left, right, descends) for left, right in combinations(range(width), 2) for descends in (0, 1)]


def left_sides_of(fds: Iterable[Block], width: int) -> LeftSides:
    """FDs by their right sides."""
    nothing = np.empty((0, words_for(width)), np.uint64)
    found = [nothing] * width
    for block in fds:
        found[block.goal] = block.sets
    return found


def all_contexts(swap: Swap, answers: Words, left_sides: LeftSides, width: int) -> Words:
    """All minimal contexts of two columns, from those that are answers."""
    both = pack_set((swap.left, swap.right), width)
    known = np.concatenate([left_sides[swap.left], left_sides[swap.right]])
    return minimal_sets(np.concatenate([answers, known[~(known & both).any(axis=1)]]))


def answers_among(swap: Swap, contexts: Words, left_sides: LeftSides) -> Words:
    """The minimal contexts that determine neither column."""
    return sets_without(contexts, np.concatenate([left_sides[swap.left], left_sides[swap.right]]))


class Swapped:
    """Which pairs of rows swap which columns."""

    def __init__(self, signs: Signs, width: int) -> None:
        self._signs, self._width = signs, width
        self._columns: dict[int, tuple[Flags, Flags]] = {}

    def by(self, swap: Swap) -> Flags:
        """The pairs that swap two columns."""
        rises, falls = self._of(swap.left)
        other_rises, other_falls = self._of(swap.right)
        if swap.descends:
            return (rises & other_rises) | (falls & other_falls)
        return (rises & other_falls) | (falls & other_rises)

    def refuting(self, swap: Swap, contexts: Words) -> Flags:
        """The pairs that break one of the contexts of two columns."""
        found = self.by(swap)
        if len(contexts) and found.any():
            found[found] = find_supersets(self._signs.agrees[found], contexts)
            return found
        return np.zeros(len(found), np.bool_)

    def edges(self, swap: Swap) -> Words:
        """Sets of columns of which every context of two columns must have one."""
        others = full_set(self._width) & ~pack_set((swap.left, swap.right), self._width)
        edges: Words = ~self._signs.agrees[self.by(swap)] & others
        return edges

    def _of(self, column: int) -> tuple[Flags, Flags]:
        if column not in self._columns:
            word, bit = column // WORD_BITS, np.uint64(1) << np.uint64(column % WORD_BITS)
            self._columns[column] = (self._signs.rises[:, word] & bit != 0, self._signs.falls[:, word] & bit != 0)
        return self._columns[column]


def thought_contexts(
    signs: Signs, swaps: Iterable[Swap], width: int, max_size: int | None, look: Callable[[], None]
) -> Iterator[tuple[Swap, Words]]:
    """The minimal contexts that no pair of rows refutes."""
    swapped = Swapped(signs, width)
    for swap in swaps:
        look()
        yield swap, minimal_hitting_sets(swapped.edges(swap), max_size=max_size, look=look)


def touched_by(signs: Signs, width: int) -> set[Swap]:
    """The columns that some pairs of rows swap."""
    if not len(signs):
        return set()
    swapped = Swapped(signs, width)
    return {swap for swap in swaps_of(width) if swapped.by(swap).any()}


def refuting_pairs(signs: Signs, contexts: Contexts, width: int) -> tuple[Flags, set[Swap]]:
    """Which pairs of rows refute a law, and the columns of the laws that any refutes."""
    refutes, touched = np.zeros(len(signs), np.bool_), set[Swap]()
    swapped = Swapped(signs, width)
    for swap, sets in contexts.items():
        found = swapped.refuting(swap, sets)
        if found.any():
            refutes |= found
            touched.add(swap)
    return refutes, touched


def following(swap: Swap, contexts: Words, known: Words, left_sides: LeftSides) -> Flags:
    """Which contexts of two columns contain one that is known, or determine a column."""
    premises = np.concatenate([known, left_sides[swap.left], left_sides[swap.right]])
    if not len(premises) or not len(contexts):
        return np.zeros(len(contexts), np.bool_)
    return find_supersets(contexts, premises)
