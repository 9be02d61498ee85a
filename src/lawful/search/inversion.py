"""From evidence to the hypergraphs whose minimal hitting sets are the laws."""

from __future__ import annotations

import numpy as np

from lawful.search.set_kernels import find_fresh_columns
from lawful.search.sets import (
    WORD_BITS,
    Words,
    as_family,
    by_size,
    columns_by_frequency,
    distinct_sets,
    full_set,
    minimal_sets,
)


def key_edges(agree_sets: Words, universe: int) -> Words:
    """The edges that every key must hit: the minimal sets of columns on which a pair of rows differs."""
    return minimal_sets(~as_family(agree_sets) & full_set(universe))


def fd_edges(agree_sets: Words, universe: int) -> list[Words]:
    """The edges that the left sides of the FDs must hit, for each column as the right side.

    A pair that differs on D refutes X -> A if A is in D and X misses D - {A}. Such an edge is minimal for A
    if A lies in no smaller difference within D. So one pass over the differences, which finds the columns of
    each that lie in none of its proper subsets, gives the edges of all right sides at once. (The differences
    without such columns are unions of others; their agree sets are the intersections that Mannila & Räihä,
    "Algorithms for inferring functional dependencies from relations", leave out of a generating set.)

    Parameters
    ----------
    agree_sets
        For each pair of rows seen, the columns on which its rows agree; repetitions do no harm.
    universe
        The number of columns of the table.

    Returns
    -------
    list of Words
        One family for each right side; it holds the empty edge if nothing can determine that column.
    """
    differences = by_size(distinct_sets(~as_family(agree_sets) & full_set(universe)))
    if not len(differences):
        return [differences] * universe
    fresh = find_fresh_columns(differences, columns_by_frequency(differences))
    useful = fresh.any(axis=1)
    differences, fresh = differences[useful], fresh[useful]
    edges = []
    for right in range(universe):
        word, mask = right // WORD_BITS, np.left_shift(np.uint64(1), np.uint64(right % WORD_BITS))
        of_right = differences[(fresh[:, word] & mask) != 0]
        of_right[:, word] &= ~mask
        edges.append(of_right)
    return edges
