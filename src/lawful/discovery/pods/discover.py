"""Discovery of all minimal pointwise order dependencies, the batch side of IncPOD.

IncPOD is Ran, Tan, Ma and Qin, "Pointwise order dependency discovery on dynamic data". Its own batch algorithm is Hydra
restricted to these laws (section VII). Here the evidence is Hydra's too, one sign per column and pair of rows, but
each right side is searched for by itself (`search.pods`). Two strategies, each the other's test. *Full* compares all
pairs of rows, and nothing is left to check; its counts also give the laws that almost hold. *Hybrid* compares some,
checks what these leave open and learns from the witnesses, on the common loop.

Nobody knows beforehand how many candidates there will be to check. So where the strategy is open, hybrid gives up after
as long as comparing all pairs will take, and all pairs are compared.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from contextlib import suppress

import numpy as np

from lawful.common.arrays import Floats, Int32s, Words
from lawful.discovery.compared_pairs import (
    ComparedPairs,
    SlowerThanAllPairsError,
    full_evidence_is_quicker,
    most_within,
    small_laws_come_first,
)
from lawful.discovery.findings import Findings
from lawful.discovery.loop import run_loop
from lawful.discovery.measured_borders import Border, MeasuredBorders
from lawful.discovery.pods.hybrid import PointwiseLaws, SmallPointwiseLaws
from lawful.discovery.pods.listing import PairsCovered, PointwiseListing, goal_number
from lawful.discovery.pods.measured import LeftSides, Marked, sampled_edges
from lawful.discovery.pods.questions import PointwiseQuestion, order_space
from lawful.discovery.pods.thinking import left_sides_of
from lawful.discovery.search import Search
from lawful.evidence.denials.evidence import DenialEvidence
from lawful.search.denials.inversion import depths
from lawful.search.pods.almost import almost_left_sides
from lawful.search.pods.kernels.left_sides import count_columns, edges_of_signs
from lawful.search.pods.left_sides import Goal, goals_of, pair_edges, told_left_sides
from lawful.search.sets import sets_without
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.sample import SampleTable, is_sample, rows_of_all


def discover_pointwise(search: Search, question: PointwiseQuestion) -> Findings:
    """Find all minimal pointwise order dependencies of a table; at a limit, what was certain by then."""
    return pointwise_with_pairs(search, question)[0]


def pointwise_with_pairs(search: Search, question: PointwiseQuestion) -> tuple[Findings, Int32s]:
    """The same with pairs of rows that refute all else, `int32[pairs, 2]`; all of them if the search came to its end.

    For whoever keeps the laws of a table that changes.
    """
    assert isinstance(search.table, EncodedTable | SampleTable)
    laws = _Laws(search, question, search.table)
    pairs = np.empty((0, 2), np.int32)
    with search.to_the_end():
        pairs = laws.find().witnesses
    return search.findings, pairs


class _Laws:
    """The laws of one search; each is stated as soon as it is certain."""

    def __init__(self, search: Search, question: PointwiseQuestion, table: EncodedTable | SampleTable) -> None:
        self._search, self._question = search, question
        self._columns = table.width
        self._largest = question.largest(table.width)
        self._compared = ComparedPairs(search, question, table, order_space(table.width))
        self._covered: PairsCovered | None = None
        self._stated: defaultdict[Goal, list[Words]] = defaultdict(list)

    def find(self) -> DenialEvidence:
        """Find all laws by the strategy that is asked for, or is quicker; return the evidence that they follow from."""
        question, search = self._question, self._search
        strategy = question.strategy
        if not question.error and small_laws_come_first(search, self._columns):
            self._find_small_ones()
        if is_sample(search.table):  # nobody has all rows
            strategy = "hybrid"
        if strategy == "auto":
            is_full = question.error > 0 or full_evidence_is_quicker(search.table.rows, self._compared.space)
            strategy = "full" if is_full else "hybrid"
            if not is_full:
                self._compared.wait_as_long_as_all_pairs_take()
        search.counts["full_evidence"] = int(strategy == "full")
        if question.error and is_sample(search.table):
            return self._find_almost_by_checks()
        if question.error:
            return self._find_almost(self._compared.all_pairs(counted=True))
        if strategy == "full":
            return self._find_all(self._compared.all_pairs(counted=False))
        return self._find_by_checks()

    def _find_small_ones(self) -> None:
        """Find laws of few columns, which is what there is to say until all others are certain."""
        self._compared.be_patient_for_small_laws()
        with suppress(SlowerThanAllPairsError):  # the patience has ended
            run_loop(self._search, self._thinker(SmallPointwiseLaws))
        self._compared.patience_ends = math.inf

    def _thinker(self, kind: type[PointwiseLaws]) -> PointwiseLaws:
        return kind(self._search, self._compared, self._columns, self._largest, self._state, self._stated)

    def _find_by_checks(self) -> DenialEvidence:
        thinker = self._thinker(PointwiseLaws)
        try:
            run_loop(self._search, thinker)
            return self._compared.evidence
        except SlowerThanAllPairsError:
            self._compared.patience_ends = math.inf
            self._search.counts["full_evidence"] = 1
            return self._find_all(self._compared.all_pairs(counted=False))

    def _find_all(self, evidence: DenialEvidence) -> DenialEvidence:
        """State all laws that complete evidence leaves, under a limit of time the small ones first."""
        self._search.progress(f"thinking about {len(evidence):,} kinds of pairs")
        edges = pair_edges(evidence.signs.less, evidence.signs.greater, self._columns)
        goals = goals_of(self._columns)
        for size in self._sizes():
            larger = []
            for thought in left_sides_of(edges, goals, self._columns, size, self._search.look):
                self._state(thought.goal, self._unstated(thought.goal, thought.sets))
                if thought.ended_by is not None:
                    raise thought.ended_by
                if thought.was_cut:
                    larger.append(thought.goal)
            goals = larger
        return evidence

    def _find_almost(self, evidence: DenialEvidence) -> DenialEvidence:
        """State the laws that few enough pairs break, from the counts of all of them."""
        assert evidence.counts is not None
        pairs = max(1, math.comb(self._search.table.rows, 2))
        allowed = most_within(self._question.error, pairs)
        self._search.progress(f"thinking about {len(evidence):,} kinds of pairs")
        edges = edges_of_signs(evidence.signs.less, evidence.signs.greater, self._columns)
        smallest = 0
        for size in self._sizes():
            for goal in goals_of(self._columns):
                for sets, broken in almost_left_sides(
                    edges, evidence.counts, goal, self._columns, allowed, size, self._search.look
                ):
                    is_new = count_columns(sets) >= smallest
                    self._state(goal, sets[is_new], broken[is_new] / pairs)
            smallest = size + 1
        return evidence

    def _find_almost_by_checks(self) -> DenialEvidence:
        """State the laws that few enough pairs break, as the engine counts them; what < and = say, <= need not."""
        rows = rows_of_all(self._search.table)
        pairs = max(1, math.comb(rows, 2))
        allowed = most_within(self._question.error, pairs)
        edges, look = sampled_edges(self._compared.pool, self._columns), self._search.look

        def state(goal: Hashable, sets: Words, broken: Sequence[int]) -> None:
            assert isinstance(goal, Goal)
            told = told_left_sides(goal, sets)
            self._state(goal, sets[told], np.array(broken, np.int64)[told] / pairs)

        goals = goals_of(self._columns)
        strong: dict[Hashable, Border] = {
            goal: LeftSides(goal, self._columns, edges, None, look) for goal in goals if goal.operator != "<="
        }
        stronger = MeasuredBorders(self._search, strong, allowed, state)

        def marked(column: int) -> Marked:
            return lambda: (stronger.wrong(Goal(column, "=")), stronger.wrong(Goal(column, "<")))

        weak: dict[Hashable, Border] = {
            goal: LeftSides(goal, self._columns, edges, marked(goal.column), look)
            for goal in goals
            if goal.operator == "<="
        }
        weaker = MeasuredBorders(self._search, weak, allowed, state)
        for size in self._sizes():
            run_loop(self._search, stronger.up_to(size))
            run_loop(self._search, weaker.up_to(size))
        return self._compared.evidence

    def _sizes(self) -> list[int]:
        return list(depths(self._largest)) if self._search.watch.is_limited else [self._largest]

    def _unstated(self, goal: Goal, sets: Words) -> Words:
        known = self._stated[goal]
        return sets_without(sets, np.concatenate(known)) if known else sets

    def _state(self, goal: Goal, sets: Words, errors: Floats | None = None) -> None:
        if not len(sets):
            return
        self._stated[goal].append(sets)
        if self._covered is None:
            self._covered = PairsCovered(self._compared.rated(self._compared.space), self._columns)
        goals = np.full(len(sets), goal_number(goal), np.int64)
        self._search.state(PointwiseListing(self._compared.names, goals, sets, self._covered, errors))
