"""Hydra's focused sampling (section 4.3): pairs that satisfy a chosen predicate on a chosen column.

A focus is a column and a strategy. WITHIN pairs every row with a random one that is equal in the column, OTHER
with one that differs, BACK with a smaller one and FORTH with a greater one.

Two departures. Hydra discards a focus once its efficiency falls below the threshold; here it waits for a run with a
lower one. And a pool keeps one of two mirror images, so BACK and FORTH find the same vectors: they differ in
whose turn it is to be paired, the row with few smaller ones or the one with few greater.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from lawful.common.arrays import Int32s
from lawful.evidence.clusters import Clusters
from lawful.evidence.kernels import sampling as sampling_kernels
from lawful.evidence.sampling import PairTaker, YieldSampler
from lawful.tables.ranked_table import RankedTable

EFFICIENCY_THRESHOLD = 0.005
"""The threshold that Hydra uses (section 4.3) and varies with little effect (section 7.5.1)."""


class Strategy(IntEnum):
    """How the partner of a row is chosen in a column."""

    WITHIN = sampling_kernels.WITHIN
    OTHER = sampling_kernels.OTHER
    BACK = sampling_kernels.BACK
    FORTH = sampling_kernels.FORTH


class FocusedSampler(YieldSampler):
    """Fills a pool by the most efficient focus; run it with `EFFICIENCY_THRESHOLD`.

    A focus never runs dry as long as it has pairs, because they are random: with a threshold of zero, only
    the budget ends a run.

    Parameters
    ----------
    pool, table, seed
        The pool to fill, its table, and what makes the random choices.
    ordered
        The columns whose order matters, all unless some are named; the others are not sampled by it.
    """

    def __init__(
        self, pool: PairTaker, table: RankedTable, seed: int = 0, ordered: Sequence[int] | None = None
    ) -> None:
        order = np.arange(table.rows, dtype=np.int32)
        seeds = np.random.SeedSequence(seed).spawn(len(pool.columns) * len(Strategy))
        sources = []
        for position, column in enumerate(pool.columns):
            clusters = Clusters.of(table, column, pool.policy, order)
            for strategy in Strategy:
                by_order = strategy in (Strategy.BACK, Strategy.FORTH)
                if not by_order or ordered is None or column in ordered:
                    own_seed = seeds[position * len(Strategy) + strategy]
                    sources.append(_Focus(clusters, strategy, np.random.default_rng(own_seed)))
        super().__init__(pool, sources)


class _Focus:
    """One strategy on one column; every round pairs each row that has a partner once."""

    def __init__(self, clusters: Clusters, strategy: Strategy, generator: np.random.Generator) -> None:
        self._clusters = clusters
        self._strategy = int(strategy)
        self._generator = generator
        self._seed = self._next_seed()
        self._place = (0, 0)
        self._has_pairs = clusters.largest > 1 if strategy is Strategy.WITHIN else clusters.largest < clusters.rows.size

    def list_pairs(self, left: Int32s, right: Int32s) -> int:
        rows, starts = self._clusters.rows, self._clusters.starts
        listed, *place = sampling_kernels.focused_pairs(
            rows, starts, self._strategy, self._seed, *self._place, left, right
        )
        if listed < left.size:
            self._seed = self._next_seed()
            place = [0, 0]
        self._place = (place[0], place[1])
        return listed

    def has_more(self) -> bool:
        return self._has_pairs

    def _next_seed(self) -> np.uint64:
        return np.uint64(self._generator.integers(0, 2**64, dtype=np.uint64))
