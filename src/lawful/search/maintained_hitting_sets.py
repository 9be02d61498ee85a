"""Minimal hitting sets that are kept up to date while edges come and go.

Let the edges E become E', neither with an edge that contains another. A minimal hitting set of E' either hits all
edges of E too; then it is one of both together, and comes from one of E by extending it (`kernels/extensions`). Or it
misses an edge that went; these are found by a search that looks for nothing else (`HittingSetSearch`, `missing`). Of
those that hit all edges of E, the ones whose every column still has a critical edge in E' are minimal. An edge that
went because a smaller one came is not missed by anything, so that where edges only come nothing is searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Bytes, Flags, Int64s, Words
from lawful.search.hitting_sets import CHUNK_SETS, SLICE_NODES, HittingSetSearch, enumerate_with_cost
from lawful.search.kernels.extensions import (
    ANY,
    DOUBTFUL,
    HEIGHT,
    REFUTED,
    ROOT,
    STATE_SLOTS,
    STEPS,
    UNTOUCHED,
    drop_edges,
    enter_edges,
    extend_solutions,
    find_critical,
    find_supersets,
    forget_edges,
    judge_solutions,
    pick_solutions,
)
from lawful.search.kernels.places import find_places
from lawful.search.sets import WORD_BITS, as_family, distinct_sets, minimal_sets, words_for

COMPARISONS_PER_NODE = 256
"""About as many sets are compared in the time of a node."""


class Change(NamedTuple):
    """What an update did: the sets that are no longer minimal hitting sets, and those that now are."""

    removed: Words
    added: Words


class Update(NamedTuple):
    """An update that was thought out and is not yet made."""

    change: Change
    solutions: Words
    dropped: Int64s
    """The places of the edges that go, ascending."""
    come: Words
    nodes_per_solution: float


class HittingSets:
    """The minimal hitting sets of a changing family of edges, exact after every update.

    Parameters
    ----------
    universe
        The number of columns.
    max_size
        Leave out solutions with more columns.

    Notes
    -----
    An update extends only the solutions that a new edge refutes and searches only for those that miss an edge that
    went, or it starts again from all edges where that is cheaper. The cost rule: a step of the extension takes about
    as long as a node of a search, and a refuted solution takes at least two steps. So steps and nodes together may
    be as many as the last enumeration took nodes, in proportion to the solutions then and now, and `FREE_STEPS` for
    what an enumeration costs besides. If it is bound to take more, or would first compare more sets than there is time
    for, it is not begun, and if it does it is given up.
    """

    FREE_STEPS = 512

    def __init__(self, universe: int, *, max_size: int | None = None) -> None:
        words = words_for(universe)
        self._max_size = universe if max_size is None else max_size
        # Without edges, the empty set hits all of them.
        self._solutions = np.zeros((1 if self._max_size >= 0 else 0, words), dtype=np.uint64)
        self._n_edges = 0
        self._edges = np.zeros((WORD_BITS, words), dtype=np.uint64)
        self._blocks = np.zeros((1, words * WORD_BITS), dtype=np.uint64)
        self._nodes_per_solution = 1.0

    @classmethod
    def known(
        cls, universe: int, edges: Words, solutions: Words, nodes_per_solution: float, *, max_size: int | None = None
    ) -> HittingSets:
        """Go on from minimal edges and solutions that an earlier object had."""
        made = cls(universe, max_size=max_size)
        made._append_edges(as_family(edges))
        made._n_edges = len(edges)
        made._solutions = as_family(solutions)
        made._nodes_per_solution = nodes_per_solution
        return made

    def __len__(self) -> int:
        return len(self._solutions)

    @property
    def solutions(self) -> Words:
        """The minimal hitting sets; a family that later updates leave as it is."""
        return self._solutions

    @property
    def edges(self) -> Words:
        """The minimal edges, in no particular order; valid until the next update."""
        return self._edges[: self._n_edges]

    @property
    def nodes_per_solution(self) -> float:
        """What the last enumeration cost, on which the cost rule rests."""
        return self._nodes_per_solution

    def add_edges(self, new_edges: Words) -> Change:
        """Take in new edges, whatever they contain, and return how the solutions change."""
        fresh = as_family(new_edges)
        come = minimal_sets(fresh[~find_supersets(fresh, self.edges)])
        return self.update(self.edges[find_supersets(self.edges, come)], come)

    def update(self, gone: Words, come: Words, look: Callable[[], None] = lambda: None) -> Change:
        """Replace edges by others and return how the solutions change; if interrupted, nothing has changed.

        Parameters
        ----------
        gone
            Edges that are no longer there, or no longer minimal; sets that were no edges do no harm.
        come
            Edges that are there now, and were not or not minimal; those that were do no harm, even if they are
            said to be gone. Afterwards no edge may contain another.
        look
            Is called now and then, and may end the work by raising an error.
        """
        update = self.think(gone, come, look)
        self.make(update)
        return update.change

    def think(self, gone: Words, come: Words, look: Callable[[], None] = lambda: None) -> Update:
        """Work out an update and change nothing, so that many objects can change together or not at all."""
        n_known = self._n_edges
        gone, come = distinct_sets(gone), distinct_sets(come)
        gone = gone[find_places(gone, come) < 0]
        come = come[find_places(come, self.edges) < 0]
        places = find_places(gone, self.edges)
        gone, dropped = gone[places >= 0], np.sort(places[places >= 0])
        allowance = self.FREE_STEPS + int(self._nodes_per_solution * len(self))
        comparisons = len(gone) * len(come) + len(self) * (len(gone) + len(come))
        is_worth_it = comparisons <= allowance * COMPARISONS_PER_NODE
        # Edges that contain one that goes tell the solutions so far nothing; what goes for a smaller one is not missed.
        enlarged = find_supersets(come, gone) if is_worth_it else np.zeros(len(come), dtype=np.bool_)
        fresh, come = come[~enlarged], np.concatenate([come[~enlarged], come[enlarged]])
        forget_edges(self._blocks, n_known)  # an update that was not made may have left some
        self._append_edges(come)
        after = _Edges(self._edges[: n_known + len(come)], dropped)
        if not is_worth_it:
            return self._start_again(after, np.zeros(len(self), dtype=np.uint8), come, look)
        missed = gone[~find_supersets(gone, fresh)]
        verdicts = judge_solutions(self._solutions, fresh, missed)
        refuted = self._picked(verdicts, REFUTED, ANY)
        extended = self._extend(refuted, n_known + len(fresh), allowance, look)
        found = None if extended is None else self._search(after, missed, allowance - extended.steps, look)
        if extended is None or found is None:
            return self._start_again(after, verdicts, come, look)
        added = np.concatenate([extended.sets[find_critical(extended.sets, self._blocks, after.bitmap)], found])
        doubtful = self._picked(verdicts, DOUBTFUL, DOUBTFUL)
        stays = find_critical(doubtful, self._blocks, after.bitmap)
        change = Change(np.concatenate([refuted, doubtful[~stays]]), added)
        solutions = self._solutions
        if len(change.removed) or len(added):
            solutions = self._picked(verdicts, UNTOUCHED, UNTOUCHED, np.concatenate([doubtful[stays], added]))
        return Update(change, solutions, dropped, come, self._nodes_per_solution)

    def make(self, update: Update) -> None:
        """Make an update that was the last to be thought out."""
        n_edges = self._n_edges + len(update.come)
        self._n_edges = drop_edges(self._edges[:n_edges], self._blocks, update.dropped)
        self._solutions = update.solutions
        self._nodes_per_solution = update.nodes_per_solution

    def _start_again(self, after: _Edges, verdicts: Bytes, come: Words, look: Callable[[], None]) -> Update:
        """Enumerate the solutions of all edges, and compare them with those that may have survived."""
        solutions, cost = enumerate_with_cost(after.family, self._max_size, edges_are_minimal=True, look=look)
        refuted = self._picked(verdicts, REFUTED, ANY)
        survivors = self._picked(verdicts, UNTOUCHED, DOUBTFUL)
        places = find_places(survivors, solutions)
        is_new = np.ones(len(solutions), dtype=np.bool_)
        is_new[places[places >= 0]] = False
        change = Change(np.concatenate([refuted, survivors[places < 0]]), solutions[is_new])
        return Update(change, solutions, after.dropped, come, cost / max(1, len(solutions)))

    def _search(self, after: _Edges, missed: Words, allowance: int, look: Callable[[], None]) -> Words | None:
        """The solutions that miss an edge that went; None if to start again is cheaper."""
        if not len(missed):
            return missed
        search = HittingSetSearch(after.family, max_size=self._max_size, edges_are_minimal=True, missing=missed)
        found = [np.zeros((0, missed.shape[1]), dtype=np.uint64)]
        while not search.finished:
            look()
            if search.nodes >= allowance:
                return None
            found.append(search.advance(CHUNK_SETS, min(SLICE_NODES, allowance - search.nodes)))
        return np.concatenate(found)

    def _extend(self, roots: Words, n_edges: int, allowance: int, look: Callable[[], None]) -> _Extended | None:
        """Extend solutions that miss edges from the known ones on; None if to start again is cheaper."""
        if not len(roots):
            return _Extended(roots, 0)
        if 2 * len(roots) > allowance:
            return None
        words = roots.shape[1]
        # A step takes a set from the stack and puts as many there as an edge has columns, each one larger.
        deepest = min(words * WORD_BITS, n_edges - self._n_edges) + 1
        stack = np.empty((deepest * words * WORD_BITS, words), dtype=np.uint64)
        stack_edge = np.empty(len(stack), dtype=np.int64)
        shared = np.empty((words * WORD_BITS, words), dtype=np.uint64)
        state = np.zeros(STATE_SLOTS, dtype=np.int64)
        found: list[Words] = []
        while state[HEIGHT] > 0 or state[ROOT] < len(roots):
            look()
            if state[STEPS] >= allowance:
                return None
            out = np.empty((CHUNK_SETS, words), dtype=np.uint64)
            n_out = extend_solutions(
                roots,
                self._edges[:n_edges],
                self._n_edges,
                self._blocks,
                self._max_size,
                state,
                stack,
                stack_edge,
                shared,
                min(SLICE_NODES, allowance - int(state[STEPS])),
                out,
            )
            found.append(out[:n_out])
        return _Extended(np.concatenate(found), int(state[STEPS]))

    def _picked(self, verdicts: Bytes, least: int, most: int, more: Words | None = None) -> Words:
        """The solutions whose verdict lies between two, and some more."""
        more = self._solutions[:0] if more is None else more
        return pick_solutions(self._solutions, verdicts, least, most, more)

    def _append_edges(self, edges: Words) -> None:
        """Put edges after the known ones, where only whoever counts them in sees them."""
        n_after = self._n_edges + len(edges)
        if n_after > len(self._edges):
            n_blocks = words_for(2 * n_after)
            self._edges = _grown(self._edges, n_blocks * WORD_BITS)
            self._blocks = _grown(self._blocks, n_blocks)
        self._edges[self._n_edges : n_after] = edges
        enter_edges(self._blocks, self._edges[:n_after], self._n_edges)


class _Extended(NamedTuple):
    sets: Words
    steps: int


class _Edges:
    """The edges after an update: all that stand in an array but some."""

    def __init__(self, edges: Words, dropped: Int64s) -> None:
        self.dropped = dropped
        self._edges = edges
        self._kept: Flags = np.ones(len(edges), dtype=np.bool_)
        self._kept[dropped] = False

    @cached_property
    def family(self) -> Words:
        """The edges themselves."""
        return self._edges[self._kept]

    @cached_property
    def bitmap(self) -> Words:
        """Which places of the array they stand at."""
        bits = np.zeros(words_for(len(self._kept)) * 8, dtype=np.uint8)
        packed = np.packbits(self._kept, bitorder="little")
        bits[: len(packed)] = packed
        return bits.view("<u8").astype(np.uint64, copy=False)


def _grown(array: Words, length: int) -> Words:
    grown = np.zeros((length, array.shape[1]), dtype=np.uint64)
    grown[: len(array)] = array
    return grown
