"""Denial constraints of few predicates that no pair of a sample breaks; see `kernels.small`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.memory import make_room
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.search.denials.kernels import small as kernels
from lawful.search.denials.literals import Counts, Literals
from lawful.search.denials.reduction import is_possible
from lawful.search.kernels.sets import transpose
from lawful.search.sets import Look, pack_lists, padded_lists, words_for

LARGEST = kernels.MOST
"""The most predicates of a constraint that is found so."""
_WORDS_A_SLICE = 1 << 24
"""Words that are read between two looks at the limits: some hundredths of a second."""
_SETS_A_SLICE = 1 << 12
_PACKED_AT_ONCE = 1 << 21
"""The words of sets that are looked at together: each has a bit for every predicate of the space."""


def small_constraints(less: Words, greater: Words, space: PredicateSpace, size: int, look: Look) -> Iterator[Int32s]:
    """Yield the constraints of so many predicates that no pair breaks in either order, none of them trivial.

    They are rows of an array, the numbers of their predicates, ascending: in a wide space a set of them takes thousands
    of times as much.

    They are minimal, and none follows from another that has a weaker predicate of the same group in the place of one:
    those of the reduced convention, before what follows across groups is left out.

    Parameters
    ----------
    less, greater
        The signs of pairs.
    size
        How many predicates they have, at most `LARGEST`.
    look
        Called now and then; what it raises ends the search.
    """
    if not len(space):
        return
    planes, groups, weaker = _satisfying(less, greater, space), np.array(space.group_of, np.int64), _weaker(space)
    state = np.zeros(kernels.STATE_SLOTS, np.int64)
    state[kernels.SECOND] = 1
    out = np.empty((max(_SETS_A_SLICE, len(space)), LARGEST), np.int32)
    at_once = max(1, _PACKED_AT_ONCE // words_for(len(space)))
    while state[kernels.FIRST] < len(space):
        look()
        written = kernels.search_small_on(planes, groups, weaker, size, state, _WORDS_A_SLICE, out)
        for start in range(0, written, at_once):
            found = out[start : min(written, start + at_once), :size]
            yield found[is_possible(pack_lists(found, len(space)), space)]


def _satisfying(less: Words, greater: Words, space: PredicateSpace) -> Words:
    """For each predicate the pairs that satisfy it, in either order."""
    literals = Literals.of(space, "set-minimal")  # which are the predicates
    make_room(4 * len(less) * words_for(len(space)) * less.itemsize)
    edges = literals.all_edges(less, greater)
    edges = np.concatenate([edges, literals.turned(edges)])
    planes = ~transpose(edges)[: len(space)]
    if len(edges) % 64:
        planes[:, -1] &= np.uint64((1 << len(edges) % 64) - 1)
    return np.ascontiguousarray(planes)


def _weaker(space: PredicateSpace) -> Counts:
    """For each predicate those that say less of the same two cells."""
    return padded_lists([[other for other in implied if other != one] for one, implied in enumerate(space.implied)])
