"""Hydra's refiners (section 6.3): from cluster pairs to the cluster pairs whose pairs satisfy one more comparison.

Filters, equi-joins, anti-joins, inequality joins and pairs of inequality joins. Where clusters stand for few pairs,
these are written out and filtered one by one instead, which is quicker than any cleverness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from lawful.checks.denials.groups import Groups
from lawful.checks.denials.kernels import pairs as denial_pair_kernels
from lawful.checks.denials.kernels import search as denial_search_kernels
from lawful.common.arrays import Flags, Int32s
from lawful.dependencies.laws import Operator

Pairs = tuple[Int32s, Int32s]
"""Rows as t, and for each the row that is its s."""

PAIRS_AT_ONCE = 1 << 18
ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False, slots=True)
class Filter:
    """A comparison that looks at one row: which rows satisfy it, as t (`sides` 0), as s (1)."""

    fits: Flags
    sides: tuple[int, ...]

    def refine(self, clusters: Groups) -> Groups:
        """Keep the rows that fit."""
        t_rows, t_offsets, s_rows, s_offsets = clusters.t_rows, clusters.t_offsets, clusters.s_rows, clusters.s_offsets
        if 0 in self.sides:
            t_rows, t_offsets = kept(t_rows, t_offsets, self.fits[t_rows])
        if 1 in self.sides:
            s_rows, s_offsets = kept(s_rows, s_offsets, self.fits[s_rows])
        return Groups(t_rows, t_offsets, s_rows, s_offsets).without_empty()

    def select(self, pairs: Pairs) -> Flags:
        """Say which pairs satisfy the comparison."""
        satisfied: Flags = np.logical_and.reduce([self.fits[pairs[side]] for side in self.sides])
        return satisfied


@dataclass(frozen=True, eq=False, slots=True)
class Join:
    """A comparison of t with s, by ranks that both sides share."""

    left: Int32s
    right: Int32s
    operator: Operator

    def refine(self, clusters: Groups) -> Groups:
        """Split clusters such that all their pairs satisfy the comparison."""
        if self.operator == "=":
            return clusters.matching([(self.left, self.right)])
        if self.operator == "!=":
            less, greater = Join(self.left, self.right, "<"), Join(self.left, self.right, ">")
            return less.refine(clusters).joined(greater.refine(clusters))
        bounds, values = self.bounds(clusters.t_rows), self.values(clusters.s_rows)
        split = denial_pair_kernels.split_by_order(
            clusters.t_rows, clusters.t_offsets, clusters.s_rows, clusters.s_offsets, bounds, values
        )
        return Groups(*split)

    def select(self, pairs: Pairs) -> Flags:
        """Say which pairs satisfy the comparison."""
        return compare(self.left[pairs[0]], self.operator, self.right[pairs[1]])

    def bounds(self, rows: Int32s) -> Int32s:
        """What some rows ask for as t, so that an order is `bound <= value`."""
        ranks = -self.left[rows] if self.operator in (">", ">=") else self.left[rows]
        bounds: Int32s = ranks + np.int32(self.operator in ("<", ">"))
        return bounds

    def values(self, rows: Int32s) -> Int32s:
        """What some rows offer as s."""
        return -self.right[rows] if self.operator in (">", ">=") else self.right[rows]


@dataclass(frozen=True, eq=False, slots=True)
class JoinOfTwo:
    """Two inequality joins at once, the place of IEJoin.

    Departs from IEJoin, which marks the partners of one order in a bitset and reads those of the other: rows
    without a partner in both orders are found in linear time and go first, and what is left is split by one
    order after the other.
    """

    first: Join
    second: Join

    def refine(self, clusters: Groups) -> Groups:
        """Split clusters such that all their pairs satisfy both comparisons."""
        pruned = with_partners(clusters, (self.first, self.second))
        return self.second.refine(self.first.refine(pruned))

    def select(self, pairs: Pairs) -> Flags:
        """Say which pairs satisfy both comparisons."""
        return self.first.select(pairs) & self.second.select(pairs)


Refiner = Filter | Join | JoinOfTwo


def compare(left: NDArray[np.integer], operator: Operator, right: NDArray[np.integer] | np.integer) -> Flags:
    """Compare ranks."""
    result: Flags
    match operator:
        case "=":
            result = left == right
        case "!=":
            result = left != right
        case "<":
            result = left < right
        case "<=":
            result = left <= right
        case ">":
            result = left > right
        case ">=":
            result = left >= right
    return result


def kept(rows: Int32s, offsets: Int32s, flags: Flags) -> tuple[Int32s, Int32s]:
    """Keep some rows of each cluster."""
    before = np.concatenate((np.zeros(1, np.int32), np.cumsum(flags, dtype=np.int32)))
    return rows[flags], before[offsets]


def with_partners(clusters: Groups, orders: Sequence[Join]) -> Groups:
    """Drop every row that has no partner in its cluster pair by these orders alone."""
    nothing = np.empty((0, 0), np.int32)
    bounds = np.stack([order.bounds(clusters.t_rows) for order in orders])
    values = np.stack([order.values(clusters.s_rows) for order in orders])
    t_partners = np.full(clusters.t_rows.size, -1, np.int32)
    s_partners = np.full(clusters.s_rows.size, -1, np.int32)
    t_offsets, s_offsets = clusters.t_offsets, clusters.s_offsets
    search = denial_search_kernels.search_groups
    search(t_offsets, s_offsets, bounds, values, nothing, nothing, False, t_partners)
    # Seen from s, everything is turned round: a value of s is at least a bound of t.
    search(s_offsets, t_offsets, -values, -bounds, nothing, nothing, False, s_partners)
    t_rows, t_offsets = kept(clusters.t_rows, t_offsets, t_partners >= 0)
    s_rows, s_offsets = kept(clusters.s_rows, s_offsets, s_partners >= 0)
    return Groups(t_rows, t_offsets, s_rows, s_offsets).without_empty()


def pairs_of(clusters: Groups) -> Iterator[Pairs]:
    """Write out the pairs of two different rows that clusters stand for, some at a time."""
    place = np.zeros(3, np.int32)
    while True:
        pairs = np.empty((2, PAIRS_AT_ONCE), np.int32)
        written = denial_pair_kernels.expand(
            clusters.t_rows, clusters.t_offsets, clusters.s_rows, clusters.s_offsets, place, pairs
        )
        if written:
            yield pairs[0, :written], pairs[1, :written]
        if written < PAIRS_AT_ONCE:
            return


def refined_pairs(clusters: Groups, refiners: Sequence[Refiner]) -> Iterator[Pairs]:
    """Write out the pairs that satisfy all refiners, pipelined: a batch of clusters goes all the way first."""
    if not refiners or clusters.pairs <= PAIRS_AT_ONCE:
        for pairs in pairs_of(clusters):
            satisfying = reduce(selected, refiners, pairs)
            if satisfying[0].size:
                yield satisfying
        return
    for batch in clusters.batches(ENTRIES_AT_ONCE):
        yield from refined_pairs(refiners[0].refine(batch), refiners[1:])


def selected(pairs: Pairs, refiner: Refiner) -> Pairs:
    """Keep the pairs that satisfy a refiner."""
    satisfied = refiner.select(pairs)
    return pairs[0][satisfied], pairs[1][satisfied]
