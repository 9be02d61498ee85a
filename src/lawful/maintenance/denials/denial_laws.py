"""Minimal denial constraints of a table that changes, over a predicate space that is settled when the state is made.

A batch, once the table has taken it in:

    witnesses that lost a row go, and vectors without a witness go with them
    new rows are compared with all; vectors that refute a constraint that held come
    if anything came or went, the vectors are inverted again
        rows have left: check what did not hold before; witnesses against the wrong ones join; invert again

After insertions alone nothing is checked: whatever the vectors leave open follows from constraints that held, so a new
pair that breaks it breaks one of these, and all new pairs that do were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lawful.common.arrays import Flags, Floats, Int64s, Words
from lawful.dependencies import DC, Cell, Law, LawKind, Predicate
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.discover import constraints_with_evidence
from lawful.discovery.denials.listing import DenialListing, interests_of
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.evidence import tile_of_rows
from lawful.evidence.denials.evidence import evidence_of_rows
from lawful.evidence.denials.pool import DenialPool
from lawful.evidence.signs import SignVectors
from lawful.maintenance.denials.denial_witnesses import DenialWitnesses
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, LawBlock, LawsChange
from lawful.maintenance.storing import Numbered, as_bytes, from_bytes
from lawful.search import pack_set, pack_sets, unpack_sets, words_for
from lawful.search.denials.inversion import minimal_constraints
from lawful.search.denials.literals import Literals, finds_no_implied
from lawful.search.denials.reduction import closures, reading_order, reduced_places, turned_sets
from lawful.search.kernels.extensions import find_supersets
from lawful.search.sets import full_set, sets_without
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable

_TOO_MANY_LOST = 0.2
"""Where a batch takes more of the evidence than this, searching anew costs less than checking what it leaves open."""
_AT_ONCE = 1 << 12
"""Vectors that are held against all constraints between two looks at the limits."""


class DenialBlock(NamedTuple):
    """Denial constraints over a space, as sets of its predicates."""

    space: PredicateSpace
    sets: Words

    @property
    def kind(self) -> LawKind:
        """The kind of the laws."""
        return "dc"

    def laws(self) -> Iterator[DC]:
        """The laws as values."""
        for numbers in unpack_sets(self.sets):
            yield self.space.dc(numbers)


class DenialLaws:
    """The minimal denial constraints of a living table.

    Parameters
    ----------
    table, question
        The table, and which constraints are kept.
    space
        What they are made of.
    evidence
        What is known of pairs.
    sets
        The constraints that follow from it.
    """

    name = "denials"
    kinds: tuple[LawKind, ...] = ("dc",)

    def __init__(
        self,
        table: LivingTable,
        question: DenialQuestion,
        space: PredicateSpace,
        evidence: DenialWitnesses,
        laws: Iterable[Numbered] = (),
    ) -> None:
        self._table, self._question, self.space, self._evidence = table, question, space, evidence
        self._sets: Words = np.concatenate([_nothing(space), *(sets for _, sets in laws)])
        self._is_new_space = False
        self._note_types()

    @staticmethod
    def discovered(table: LivingTable, question: DenialQuestion, checker: Checker, watch: Watch) -> DenialLaws:
        """Find the laws of a table, and the evidence to keep them by."""
        space = predicate_space(checker.view, question, watch.look)
        kept = DenialLaws(table, question, space, DenialWitnesses(table, question.null_policy, space))
        kept._search_anew(checker, watch)
        return kept

    @staticmethod
    def restored(table: LivingTable, question: DenialQuestion, arrays: Arrays, laws: Iterable[Numbered]) -> DenialLaws:
        """Go on with what `arrays` gave."""
        space = read_space(arrays)
        evidence = DenialWitnesses.from_arrays(table, question.null_policy, space, arrays)
        return DenialLaws(table, question, space, evidence, laws)

    @property
    def vectors(self) -> int:
        """How many vectors are kept."""
        return len(self._evidence.compared(self._view()))

    def blocks(self) -> Iterator[DenialBlock]:
        """All laws."""
        yield DenialBlock(self.space, self._sets)

    def number(self, block: LawBlock) -> int:
        """There is one block."""
        return 0

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""
        view, sets = checker.view, self._sets

        def rate() -> Floats:
            return interests_of(sets, self.space, lambda space: DenialPool(view, space, self._question.null_policy))

        return Findings(listings=[DenialListing(self.space, tuple(view.names), sets, rate)])

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        before = DenialBlock(self.space, self._sets)
        self._is_new_space = self._types != _types_of(self._table)
        if self._is_new_space:
            self._note_types()
            self.space = predicate_space(checker.view, self._question, watch.look)
            self._evidence = DenialWitnesses(self._table, self._question.null_policy, self.space)
            self._search_anew(checker, watch)
            return self._difference(before, checker)
        kept = len(self._evidence.compared(checker.view)) if len(gone) else 0
        lost = self._evidence.begin_batch(checker.view)
        has_come = len(new) > 0 and self._take_in(new, checker, watch)
        if len(lost) > _TOO_MANY_LOST * kept:
            self._search_anew(checker, watch)
        elif len(lost) or has_come:
            self._settle(checker, watch, checks=len(lost) > 0)
        return self._difference(before, checker)

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""
        for _, sets in removed:
            self._sets = sets_without(self._sets, sets)
        if "space" in logged:
            space = read_space(logged)
            self._sets, self.space = _renumbered(self._sets, self.space, space), space
            self._evidence = DenialWitnesses(self._table, self._question.null_policy, space)
        self._evidence.replay(logged)
        self._sets = np.concatenate([self._sets, *(sets for _, sets in added)])
        self._note_types()

    def logged(self) -> Arrays:
        """What the last batch did to the evidence."""
        space = {"space": _space_bytes(self.space)} if self._is_new_space else {}
        return self._evidence.logged() | space

    def arrays(self) -> Arrays:
        """The evidence, and the predicate space."""
        return self._evidence.arrays() | {"space": _space_bytes(self.space)}

    def refuting(self, law: Law) -> Pair | None:
        """A pair (t, s) of rows that refutes a law; None if none is kept."""
        packed = self._packed(law)
        if packed is None:
            return None
        vectors = self._evidence.compared(self._view())
        for satisfied, is_turned in zip(_satisfied(vectors.signs(), self.space), (False, True), strict=True):
            refutes = ((satisfied & packed) == packed).all(axis=1)
            if refutes.any():
                one, other = vectors.pairs[int(np.argmax(refutes)), 0].tolist()
                return (other, one) if is_turned else (one, other)
        return None

    def implies(self, law: Law) -> bool:
        """Whether a law follows from one that is kept, as it stands or with t and s exchanged."""
        packed = self._packed(law)
        if packed is None or not len(self._sets):
            return False
        both = np.concatenate([packed, turned_sets(packed, self.space)])
        return bool(find_supersets(closures(both, self.space), self._sets).any())

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self._evidence.differences(self._view())

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are, over the same space."""
        yield DenialBlock(self.space, constraints_with_evidence(search, self._question, self.space)[0])

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        return "denial constraints"

    def _view(self) -> LiveView:
        return LiveView.of(self._table)

    def _note_types(self) -> None:
        self._types = _types_of(self._table)

    def _packed(self, law: Law) -> Words | None:
        """A law as a set of predicates, if it is of the space."""
        if not isinstance(law, DC) or any(one not in self.space.numbers for one in law.predicates):
            return None
        return pack_set([self.space.numbers[one] for one in law.predicates], len(self.space))[None]

    def _take_in(self, new: range, checker: Checker, watch: Watch) -> bool:
        """Keep the pairs of new rows that refute a constraint that held; tell whether there are any."""
        view = checker.view
        rows = range(view.rows - len(new), view.rows)  # the newest rows have the highest numbers
        if view.rows < 2:
            return False
        tile = tile_of_rows(view, rows)
        found = evidence_of_rows(view, self.space, self._question.null_policy, rows, tile, None, watch.is_over)
        watch.look()
        refutes = self._refuted_by(found.signs, watch)
        if refutes.any():
            self._evidence.learn(view.numbers[found.witnesses[refutes]].astype(np.int32), view)
        return bool(refutes.any())

    def _refuted_by(self, signs: SignVectors, watch: Watch) -> Flags:
        """Which vectors refute a constraint that is kept."""
        refutes = np.zeros(len(signs), np.bool_)
        if not len(self._sets):
            return refutes
        for satisfied in _satisfied(signs, self.space):
            for start in range(0, len(signs), _AT_ONCE):
                watch.look()
                refutes[start : start + _AT_ONCE] |= find_supersets(satisfied[start : start + _AT_ONCE], self._sets)
        return refutes

    def _search_anew(self, checker: Checker, watch: Watch) -> None:
        """Find the laws of the table as it is, with pairs of rows that refute everything else."""
        engine, view = checker.opened()
        search = Search(view, engine, watch)
        self._sets, evidence = constraints_with_evidence(search, self._question, self.space)
        watch.look()
        checker.checks += search.counts.get("checks", 0)
        needed = _needed(evidence.signs, self.space, watch)
        self._evidence.learn(view.numbers[evidence.witnesses[needed]].astype(np.int32), view)
        self._settle(checker, watch, checks=True)

    def _settle(self, checker: Checker, watch: Watch, *, checks: bool) -> None:
        """Invert the vectors, and check what did not hold before, until nothing is refuted."""
        known = self._sets
        while True:
            sets = self._inverted(checker.view, watch)
            unknown = sets_without(sets, known)
            if not checks or not len(unknown):
                break
            witnesses = checker.refuted(DenialBlock(self.space, unknown).laws())
            watch.look()
            if not len(witnesses):
                break
            self._evidence.learn(witnesses, checker.view)
            known = np.concatenate([known, unknown])  # those that were refuted do not come back
        self._sets = sets

    def _inverted(self, view: LiveView, watch: Watch) -> Words:
        """The strongest constraints that no vector refutes."""
        signs, literals = self._evidence.compared(view).signs(), Literals.of(self.space, "reduced")
        edges = literals.edges(signs.less, signs.greater, watch.look)
        found = minimal_constraints(edges, literals, self._question.max_size, watch.look)
        sets, _ = reduced_places(
            np.concatenate([_nothing(self.space), *found]),
            self.space,
            only_mirrored=finds_no_implied(self.space),
            has_images=True,
            should_stop=watch.is_over,
        )
        watch.look()
        return sets[reading_order(sets)]

    def _difference(self, before: DenialBlock, checker: Checker) -> LawsChange:
        """The laws that went and those that came."""
        # Of another space, what both spaces can say is compared.
        is_same = before.space is self.space
        now = self._sets if is_same else _renumbered(self._sets, self.space, before.space)
        then = before.sets if is_same else _renumbered(before.sets, before.space, self.space)
        removed = DenialBlock(before.space, sets_without(before.sets, now))
        added = DenialBlock(self.space, sets_without(self._sets, then))
        implied = np.array([self._holds(law) for law in removed.laws()], np.bool_)
        return LawsChange(
            [removed] if len(removed.sets) else [],
            [added] if len(added.sets) else [],
            checker.checks,
            [implied] if len(removed.sets) else [],
        )

    def _holds(self, law: DC) -> bool:
        """Whether a law holds, as far as the space can say."""
        return self._packed(law) is not None and self.refuting(law) is None


