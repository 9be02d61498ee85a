"""Choosing pairs of rows that are likely to show something new.

A source lists pairs in rounds. After each round its yield is known: new vectors per comparison. The source
with the best yield has the next round, until the best is not good enough any more. This is the progressive
sampling of HyFD (Papenbrock and Naumann, SIGMOD 2016, section 6) and, with other sources, Hydra's (section 4.3).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lawful.common.arrays import Int32s
from lawful.common.meanings import NullPolicy
from lawful.evidence.clusters import Clusters, sorted_by
from lawful.evidence.kernels import sampling as sampling_kernels
from lawful.evidence.signs import CHUNK
from lawful.tables.ranked_table import RankedTable


@dataclass(frozen=True, slots=True)
class SampleStats:
    """What a run of a sampler did.

    Attributes
    ----------
    pairs, new
        How many pairs were compared, and how many vectors were new to the pool.
    rounds
        How many rounds were completed.
    best_yield
        The best yield that is left, with which a further run would go on; None if nothing is left.
    """

    pairs: int
    new: int
    rounds: int
    best_yield: float | None


class PairSource(Protocol):
    """Lists pairs in rounds, a short list at a time."""

    def list_pairs(self, left: Int32s, right: Int32s) -> int:
        """Write pairs of this round and return how many; fewer than fit end the round."""

    def has_more(self) -> bool:
        """Say whether another round would list any pairs."""


JUDGED_AFTER = 1 << 20
"""So many pairs tell what a source yields, whether its round has ended or not."""
_COLUMNS_BEFORE = 2
"""By so many columns rows are sorted before the first cluster is made."""


class PairTaker(Protocol):
    """What samplers fill: a pool of any kind."""

    policy: NullPolicy
    rows: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the table that are compared."""

    def add_pairs(self, left: Int32s, right: Int32s) -> int:
        """Compare pairs and return how many told something new."""


class YieldSampler:
    """Fills a pool from sources, the one with the best yield first.

    A run can be followed by another with a lower threshold: it goes on where the first stopped, even within a
    round. Same sources, same pool, same thresholds: same pairs in the same order.

    Attributes
    ----------
    judged_after
        How many pairs tell what a source yields, whether its round has ended or not.
    """

    def __init__(self, pool: PairTaker, sources: Sequence[PairSource], judged_after: int = JUDGED_AFTER) -> None:
        self.pool = pool
        self.judged_after = judged_after
        self._sources = sources
        # A source that never had a round comes before all others: its yield is not known.
        self._queue = [(-math.inf, number) for number in range(len(sources))]
        self._done = [(0, 0) for _ in sources]
        self._left, self._right = (np.empty(CHUNK, np.int32) for _ in range(2))

    def run(
        self, min_yield: float, max_pairs: int | None = None, should_stop: Callable[[], bool] | None = None
    ) -> SampleStats:
        """Sample while some source yields at least `min_yield`, at most `max_pairs` pairs.

        With a `min_yield` of zero only the budget or the end of all sources ends the run.
        """
        pairs = new = rounds = 0
        while self._queue and -self._queue[0][0] >= min_yield:
            number = self._queue[0][1]
            room = CHUNK if max_pairs is None else min(CHUNK, max_pairs - pairs)
            if room <= 0 or (should_stop is not None and should_stop()):
                break
            listed = self._sources[number].list_pairs(self._left[:room], self._right[:room])
            found = self.pool.add_pairs(self._left[:listed], self._right[:listed])
            pairs, new = pairs + listed, new + found
            compared, fresh = self._done[number]
            self._done[number] = (compared + listed, fresh + found)
            if listed < room:
                rounds += 1
                self._end_round(number)
            elif compared + listed >= self.judged_after:
                # On many rows a round is long. It is not abandoned: the source goes on from here when its turn comes.
                self._requeue(number)
        best = abs(self._queue[0][0]) if self._queue else None
        return SampleStats(pairs, new, rounds, best)

    def _end_round(self, number: int) -> None:
        if self._sources[number].has_more():
            self._requeue(number)
        else:
            self._done[number] = (0, 0)
            heapq.heappop(self._queue)

    def _requeue(self, number: int) -> None:
        """Judge the source that is first in the queue by what it gave since it was judged last."""
        compared, fresh = self._done[number]
        self._done[number] = (0, 0)
        heapq.heapreplace(self._queue, (-fresh / max(1, compared), number))


class WindowSampler(YieldSampler):
    """HyFD's sampler: in each cluster of a column, compare rows 1, 2, 3, ... places apart.

    Rows of a cluster are sorted so that rows close to each other agree on more than the column itself. HyFD
    (section 6) sorts them by the column before and the column after. Here they are sorted by the column before, the
    one before that, and so on: this is how the clusters of the column before leave them, so that each column costs
    one pass. The seed decides which column is the first, and the order of rows that tie.

    Run to its end, it has compared all pairs that agree on any column.
    """

    def __init__(self, pool: PairTaker, table: RankedTable, seed: int = 0, judged_after: int = JUDGED_AFTER) -> None:
        generator = np.random.default_rng(seed)
        first = int(generator.integers(max(1, len(pool.columns))))
        columns = pool.columns[first:] + pool.columns[:first]
        order = generator.permutation(table.rows).astype(np.int32)
        rows = _SortedRows(pool.policy, table, columns[-_COLUMNS_BEFORE:], order)
        super().__init__(pool, [_WindowSource(rows, column) for column in columns], judged_after)


class _SortedRows:
    """All rows, sorted by one column after the other."""

    def __init__(self, policy: NullPolicy, table: RankedTable, before: tuple[int, ...], order: Int32s) -> None:
        self._policy, self._table, self._before, self._order = policy, table, before, order

    def clustered(self, column: int) -> Clusters:
        """Sort the rows once more, and give the clusters of the column."""
        for before in self._before:
            self._order, _ = sorted_by(self._table, before, self._order)
        self._before = ()
        self._order, starts = sorted_by(self._table, column, self._order)
        return Clusters.at(self._order, starts, self._policy).without_singles()


class _WindowSource:
    """The windows of one column, ever wider; its clusters are made at first use."""

    def __init__(self, rows: _SortedRows, column: int) -> None:
        self._rows, self._column = rows, column
        self._clusters: Clusters | None = None
        self._distance = 1
        self._place = (0, 0)

    def list_pairs(self, left: Int32s, right: Int32s) -> int:
        clusters = self._made_clusters()
        rows, starts = clusters.rows, clusters.starts
        listed, *place = sampling_kernels.window_pairs(rows, starts, self._distance, *self._place, left, right)
        if listed < left.size:
            self._distance += 1
            place = [0, 0]
        self._place = (place[0], place[1])
        return listed

    def has_more(self) -> bool:
        return self._made_clusters().largest > self._distance

    def _made_clusters(self) -> Clusters:
        if self._clusters is None:
            self._clusters = self._rows.clustered(self._column)
        return self._clusters


def sample_random_pairs(pool: PairTaker, pairs: int, seed: int = 0) -> int:
    """Compare random pairs, each as likely as any other, drawn with replacement; return how many are new."""
    if pool.rows < 2:
        return 0
    generator = np.random.default_rng(seed)
    new = 0
    for start in range(0, pairs, CHUNK):
        size = min(CHUNK, pairs - start)
        left = generator.integers(0, pool.rows, size)
        right = (left + generator.integers(1, pool.rows, size)) % pool.rows
        new += pool.add_pairs(left.astype(np.int32), right.astype(np.int32))
    return new
