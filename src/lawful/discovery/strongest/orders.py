"""The strongest order compatibilities: estimated for all pairs of columns at once, counted where that may matter.

For each context some pairs of rows that agree on it are drawn, and the signs of all columns on them give the swaps of
all pairs of columns by counting bits. The estimate has an error bound that fails once in 10^9; what may be
listed within it is counted exactly, the likeliest first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from lawful.checks import Partition, Trial, Workspace
from lawful.common.arrays import Int32s, Int64s
from lawful.dependencies import CanonicalOD
from lawful.discovery.strongest.kernels.signs import count_orders, mark_signs
from lawful.discovery.strongest.sets import Columns
from lawful.discovery.strongest.worth import LEAST_LOST, WORTH, Best, Tried, is_worth, loss_of

_PAIRS = 1 << 15
_FAILS = 1e-9
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
    try_all
        Counts how laws fare.
    seed
        Where the random numbers start by which pairs of rows are drawn.
    """

    def __init__(self, workspace: Workspace, columns: Columns, top: int, try_all: TryAll, seed: int) -> None:
        self.best = Best(top)
        self.accidental = 0
        self._workspace, self._columns, self._try_all = workspace, columns, try_all
        self._random = np.random.default_rng(seed)
        self._losses: dict[CanonicalOD, float] = {}
        self._bounds: dict[CanonicalOD, float] = {}

    def wants(self, context: Columns, chances: int) -> bool:
        """Whether a context leaves enough rows to test an order."""
        return chances * WORTH * 0.5 >= LEAST_LOST

    def learn(self, context: Columns, partition: Partition) -> None:
        """List the orders within a context that are worth it."""
        candidates = sorted(self._candidates(context, partition), key=lambda each: each.least_lost)
        tried = self._tried(len(context))
        for first in range(0, len(candidates), _AT_ONCE):
            some = [each.law for each in candidates[first : first + _AT_ONCE] if self._may_be_listed(each)]
            for law, trial in zip(some, self._try_all(some), strict=True):
                self._losses[law] = loss_of(trial)
                if trial.strength < self.best.weakest or not trial.tested:
                    continue
                if is_worth(trial, self._smaller_losses(law, 1.0 - trial.sure_strength), tried):
                    self.best.add(Tried(law, trial))
                elif trial.strength > WORTH and trial.is_accidental(tried):
                    self.accidental += 1

    def _candidates(self, context: Columns, partition: Partition) -> Iterator[_Candidate]:
        """All pairs of columns in both directions, with a lower bound of their losses."""
        ordered = [column for column in self._columns if column not in context]
        rising, falling = self._counted_orders(ordered, partition)
        for (i, left), (j, right) in combinations(enumerate(ordered), 2):
            seen = int(rising[i, j] + falling[i, j])
            slack = math.sqrt(-math.log(_FAILS) / (2.0 * seen)) if seen else 1.0
            for direction, swaps in (("asc", falling[i, j]), ("desc", rising[i, j])):
                law = CanonicalOD(context, left, right, direction)  # type: ignore[arg-type]  # they are directions
                bound = 2.0 * max(0.0, float(swaps) / max(1, seen) - slack)
                self._bounds[law] = min(1.0, bound)
                if bound <= WORTH:
                    yield _Candidate(bound, law)

    def _may_be_listed(self, candidate: _Candidate) -> bool:
        smaller = [self._losses[law] for law in _in_smaller_contexts(candidate.law) if law in self._losses]
        most = min(WORTH, 1.0 - self.best.weakest, WORTH * min(smaller, default=1.0))
        return candidate.least_lost <= most and min(smaller, default=1.0) > 0.0

    def _smaller_losses(self, law: CanonicalOD, surely_lost: float) -> list[float]:
        found = []
        for smaller in _in_smaller_contexts(law):
            if smaller not in self._losses and surely_lost > WORTH * self._bounds[smaller]:
                self._losses[smaller] = loss_of(self._try_all([smaller])[0])
            found.append(self._losses.get(smaller, self._bounds[smaller]))
        return found

    def _counted_orders(self, columns: Sequence[int], partition: Partition) -> tuple[Int64s, Int64s]:
        """How often each two columns order one of the drawn pairs alike, and against each other."""
        left, right = drawn_pairs(partition, _PAIRS, self._random)
        less = np.zeros((len(columns), -(-left.size // 64)), np.uint64)
        greater = np.zeros_like(less)
        for place, column in enumerate(columns):
            ranks = self._workspace.column(column)
            mark_signs(ranks, left, right, self._workspace.lowest, less[place], greater[place])
        rising, falling = np.zeros((2, len(columns), len(columns)), np.int64)
        count_orders(less, greater, rising, falling)
        return rising, falling

    def _tried(self, size: int) -> int:
        width = len(self._columns)
        return 2 * math.comb(width, 2) * math.comb(max(0, width - 2), size)


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
