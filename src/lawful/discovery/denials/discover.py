"""Discovery of all minimal denial constraints: Hydra (Bleifuss, Kruse and Naumann, PVLDB 2017), and two shorter ways.

Three strategies, each the others' test. *Full* compares all pairs of rows and inverts their evidence: nothing is left
to check, and its counts also give the constraints that almost hold. *Completion* is the paper's: sample pairs
(section 4), invert their evidence (section 5), find all pairs that violate the preliminary constraints (section 6),
invert again. *Hybrid* departs from it: a preliminary constraint is checked by itself in near-linear time, and one
witness of a wrong one goes back to the pool, until nothing is wrong (`hybrid`). One witness rules out a constraint as
well as all violating pairs do, and these can be billions.

Nobody knows beforehand how many candidates there will be to check. So where the strategy is open, hybrid gives up after
as long as comparing all pairs will take, and all pairs are compared.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from lawful.common.arrays import Floats, Int64s, Words
from lawful.common.compiling import working_seconds
from lawful.common.errors import StoppedError
from lawful.common.memory import make_room
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.compared_pairs import (
    SlowerThanAllPairsError,
    full_evidence_is_quicker,
    most_within,
    small_laws_come_first,
)
from lawful.discovery.denials.hybrid import DenialConstraints
from lawful.discovery.denials.listing import DenialListing, interests_of
from lawful.discovery.denials.measured import DenialBorder
from lawful.discovery.denials.preliminary import Numbers, Preliminary
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.discovery.findings import Findings
from lawful.discovery.loop import run_loop
from lawful.discovery.measured_borders import MeasuredBorders
from lawful.discovery.search import Search
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.search import distinct_sets, pack_sets, set_sizes
from lawful.search.denials.inversion import almost_constraints
from lawful.search.denials.literals import Literals
from lawful.search.denials.reduction import ShouldStop, is_possible, reading_order
from lawful.search.sets import by_size, order_by_size
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.sample import SampleTable, is_sample, rows_of_all

if TYPE_CHECKING:
    from lawful.discovery.denials.small import SmallConstraints

_TO_SORT_OUT, _LEAST_TO_SORT_OUT = 0.03, 0.3
"""The share of its time, and the least seconds, that a search that was broken off takes to sort out what it found."""


_MOST_SORTED_OUT = 4_000_000
"""The most constraints of a search that was broken off that are sorted out, the smallest; a second's work."""
_COPIES = 3
"""What it takes to sort constraints out, in copies of them: it must have room when a limit has been reached."""


def discover_denial_constraints(search: Search, question: DenialQuestion) -> Findings:
    """Find all minimal denial constraints of a table; at a limit, what was certain by then, small ones first.

    The one listing of all constraints is emitted in the end.
    """
    assert isinstance(search.table, EncodedTable | SampleTable)
    constraints = _Constraints(search, question, search.table)
    search.last_words = constraints.listing
    with search.to_the_end():
        constraints.find()
    search.state(constraints.listing())
    return search.findings


def constraints_with_evidence(
    search: Search, question: DenialQuestion, space: PredicateSpace
) -> tuple[Words, DenialEvidence]:
    """All minimal constraints over a given space, and pairs of rows that refute everything else; raises at a limit."""
    assert isinstance(search.table, EncodedTable)
    constraints = _Constraints(search, question, search.table)
    constraints.find_over(space)
    assert constraints.evidence is not None
    return constraints.listing().sets, constraints.evidence


