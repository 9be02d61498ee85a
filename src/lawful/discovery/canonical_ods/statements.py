"""Canonical laws as they become certain: gathered for a moment, then stated over all columns of the table."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Words
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.coverage import Coverage
from lawful.discovery.findings import Block
from lawful.discovery.order_classes import Orders
from lawful.discovery.peeling import constants_and_twins, stated_in_full
from lawful.discovery.search import Search
from lawful.results.canonical_pairs import PackedPairs
from lawful.search.canonical_ods.lattice import Bits, packed_contexts, pair_columns

_SECONDS_BETWEEN_LISTINGS = 0.5


class Statements:
    """Laws that are certain, gathered for a moment and then handed out, stated over all columns of the table."""

    def __init__(self, search: Search, orders: Orders, question: CanonicalQuestion) -> None:
        self.coverage = Coverage(search.table, question.null_policy, orders.peeled.columns)
        """How many pairs of rows a set of groups covers."""
        self._search, self._table, self._orders, self._question = search, search.table, orders, question
        self._fds: dict[int, list[Bits]] = defaultdict(list)
        self._pair_contexts: list[Bits] = []
        self._pair_numbers: list[int] = []
        self._listed: list[PackedPairs] = []
        self._handed_out = time.monotonic()

    def state_peeled(self) -> None:
        """Constants, twins, and pairs of columns of one order: known without a search."""
        least, policy = self._question.min_interest, self._question.null_policy
        blocks = constants_and_twins(self._orders.peeled, self._table, policy, self._question.max_size)
        if least > 0:
            coverage = Coverage(self._table, policy, range(self._table.width))
            kept = (Block(block.goal, block.sets[coverage.of(block.sets) >= least]) for block in blocks)
            blocks = (block for block in kept if len(block.sets))
        self._state(blocks)
        self._listed += self._orders.pairs_within_classes(self._table, policy)

    def state_fds(self, goal: int, left_sides: Words) -> None:
        """Emit left sides over the groups of one right side."""
        self._state(stated_in_full(goal, left_sides, self._orders.peeled))

    def list_pairs(self, classes: npt.NDArray[np.int64], contexts: Words) -> None:
        """List pairs in contexts over the groups: for each the two classes, and 1 where they descend."""
        self._listed += self._orders.stated_in_full(classes, contexts, self.coverage.of(contexts))

    def add_fds(self, context: Bits, goals: Iterable[int]) -> None:
        """Note that a context determines some groups; it is stated later, together with others."""
        for goal in goals:
            self._fds[goal].append(context)

    def add_pairs(self, context: Bits, numbers: Iterable[int]) -> None:
        """Note that a context leaves some pairs in order, numbered as by `lattice.Pairs`."""
        self._pair_numbers.extend(numbers)
        self._pair_contexts += [context] * (len(self._pair_numbers) - len(self._pair_contexts))

    def hand_out_now_and_then(self) -> None:
        """Hand out what has come together, so that little is lost by a sudden end."""
        if time.monotonic() - self._handed_out >= _SECONDS_BETWEEN_LISTINGS:
            self.hand_out()

    def hand_out(self) -> None:
        """Emit everything that is waiting."""
        groups = self._orders.groups
        for goal, contexts in sorted(self._fds.items()):
            self.state_fds(goal, packed_contexts(contexts, groups))
        if self._pair_numbers:
            classes = pair_columns(len(self._orders.classes))[self._pair_numbers]
            self.list_pairs(classes, packed_contexts(self._pair_contexts, groups))
        if self._listed:
            self._search.state(PackedPairs.joined(self._listed))
        self._fds.clear()
        self._pair_contexts, self._pair_numbers, self._listed = [], [], []
        self._handed_out = time.monotonic()

    def _state(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self._search.state(block)
