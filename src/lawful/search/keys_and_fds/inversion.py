"""From evidence to the hypergraphs whose minimal hitting sets are the laws."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.search.kernels.bitmaps import minimal_determinants

KEY = -1
"""The goal of a search for keys; any other goal is the right side of FDs."""

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


def cut(family: Words, ends: npt.NDArray[np.int64]) -> list[Words]:
    """The parts of a family that end at the given places."""
    starts = [0, *ends.tolist()]
    return [family[start:end] for start, end in pairwise(starts)]