class _Constraints:
    """The constraints of one search: what was found so far can be listed at any moment."""

    def __init__(self, search: Search, question: DenialQuestion, table: EncodedTable | SampleTable) -> None:
        self._search, self._question, self._table = search, question, table
        # A listing, even of nothing, is of some space; to hold all columns against each other can take very long.
        self._of_single_columns = question.of_single_columns()
        self._take_space(self._of_single_columns, predicate_space(table, self._of_single_columns))
        self._single_columns = self._preliminary
        self.evidence: DenialEvidence | None = None
        """What the constraints that hold follow from, once that is known."""
        self._found: list[Words] = []
        self._small: list[SmallConstraints] = []
        """Those who have had small constraints checked one by one, and know which are confirmed."""
        self._errors: list[Floats] = []
        self._sorted_out: tuple[Preliminary, Words, Floats | None] | None = None
        self._began = working_seconds()

    def _take_space(self, question: DenialQuestion, space: PredicateSpace) -> None:
        """Speak of these predicates from now on; those that were spoken of before are among them."""
        self._preliminary = Preliminary(self._search, question, self._table, space)
        self._search.counts["predicates"] = len(space)

    @property
    def _space(self) -> PredicateSpace:
        return self._preliminary.space

    def find(self) -> None:
        """Find all constraints by the strategy that is asked for, or is quicker, and sort them out."""
        question = self._question
        self._search.progress("choosing predicates")
        self._find_small_ones(self._of_single_columns)
        if question != self._of_single_columns:
            self._search.progress("choosing predicates that compare different columns")
            self._take_space(question, predicate_space(self._table, question, self._search.look))
            self._find_small_ones(question)
        self._find_large_ones()

    def find_over(self, space: PredicateSpace) -> None:
        """Find all constraints over a given space."""
        self._take_space(self._question, space)
        self._find_large_ones()

    def _find_large_ones(self) -> None:
        strategy, question = self._question.strategy, self._question
        for line in self._space.describe(self._table.names):
            self._search.progress(line)
        if is_sample(self._table):  # nobody has all rows
            strategy = "hybrid"
        if strategy == "auto":
            is_full = question.error > 0 or full_evidence_is_quicker(self._search.table.rows, self._space)
            strategy = "full" if is_full else "hybrid"
            if not is_full:
                self._preliminary.wait_as_long_as_all_pairs_take()
        self._search.counts["full_evidence"] = int(strategy == "full")
        if question.error and is_sample(self._table):
            self._find_almost_by_checks()
        elif question.error:
            self._find_almost()
        elif strategy == "full":
            self._find_all(self._preliminary.all_pairs(counted=False))
        elif strategy == "completion":
            self._find_all(self._completed_evidence())
        else:
            self._find_all(self._checked_evidence())
        self._sort_out(has_images=True, should_stop=self._search.watch.is_over)
        self._search.look()

    def listing(self, sorted_out: bool = True) -> DenialListing:
        """What was found, as it is given back; of a search that was broken off, what can be sorted out soon.

        If there is no time for that either, mirror images and what follows from others are among it.
        """
        if not sorted_out:
            spoken, found = self._found_so_far()
            sets = by_size(distinct_sets(found))
            # Which errors go with which of them is part of sorting them out.
            errors = np.zeros(0) if self._question.error else None
            return self._listed(spoken, sets if errors is None else sets[:0], errors)
        if self._sorted_out is None:
            ends = working_seconds() + max(_LEAST_TO_SORT_OUT, _TO_SORT_OUT * (working_seconds() - self._began))
            self._sort_out(has_images=False, should_stop=lambda: working_seconds() > ends)
        assert self._sorted_out is not None
        return self._listed(*self._sorted_out)

    def _listed(self, spoken: Preliminary, sets: Words, errors: Floats | None) -> DenialListing:
        def rate() -> Floats:
            return interests_of(sets, spoken.space, spoken.rated, hold=not self._question.error)

        return DenialListing(spoken.space, spoken.names, sets, rate, errors)

    def _found_so_far(self) -> tuple[Preliminary, Words]:
        """What a search that was broken off has found, and whose predicates it is spoken of in.

        These are those of single columns as long as nothing else was found: to say the same in the words of a wide
        space takes time.
        """
        spoken, found = self._preliminary, [sets for sets in self._found if len(sets)]
        if not found and not any(small.found_more and small.space is self._space for small in self._small):
            spoken = self._single_columns
        confirmed: list[Numbers] = []
        for small in self._small:
            if spoken is self._preliminary or small.space is spoken.space:
                confirmed += spoken.in_this_space([*small.confirmed], small.space)
        if found:
            return spoken, np.concatenate([pack_sets(confirmed, len(spoken.space)), *found])
        return spoken.of_few(confirmed)[:2]

    def _find_small_ones(self, question: DenialQuestion) -> None:
        """Find constraints of few predicates, which is what there is to say until all others are certain.

        Columns are compared with themselves first: these predicates are few, and known at once.
        """
        # With an error what is certain would have to be counted, and a constraint of another space to be found again.
        if self._question.error or self._question.strategy == "completion":
            return
        if not small_laws_come_first(self._search, len(self._space.groups)):
            return
        from lawful.discovery.denials.small import SmallConstraints
        from lawful.search.denials.small import LARGEST

        largest = LARGEST if question.max_size is None else min(LARGEST, question.max_size)
        preliminary = self._preliminary.over(self._space)
        preliminary.be_patient_for_small_laws()
        known = [one for small in self._small for one in preliminary.in_this_space([*small.confirmed], small.space)]
        thinker = SmallConstraints(self._search, preliminary, largest, known)
        self._small.append(thinker)
        with suppress(SlowerThanAllPairsError):  # the patience has ended
            run_loop(self._search, thinker)

    def _sort_out(self, *, has_images: bool, should_stop: ShouldStop) -> None:
        """Leave out what follows from something else, as far as there is time, and put the rest in order."""
        # Of a search that came to its end the small ones are among the others.
        spoken, sets = self._preliminary, np.concatenate([self._preliminary.nothing(), *self._found])
        if not has_images:
            spoken, sets = self._found_so_far()
        if not has_images and not self._question.error and len(sets) > _MOST_SORTED_OUT:
            sets = sets[order_by_size(sets)[:_MOST_SORTED_OUT]]
        errors = np.concatenate([np.zeros(0), *self._errors]) if self._question.error else None
        if self._question.convention == "reduced":
            sets, places = spoken.reduced(sets, has_images=has_images, should_stop=should_stop)
            errors = None if errors is None else errors[places]
        elif not has_images and not self._question.error:
            sets = distinct_sets(sets)
        order = reading_order(sets)
        self._sorted_out = spoken, sets[order], None if errors is None else errors[order]

    def _completed_evidence(self) -> DenialEvidence:
        """The evidence of a sample, and of all pairs that violate what the sample suggests (section 6)."""
        # Only this strategy needs its tree of refiners.
        from lawful.discovery.denials.completion import complete_by_violating_pairs

        suggested = self._preliminary.sampled_and_inverted()
        complete_by_violating_pairs(self._search, self._question, self._space, suggested, self._preliminary.pool)
        return self._preliminary.evidence

    def _checked_evidence(self) -> DenialEvidence:
        """The evidence of some pairs that gives the constraints that hold, or of all pairs if that is quicker."""
        thinker = DenialConstraints(self._search, self._preliminary)
        try:
            run_loop(self._search, thinker)
            return self._preliminary.evidence
        except SlowerThanAllPairsError:
            self._search.counts["full_evidence"] = 1
            return self._preliminary.all_pairs(counted=False)
        finally:
            self._preliminary.patience_ends = math.inf
            self._found = [thinker.confirmed]

    def _find_all(self, evidence: DenialEvidence) -> None:
        """Invert complete evidence in the convention that is asked for."""
        self._search.progress(f"thinking about {len(evidence):,} kinds of pairs")
        self.evidence = evidence
        confirmed, self._found = self._found, []
        try:
            limit, by_size = self._question.max_size, self._search.watch.is_limited
            taken = 0
            for sets in self._preliminary.inverted(evidence, self._question.convention, limit, by_size=by_size):
                self._found.append(sets)
                taken += sets.nbytes
                make_room(_COPIES * taken)
        except StoppedError:
            if sum(map(len, confirmed)) > sum(map(len, self._found)):
                self._found = confirmed  # which were checked one by one, and are certain too
            raise

    def _find_almost(self) -> None:
        """Find the constraints that few enough pairs break, from the counts of all of them."""
        evidence = self._preliminary.all_pairs(counted=True)
        assert evidence.counts is not None
        literals = Literals.of(self._space, self._question.convention)
        pairs = max(1, math.comb(self._search.table.rows, 2))
        self._search.progress(f"thinking about {len(evidence):,} kinds of pairs")
        edges = literals.all_edges(evidence.signs.less, evidence.signs.greater)
        for sets, broken in self._almost(edges, literals, evidence.counts, pairs):
            self._found.append(sets)
            self._errors.append(broken / pairs)

    def _find_almost_by_checks(self) -> None:
        """Find the constraints that few enough pairs break, as the engine counts them."""
        of_all = math.comb(rows_of_all(self._table), 2)
        pairs = max(1, of_all)
        literals = Literals.of(self._space, self._question.convention)
        border = DenialBorder(literals, self._preliminary.pool, self._search.look)

        def state(_: Hashable, sets: Words, broken: Sequence[int]) -> None:
            found, kept = literals.meant(sets)
            possible = is_possible(found, self._space)
            self._found.append(found[possible])
            self._errors.append(np.array(broken, np.int64)[kept][possible] / pairs)

        allowed, nothing = most_within(self._question.error, pairs), ("", ())
        thinker = MeasuredBorders(self._search, {"": border}, allowed, state, known={nothing: of_all})
        for size in self._preliminary.sizes(literals.most_units):
            run_loop(self._search, thinker.up_to(size))

    def _almost(self, edges: Words, literals: Literals, counts: Int64s, pairs: int) -> Iterator[tuple[Words, Int64s]]:
        allowed = most_within(self._question.error, pairs)
        smallest = 0
        for max_size in self._preliminary.sizes(literals.most_units):
            for sets, broken in almost_constraints(
                edges, literals.turned(edges), counts, allowed, literals, max_size, self._search.look
            ):
                is_new = set_sizes(sets) >= smallest
                yield sets[is_new], broken[is_new]
            smallest = 0 if max_size is None else max_size + 1
