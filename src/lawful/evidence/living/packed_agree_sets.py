"""How many pairs break a candidate, from agree sets in flat arrays, or from a table over all sets of columns.

What answers is chosen by `violation_counts`. Measured on a busy machine, for each of 200 candidates (8 on
uniprot) of one to six columns, asked together:

    adult     15 columns     9,555 sets   table 0.03 µs   flat   6 to  7 µs   tree   22 to 125 µs
    flight   109 columns    19,098 sets                   flat  14 to 27 µs   tree    2 to  11 ms
    uniprot  223 columns   326,698 sets                   flat 0.5 to  3 ms   tree  300 to 800 ms

Up to 20 columns the default is the table: that of adult is made in 0.1 ms, which is less than what 20 candidates cost
otherwise. Beyond, and where sets are so few that passing over them costs less than making the table, it is the flat
sets, which need neither time nor memory to be made. The tree (`agree_set_tree`) is the paper's, and never was
quicker: a question about few columns leads into most of its branches, and it has 42 million nodes on uniprot.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.living.kernels.violations import count_matches, superset_sums
from lawful.evidence.living.violation_masks import ViolationCounts, violation_masks

MOST_TABLED_COLUMNS = 20
"""Up to so many columns a count for every set of columns takes at most 8 MB."""

_SUMS_A_SET = 2048
"""So many sums over supersets take as long as passing over a set some hundred times."""


def violation_counts(keys: Words, counts: Int64s, width: int, policy: NullPolicy) -> ViolationCounts:
    """The quicker way to answer some hundreds of candidates: see above."""
    if width <= MOST_TABLED_COLUMNS and width << width <= _SUMS_A_SET * len(keys):
        return SubsetCounts(keys, counts, width, policy)
    return PackedAgreeSets(keys, counts, policy)


class PackedAgreeSets:
    """Agree sets as they lie in the multiset, all of which every question passes over.

    Nothing has to be built or kept up: it is a view, and good until the multiset changes.

    Parameters
    ----------
    keys, counts
        As in `Tally`; a count may be 0.
    """

    def __init__(self, keys: Words, counts: Int64s, policy: NullPolicy) -> None:
        self._keys = keys
        self._counts = counts
        self._policy = policy

    def violations(self, left: Words, right: Int64s) -> Int64s:
        """The number of pairs that break each candidate: see `ViolationCounts`."""
        return count_matches(self._keys, self._counts, *violation_masks(left, right, self._policy))


class SubsetCounts:
    """For every set of columns how many pairs agree on all of it, by sums over supersets: one look-up an answer.

    Under `NullPolicy.IGNORE` a pair that agrees on X may neither agree nor differ on A. So each right side has
    a table of its own there, of the pairs that are known to differ on it; it is made when it is first asked for.
    """

    def __init__(self, keys: Words, counts: Int64s, width: int, policy: NullPolicy) -> None:
        assert width <= MOST_TABLED_COLUMNS, f"a table over all sets of {width} columns would be too large"
        self._size = 1 << width
        self._keys, self._counts = keys, counts
        self._policy = policy
        self._agreeing = self._summed(keys, counts)
        self._differing: dict[int, Int64s] = {}

    def violations(self, left: Words, right: Int64s) -> Int64s:
        """The number of pairs that break each candidate: see `ViolationCounts`."""
        sets = left[:, 0].astype(np.int64)
        totals: Int64s = self._agreeing[sets]
        is_fd = right >= 0
        if self._policy is NullPolicy.EQUAL:
            totals[is_fd] -= self._agreeing[sets[is_fd] | np.left_shift(1, right[is_fd])]
            return totals
        for column in np.unique(right[is_fd]).tolist():
            chosen = right == column
            totals[chosen] = self._pairs_differing_on(column)[sets[chosen]]
        return totals

    def _pairs_differing_on(self, column: int) -> Int64s:
        if column not in self._differing:
            differ = (self._keys[:, 1] >> np.uint64(column) & np.uint64(1)).astype(np.bool_)
            self._differing[column] = self._summed(self._keys[differ], self._counts[differ])
        return self._differing[column]

    def _summed(self, keys: Words, counts: Int64s) -> Int64s:
        sums = np.zeros(self._size, np.int64)
        np.add.at(sums, keys[:, 0].astype(np.int64), counts)
        superset_sums(sums)
        return sums
