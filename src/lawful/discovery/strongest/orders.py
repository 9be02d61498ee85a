"""The strongest order compatibilities: estimated for all pairs of columns at once, counted where that may matter.

For each context some pairs of rows that agree on it are drawn, and the signs of all columns on them give the swaps of
all pairs of columns by counting bits. The estimate has an error bound that fails once in 10^9; what may be
listed within it is counted exactly, the likeliest first. Where there are no more pairs than would be drawn, all of them
are looked at, and the bound is what it bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.checks import Partition, Trial, Workspace
from lawful.common.arrays import Floats, Int32s, Int64s
from lawful.dependencies import CanonicalOD
from lawful.dependencies.laws import DIRECTIONS
from lawful.discovery.strongest.kernels.signs import count_orders, mark_signs
from lawful.discovery.strongest.sets import Columns
from lawful.discovery.strongest.worth import LEAST_LOST, ORDERED, WORTH, Best, Standard, Tried, loss_of

_PAIRS = 1 << 15
_FAILS = 1e-9
_ROUNDING = 1e-6
"""By how much a loss that was counted may differ from the same loss counted otherwise."""
_FEW_COLUMNS = 16
"""So few columns are compared by products of matrices, as quickly as by counting bits, and without a compiler."""
_AT_ONCE = 16

TryAll = Callable[[Sequence[CanonicalOD]], list[Trial]]
"""Counts how some laws fare, in their order."""


class _Candidate(NamedTuple):
    least_lost: float
    law: CanonicalOD


class StrongestOrders:
    """Tries all pairs of columns within contexts; parameters as of `StrongestFDs`.

    Parameters
    ----------
    largest
        The most columns of a context.
    try_all
        Counts how laws fare.
    seed
        Where the random numbers start by which pairs of rows are drawn.
    """

    def __init__(
        self,
        workspace: Workspace,
        columns: Columns,
        top: int,
        standard: Standard,
        largest: int,
        try_all: TryAll,
        seed: int,
    ) -> None:
        self.best, self._standard = Best(top), standard
        self.accidental = 0
        self._workspace, self._columns, self._largest, self._try_all = workspace, columns, largest, try_all
        self._random = cache(lambda: np.random.default_rng(seed))  # loaded if it is needed
        self._losses: dict[CanonicalOD, float] = {}
        self._bounds: dict[Columns, npt.NDArray[np.float32]] = {}

    def wants(self, context: Columns, chances: int) -> bool:
        """Whether a context is small enough and leaves enough rows to test an order."""
        return len(context) <= self._largest and chances * ORDERED * 0.5 >= LEAST_LOST

    def learn(self, context: Columns, partition: Partition) -> None:
        """List the orders within a context that are worth it."""
        candidates = sorted(self._candidates(context, partition), key=lambda each: each.least_lost)
        tried = self._tried(len(context))
        for first in range(0, len(candidates), _AT_ONCE):
            some = [each.law for each in candidates[first : first + _AT_ONCE] if self._may_be_listed(each)]
            for law, trial in zip(some, self._try_all(some), strict=True):
                self._losses[law] = loss_of(trial)
                if trial.strength < self.best.weakest(len(context)) or not trial.tested:
                    continue
                surely_lost = self._standard.surely_lost(trial, tried)
                if self._standard.is_worth(trial, self._smaller_losses(law, surely_lost), tried, ORDERED):
                    self.best.add(Tried(law, trial))
                elif trial.strength > 1.0 - ORDERED and trial.is_accidental(tried):
                    self.accidental += 1

    def _candidates(self, context: Columns, partition: Partition) -> Iterator[_Candidate]:
        """The pairs of columns, in both directions, that may be listed, with lower bounds of their losses."""
        ordered = np.array([column for column in self._columns if column not in context], np.int64)
        width = self._workspace.table.width
        bounds = np.zeros((2, width, width), np.float32)
        left, right, are_all = pairs_within(partition, _PAIRS, self._random)
        orders = self._counted_orders(ordered.tolist(), left, right)
        for direction, losses in enumerate(_least_losses(*orders, are_all=are_all)):
            bounds[direction][np.ix_(ordered, ordered)] = losses
            for i, j in np.argwhere(np.triu(losses <= ORDERED, 1)).tolist():
                law = CanonicalOD(context, int(ordered[i]), int(ordered[j]), DIRECTIONS[direction])
                yield _Candidate(float(losses[i, j]), law)
        if len(context) < self._largest:
            self._bounds[context] = bounds

    def _may_be_listed(self, candidate: _Candidate) -> bool:
        smaller = [self._losses[law] for law in _in_smaller_contexts(candidate.law) if law in self._losses]
        most = min(ORDERED, 1.0 - self.best.weakest(len(candidate.law.context)), WORTH * min(smaller, default=1.0))
        return candidate.least_lost <= most and min(smaller, default=1.0) > 0.0

    def _smaller_losses(self, law: CanonicalOD, surely_lost: float) -> list[float]:
        found = []
        for smaller in _in_smaller_contexts(law):
            bound = float(self._bounds[smaller.context][DIRECTIONS.index(law.direction), law.left, law.right])
            if smaller not in self._losses and surely_lost > WORTH * bound:
                self._losses[smaller] = loss_of(self._try_all([smaller])[0])
            found.append(self._losses.get(smaller, bound))
        return found

    def _counted_orders(self, columns: Sequence[int], left: Int32s, right: Int32s) -> tuple[Int64s, Int64s]:
        """How often each two columns order one of some pairs of rows alike, and against each other."""
        ranks = [self._workspace.column(column) for column in columns]
        if len(columns) <= _FEW_COLUMNS:
            return orders_of_few_columns(ranks, left, right, self._workspace.lowest)
        less = np.zeros((len(columns), -(-left.size // 64)), np.uint64)
        greater = np.zeros_like(less)
        for place, column in enumerate(ranks):
            mark_signs(column, left, right, self._workspace.lowest, less[place], greater[place])
        rising, falling = np.zeros((2, len(columns), len(columns)), np.int64)
        count_orders(less, greater, rising, falling)
        return rising, falling

    def _tried(self, size: int) -> int:
        width = len(self._columns)
        return 2 * math.comb(width, 2) * math.comb(max(0, width - 2), size)


def orders_of_few_columns(ranks: Sequence[Int32s], left: Int32s, right: Int32s, lowest: int) -> tuple[Int64s, Int64s]:
    """The same as `mark_signs` and `count_orders` give, in the upper triangle: signs multiplied and summed up.

    Sums of so few pairs are exact, though they are floats.
    """
    signs = np.zeros((len(ranks), left.size), np.float32)
    for place, column in enumerate(ranks):
        t, s = column[left], column[right]
        signs[place] = np.sign(t - s) * ((t >= lowest) & (s >= lowest))
    difference, both = signs @ signs.T, np.abs(signs) @ np.abs(signs).T
    return (
        np.triu((both + difference) / 2, 1).astype(np.int64),
        np.triu((both - difference) / 2, 1).astype(np.int64),
    )


def _least_losses(rising: Int64s, falling: Int64s, *, are_all: bool) -> tuple[Floats, Floats]:
    """Lower bounds of the losses of all orders, rising and falling ones, by Hoeffding's inequality."""
    seen = np.maximum(1, rising + falling)
    slack = _ROUNDING if are_all else np.sqrt(-math.log(_FAILS) / (2.0 * seen))
    rising_losses, falling_losses = (np.clip(2.0 * (swaps / seen - slack), 0.0, 1.0) for swaps in (falling, rising))
    return rising_losses, falling_losses


