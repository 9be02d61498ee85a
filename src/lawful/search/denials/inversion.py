"""Evidence inversion: from what pairs of rows satisfy to the minimal denial constraints that none of them breaks.

A constraint is valid if no evidence contains it (Hydra, section 5), so that it must hold a predicate that the pair
does not satisfy, for every pair: constraints are hitting sets. Departures from Hydra's Algorithm 1:

- The shared search for hitting sets takes the place of refining all constraints evidence by evidence. It gives out
  constraints as it finds them, needs no test for subsets, and starts from the empty constraint.
- Triviality is joint and needs no care while searching: predicates that exclude each other hit every evidence, so a
  minimal hitting set that holds such predicates holds nothing else. These few sets are dropped in the end.
- For the reduced convention the search chooses which *signs* to exclude; see `literals`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.common.arrays import Words
from lawful.common.memory import make_room
from lawful.search.denials.kernels import almost
from lawful.search.denials.kernels import inversion as kernels
from lawful.search.denials.literals import Counts, Literals
from lawful.search.denials.reduction import is_possible
from lawful.search.hitting_sets import CHUNK_SETS, SLICE_NODES, nodes_a_slice
from lawful.search.kernels.hitting_sets import LEVEL
from lawful.search.sets import Look, full_set, set_sizes, words_for

ALMOST_NODES = 1 << 10


class DenialSearch:
    """A search for minimal hitting sets of literals that can be stopped and resumed; see `HittingSetSearch`.

    Parameters
    ----------
    edges
        The edges, none of which contains another.
    literals
        What they are made of.
    max_size
        The most predicates of a constraint.
    """

    def __init__(self, edges: Words, literals: Literals, max_size: int) -> None:
        self._words = edges.shape[1]
        self._edges = edges
        self._literals = literals
        self._max_size = max_size
        self._only_the_empty_set = len(edges) == 0
        self._state = np.zeros(kernels.STATE_SLOTS, np.int64)
        if not len(edges) or not edges[0].any() or max_size < 1:
            self._state[LEVEL] = -1
        else:
            make_room(2 * edges.nbytes)
            self._root = kernels.open_groups(edges, len(literals))

    @property
    def finished(self) -> bool:
        """Whether all solutions were handed out."""
        return bool(self._state[LEVEL] < 0) and not self._only_the_empty_set

    @property
    def was_cut(self) -> bool:
        """Whether the limit kept anything out so far, so that a higher one might find more."""
        return bool(self._state[kernels.CUT]) or (self._max_size < 1 and len(self._edges) > 0)

    def advance(self) -> Words:
        """Go on for a short while; return the next solutions, maybe none."""
        if self._only_the_empty_set:
            self._only_the_empty_set = False
            return np.zeros((1, self._words), np.uint64)
        if self.finished:
            return np.zeros((0, self._words), np.uint64)
        out = np.empty((CHUNK_SETS, self._words), np.uint64)
        literals = self._literals
        holders, chosen, used, marks, sets = self._root
        n_out = kernels.search_groups_on(
            self._edges, holders, literals.units, literals.members, literals.rivals, self._max_size,
            self._state, chosen, used, marks, sets, nodes_a_slice(self._edges, SLICE_NODES), out,
        )  # fmt: skip
        return out[:n_out]


def minimal_constraints(
    edges: Words, literals: Literals, max_size: int | None, look: Look, *, by_size: bool = False
) -> Iterator[Words]:
    """Yield the minimal constraints that hit all edges, as families of sets of predicates, none of them trivial.

    Parameters
    ----------
    max_size
        The most predicates of a constraint.
    look
        Called now and then; what it raises ends the search.
    by_size
        Yield small constraints before larger ones: the search is made once for every size, each time deeper.
    """
    most = literals.most_units if max_size is None else min(literals.most_units, max_size)
    smallest = 0
    for size in depths(most) if by_size else (most,):
        search = DenialSearch(edges, literals, size)
        while not search.finished:
            look()
            sets = literals.predicates(search.advance())
            if smallest:
                sets = sets[set_sizes(sets) >= smallest]
            yield sets[is_possible(sets, literals.space)] if literals.space.compares_across else sets
        if not search.was_cut:
            return
        smallest = size + 1


def depths(most: int) -> Iterator[int]:
    """Limits on the size, one after the other: each search costs a few times what the one before cost."""
    size = 0
    while size < most:
        yield size
        size += max(1, size // 3)
    yield most


def almost_constraints(
    edges: Words, turned: Words, weights: Counts, allowed: int, literals: Literals, max_size: int | None, look: Look
) -> Iterator[tuple[Words, Counts]]:
    """Yield the minimal constraints that pairs of at most the allowed weight break, and that weight for each.

    Parameters
    ----------
    edges, turned, weights
        For each distinct pair of rows its edges in either order, and how many pairs are like it.
    """
    most = literals.most_units if max_size is None else min(literals.most_units, max_size)
    depth = len(literals) + 2
    state, todo = np.zeros(almost.STATE_SLOTS, np.int64), np.zeros(depth, np.int64)
    sets = np.zeros((depth, almost.SET_SLOTS, words_for(len(literals))), np.uint64)
    if most > 0:
        sets[0, almost.CANDIDATES] = full_set(len(literals))
    members, nodes = literals.members, nodes_a_slice(edges, ALMOST_NODES)
    alone, none_given = np.full(len(literals), -1, np.int64), np.zeros(sets.shape[2], np.uint64)
    while state[almost.LEVEL] >= 0:
        look()
        out, counts = np.empty((CHUNK_SETS, sets.shape[2]), np.uint64), np.empty(CHUNK_SETS, np.int64)
        n_out = almost.search_almost_on(
            edges, turned, weights, allowed, literals.units, members, literals.rivals, most,
            alone, none_given, state, todo, sets, nodes, out, counts,
        )  # fmt: skip
        found, kept = literals.meant(out[:n_out])
        possible = is_possible(found, literals.space)
        yield found[possible], counts[:n_out][kept][possible]
