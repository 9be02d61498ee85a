"""What is kept of the pairs of rows for denial constraints: vectors over a predicate space, with a few pairs each.

Only pairs are saved. How they compare is told by the values, once somebody needs to know.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.common.arrays import Int32s, Words
from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.evidence.denials.pool import DenialPool
from lawful.evidence.living.witnessed_vectors import WitnessedVectors
from lawful.evidence.signs import CHUNK, SignVectors
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.kept_pairs import ids_of_pairs, live_pairs, pairs_of_ids
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable

_PLANES = 2

ViewOfNow = Callable[[], LiveView]


class DenialVectors(WitnessedVectors):
    """Distinct vectors over a predicate space with witnesses, each as (t, s)."""

    def __init__(self, space: PredicateSpace) -> None:
        super().__init__(len(space.groups), _PLANES)

    def signs(self) -> SignVectors:
        """All vectors that have a witness, in the order of `pairs`."""
        return _as_signs(self._vectors(self._has_witness()))

    def add(self, signs: SignVectors, pairs: Int32s) -> None:
        """Add the vectors of pairs of live rows."""
        words = np.ascontiguousarray(np.concatenate([signs.less, signs.greater], axis=1).T)
        self._add(words, *np.ascontiguousarray(pairs.T))

    def drop(self, is_live: np.ndarray) -> SignVectors:
        """Let go of pairs that lost a row; return the vectors that have no witness any more."""
        return _as_signs(self._drop(is_live))

    def each_pair(self) -> Int32s:
        """All witnesses, `int32[pairs, 2]`."""
        pairs = self.pairs.reshape(-1, 2)
        return pairs[pairs[:, 0] >= 0]


class DenialWitnesses:
    """Vectors of a living table, with witnesses.

    Parameters
    ----------
    table, policy, space
        The table, what null means, and what is compared.
    pairs
        Pairs of live rows to begin with, `int32[pairs, 2]`.
    """

    def __init__(
        self, table: LivingTable, policy: NullPolicy, space: PredicateSpace, pairs: Int32s | None = None
    ) -> None:
        self._table, self._policy, self._space = table, policy, space
        self._waiting = np.empty((0, 2), np.int32) if pairs is None else pairs
        self._vectors: DenialVectors | None = None
        self._learnt: list[Int32s] = []

    @staticmethod
    def from_arrays(table: LivingTable, policy: NullPolicy, space: PredicateSpace, arrays: Arrays) -> DenialWitnesses:
        """Read what `arrays` gave."""
        return DenialWitnesses(table, policy, space, pairs_of_ids(table, arrays["pairs"]))

    def compared(self, view: LiveView) -> DenialVectors:
        """All vectors that are kept."""
        if self._vectors is None:
            self._vectors = DenialVectors(self._space)
            waiting, self._waiting = self._waiting, self._waiting[:0]
            self._compare(waiting, view)
        return self._vectors

    def begin_batch(self, view: LiveView) -> SignVectors:
        """Let go of pairs that lost a row; return the vectors that have no witness any more."""
        self._learnt = []
        self._waiting = live_pairs(self._table, self._waiting)
        return self.compared(view).drop(self._table.is_live)

    def learn(self, pairs: Int32s, view: LiveView) -> None:
        """Compare pairs of live rows, and keep them."""
        self._learnt.append(pairs)
        self.compared(view)
        self._compare(pairs, view)

    def _compare(self, pairs: Int32s, view: LiveView) -> None:
        assert self._vectors is not None
        if not len(pairs):
            return
        pool = DenialPool(view, self._space, self._policy)
        for start in range(0, len(pairs), CHUNK):
            some = pairs[start : start + CHUNK]
            left, right = np.searchsorted(view.numbers, some.T).astype(np.int32)
            self._vectors.add(pool.compare(left, right), some)

    def logged(self) -> Arrays:
        """The pairs that joined, as ids."""
        return {"pairs": ids_of_pairs(self._table, np.concatenate([self._waiting[:0], *self._learnt]))}

    def replay(self, logged: Arrays) -> None:
        """Drop and add witnesses as a batch did; only of a state that was just read."""
        assert self._vectors is None
        self._waiting = np.concatenate(
            [live_pairs(self._table, self._waiting), pairs_of_ids(self._table, logged["pairs"])]
        )

    def arrays(self) -> Arrays:
        """All pairs, as ids."""
        return {
            "pairs": ids_of_pairs(self._table, self._waiting if self._vectors is None else self._vectors.each_pair())
        }

    def differences(self, view: LiveView) -> list[str]:
        """Whether every pair that is kept has the vector that it is kept for."""
        kept = self.compared(view)
        anew = DenialWitnesses(self._table, self._policy, self._space, kept.each_pair()).compared(view)
        return [] if anew.same_as(kept) else ["a vector of comparisons is kept that its witnesses do not have"]


def _as_signs(vectors: Words) -> SignVectors:
    return SignVectors(np.ascontiguousarray(vectors[0]), np.ascontiguousarray(vectors[1]))