def pairs_within(
    partition: Partition, most: int, random: Callable[[], np.random.Generator]
) -> tuple[Int32s, Int32s, bool]:
    """Pairs of rows that agree: all of them once if these are no more than `most`, else so many that are drawn."""
    sizes = np.diff(partition.offsets).astype(np.int64)
    if int((sizes * (sizes - 1) // 2).sum()) > most:
        return *drawn_pairs(partition, most, random()), False
    after = np.repeat(partition.offsets[1:].astype(np.int64), sizes) - 1 - np.arange(partition.rows.size)
    first = np.repeat(np.arange(partition.rows.size), after)
    second = first + 1 + np.arange(first.size) - np.repeat(np.cumsum(after) - after, after)
    return partition.rows[first], partition.rows[second], True


def drawn_pairs(partition: Partition, count: int, random: np.random.Generator) -> tuple[Int32s, Int32s]:
    """Draw pairs of rows that agree, all equally likely, with repetition."""
    if partition.size == 0:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    starts, sizes = partition.offsets[:-1].astype(np.int64), np.diff(partition.offsets).astype(np.int64)
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    of_class = np.searchsorted(ends, random.integers(0, ends[-1], count), side="right")
    size = sizes[of_class]
    first = random.integers(0, size)
    second = (first + random.integers(1, size)) % size
    rows = partition.rows
    return rows[starts[of_class] + first], rows[starts[of_class] + second]


def _in_smaller_contexts(law: CanonicalOD) -> Iterator[CanonicalOD]:
    for size in range(len(law.context)):
        for context in combinations(law.context, size):
            yield CanonicalOD(context, law.left, law.right, law.direction)
