"""From evidence to the hypergraphs whose minimal hitting sets are the laws."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.search.kernels.bitmaps import minimal_determinants
from lawful.search.kernels.sets import columns_by_frequency, find_fresh_columns, sets_by_column
from lawful.search.sets import as_family, by_size, distinct_sets, full_set, minimal_sets

FEW_COLUMNS = 15
"""Up to so many columns a bitmap over all subsets is filled and read in some 20 µs."""

_WHEREVER_THEY_DO_NOT_AGREE: Words = np.empty((0, 1), np.uint64)


def determinants_of_few_columns(
    goals: range, agree_sets: Words, differ_sets: Words | None, universe: int, max_size: int | None
) -> list[Words]:
    """The minimal keys (goal -1) and left sides (any other goal is a right side) that pairs leave, over few columns.

    `differ_sets` tells where each pair is known to differ; None if it differs wherever it does not agree.
    """
    agree = np.ascontiguousarray(agree_sets)
    differ = _WHEREVER_THEY_DO_NOT_AGREE if differ_sets is None else np.ascontiguousarray(differ_sets)
    most = universe if max_size is None else max_size
    ends, found = minimal_determinants(agree, differ, goals.start, goals.stop, universe, most)
    return [found] if len(goals) == 1 else cut(found, ends)


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
    ends, edges = sets_by_column(differences, fresh, universe)
    return cut(edges, ends)


def cut(family: Words, ends: npt.NDArray[np.int64]) -> list[Words]:
    """The parts of a family that end at the given places."""
    starts = [0, *ends.tolist()]
    return [family[start:end] for start, end in pairwise(starts)]
