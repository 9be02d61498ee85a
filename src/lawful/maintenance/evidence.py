"""What is kept of the pairs of rows, in one of two ways.

*By witnesses*: of every agree set that was needed to refute something, a few pairs of live rows. A batch costs what its
rows share with others; what the evidence leaves open has to be checked.
*Counted*: the exact multiset of the agree sets of all pairs (DynASt). A batch costs its rows times the table; nothing
is left to check, and the g1 error of every key and FD can be read off.
Both lead to the same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.meanings import NullPolicy
from lawful.evidence import AgreeSets
from lawful.evidence.living.agree_multiset import AgreeMultiset, CountedPairs, CountedSets, MultisetChange
from lawful.evidence.living.new_pairs import compare_new_rows, compare_pairs_of_rows, plan_new_rows
from lawful.evidence.living.row_clusters import RowClusters
from lawful.evidence.living.witnessed_sets import Family, WitnessedSets
from lawful.evidence.signs import WORD_BITS, words_for
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.engine_pairs import ComparedPairs, EnginePairs
from lawful.search import pack_sets
from lawful.search.kernels.extensions import find_supersets
from lawful.tables.living.living_table import LivingTable

ShouldStop = Callable[[], bool]
Pair = tuple[int, int]


class EvidenceChange(NamedTuple):
    """The agree sets that no pair has any more, and those that no pair had before, as `uint64[sets, words]`."""

    gone: Words
    come: Words


class HeldLaws(NamedTuple):
    """The laws that held before a batch, and the columns that were constant.

    Left sides come without the empty one, each with what it determined, -1 if it was a key.

    `left_sides` is None if there are too many, or if the empty set was a key: then all pairs of new rows count.
    """

    left_sides: Mapping[tuple[int, ...], list[int]] | None
    constants: list[int]


class KeptEvidence(Protocol):
    """Evidence of a living table that follows its changes."""

    @property
    def is_exact(self) -> bool:
        """Whether all pairs are known, so that nothing needs a check."""

    def __len__(self) -> int:
        """How many agree sets are kept."""

    def family(self) -> Family:
        """All agree sets that are kept."""

    def change(
        self, gone: Int64s, new: range, held: HeldLaws, elsewhere: EnginePairs, should_stop: ShouldStop
    ) -> EvidenceChange:
        """Follow a batch that the table has taken in: rows that have left, and rows that have come."""

    def learn(self, pairs: Int32s) -> Words:
        """Look at pairs of live rows; return the agree sets that are new."""

    def refuting(self, columns: Words, goal: int) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken; see `WitnessedSets.refuting`."""

    def logged(self) -> Arrays:
        """What has to be known of the last batch to follow it without looking at rows again."""

    def replay(self, gone: Int64s, new: range, logged: Arrays) -> None:
        """Follow a batch by what was logged of it."""

    def arrays(self) -> Arrays:
        """Everything, to be saved."""

    def differences(self) -> list[str]:
        """What is not as the rows say, in words."""


