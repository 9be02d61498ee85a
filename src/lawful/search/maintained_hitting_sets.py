"""Minimal hitting sets that are kept up to date while edges arrive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Words
from lawful.search.hitting_sets import enumerate_with_cost
from lawful.search.kernels.extensions import (
    HEIGHT,
    ROOT,
    STATE_SLOTS,
    STEPS,
    enter_edges,
    extend_solutions,
    find_missed,
    find_supersets,
    split_solutions,
)
from lawful.search.sets import WORD_BITS, as_family, full_set, minimal_sets, sets_without, words_for


class Change(NamedTuple):
    """What an update did: the sets that are no longer minimal hitting sets, and those that now are."""

    removed: Words
    added: Words


class HittingSets:
    """The minimal hitting sets of a growing family of edges, exact after every update.

    Parameters
    ----------
    universe
        The number of columns.
    max_size
        Leave out solutions with more columns.
    candidates
        The columns that a solution may use, as `uint64[words]`; all if not given.

    Notes
    -----
    An update extends only the solutions that a new edge refutes, or starts again from all edges where that is
    cheaper. The cost rule: a step of the extension takes about as long as a node of the search, and a refuted
    solution takes at least two steps. So an extension may take as many steps as the last enumeration took
    nodes, in proportion to the solutions then and now, and `FREE_STEPS` for what an enumeration costs
    besides. If it is bound to take more it is not begun, and if it does it is given up.
    """

    FREE_STEPS = 512

    _CHUNK_SETS = 1 << 14

    def __init__(self, universe: int, *, max_size: int | None = None, candidates: Words | None = None) -> None:
        words = words_for(universe)
        self._max_size = universe if max_size is None else max_size
        self._candidates = full_set(universe) if candidates is None else candidates
        # Without edges, the empty set hits all of them.
        self._solutions = np.zeros((1 if self._max_size >= 0 else 0, words), dtype=np.uint64)
        self._keep_edges(np.zeros((0, words), dtype=np.uint64))
        self._nodes_per_solution = 1.0

    def __len__(self) -> int:
        return len(self._solutions)

    @property
    def solutions(self) -> Words:
        """The minimal hitting sets; a family that later updates leave as it is."""
        return self._solutions

    @property
    def edges(self) -> Words:
        """The edges that determine the solutions: of all that were added, those that told something new."""
        return self._edges[: self._n_edges]

    def add_edges(self, new_edges: Words) -> Change:
        """Take in new edges and return how the solutions change; if interrupted, nothing has changed."""
        fresh = as_family(new_edges) & self._candidates
        # An edge that contains a known edge tells nothing new, and neither does one that all solutions hit.
        # Both say the same (up to the size limit), so whatever there is less of is asked first.
        if self._n_edges < len(self._solutions):
            fresh = fresh[~find_supersets(fresh, self.edges)]
        removed, survivors = split_solutions(self._solutions, fresh)
        if not len(removed):
            return Change(removed, removed)
        fresh = minimal_sets(fresh[find_missed(fresh, removed)])
        if self._n_edges > 2 * self._n_minimal + WORD_BITS:
            # Newer edges made others redundant, which does no harm but takes time.
            self._keep_edges(minimal_sets(self.edges))
        n_known = self._n_edges
        try:
            self._append_edges(fresh)
            added = self._extend(removed, n_known)
            if added is None:
                return Change(removed, self._start_again(survivors))
            self._solutions = np.concatenate([survivors, added])
        except BaseException:
            self._keep_edges(self.edges[:n_known])
            raise
        return Change(removed, added)

    def _start_again(self, survivors: Words) -> Words:
        """Enumerate the solutions of all edges, and return those that are not known to survive."""
        edges = minimal_sets(self.edges)
        solutions, cost = enumerate_with_cost(edges, self._max_size, edges_are_minimal=True)
        added = sets_without(solutions, survivors)
        self._keep_edges(edges)
        self._solutions = solutions
        self._nodes_per_solution = cost / max(1, len(solutions))
        return added

    def _extend(self, roots: Words, n_known: int) -> Words | None:
        """Extend solutions that miss edges from `n_known` on; None if to start again is cheaper."""
        allowance = self.FREE_STEPS + int(self._nodes_per_solution * len(self._solutions))
        if 2 * len(roots) > allowance:
            return None
        words = roots.shape[1]
        edges = self.edges
        # A step takes a set from the stack and puts as many there as an edge has columns, each one larger.
        deepest = min(words * WORD_BITS, len(edges) - n_known) + 1
        stack = np.empty((deepest * words * WORD_BITS, words), dtype=np.uint64)
        stack_edge = np.empty(len(stack), dtype=np.int64)
        shared = np.empty((words * WORD_BITS, words), dtype=np.uint64)
        state = np.zeros(STATE_SLOTS, dtype=np.int64)
        found: list[Words] = []
        while state[HEIGHT] > 0 or state[ROOT] < len(roots):
            if state[STEPS] >= allowance:
                return None
            out = np.empty((self._CHUNK_SETS, words), dtype=np.uint64)
            n_out = extend_solutions(
                roots,
                edges,
                n_known,
                self._blocks,
                self._max_size,
                state,
                stack,
                stack_edge,
                shared,
                allowance - state[STEPS],
                out,
            )
            found.append(out[:n_out])
        return np.concatenate(found)

    def _keep_edges(self, edges: Words) -> None:
        self._n_edges = 0
        self._n_minimal = len(edges)
        self._edges = np.zeros((WORD_BITS, edges.shape[1]), dtype=np.uint64)
        self._blocks = np.zeros((1, edges.shape[1] * WORD_BITS), dtype=np.uint64)
        self._append_edges(edges)

    def _append_edges(self, edges: Words) -> None:
        n_after = self._n_edges + len(edges)
        if n_after > len(self._edges):
            n_blocks = words_for(2 * n_after)
            self._edges = _grown(self._edges, n_blocks * WORD_BITS)
            self._blocks = _grown(self._blocks, n_blocks)
        self._edges[self._n_edges : n_after] = edges
        enter_edges(self._blocks, self._edges[:n_after], self._n_edges)
        self._n_edges = n_after


def _grown(array: Words, length: int) -> Words:
    grown = np.zeros((length, array.shape[1]), dtype=np.uint64)
    grown[: len(array)] = array
    return grown
