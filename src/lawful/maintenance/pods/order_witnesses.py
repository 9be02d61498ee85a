"""What is kept of the pairs of rows for pointwise order dependencies: vectors of signs, with a few pairs each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.dependencies import POD
from lawful.discovery.questions import Watch
from lawful.engines.refuting_pairs import refuting_pairs_of_rows
from lawful.evidence import tile_of_rows
from lawful.evidence.living.orders import (
    LISTED_COST,
    IndexPlan,
    better_with_all,
    candidate_counts,
    choose_indexes,
    is_better_with_all,
    violating_candidates,
)
from lawful.evidence.living.orders.ordered_rows import OrderedRows
from lawful.evidence.living.row_clusters import RowClusters
from lawful.evidence.signs import SignVectors
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.engine_pairs import EnginePairs
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_pairs import KeptSigns, ids_of_pairs, pairs_of_ids
from lawful.search.pods.kept_left_sides import LeftSides, breaks, broken_by, pack_left_side
from lawful.search.pods.kernels.left_sides import edges_of_signs, turned_literals
from lawful.search.pods.left_sides import Goal, pointwise_laws
from lawful.tables.living.living_table import LivingTable

_MOST_LAWS = 20_000
"""For more laws than this no indexes are chosen: new rows are compared with all others."""
_PAIRS_A_VISIT = 40_000
"""Bringing an index up to date and asking it takes as long as comparing so many pairs: half a millisecond."""


class SignsChange(NamedTuple):
    """The vectors that no pair has any more, and the right sides of the laws that a batch has broken."""

    lost: SignVectors
    broken: set[Goal]


class OrderWitnesses(KeptSigns):
    """Vectors of signs of a living table, with witnesses, and the indexes that find those of a batch."""

    def _begin(self, pairs: Int32s) -> None:
        super()._begin(pairs)
        self._new = range(0)
        self._edges: Words | None = None
        self._plan = IndexPlan(self._table, (), (), self.keys, RowClusters(self._table))
        self._served: set[POD] = set()
        self._planned: LeftSides = {}

    @staticmethod
    def from_arrays(table: LivingTable, policy: NullPolicy, arrays: Arrays) -> OrderWitnesses:
        """Read what `arrays` gave."""
        return OrderWitnesses(table, policy, pairs_of_ids(table, arrays["pairs"]))

    @property
    def plan(self) -> IndexPlan:
        """The indexes."""
        return self._plan

    def signs(self) -> SignVectors:
        """All vectors that are kept."""
        return self._compared().signs()

    def change(self, new: range, laws: LeftSides, elsewhere: EnginePairs, watch: Watch) -> SignsChange:
        """Follow a batch: witnesses that lost a row go; pairs of new rows come that refute a law that held.

        To be called after `follow_orders`. Pairs that refute none of the laws say nothing of what follows from them.
        """
        self._new, self._learnt, self._edges = new, [], None
        signs = self._compared()
        lost = signs.drop(self._table.is_live)
        if not len(new):
            return SignsChange(lost, set())
        found = self.aside()
        for pairs in self._candidates(new, laws, elsewhere, watch):
            watch.look()
            found.add(pairs)
        broken = broken_by(found.signs(), laws, self._table.width)
        pairs = found.pairs[broken.refutes].reshape(-1, 2)
        signs.add(pairs[pairs[:, 0] >= 0])
        return SignsChange(lost, broken.goals)

    def _candidates(self, new: range, laws: LeftSides, elsewhere: EnginePairs, watch: Watch) -> Iterator[Int32s]:
        """The pairs of new rows that can refute a law (line 1 of algorithm 4), by whatever way costs least."""
        rows = np.arange(new.start, new.stop, dtype=np.int64)
        listed, counts, with_all = rows[:0], rows[:0], rows
        if self._has_use_for_indexes(len(rows), laws):
            self._plan.catch_up()
            counts = candidate_counts(self._plan, rows)
            is_dear = better_with_all(counts, self._table.rows)
            listed, counts, with_all = rows[~is_dear], counts[~is_dear], rows[is_dear]
        if elsewhere.is_worth(len(with_all) * self._table.rows + LISTED_COST * float(counts.sum())):
            yield elsewhere.refuting(new, laws, watch.is_over).astype(np.int32)
            return
        if len(with_all):
            yield self._refuting(with_all, laws, watch)
        for chunk in violating_candidates(self._plan, listed):
            yield np.stack([chunk.left, chunk.right], axis=1)

    def _has_use_for_indexes(self, new: int, laws: LeftSides) -> bool:
        """Whether it may pay to ask indexes for so many new rows, which are chosen if there are none yet."""
        pairs = new * self._table.rows
        if sum(map(len, laws.values())) > _MOST_LAWS or pairs < _PAIRS_A_VISIT * self._plan.visits:
            return False
        self._choose_indexes(laws)
        expected = pairs * sum(each.share for each in self._plan.indexes)
        return not is_better_with_all(expected, pairs, self._table.rows)

    def _refuting(self, rows: Int64s, laws: LeftSides, watch: Watch) -> Int32s:
        """Compare some rows with all, in this process."""
        table = OrderedRows(self.keys)
        places = np.searchsorted(table.numbers, rows)
        tile = tile_of_rows(table, places)
        pairs = refuting_pairs_of_rows(table, self._policy, laws, places, tile, None, watch.is_over)
        return table.numbers[pairs].astype(np.int32)

    def _choose_indexes(self, laws: LeftSides) -> None:
        """Choose indexes anew if some law has none, or if most of those that they were chosen for are gone.

        The paper keeps the indexes of the first laws for ever (end of section VI). They find what breaks all that
        follows from these; but those of a table of few rows, whose laws say much, find every row.
        """
        if laws.keys() == self._planned.keys() and all(laws[goal] is self._planned[goal] for goal in laws):
            return
        named = {law for goal, sets in laws.items() for law in pointwise_laws(goal, sets)}
        is_stale = 2 * len(named.intersection(self._plan.pods)) < len(self._plan.pods)
        if is_stale or not all(law in self._served or self._plan.covers(law) for law in named):
            self._plan.catch_up()
            self._plan = choose_indexes(self._table, sorted(named, key=str), self._policy, before=self._plan)
        self._served, self._planned = named, dict(laws)

    def learn(self, pairs: Int32s) -> SignVectors:
        """Compare pairs of live rows; return the vectors that are new."""
        self._learnt.append(pairs)
        self._edges = None
        return self._compared().add(pairs)

    def refuting(self, law: POD) -> Pair | None:
        """A pair of rows that refutes a law, as the law compares them; None if none is kept."""
        left_side = pack_left_side(law, self._table.width)
        if self._edges is None:
            signs = self.signs()
            self._edges = edges_of_signs(signs.less, signs.greater, self._table.width)
        for image, turned in ((self._edges, False), (turned_literals(self._edges), True)):
            refutes = breaks(image, Goal(*law.rhs)) & ~(image & left_side).any(axis=1)
            if refutes.any():
                one, other = self._compared().pairs[np.argmax(refutes), 0].tolist()
                return (other, one) if turned else (one, other)
        return None

    def logged(self) -> Arrays:
        """The pairs that joined, as ids."""
        pairs = self._compared().each_pair()
        new = pairs[(pairs >= self._new.start).any(axis=1)] if len(self._new) else pairs[:0]
        return {"pairs": ids_of_pairs(self._table, np.concatenate([new, *self._learnt]))}