class Witnesses:
    """Evidence by witnesses.

    Parameters
    ----------
    table
        The living table.
    sets
        The agree sets with their witnesses.
    """

    is_exact = False

    def __init__(self, table: LivingTable, sets: WitnessedSets) -> None:
        self._table, self._sets = table, sets
        self._clusters = RowClusters(table)
        self._new = range(0)
        self._learnt: list[Int32s] = []

    @staticmethod
    def of_pairs(table: LivingTable, policy: NullPolicy, pairs: Int32s) -> Witnesses:
        """Begin with some pairs of live rows."""
        evidence = Witnesses(table, WitnessedSets(table.width, policy))
        evidence.learn(pairs)
        return evidence

    @staticmethod
    def from_arrays(table: LivingTable, policy: NullPolicy, arrays: Arrays) -> Witnesses:
        """Read what `arrays` gave."""
        sets, pairs = WitnessedSets(table.width, policy), arrays["pairs"]
        numbers = np.full(pairs.shape, -1, np.int32)
        numbers[pairs >= 0] = table.rows_of(pairs[pairs >= 0])
        sets.restore(Family(arrays["agree"], arrays.get("differ")), numbers)
        return Witnesses(table, sets)

    def __len__(self) -> int:
        return len(self._sets)

    def family(self) -> Family:
        """All agree sets with a witness."""
        return self._sets.family()

    def change(
        self, gone: Int64s, new: range, held: HeldLaws, elsewhere: EnginePairs, should_stop: ShouldStop
    ) -> EvidenceChange:
        """Drop the witnesses that lost a row; compare new rows where that can refute a law that held."""
        self._new, self._learnt = new, []
        nothing = np.empty((0, words_for(self._table.width)), np.uint64)
        lost = self._sets.drop(self._table.is_live).agree if len(gone) else nothing
        if not len(new):
            return EvidenceChange(lost, nothing)
        plan = plan_new_rows(self._table, self._clusters, new, held.left_sides, held.constants, self._sets.policy)
        if elsewhere.is_worth(plan.pairs):
            compared = elsewhere.of_new(new, should_stop, counted=False)
            refutes = _can_refute(compared.sets, held)
            came = compare_pairs_of_rows(self._table, compared.pairs[refutes].astype(np.int32), self._sets)
        else:
            came = compare_new_rows(self._table, self._clusters, new, plan, self._sets, should_stop)
        return EvidenceChange(lost, came)

    def learn(self, pairs: Int32s) -> Words:
        """Compare pairs of live rows."""
        self._learnt.append(pairs)
        return compare_pairs_of_rows(self._table, pairs, self._sets)

    def refuting(self, columns: Words, goal: int) -> Pair | None:
        """A pair of rows that is kept for an agree set that refutes the law."""
        return self._sets.refuting(columns, goal)

    def logged(self) -> Arrays:
        """The pairs that joined, as ids."""
        pairs = self._sets.pairs.reshape(-1, 2)
        new = pairs[(pairs >= self._new.start).any(axis=1)] if len(self._new) else pairs[:0]
        joined_ = np.concatenate([new, *self._learnt]).astype(np.int64)
        return {"pairs": self._table.ids_of(joined_.ravel()).reshape(-1, 2)}

    def replay(self, gone: Int64s, new: range, logged: Arrays) -> None:
        """Drop and add witnesses as the batch did."""
        if len(gone):
            self._sets.drop(self._table.is_live)
        pairs = self._table.rows_of(logged["pairs"].ravel()).reshape(-1, 2)
        compare_pairs_of_rows(self._table, pairs.astype(np.int32), self._sets)

    def differences(self) -> list[str]:
        """Whether every pair that is kept has the agree set that it is kept for."""
        anew = WitnessedSets(self._table.width, self._sets.policy)
        pairs = self._sets.pairs.reshape(-1, 2)
        compare_pairs_of_rows(self._table, pairs[pairs[:, 0] >= 0], anew)
        return [] if anew.same_as(self._sets) else ["an agree set is kept that its witnesses do not have"]

    def arrays(self) -> Arrays:
        """All sets with their witnesses, as ids."""
        family, pairs = self.family(), self._sets.pairs.astype(np.int64)
        pairs[pairs >= 0] = self._table.ids_of(pairs[pairs >= 0])
        arrays: Arrays = {"agree": family.agree, "pairs": pairs}
        return arrays if family.differ is None else arrays | {"differ": family.differ}


