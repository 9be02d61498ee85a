"""What is kept of the pairs of rows for pointwise order dependencies: vectors of signs, with a few pairs each.

Only pairs are saved. How they compare is told by the values, and only once somebody needs to know: who just looks at
the laws of a state sorts no values.
"""

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
    TableKeys,
    better_with_all,
    candidate_counts,
    choose_indexes,
    violating_candidates,
)
from lawful.evidence.living.orders.ordered_rows import OrderedRows
from lawful.evidence.living.orders.witnessed_signs import WitnessedSigns
from lawful.evidence.living.row_clusters import RowClusters
from lawful.evidence.signs import SignVectors
from lawful.maintenance.engine_pairs import EnginePairs
from lawful.maintenance.state_files import Arrays
from lawful.search.pods.kept_left_sides import LeftSides, breaks, broken_by, pack_left_side
from lawful.search.pods.kernels.left_sides import edges_of_signs, turned_literals
from lawful.search.pods.left_sides import Goal, pointwise_laws
from lawful.tables.living.living_table import LivingTable

Pair = tuple[int, int]

_MOST_LAWS = 20_000
"""For more laws than this no indexes are chosen: new rows are compared with all others."""


class SignsChange(NamedTuple):
    """The vectors that no pair has any more, and the right sides of the laws that a batch has broken."""

    lost: SignVectors
    broken: set[Goal]


class OrderWitnesses:
    """Vectors of signs of a living table, with witnesses, and the indexes that find those of a batch.

    Parameters
    ----------
    table, policy
        The table, and what null means.
    pairs
        Pairs of live rows to begin with, `int32[pairs, 2]`.
    """

    def __init__(self, table: LivingTable, policy: NullPolicy, pairs: Int32s) -> None:
        self._table, self._policy = table, policy
        self._new = range(0)
        self._learnt: list[Int32s] = []
        self._begin(pairs)

    def _begin(self, pairs: Int32s) -> None:
        self._waiting = pairs
        self._signs: WitnessedSigns | None = None
        self._edges: Words | None = None
        self._plan = IndexPlan(self._table, (), (), TableKeys(self._table), RowClusters(self._table))
        self._served: set[POD] = set()
        self._planned: LeftSides = {}
        self._note_orders()

    @staticmethod
    def from_arrays(table: LivingTable, policy: NullPolicy, arrays: Arrays) -> OrderWitnesses:
        """Read what `arrays` gave."""
        return OrderWitnesses(table, policy, _rows_of(table, arrays["pairs"]))

    def __len__(self) -> int:
        return len(self._compared())

    @property
    def plan(self) -> IndexPlan:
        """The indexes."""
        return self._plan

    def signs(self) -> SignVectors:
        """All vectors that are kept."""
        return self._compared().signs()

    def _compared(self) -> WitnessedSigns:
        if self._signs is None:
            self._signs = WitnessedSigns(self._plan.keys, self._policy)
            self._signs.add(self._waiting)
            self._waiting = self._waiting[:0]
        return self._signs

    def follow_orders(self) -> bool:
        """Take in the values that a batch brought; tell whether values that were there have changed their order.

        They do where a column becomes text. Then all is compared anew, and no law is known to hold.
        """
        before = self._plan.keys.ordered
        self._plan.catch_up()
        is_changed = self._plan.keys.ordered != before
        if self._signs is None:
            # Nobody has sorted the values before the batch: what may have changed their order counts as a change.
            is_changed = any(
                known and column.type is not type_
                for column, (type_, known) in zip(self._table.columns, self._orders, strict=True)
            )
        if is_changed:
            pairs = self._waiting if self._signs is None else self._signs.each_pair()
            self._new, self._learnt = range(0), []
            self._begin(self._live(pairs))
        self._note_orders()
        return is_changed

    def _note_orders(self) -> None:
        self._orders = [(column.type, len(column.dictionary)) for column in self._table.columns]

    def change(self, new: range, laws: LeftSides, elsewhere: EnginePairs, watch: Watch) -> SignsChange:
        """Follow a batch: witnesses that lost a row go; pairs of new rows come that refute a law that held.

        To be called after `follow_orders`. Pairs that refute none of the laws say nothing of what follows from them.
        """
        self._new, self._learnt, self._edges = new, [], None
        signs = self._compared()
        lost = signs.drop(self._table.is_live)
        if not len(new):
            return SignsChange(lost, set())
        found = WitnessedSigns(self._plan.keys, self._policy)
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
        if sum(map(len, laws.values())) > _MOST_LAWS:
            listed, counts, with_all = rows[:0], rows[:0], rows
        else:
            self._choose_indexes(laws)
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

    def _refuting(self, rows: Int64s, laws: LeftSides, watch: Watch) -> Int32s:
        """Compare some rows with all, in this process."""
        table = OrderedRows(self._plan.keys)
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
        return {"pairs": self._ids_of(np.concatenate([new, *self._learnt]))}

    def replay(self, logged: Arrays) -> None:
        """Drop and add witnesses as a batch did; only of a state that was just read."""
        assert self._signs is None
        self._waiting = np.concatenate([self._live(self._waiting), _rows_of(self._table, logged["pairs"])])
        self._note_orders()

    def arrays(self) -> Arrays:
        """All pairs, as ids."""
        pairs = self._live(self._waiting) if self._signs is None else self._signs.each_pair()
        return {"pairs": self._ids_of(pairs)}

    def differences(self) -> list[str]:
        """Whether every pair that is kept has the signs that it is kept for."""
        kept, anew = self._compared(), WitnessedSigns(TableKeys(self._table), self._policy)
        anew.add(kept.each_pair())
        return [] if anew.same_as(kept) else ["a vector of signs is kept that its witnesses do not have"]

    def _live(self, pairs: Int32s) -> Int32s:
        return pairs[self._table.is_live[pairs].all(axis=1)]

    def _ids_of(self, pairs: Int32s) -> Int64s:
        return self._table.ids_of(pairs.astype(np.int64).ravel()).reshape(-1, 2)


def _rows_of(table: LivingTable, ids: Int64s) -> Int32s:
    """The pairs of rows with some ids, which are live."""
    rows = table.rows_of(np.array(ids, np.int64).ravel()).reshape(-1, 2)
    assert (rows >= 0).all(), "a pair is saved of which a row is not there"
    return rows.astype(np.int32)
