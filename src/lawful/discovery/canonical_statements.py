"""Canonical laws as they become certain: gathered for a moment, then stated over all columns of the table."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable

from lawful.checks import RankedTable
from lawful.discovery.canonical_pairs import PackedPairs
from lawful.discovery.canonical_questions import CanonicalQuestion
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Block, Emit, Findings
from lawful.discovery.order_classes import Orders
from lawful.discovery.peeling import constants_and_twins, stated_in_full
from lawful.meanings import Direction
from lawful.search import pack_sets
from lawful.search.lattice import Bits, members
from lawful.search.sets import Words

_SECONDS_BETWEEN_STATEMENTS = 0.5


class Statements:
    """Laws that are certain, gathered for a moment and then handed out, stated over all columns of the table."""

    def __init__(self, table: RankedTable, orders: Orders, question: CanonicalQuestion, emit: Emit) -> None:
        self.findings = Findings()
        self._table, self._orders, self._question, self._emit = table, orders, question, emit
        self._coverage = Coverage(table, question.null_policy, orders.peeled.columns, question.seed)
        self._fds: dict[int, list[Bits]] = defaultdict(list)
        self._pairs: dict[tuple[int, int, Direction], list[Bits]] = defaultdict(list)
        self._peeled_pairs: list[PackedPairs] = []
        self._handed_out = time.monotonic()

    def state_peeled(self) -> None:
        """Constants, twins, and pairs of columns of one order: known without a search."""
        least, policy = self._question.min_interest, self._question.null_policy
        coverage = Coverage(self._table, policy, range(self._table.width), self._question.seed)
        for block in constants_and_twins(self._orders.peeled, self._table, policy, self._question.max_size):
            kept = block.sets[coverage.of(block.sets) >= least]
            if len(kept):
                self._state(Block(block.goal, kept))
        self._peeled_pairs = list(self._orders.pairs_within_classes(self._table, policy))

    def add_fds(self, context: Bits, goals: Iterable[int]) -> None:
        """Note that a context determines some columns."""
        for goal in goals:
            self._fds[goal].append(context)

    def add_pairs(self, context: Bits, pairs: Iterable[tuple[int, int, Direction]]) -> None:
        """Note that a context leaves some pairs in order."""
        for pair in pairs:
            self._pairs[pair].append(context)

    def hand_out_now_and_then(self) -> None:
        """Hand out what has come together, so that little is lost by a sudden end."""
        if time.monotonic() - self._handed_out >= _SECONDS_BETWEEN_STATEMENTS:
            self.hand_out()

    def hand_out(self) -> None:
        """Emit everything that is waiting."""
        for goal, contexts in sorted(self._fds.items()):
            for block in stated_in_full(goal, self._packed(contexts), self._orders.peeled):
                self._state(block)
        parts = self._peeled_pairs
        for (left, right, direction), contexts in sorted(self._pairs.items()):
            packed = self._packed(contexts)
            coverage = self._coverage.of(packed)
            parts += self._orders.stated_in_full(left, right, direction == "desc", packed, coverage)
        if parts:
            listing = PackedPairs.joined(parts)
            self.findings.listings.append(listing)
            self._emit(listing)
        self._fds.clear()
        self._pairs.clear()
        self._peeled_pairs = []
        self._handed_out = time.monotonic()

    def coverage_of(self, contexts: list[Bits]) -> list[float]:
        """How many pairs of rows agree on each context, as a share."""
        covered: list[float] = self._coverage.of(self._packed(contexts)).tolist()
        return covered

    def _packed(self, contexts: list[Bits]) -> Words:
        return pack_sets([members(context) for context in contexts], self._orders.groups)

    def _state(self, block: Block) -> None:
        self.findings.blocks.append(block)
        self._emit(block)
