"""Hypergraphs of many goals over one family of sets, made minimal all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.common.arrays import Words
from lawful.search.canonical_ods.kernels.goals import take_goals_of_subsets
from lawful.search.kernels.sets import columns_by_frequency, new_index
from lawful.search.sets import set_sizes

_SETS_A_SLICE = 1 << 10


def keep_minimal_goals(family: Words, goals: Words, look: Callable[[], None]) -> None:
    """Take away from each set the goals for which a proper subset is an edge too: one search serves all goals.

    Parameters
    ----------
    family
        The sets, distinct and sorted by cardinality.
    goals
        `uint64[sets, words]`: for each set, the goals of which it is an edge. Changed in place.
    look
        Is called now and then, and may end the work by raising an error.
    """
    columns, sizes = columns_by_frequency(family), set_sizes(family)
    index = new_index(len(family), columns)
    kept, state = np.empty(len(family), np.int64), np.zeros(3, np.int64)
    for start in range(0, len(family), _SETS_A_SLICE):
        look()
        stop = min(len(family), start + _SETS_A_SLICE)
        take_goals_of_subsets(family, sizes, goals, columns, index, kept, state, stop)