def _types_of(table: LivingTable) -> list[tuple[Any, bool | None]]:
    return [(column.type, column.settled) for column in table.columns]


def _nothing(space: PredicateSpace) -> Words:
    return np.zeros((0, words_for(len(space))), np.uint64)


def _satisfied(signs: SignVectors, space: PredicateSpace) -> Iterator[Words]:
    """The predicates that pairs (t, s) satisfy, and those that (s, t) do."""
    literals = Literals.of(space, "set-minimal")
    edges = literals.all_edges(signs.less, signs.greater)
    for image in (edges, literals.turned(edges)):
        yield ~image & full_set(len(space))


def _needed(signs: SignVectors, space: PredicateSpace, watch: Watch) -> Flags:
    """Which vectors have an edge that contains no other, so that all constraints follow from these."""
    literals = Literals.of(space, "reduced")
    least = literals.edges(signs.less, signs.greater, watch.look)
    needed = np.zeros(len(signs), np.bool_)
    if not len(least):
        return np.ones(len(signs), np.bool_)
    known = {line.tobytes() for line in least}
    edges = literals.all_edges(signs.less, signs.greater)
    for image in (edges, literals.turned(edges)):
        needed |= np.array([line.tobytes() in known for line in np.ascontiguousarray(image)], np.bool_)
    return needed


def _renumbered(sets: Words, space: PredicateSpace, other: PredicateSpace) -> Words:
    """The constraints that another space can say too, by its numbers."""
    found = [[space.predicates[one] for one in each] for each in unpack_sets(sets)]
    told = [each for each in found if all(one in other.numbers for one in each)]
    return pack_sets([[other.numbers[one] for one in each] for each in told], len(other))


def _space_bytes(space: PredicateSpace) -> Any:
    """The predicates of a space, which compares cells with cells."""
    predicates = []
    for left, operator, right in ((one.left, one.operator, one.right) for one in space.predicates):
        assert isinstance(right, Cell), "a state compares no constants"
        predicates.append([left.row, left.column, operator, right.row, right.column])
    return as_bytes(predicates)


def read_space(arrays: Arrays) -> PredicateSpace:
    """Read the predicate space that was saved."""
    return PredicateSpace.of(
        Predicate(Cell(row, column), operator, Cell(other, second))
        for row, column, operator, other, second in from_bytes(arrays["space"])
    )
