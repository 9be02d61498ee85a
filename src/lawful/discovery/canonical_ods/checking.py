"""Goals that are open, and the checks that settle them: what is known of each candidate, and what to send next.

A goal is settled once all candidates that the evidence leaves it are confirmed: then no further pair of rows can
change them. A pair of columns is thought about once the FDs of both are settled, because left sides are no contexts
of it (see `evidence`); no goal waits for any other.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from lawful.checks import RankedTable
from lawful.common.arrays import Words
from lawful.common.meanings import Direction
from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery.canonical_ods.thinking import CandidateSets, Goal, fd_goals, pair_goals
from lawful.discovery.order_classes import Orders
from lawful.evidence.kernels.swaps import DESC
from lawful.search import unpack_sets

_TOO_MANY_REFUTED = 0.1
_FEW_REFUTED = 50
_REST = 3.0

Places = tuple[int, ...]
Candidate = tuple[Goal, Places]
_Urgency = tuple[bool, tuple[int, ...], Goal]


def law_of(candidate: Candidate, columns: Sequence[int]) -> Law:
    """The FD or the order-compatible pair that a candidate stands for, over the columns of all classes."""
    goal, places = candidate
    context = tuple(columns[place] for place in places)
    if goal.is_fd:
        return FD(context, columns[goal.left])
    direction: Direction = "desc" if goal.direction == DESC else "asc"
    return CanonicalOD(context, columns[goal.left], columns[goal.right], direction)


class OpenGoals:
    """All goals that are not settled, with the candidates of each that are not decided."""

    def __init__(self, table: RankedTable, orders: Orders, *, has_fds: bool = False) -> None:
        self.has_more_to_think = True
        """Whether a goal has become possible that nobody has thought about."""
        self._sets: dict[Goal, Words] = {}  # all candidates, by the last thoughts
        self._open: dict[Goal, set[Places]] = {}  # those that are not confirmed
        fds, pairs = [] if has_fds else fd_goals(orders), pair_goals(orders)
        self._confirmed: dict[Goal, set[Places]] = {goal: set() for goal in (*fds, *pairs)}
        self._groups = [order.group for order in orders.classes]
        self._without_fds = set() if has_fds else set(range(orders.groups))
        self._ready, self._later = dict.fromkeys(pairs if has_fds else fds), [] if has_fds else pairs
        self._out: set[Candidate] = set()
        self._waiting: list[tuple[_Urgency, Candidate]] = []  # the most urgent last
        by_values = sorted(range(orders.groups), key=lambda place: -table.distinct(orders.columns[place]))
        self._ranks = {place: rank for rank, place in enumerate(by_values)}
        self._chains: dict[Places, tuple[int, ...]] = {}

    def __bool__(self) -> bool:
        """Whether any goal is not settled."""
        return bool(self._ready or self._later)

    @property
    def waiting(self) -> int:
        """How many candidates can be sent."""
        return len(self._waiting)

    @property
    def ready(self) -> tuple[Goal, ...]:
        """The goals that can be thought about."""
        return tuple(self._ready)

    def take_in(self, thoughts: Iterable[CandidateSets]) -> None:
        """Let all goals that were ready have the candidates of these thoughts, and no others.

        Most goals have the same candidates as after the last thoughts: nothing changes for them.
        """
        self.has_more_to_think = False
        found = {goal: sets for thought in thoughts for goal, sets in thought.by_goal()}
        changed = set()
        for goal in self.ready:
            sets = found.get(goal)
            if sets is None:
                changed.add(goal)
                self._settle(goal)
            elif goal not in self._sets or not np.array_equal(sets, self._sets[goal]):
                changed.add(goal)
                self._sets[goal] = sets
                self._open[goal] = set(unpack_sets(sets)) - self._confirmed[goal]
                if not self._open[goal]:
                    self._settle(goal)
        if changed:
            new = [(goal, places) for goal in changed for places in self._open.get(goal, ())]
            self._waiting = [waiting for waiting in self._waiting if waiting[1][0] not in changed]
            self._waiting += [(self._urgency(one), one) for one in new if one not in self._out]
            self._waiting.sort(reverse=True)

    def send(self, most: int) -> list[Candidate]:
        """Take candidates that wait; they are out until they are confirmed or refuted."""
        sent = [candidate for _, candidate in self._waiting[: -most - 1 : -1]]
        del self._waiting[-most:]
        self._out.update(sent)
        return sent

    def know(self, candidates: Iterable[Candidate]) -> None:
        """Take pairs for confirmed that were found before."""
        for goal, places in candidates:
            self._confirmed[goal].add(places)

    def confirm(self, candidate: Candidate) -> None:
        """Note that a candidate holds."""
        goal, places = candidate
        self._out.remove(candidate)
        self._confirmed[goal].add(places)
        self._open[goal].discard(places)
        if not self._open[goal]:
            self._settle(goal)

    def refute(self, candidate: Candidate) -> None:
        """Note that a candidate does not hold; the next thoughts must know its witness."""
        self._out.remove(candidate)

    def _settle(self, goal: Goal) -> None:
        self._open.pop(goal, None)
        self._sets.pop(goal, None)
        del self._confirmed[goal]
        del self._ready[goal]
        if goal.is_fd:
            self._without_fds.remove(goal.left)
            possible = [later for later in self._later if self._is_possible(later)]
            if possible:
                self._ready |= dict.fromkeys(possible)
                self._later = [later for later in self._later if not self._is_possible(later)]
                self.has_more_to_think = True

    def _is_possible(self, pair: Goal) -> bool:
        return self._without_fds.isdisjoint((self._groups[pair.left], self._groups[pair.right]))

    def _urgency(self, candidate: Candidate) -> _Urgency:
        """FDs first, on which other goals wait; then neighbours that share the beginning of their partitions.

        Both directions of a pair stand side by side: one search for swaps often decides both.
        """
        goal, places = candidate
        chain = self._chains.get(places)
        if chain is None:
            chain = self._chains[places] = tuple(sorted(self._ranks[place] for place in places))
        return not goal.is_fd, chain, goal


class Refutations:
    """What verdicts have shown since the last thought, and whether that is worth another one."""

    def __init__(self) -> None:
        self.are_new = True
        """Whether the evidence has grown since the last thought."""
        self._checked = self._refuted = 0
        self._seconds = self._ended = 0.0

    def learn(self, checked: int, refuted: int) -> bool:
        """Note verdicts; say whether these have shown, as the first, that the last thought knew too little."""
        knew_enough = not self._knew_too_little
        self._checked += checked
        self._refuted += refuted
        self.are_new |= refuted > 0
        return knew_enough and self._knew_too_little

    def ask_for_thought(self, goals: OpenGoals) -> bool:
        """Whether to think again while candidates are out: nothing is left to send, or too much of it is wrong.

        Where thoughts take long, the engine works for some time between them.
        """
        return self._want_thought(goals) and self._left_to_rest <= 0

    def _want_thought(self, goals: OpenGoals) -> bool:
        if goals.waiting:
            return self._knew_too_little
        return self.are_new or goals.has_more_to_think

    @property
    def _left_to_rest(self) -> float:
        """The seconds that are left until the engine has worked for long enough."""
        return self._ended + _REST * self._seconds - time.monotonic()

    @contextmanager
    def thinking(self) -> Iterator[None]:
        """Around each thought: it starts with everything that is known."""
        begin = time.monotonic()
        self.are_new = False
        self._checked = self._refuted = 0
        yield
        self._ended = time.monotonic()
        self._seconds = self._ended - begin

    @property
    def _knew_too_little(self) -> bool:
        return self._refuted > max(_FEW_REFUTED, _TOO_MANY_REFUTED * self._checked)