class Counted:
    """Evidence by counting all pairs."""

    is_exact = True

    def __init__(self, table: LivingTable, multiset: AgreeMultiset) -> None:
        self._table = table
        self.multiset = multiset
        self._changes: list[MultisetChange] = []

    @staticmethod
    def of(table: LivingTable, policy: NullPolicy, should_stop: ShouldStop | None = None) -> Counted:
        """Count the pairs of all live rows."""
        rows = table.live_rows()
        return Counted(
            table, AgreeMultiset.of(table.codes.matrix(rows), table.ids_of(rows), policy, should_stop=should_stop)
        )

    @staticmethod
    def from_arrays(table: LivingTable, policy: NullPolicy, arrays: Arrays) -> Counted:
        """Read what `arrays` gave."""
        rows = table.live_rows()
        multiset = AgreeMultiset.from_arrays(arrays, table.codes.matrix(rows), table.ids_of(rows), policy)
        return Counted(table, multiset)

    def __len__(self) -> int:
        return len(self.multiset)

    def family(self) -> Family:
        """All agree sets that occur."""
        sets = self.multiset.sets()
        return Family(sets.agree, sets.known_differ)

    def change(
        self, gone: Int64s, new: range, held: HeldLaws, elsewhere: EnginePairs, should_stop: ShouldStop
    ) -> EvidenceChange:
        """Count the pairs that went, then those that came."""
        counted = None
        if elsewhere.is_worth(self.multiset.pairs_to_compare(len(gone), leave=True)):
            counted = self._counted(elsewhere.of_gone(gone, should_stop, counted=True))
        deleted = self.multiset.delete(self._table.ids_of(gone), counted, should_stop)
        counted = None
        if elsewhere.is_worth(self.multiset.pairs_to_compare(len(new))):
            counted = self._counted(elsewhere.of_new(new, should_stop, counted=True))
        inserted = self.multiset.insert(*self._rows(new), counted, should_stop)
        self._changes = [deleted, inserted]
        return EvidenceChange(deleted.agree[deleted.is_gone], inserted.agree[inserted.is_new])

    def learn(self, pairs: Int32s) -> Words:
        """Everything is known already."""
        raise AssertionError("all pairs are counted, and nothing is left to learn")

    def refuting(self, columns: Words, goal: int) -> Pair | None:
        """A pair of the last batch that refutes the law."""
        for change in reversed(self._changes):
            refutes = ((change.agree & columns) == columns).all(axis=1) & change.is_new
            if goal >= 0:
                word, bit = goal // WORD_BITS, np.uint64(1) << np.uint64(goal % WORD_BITS)
                differs = ~change.agree if change.known_differ is None else change.known_differ
                refutes &= (differs[:, word] & bit) != 0
            if refutes.any():
                one, other = self._table.rows_of(change.witnesses[np.argmax(refutes)])
                return int(min(one, other)), int(max(one, other))
        return None

    def logged(self) -> Arrays:
        """How counts changed."""
        keys = [change.keys for change in self._changes]
        amounts = [sign * change.counts for sign, change in zip((-1, 1), self._changes, strict=True)]
        return {"keys": np.concatenate(keys), "amounts": np.concatenate(amounts)}

    def replay(self, gone: Int64s, new: range, logged: Arrays) -> None:
        """Change the counts as the batch did."""
        self.multiset.replay(self._table.ids_of(gone), *self._rows(new), logged["keys"], logged["amounts"])

    def arrays(self) -> Arrays:
        """All sets and their counts."""
        return dict(self.multiset.arrays())

    def differences(self) -> list[str]:
        """Whether the counts are those of a count from scratch."""
        kept, anew = self.arrays(), Counted.of(self._table, self.multiset.policy).arrays()
        orders = [np.lexsort(arrays["keys"].T) for arrays in (kept, anew)]
        same = all(np.array_equal(kept[name][orders[0]], anew[name][orders[1]]) for name in ("keys", "counts"))
        return [] if same else ["the counts of agree sets are not those of the rows"]

    def _counted(self, compared: ComparedPairs) -> CountedPairs:
        sets = compared.sets
        assert sets.counts is not None
        keys = CountedSets(sets.agree, sets.known_differ, sets.counts).keys
        return CountedPairs(keys, sets.counts, self._table.ids_of(compared.pairs.ravel()).reshape(-1, 2))

    def _rows(self, new: range) -> tuple[Int32s, Int64s]:
        numbers = np.arange(new.start, new.stop, dtype=np.int64)
        return self._table.codes.of_rows(numbers), self._table.ids_of(numbers)


def _can_refute(sets: AgreeSets, held: HeldLaws) -> Flags:
    """Which agree sets can refute a law that held, or one that follows from it by adding columns."""
    if held.left_sides is None:
        return np.ones(len(sets), np.bool_)
    width = len(sets.columns)
    refutes: Flags = np.any(sets.differ & pack_sets([held.constants], width), axis=1)
    if held.left_sides:
        refutes |= find_supersets(sets.agree, pack_sets(list(held.left_sides), width))
    return refutes
