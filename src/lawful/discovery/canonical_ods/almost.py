"""Canonical order dependencies that hold up to an error, the functional ones among them, with their errors.

The definitions are those of the laws that hold, with "valid" read as "within the error" everywhere. One more column in
a context breaks no further pair of rows and asks for no further removal, so errors never grow with the context. Rows
that swap two columns differ on both, so a context that determines one of them within the error also orders both within
it: as for laws that hold, it is enough to know the minimal functional dependencies first, and to drop the contexts that
are left sides of either column. Which contexts are too wrong is found by measuring (`measured_borders`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from lawful.checks import RankedTable
from lawful.common.arrays import Flags, Words
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies import Law
from lawful.discovery.canonical_ods.checking import law_of
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.canonical_ods.thinking import Goal, pair_goals
from lawful.discovery.compared_pairs import most_within
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Block, Findings
from lawful.discovery.keys_and_fds.approximate import AlmostKeysAndFds, almost_keys_and_fds
from lawful.discovery.keys_and_fds.thinking import candidates_of
from lawful.discovery.loop import run_loop
from lawful.discovery.measured_borders import Border, MeasuredBorders, Numbers, random_rows
from lawful.discovery.order_classes import Orders
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.evidence.kernels.swaps import DESC
from lawful.results.canonical_pairs import PackedPairs
from lawful.search import full_set, minimal_sets, pack_sets
from lawful.search.denials.inversion import depths
from lawful.search.sets import sets_without
from lawful.tables.sample import rows_of_all


def discover_almost_canonical(search: Search, question: CanonicalQuestion) -> Findings:
    """Find all minimal FDs and order-compatible pairs with an error of at most `question.error`, with their errors."""
    with search.to_the_end():
        orders = search.shared(question).orders
        functional = Question(False, True, question.null_policy, question.max_size, question.error, question.measure)
        coverage = Coverage(search.table, question.null_policy, range(search.table.width))

        def state(block: Block) -> None:
            kept = np.flatnonzero(coverage.of(block.sets) >= question.min_interest)
            assert block.errors is not None
            if kept.size:
                search.state(Block(block.goal, block.sets[kept], block.errors[kept]))

        fds = search.shared(question).almost or almost_keys_and_fds(search, functional, state)  # if none are known
        _Pairs(search, question, orders, fds).find()
    return search.findings


class _Pairs:
    """The order-compatible pairs of one search; each is stated as soon as it is certain."""

    def __init__(self, search: Search, question: CanonicalQuestion, orders: Orders, fds: AlmostKeysAndFds) -> None:
        self._search, self._question, self._orders = search, question, orders
        self._left_sides = [fds.left_sides(group) for group in range(orders.groups)]
        rows = rows_of_all(search.table)
        self._whole = max(1, math.comb(rows, 2) if question.measure == "g1" else rows)
        self._coverage = Coverage(search.table, question.null_policy, orders.peeled.columns)

    def find(self) -> None:
        """Find all pairs, under a limit of time those of small contexts first."""
        within = self._orders.pairs_within_classes(self._search.table, self._question.null_policy)
        self._state(pair for pair in within if not self._is_almost_constant(int(pair.left[0])))
        pairs = random_rows(self._search.table.rows)
        signs = _Signs(self._search.table, self._question.null_policy, self._orders, *pairs)
        borders: dict[Hashable, Border] = {}
        for goal in pair_goals(self._orders):
            self._search.look()
            borders[goal] = Contexts(goal, self._orders, signs, self._left_sides, self._search.watch)
        allowed = most_within(self._question.error, self._whole)
        measuring = MeasuredBorders(self._search, borders, allowed, self._state_contexts, self._question.measure)
        for size in self._sizes():
            run_loop(self._search, measuring.up_to(size))

    def _sizes(self) -> list[int]:
        groups, asked = self._orders.groups, self._question.max_size
        largest = groups if asked is None else min(groups, asked)
        return list(depths(largest)) if self._search.watch.is_limited else [largest]

    def _is_almost_constant(self, column: int) -> bool:
        group = next(number for number, twins in enumerate(self._orders.peeled.twins) if column in twins)
        left_sides = self._left_sides[group]
        return bool(len(left_sides)) and not left_sides.any(axis=1).all()

    def _state_contexts(self, goal: Hashable, contexts: Words, broken: Sequence[int]) -> None:
        interests = self._coverage.of(contexts)
        errors = np.array(broken, np.float64) / self._whole
        pairs = np.repeat(np.array([goal], np.int64), len(contexts), axis=0)
        self._state(self._orders.stated_in_full(pairs, contexts, interests, errors))

    def _state(self, pairs: Iterator[PackedPairs]) -> None:
        if found := [some for some in pairs if len(some)]:
            joined = PackedPairs.joined([some if some.errors is not None else some.without_error() for some in found])
            self._search.state(joined.chosen(np.flatnonzero(joined.interests >= self._question.min_interest)))


class _Signs:
    """How some pairs of rows compare: on which groups they agree, and how they order the classes."""

    def __init__(
        self,
        table: RankedTable,
        policy: NullPolicy,
        orders: Orders,
        first: npt.NDArray[np.int64],
        second: npt.NDArray[np.int64],
    ) -> None:
        ranks = [(table.column(column)[first], table.column(column)[second]) for column in orders.columns]
        known = [(a != NULL_RANK) & (b != NULL_RANK) | (policy is NullPolicy.EQUAL) for a, b in ranks]
        signs = [np.where(here, np.sign(a.astype(np.int64) - b), 0) for (a, b), here in zip(ranks, known, strict=True)]
        agree = [(a == b) & here for (a, b), here in zip(ranks, known, strict=True)]
        self._signs = np.array(signs, np.int8).reshape(len(signs), len(first))
        self._agree = np.array(agree, np.bool_).reshape(len(agree), len(first))[: orders.groups].T

    def satisfied(self, goal: Goal) -> Flags:
        """On which groups the pairs agree that swap the two classes of a goal, a line per pair."""
        wrong = 1 if goal.direction == DESC else -1
        agree: Flags = self._agree[self._signs[goal.left] * self._signs[goal.right] == wrong]
        return agree


_NO_PAIRS: Flags = np.zeros((0, 0), np.bool_)


class Contexts(Border):
    """Contexts of one pair of columns in one direction. A wide table has very many, so each holds little of its own.

    Parameters
    ----------
    goal, orders
        The pair, and the columns by their order.
    signs
        How some pairs of rows compare.
    left_sides
        For each group the contexts that determine it within the error.
    watch
        Ends the search at its limits.
    """

    def __init__(self, goal: Goal, orders: Orders, signs: _Signs, left_sides: Sequence[Words], watch: Watch) -> None:
        own, nothing = {orders.classes[place].group for place in (goal.left, goal.right)}, set[int]()
        super().__init__(_NO_PAIRS, [own if group in own else nothing for group in range(orders.groups)])
        self._goal, self._columns, self._signs, self._watch = goal, orders.columns, signs, watch
        self._left_sides = [left_sides[group] for group in own]
        others = [group for group in range(orders.groups) if group not in own]
        self._others = pack_sets([others], orders.groups)[0]

    def minimal(self, wrong: Words, size: int | None) -> Words:
        """The minimal contexts up to a size that lie in none of some, without those that determine either column."""
        edges = minimal_sets(~wrong & full_set(self.literals) & self._others)
        ((_, contexts),) = candidates_of({0: edges}, size, self._watch)
        for left_sides in self._left_sides:
            contexts = sets_without(contexts, left_sides)
        return contexts

    def chain(self, literals: Numbers) -> list[Numbers]:
        """Grow a context by what most pairs agree on that swap the two columns."""
        self._satisfied = self._signs.satisfied(self._goal)
        self._usual = self._satisfied.sum(axis=0)
        try:
            return super().chain(literals)
        finally:
            self._satisfied = _NO_PAIRS

    def law(self, literals: Numbers) -> Law | None:
        """The pair in a context."""
        return law_of((self._goal, literals), self._columns)

    def image(self, literal: int) -> int:
        """No other context is broken by the same pairs."""
        return literal
