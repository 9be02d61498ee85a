"""Sets of columns about which nothing is left to ask.

A set E is *settled* once every pair of rows that agrees on it was compared. Whatever refutes a candidate whose
columns include E agrees on E, so a candidate that the pool does not refute holds, without a check, now and in every
later round. Two or three columns are mostly enough to leave few pairs, and are shared by hundreds of candidates:
the pairs that agree on them are compared in about the time of two or three checks.

Which sets are worth it is a covering problem, solved greedily: again and again the set that costs least for each
candidate that it settles. How many pairs agree on a set is estimated from random pairs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.common.arrays import Words
from lawful.discovery.coverage import Coverage
from lawful.discovery.questions import Watch
from lawful.engines import Engine
from lawful.evidence import Pool
from lawful.search import distinct_sets, set_sizes, unpack_set, words_for
from lawful.search.kernels.extensions import find_supersets
from lawful.search.kernels.sets import transpose
from lawful.search.kernels.supersets import count_supersets
from lawful.search.sets import WORD_BITS
from lawful.tables.sample import is_sample

# Costs are counted in passes over all rows of the table, of which one takes a column into a partition. They were
# measured on 336,776 rows; only their order of magnitude matters.
_PASSES_A_CHECK = 3.0
_PASSES_A_PAIR = 0.5
"""Of a table with as many pairs as rows: how long it takes to compare them all."""
_WORTH_A_LOOK = 2_000_000
"""Candidates that have fewer rows to check in all are checked before a cover of them would be found."""
_GROWN_AT_ONCE = 8
"""Of so many of the best sets it is tried whether one more column makes them better."""
_SHARE_TO_COVER = 0.5
"""After so many of the candidates are covered it is time to think again: the pairs refute many of the others."""
_MOST_SURPRISE = 4.0
"""A set with so many times the pairs that were expected is left for the next cover, which knows better."""


class SettledSets:
    """The sets that are settled, and the way to settle more; all are sets over the first columns of a pool."""

    def __init__(self, table: RankedTable, engine: Engine, pool: Pool, columns: tuple[int, ...] | None = None) -> None:
        self._table, self._engine, self._pool = table, engine, pool
        self._columns = pool.columns if columns is None else columns
        self._knows_all_rows = pool.rows == table.rows and not is_sample(table)
        self._settled: Words = np.zeros((0, words_for(len(self._columns))), np.uint64)
        self._counted: dict[bytes, int] = {}
        """The pairs that agree on a set, where they were counted."""
        self._coverage: Coverage | None = None
        self._small: tuple[Words, npt.NDArray[np.float64]] | None = None

    def __len__(self) -> int:
        return len(self._settled)

    def decide(self, family: Words) -> npt.NDArray[np.bool_]:
        """Which of these sets include a settled one."""
        return find_supersets(family, self._settled)

    def settle_some_of(self, left_sides: Words, watch: Watch) -> bool:
        """Settle what costs less than to check these sets of columns one by one; say whether there was anything."""
        if not self._knows_all_rows:
            return False
        chosen = self._cover(distinct_sets(left_sides))
        if not len(chosen):
            return False
        expected = _MOST_SURPRISE * self._pairs(chosen)
        columns = [tuple(self._columns[place] for place in unpack_set(one)) for one in chosen]
        parts = self._engine.pairs_of_classes(self._pool, columns, expected.tolist(), watch.is_over)
        watch.look()
        for one, part in zip(chosen, parts, strict=True):
            if isinstance(part, Pool):
                self._pool.absorb(part)
                self._settled = np.concatenate([self._settled, one[np.newaxis]])
            else:
                self._counted[one.tobytes()] = part
        self._small = None if self._counted else self._small
        return True

    def _cover(self, rest: Words) -> Words:
        """The sets to settle next, the best first."""
        chosen = np.zeros((0, self._settled.shape[1]), np.uint64)
        rest = rest[~self.decide(rest)]
        if len(rest) * self._table.rows < _WORTH_A_LOOK:
            return chosen
        enough = len(rest) * (1.0 - _SHARE_TO_COVER)
        while len(rest) > enough:
            best = self._best(rest)
            if best is None:
                break
            chosen = np.concatenate([chosen, best])
            rest = rest[~find_supersets(rest, best)]
        return chosen

    def _best(self, rest: Words) -> Words | None:
        """The set that decides others of these at the least cost each, if that is less than a check of each."""
        holders = transpose(rest)
        tried, cost = self._small_sets()
        best, least = None, _PASSES_A_CHECK
        while len(tried):
            decided = count_supersets(tried, holders)
            price = np.where(decided > 0, cost / np.maximum(decided, 1), np.inf)
            order = np.argsort(price, kind="stable")[:_GROWN_AT_ONCE]
            if price[order[0]] >= least:
                break
            best, least = tried[order[:1]], float(price[order[0]])
            tried = self._with_one_more(tried[order])
            cost = self._costs(tried)
        return best

    def _small_sets(self) -> tuple[Words, npt.NDArray[np.float64]]:
        """All sets of one or two columns, and what it costs to settle each."""
        if self._small is None:
            singles = self._with_one_more(np.zeros((1, self._settled.shape[1]), np.uint64))
            sets = np.concatenate([singles, self._with_one_more(singles)])
            self._small = sets, self._costs(sets)
        return self._small

    def _with_one_more(self, sets: Words) -> Words:
        """The sets with every one column more."""
        grown = [sets[:0]]
        for place in range(len(self._columns)):
            bit = np.uint64(1) << np.uint64(place % WORD_BITS)
            others = sets[(sets[:, place // WORD_BITS] & bit) == 0]
            others[:, place // WORD_BITS] |= bit
            grown.append(others)
        return distinct_sets(np.concatenate(grown))

    def _costs(self, sets: Words) -> npt.NDArray[np.float64]:
        """A pass for each column, one to fetch the rows, and the comparisons."""
        pairs_a_row = self._pairs(sets) / self._table.rows
        cost = set_sizes(sets) + np.minimum(1.0, pairs_a_row) + _PASSES_A_PAIR * pairs_a_row
        return np.asarray(cost, np.float64)

    def _pairs(self, sets: Words) -> npt.NDArray[np.float64]:
        """About how many pairs agree on each set."""
        if self._coverage is None:
            self._coverage = Coverage(self._table, self._pool.policy, self._columns)
        pairs = self._coverage.of(sets) * self._table.rows**2 / 2
        for place, one in enumerate(sets if self._counted else ()):
            pairs[place] = self._counted.get(one.tobytes(), pairs[place])
        return pairs
