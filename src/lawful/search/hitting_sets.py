"""All inclusion-minimal sets of columns that hit every edge of a hypergraph.

Every family of laws asks for them: the pairs of rows that were seen give the edges, the minimal laws are the
minimal hitting sets. No edges leave the empty set as the one answer; an empty edge leaves none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.search.kernels.bitmaps import minimal_hitting_bitmap, read_bitmap
from lawful.search.kernels.hitting_sets import (
    BRANCHES,
    CANDIDATES,
    LEVEL,
    MARK_SLOTS,
    NODES,
    SET_SLOTS,
    STATE_SLOTS,
    UNCOVERED,
    open_node,
    search_families,
    search_on,
)
from lawful.search.kernels.sets import move_columns, transpose
from lawful.search.sets import (
    WORD_BITS,
    Look,
    as_family,
    by_size,
    full_set,
    look_away,
    minimal_sets,
    union_of,
    unpack_set,
    words_for,
)

Counts = npt.NDArray[np.int64]
Method = Literal["auto", "bitmap", "search"]

# The cost rule. Up to BITMAP_AT_ONCE columns a bitmap takes at most some 0.2 ms, less than a search needs to
# get going on any but the easiest input. From there to BITMAP_COLUMNS (32 MB) the search goes first, and may
# open as many nodes (0.3 to 0.6 µs each) as take about as long as the bitmap would (0.3 ns per subset). If
# that is not enough the bitmap takes over, so that no input costs more than about twice the better way.
BITMAP_AT_ONCE = 18
BITMAP_COLUMNS = 28
SUBSETS_PER_NODE = 1024

SLICE_NODES = 1 << 16
"""How many nodes a search opens before it gives Python, and so a clock or Ctrl-C, a chance: some 30 ms."""
CHUNK_SETS = 1 << 15
_SLICE_WORDS = 1 << 26
"""How many words of edges a search reads before it gives a clock or Ctrl-C a chance: less than a tenth of a second."""


def nodes_a_slice(edges: Words, most: int = SLICE_NODES) -> int:
    """How many nodes to open before the next look at the clock: each may read all edges."""
    return max(1, min(most, _SLICE_WORDS // max(1, edges.size)))


class Support(NamedTuple):
    """A demand on solutions: at least `least` members of some other family hold each one.

    `held_by[c]` is the bitmap of the members that hold column c.
    """

    held_by: Words
    least: int


class HittingSetSearch:
    """A depth-first search for minimal hitting sets that can be stopped and resumed.

    Parameters
    ----------
    edges
        The family of edges.
    max_size
        Leave out solutions with more columns.
    candidates
        The columns that a solution may use, as `uint64[words]`; all if not given.
    edges_are_minimal
        No edge contains another, so that none need be sought out; a wrong promise costs time only.
    support
        Leave out branches whose columns together have not this support. The last column of a solution is not
        looked at, so that some solutions may still lack it.
    missing
        Find only the solutions that miss one of these sets.
    """

    def __init__(
        self,
        edges: Words,
        *,
        max_size: int | None = None,
        candidates: Words | None = None,
        edges_are_minimal: bool = False,
        support: Support | None = None,
        missing: Words | None = None,
    ) -> None:
        allowed = _allowed_edges(edges, candidates)
        self._words = allowed.shape[1]
        # Relevant columns are renumbered only if that saves words, or makes room for one more.
        self._columns = np.array(unpack_set(union_of(allowed)), dtype=np.int64)
        self._renumbered = missing is not None or words_for(len(self._columns)) < self._words
        words = words_for(len(self._columns) + (missing is not None))
        if self._renumbered:
            allowed = _gather_columns(allowed, self._columns, words)
        stays_minimal = edges_are_minimal and candidates is None
        self._edges = by_size(allowed) if stays_minimal else minimal_sets(allowed)
        self._max_size = len(self._columns) if max_size is None else max_size
        self._held_by, self._least = support or Support(np.zeros((0, 0), np.uint64), 0)
        if self._renumbered and support is not None:
            self._held_by = self._held_by[self._columns]
        self._only_the_empty_set = (
            not len(self._edges) and self._max_size >= 0 and (missing is None or len(missing) > 0)
        )
        self._state = np.zeros(STATE_SLOTS, dtype=np.int64)
        if not len(self._edges) or not self._edges[0].any() or self._max_size < 1:
            self._state[LEVEL] = -1
        elif missing is None:
            self._open_root()
        else:
            self._open_below_a_mark(_gather_columns(as_family(missing), self._columns, words))

    def _open_below_a_mark(self, missing: Words) -> None:
        """Begin with a solution that holds one more column, the mark, which the sets to miss hold and no edge does.

        With these sets as edges, the mark keeps a critical edge as long as one of them is missed: that is the demand.
        So they take no solution but those that hit them all, and give no other column a critical edge.
        """
        mark = len(self._columns)
        missing[:, mark // WORD_BITS] |= np.uint64(1) << np.uint64(mark % WORD_BITS)
        self._edges = np.concatenate([self._edges, missing])
        self._columns = np.append(self._columns, -1)
        self._held_by = np.concatenate([self._held_by, np.full_like(self._held_by[:1], ~np.uint64(0))])
        self._max_size += 1
        self._set_up()
        branches, candidates = self._sets[0, BRANCHES], self._sets[0, CANDIDATES]
        branches[mark // WORD_BITS] = np.uint64(1) << np.uint64(mark % WORD_BITS)
        candidates &= ~branches

    def _open_root(self) -> None:
        self._set_up()
        open_node(self._edges, self._marks[0], self._sets[0], self._max_size > 1)

    def _set_up(self) -> None:
        self._holders = transpose(self._edges)
        n_edges, words = self._edges.shape
        levels = min(n_edges, len(self._columns), self._max_size) + 1
        self._chosen = np.zeros(levels, dtype=np.int64)
        self._marks = np.zeros((levels, MARK_SLOTS, self._holders.shape[1]), dtype=np.uint64)
        self._sets = np.zeros((levels, SET_SLOTS, words), dtype=np.uint64)
        self._supports = np.full((levels, self._held_by.shape[1]), ~np.uint64(0))
        self._marks[0, UNCOVERED] = full_set(n_edges)
        self._sets[0, CANDIDATES] = union_of(self._edges)

    @property
    def finished(self) -> bool:
        """Whether all solutions were handed out."""
        return bool(self._state[LEVEL] < 0) and not self._only_the_empty_set

    @property
    def nodes(self) -> int:
        """How many nodes of the search tree were opened so far."""
        return int(self._state[NODES])

    def advance(self, max_sets: int, max_nodes: int | None = None) -> Words:
        """Go on for at most `max_nodes` nodes, as many as take a tenth of a second if that is not said.

        Returns the next solutions, at most `max_sets`, maybe none.
        """
        if self._only_the_empty_set and max_sets > 0:
            self._only_the_empty_set = False
            return np.zeros((1, self._words), dtype=np.uint64)
        if self.finished or max_sets < 1:
            return np.zeros((0, self._words), dtype=np.uint64)
        out = np.empty((max_sets, self._edges.shape[1]), dtype=np.uint64)
        n_out = search_on(
            self._edges,
            self._holders,
            self._max_size,
            self._state,
            self._chosen,
            self._marks,
            self._sets,
            self._held_by,
            self._supports,
            self._least,
            nodes_a_slice(self._edges) if max_nodes is None else max_nodes,
            out,
        )
        found = out[:n_out]
        return move_columns(found, self._columns, self._words) if self._renumbered else found


def iterate_hitting_sets(
    edges: Words,
    *,
    max_size: int | None = None,
    candidates: Words | None = None,
    edges_are_minimal: bool = False,
    support: Support | None = None,
    chunk: int = CHUNK_SETS,
) -> Iterator[Words]:
    """Yield the minimal hitting sets in families of at most `chunk` sets, as they are found.

    A family may be empty: the search comes back after a slice of work whether or not it found any, so that
    the caller can look at a clock.
    """
    if chunk < 1:
        raise ValueError("a chunk holds at least one set")
    search = HittingSetSearch(
        edges, max_size=max_size, candidates=candidates, edges_are_minimal=edges_are_minimal, support=support
    )
    while not search.finished:
        yield search.advance(chunk)


def minimal_hitting_sets(
    edges: Words,
    *,
    max_size: int | None = None,
    candidates: Words | None = None,
    edges_are_minimal: bool = False,
    method: Method = "auto",
    look: Look = look_away,
) -> Words:
    """All minimal hitting sets of a family of edges, in no particular order.

    Parameters
    ----------
    edges
        The family of edges; need not be minimal, may repeat.
    max_size
        Leave out solutions with more columns.
    candidates
        The columns that a solution may use, as `uint64[words]`; all if not given.
    edges_are_minimal
        No edge contains another, so that none need be sought out; a wrong promise costs time only.
    method
        A `bitmap` over all subsets costs much the same whatever the edges are; a `search` costs in proportion
        to the solutions. `auto` takes what is cheaper.
    look
        Called now and then, and may end the work by raising an error.

    Raises
    ------
    ValueError
        If a bitmap is asked for over more than `BITMAP_COLUMNS` columns that occur in edges.
    """
    allowed = _allowed_edges(edges, candidates)
    stays_minimal = edges_are_minimal and candidates is None
    return enumerate_with_cost(allowed, max_size, edges_are_minimal=stays_minimal, method=method, look=look).sets


def easy_hitting_sets(families: Sequence[Words], max_size: int | None, work: int = SLICE_NODES) -> list[Words]:
    """The minimal hitting sets of many families of edges, of as many of the first ones as a little work suffices for.

    Many small families cost more to set up one by one than to search; here all of them are one call.

    Parameters
    ----------
    families
        Families over the same columns, each of minimal edges.
    work
        About how many nodes to open in all, those of large families counted more than once. The family with
        which it ends is left to a search that can be stopped, and so are all after it.
    """
    if not families:
        return []
    edges = np.concatenate([as_family(family) for family in families])
    most = WORD_BITS * edges.shape[1] if max_size is None else max_size
    ends, found = search_families(edges, np.cumsum([len(family) for family in families]), most, work)
    return [found[start:end] for start, end in pairwise([0, *ends.tolist()])]


class Enumeration(NamedTuple):
    """Minimal hitting sets, and what they cost, counted in nodes of a search."""

    sets: Words
    cost: int


def enumerate_with_cost(
    edges: Words,
    max_size: int | None,
    *,
    edges_are_minimal: bool,
    method: Method = "auto",
    look: Look = look_away,
) -> Enumeration:
    """Do the work of `minimal_hitting_sets` and say what it cost, for those who choose between ways.

    `look` is called now and then, and may end the work by raising an error.
    """
    n_columns = len(unpack_set(union_of(edges)))
    bitmap_cost = (1 << n_columns) // SUBSETS_PER_NODE
    if method == "bitmap" or (method == "auto" and n_columns <= BITMAP_AT_ONCE):
        return Enumeration(_by_bitmap(edges, max_size), bitmap_cost)
    search = HittingSetSearch(edges, max_size=max_size, edges_are_minimal=edges_are_minimal)
    budget = bitmap_cost if method == "auto" and n_columns <= BITMAP_COLUMNS else None
    found = [np.zeros((0, edges.shape[1]), dtype=np.uint64)]
    while not search.finished:
        look()
        if budget is not None and search.nodes >= budget:
            return Enumeration(_by_bitmap(edges, max_size), 2 * bitmap_cost)
        slice_nodes = nodes_a_slice(edges)
        left = slice_nodes if budget is None else min(slice_nodes, budget - search.nodes)
        found.append(search.advance(CHUNK_SETS, left))
    return Enumeration(np.concatenate(found), search.nodes)


def _allowed_edges(edges: Words, candidates: Words | None) -> Words:
    edges = as_family(edges)
    return edges if candidates is None else edges & candidates


def _gather_columns(family: Words, columns: Counts, words: int) -> Words:
    """Renumber the given columns to 0, 1, 2 and so on."""
    destination = np.full(family.shape[1] * WORD_BITS, -1, dtype=np.int64)
    destination[columns] = np.arange(len(columns))
    return move_columns(family, destination, words)


def _by_bitmap(edges: Words, max_size: int | None) -> Words:
    columns = np.array(unpack_set(union_of(edges)), dtype=np.int64)
    if len(columns) > BITMAP_COLUMNS:
        raise ValueError(f"{len(columns)} columns are too many for a bitmap over all subsets")
    gathered = _gather_columns(edges, columns, 1)
    bitmap = minimal_hitting_bitmap(gathered[:, 0], len(columns))
    found = read_bitmap(bitmap, len(columns) if max_size is None else max_size)
    return move_columns(found[:, np.newaxis], columns, edges.shape[1])
