"""The exact multiset of agree sets of a table that changes (DynASt, sections 3 to 5).

Each agree set is kept with the number of unordered pairs of live rows that have it. A batch adds or takes away the
pairs of its rows (Property 1). Deletions are to come before insertions, which spares the pairs between both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence.exact import ShouldStop, all_agree_sets
from lawful.evidence.living.compared_rows import ComparedRows
from lawful.evidence.living.costs import cost_of_index, index_is_cheaper
from lawful.evidence.living.dynast import Dynast
from lawful.evidence.living.kernels.numbered_vectors import agreements
from lawful.evidence.living.live_rows import LiveRows
from lawful.evidence.living.numbered_vectors import Multiset
from lawful.evidence.living.packed_agree_sets import violation_counts
from lawful.evidence.living.tally import PairCounter
from lawful.evidence.living.value_index import ValueIndex
from lawful.evidence.living.violation_masks import ViolationCounts
from lawful.evidence.signs import words_for

BatchStrategy = Literal["auto", "compare", "index", "dynast"]


@dataclass(frozen=True, eq=False, slots=True)
class CountedSets:
    """Distinct agree sets and how many pairs have each, in no useful order.

    Attributes
    ----------
    agree
        Where rows agree, `uint64[sets, words]`. The empty set is there if it occurs.
    known_differ
        Under `NullPolicy.IGNORE` where they are known to differ, else None: as in `AgreeSets`.
    counts
        The number of pairs.
    """

    agree: Words
    known_differ: Words | None
    counts: Int64s

    def __len__(self) -> int:
        return len(self.agree)

    @property
    def keys(self) -> Words:
        """The sets as one array: where rows agree, and then where they are known to differ, if that is told."""
        return _joined(self.agree, self.known_differ)


class CountedPairs(NamedTuple):
    """The pairs of a batch that somebody else has counted.

    Attributes
    ----------
    keys, counts
        Distinct agree sets as `CountedSets.keys` gives them, and how many pairs have each.
    witnesses
        The ids of the rows of one pair with each set, `int64[sets, 2]`.
    """

    keys: Words
    counts: Int64s
    witnesses: Int64s


@dataclass(frozen=True, eq=False, slots=True)
class MultisetChange(CountedSets):
    """What a batch has changed: the agree sets of the pairs that came or went, and how many pairs.

    Attributes
    ----------
    witnesses
        The ids of the rows of one such pair for each set, `int64[sets, 2]`; -1 where none is known.
    is_new
        Which sets no pair had before.
    is_gone
        Which sets no pair has any more.
    """

    witnesses: Int64s
    is_new: Flags
    is_gone: Flags


class AgreeMultiset:
    """Counts of agree sets over unordered pairs of live rows, exact after every change.

    A row is a column of codes, `int32`: 0 is null, and any larger number a value of its column. Codes of a column are
    equal where its values are; they need not be dense, and new ones may come with every batch.

    Parameters
    ----------
    strategy
        How batches are counted, with equal results: `compare` the batch with all rows, look up shared values in an
        `index`, as the paper does (`dynast`), or `auto`, which estimates which of the first two is cheaper.
    threads
        How many threads compare; None takes one per core.
    """

    def __init__(
        self, width: int, policy: NullPolicy, *, strategy: BatchStrategy = "auto", threads: int | None = None
    ) -> None:
        if strategy not in get_args(BatchStrategy):
            raise ValueError(f"strategy must be one of {', '.join(get_args(BatchStrategy))}, and is {strategy!r}")
        self.width = width
        self.policy = policy
        self._strategy = strategy
        self._threads = threads
        self._rows = LiveRows(width)
        self._words = words_for(width)
        self._sets = Multiset(self._words * (1 if policy is NullPolicy.EQUAL else 2))
        self._pairs = self._shared_cells = self._sharing_pairs = 0
        self._counters: dict[BatchStrategy, PairCounter] = {}

    @staticmethod
    def of(
        codes: Int32s,
        row_ids: Int64s,
        policy: NullPolicy,
        *,
        strategy: BatchStrategy = "auto",
        threads: int | None = None,
        should_stop: ShouldStop | None = None,
    ) -> AgreeMultiset:
        """Count all pairs of a table `int32[width, rows]` at once; see `all_agree_sets` for how it stops."""
        multiset = AgreeMultiset(len(codes), policy, strategy=strategy, threads=threads)
        multiset._rows.append(codes, row_ids)
        found = all_agree_sets(_CodeTable(codes), policy, None, threads, should_stop)
        assert found.counts is not None
        multiset._add(multiset._keys(found.agree, found.known_differ), found.counts, 1)
        return multiset

    @staticmethod
    def from_arrays(
        arrays: Mapping[str, Words | Int64s],
        codes: Int32s,
        row_ids: Int64s,
        policy: NullPolicy,
        *,
        strategy: BatchStrategy = "auto",
        threads: int | None = None,
    ) -> AgreeMultiset:
        """Restore what `arrays` gave, with the codes of the rows that were there then."""
        multiset = AgreeMultiset(len(codes), policy, strategy=strategy, threads=threads)
        multiset._rows.append(codes, row_ids)
        multiset._add(arrays["keys"].astype(np.uint64), arrays["counts"].astype(np.int64), 1)
        return multiset

    @property
    def rows(self) -> int:
        """The number of live rows."""
        return self._rows.count

    def __len__(self) -> int:
        """The number of distinct agree sets."""
        return len(self._sets)

    def pairs_to_compare(self, rows: int, *, leave: bool = False) -> float:
        """How many pairs are compared in the time that counting a batch takes, of rows that come or of some that leave.

        They are all pairs of the batch, or fewer where looking up shared values is quicker.
        """
        others = self.rows - rows if leave else self.rows
        pairs = rows * others + math.comb(rows, 2)
        return pairs * cost_of_index(*self._sharing) if index_is_cheaper(*self._sharing) else pairs

    def insert(
        self,
        codes: Int32s,
        row_ids: Int64s,
        counted: CountedPairs | None = None,
        should_stop: ShouldStop | None = None,
    ) -> MultisetChange:
        """Add rows `int32[width, rows]` with new ids: their pairs with kept rows and among themselves, each once.

        Rows are not compared if their pairs are `counted` already. If stopped, this multiset is of no use any more.

        Raises
        ------
        ValueError
            If an id is there already, or codes are negative or of another shape.
        """
        counter = self._counter() if counted is None else None
        self._rows.append(codes, row_ids)
        for following in self._counters.values():
            following.appended(row_ids.size)
        found = counted if counter is None else self._count_last(counter, row_ids.size, should_stop)
        assert found is not None
        return self._changed(found, 1)

    def delete(
        self, row_ids: Int64s, counted: CountedPairs | None = None, should_stop: ShouldStop | None = None
    ) -> MultisetChange:
        """Take rows away, with all their pairs; rows are not compared if these are `counted` already.

        If it is stopped, this multiset is of no use any more.

        Raises
        ------
        ValueError
            If an id is not there or comes twice.
        """
        if counted is None and self._strategy == "auto" and self._recounting_is_cheaper(row_ids.size):
            return self._recount(row_ids, should_stop)
        counter = self._counter() if counted is None else None
        exchanged = self._rows.bring_last(row_ids)
        for following in self._counters.values():
            following.exchanged(*exchanged)
        found = counted if counter is None else self._count_last(counter, row_ids.size, should_stop)
        assert found is not None
        for following in self._counters.values():
            following.dropping(row_ids.size)
        self._rows.drop_last(row_ids.size)
        return self._changed(found, -1)

    def sets(self) -> CountedSets:
        """All agree sets that some pair has."""
        keys, counts = self._sets.entries()
        return CountedSets(*self._planes(keys), counts)

    def count_of(self, agree: Words, known_differ: Words | None = None) -> Int64s:
        """The number of pairs with each of some sets `uint64[sets, words]`."""
        return self._sets.counts_of(self._keys(agree, known_differ))

    def violation_counts(self) -> ViolationCounts:
        """What answers how many pairs break a key or an FD; good until the next change."""
        return violation_counts(*self._sets.arrays, self.width, self.policy)

    def arrays(self) -> dict[str, Words | Int64s]:
        """The state to save: all sets and their counts. The rows are saved by whoever has their values."""
        keys, counts = self._sets.entries()
        return {"keys": keys, "counts": counts}

    def replay(self, gone: Int64s, codes: Int32s, row_ids: Int64s, keys: Words, amounts: Int64s) -> None:
        """Follow a batch of deletions and insertions whose changes of counts are known, without comparing rows."""
        self._counters.clear()
        self._rows.bring_last(gone)
        self._rows.drop_last(gone.size)
        self._rows.append(codes, row_ids)
        self._add(*_summed(keys, amounts), 1)

    def _recounting_is_cheaper(self, gone: int) -> bool:
        """Whether fewer pairs stay than go, as where more than three rows of ten leave."""
        return math.comb(self.rows - gone, 2) < gone * (self.rows - gone) + math.comb(gone, 2)

    def _recount(self, row_ids: Int64s, should_stop: ShouldStop | None) -> MultisetChange:
        """Take rows away by counting the pairs of those that stay; no witness of a pair that went is known then: -1."""
        self._counters.clear()
        self._rows.bring_last(row_ids)
        self._rows.drop_last(row_ids.size)
        keys, before = self._sets.entries()
        left = all_agree_sets(_CodeTable(self._rows.codes), self.policy, None, self._threads, should_stop)
        assert left.counts is not None
        stays = Multiset(keys.shape[1])
        stays.change(self._keys(left.agree, left.known_differ), left.counts)
        gone = before - stays.counts_of(keys)
        went = np.flatnonzero(gone)
        return self._changed(CountedPairs(keys[went], gone[went], np.full((went.size, 2), -1, np.int64)), -1)

    def _count_last(self, counter: PairCounter, rows: int, should_stop: ShouldStop | None) -> CountedPairs:
        found = counter.pairs_of_last(rows, should_stop)
        return CountedPairs(found.keys, found.counts, self._rows.ids[found.witnesses])

    def _changed(self, found: CountedPairs, sign: int) -> MultisetChange:
        before, after = self._add(found.keys, found.counts, sign)
        return MultisetChange(*self._planes(found.keys), found.counts, found.witnesses, before == 0, after == 0)

    def _add(self, keys: Words, counts: Int64s, sign: int) -> tuple[Int64s, Int64s]:
        before, after = self._sets.change(keys, sign * counts)
        cells, sharing = agreements(self._planes(keys)[0], counts)
        self._shared_cells += sign * cells
        self._sharing_pairs += sign * sharing
        self._pairs += sign * int(counts.sum())
        assert self._pairs == math.comb(self.rows, 2), "the counts are not those of all pairs"
        return before, after

    def _counter(self) -> PairCounter:
        """The way to count a batch; one that was not used yet begins with the live rows."""
        strategy = self._strategy
        if strategy == "auto":
            strategy = "index" if index_is_cheaper(*self._sharing) else "compare"
        if strategy not in self._counters:
            self._counters[strategy] = self._begin(strategy)
        return self._counters[strategy]

    @property
    def _sharing(self) -> tuple[int, int, int, int]:
        """What the costs of counting a batch are estimated from."""
        return self.width, self.rows, self._shared_cells, self._sharing_pairs

    def _begin(self, strategy: BatchStrategy) -> PairCounter:
        if strategy == "index":
            return ValueIndex(self._rows, self.policy)
        if strategy == "dynast":
            return Dynast(self._rows, self.policy)
        return ComparedRows(self._rows, self.policy, self._threads)

    def _keys(self, agree: Words, known_differ: Words | None) -> Words:
        if (known_differ is None) != (self.policy is NullPolicy.EQUAL):
            raise ValueError("where rows are known to differ belongs to a set if and only if nulls are ignored")
        return _joined(agree, known_differ)

    def _planes(self, keys: Words) -> tuple[Words, Words | None]:
        if self.policy is NullPolicy.EQUAL:
            return keys, None
        return np.ascontiguousarray(keys[:, : self._words]), np.ascontiguousarray(keys[:, self._words :])


def _joined(agree: Words, known_differ: Words | None) -> Words:
    return agree if known_differ is None else np.concatenate([agree, known_differ], axis=1)


def _summed(keys: Words, amounts: Int64s) -> tuple[Words, Int64s]:
    """Each set once, with the sum of its amounts: one that went and came back must not fall below zero on the way."""
    distinct, places = np.unique(keys, axis=0, return_inverse=True)
    summed = np.zeros(len(distinct), np.int64)
    np.add.at(summed, places.ravel(), amounts)
    return distinct, summed


class _CodeTable:
    """Codes as a ranked table: comparing for equality does not ask for ranks to be dense."""

    def __init__(self, codes: Int32s) -> None:
        self.matrix = np.ascontiguousarray(codes)
        self.width, self.rows = codes.shape

    def column(self, i: int, /) -> Int32s:
        column: Int32s = self.matrix[i]
        return column

    def distinct(self, i: int, /) -> int:
        return int(np.count_nonzero(np.unique(self.matrix[i])))
