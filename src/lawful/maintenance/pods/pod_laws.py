"""Minimal pointwise order dependencies of a table that changes.

After A. Ran, Z. Tan, S. Ma and S. Qin, "Pointwise Order Dependency Discovery on Dynamic Data" (IncPOD), section VI. A
batch, once the table has taken it in:

    witnesses that lost a row go, and vectors of signs without a witness go with them
    pairs of new rows that refute a law that held come                              (algorithm 4, line 1)
    the left sides of all right sides that this touches are searched for again
    until nothing is refuted
        check the candidates that follow from no law that held
        the witnesses against the wrong ones join, and the left sides that they refute are searched for again

Departures. The paper mends broken laws pair by pair (ExtendPOD, algorithm 5), which blows up where pairs are many (I14)
and needs both mirror images of laws with = on the right (I12). Here left sides are searched for from all vectors at
once, as a discovery does, but only for right sides that have changed. The paper takes insertions only: rows that leave
can make laws hold that no law implies, and these are checked. So a batch of insertions checks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.dependencies import POD
from lawful.discovery.findings import Listing
from lawful.discovery.pods.discover import pointwise_with_pairs
from lawful.discovery.pods.listing import PairsCovered, PointwiseListing, goal_number, goal_of
from lawful.discovery.pods.questions import PointwiseQuestion, order_space
from lawful.discovery.pods.thinking import left_sides_of
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.evidence.denials.pool import DenialPool
from lawful.evidence.living.orders import IndexPlan
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, LawsChange
from lawful.maintenance.pods.order_witnesses import OrderWitnesses
from lawful.maintenance.pods.pod_blocks import PodBlock
from lawful.search.pods.kept_left_sides import (
    LeftSides,
    broken_by,
    following,
    pack_left_side,
    touched_by,
    with_weaker,
)
from lawful.search.pods.left_sides import Goal, goals_of, literal_words, pair_edges
from lawful.search.sets import sets_without
from lawful.tables.living.living_table import LivingTable

_TOO_MANY_LOST = 0.2
"""Where a batch takes more of the evidence than this, searching anew costs less than checking what it leaves open."""


class PodLaws:
    """The minimal pointwise order dependencies of a living table.

    Parameters
    ----------
    table, question
        The table, and which laws are kept: up to which size, and what null means.
    evidence
        What is known of pairs.
    laws
        The laws that follow from it.
    """

    def __init__(
        self, table: LivingTable, question: PointwiseQuestion, evidence: OrderWitnesses, laws: Iterable[PodBlock] = ()
    ) -> None:
        self._table, self._question, self._evidence = table, question, evidence
        self._laws = self._left_sides(laws)

    @staticmethod
    def discovered(table: LivingTable, question: PointwiseQuestion, checker: Checker, watch: Watch) -> PodLaws:
        """Find the laws of a table, and the evidence to keep them by."""
        kept = PodLaws(table, question, OrderWitnesses(table, question.null_policy, np.empty((0, 2), np.int32)))
        kept._search_anew(checker, watch)
        return kept

    @property
    def sign_vectors(self) -> int:
        """How many vectors of signs are kept."""
        return len(self._evidence)

    @property
    def plan(self) -> IndexPlan:
        """The indexes that find what breaks the laws; none before the first batch with new rows."""
        return self._evidence.plan

    def blocks(self) -> Iterator[PodBlock]:
        """All laws, right side by right side."""
        for goal, sets in self._laws.items():
            yield PodBlock(goal, sets)

    def listing(self, checker: Checker) -> PointwiseListing:
        """All laws as a discovery gives them."""
        _, view = checker.opened()
        pool = DenialPool(view, order_space(view.width), self._question.null_policy)
        numbers = [np.full(len(sets), goal_number(goal), np.int64) for goal, sets in self._laws.items()]
        covered = PairsCovered(pool, view.width)
        return PointwiseListing(
            tuple(view.names), np.concatenate(numbers), np.concatenate([*self._laws.values()]), covered
        )

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        held = dict(self._laws)
        if self._evidence.follow_orders():
            self._search_anew(checker, watch)
            return _difference(held, self._laws, checker.checks)
        kept = len(self._evidence) if len(gone) else 0
        change = self._evidence.change(new, held, checker.pairs, watch)
        if len(change.lost) > _TOO_MANY_LOST * kept:
            self._search_anew(checker, watch)
        else:
            touched = touched_by(change.lost, self._table.width) | with_weaker(change.broken)
            self._settle(touched, held, checker, watch)
        return _difference(held, self._laws, checker.checks)

    def replay(self, logged: Arrays, removed: Sequence[PodBlock], added: Sequence[PodBlock]) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""
        self._evidence.replay(logged)
        for block in removed:
            self._laws[block.goal] = sets_without(self._laws[block.goal], block.sets)
        for block in added:
            self._laws[block.goal] = np.concatenate([self._laws[block.goal], block.sets])

    def logged(self) -> Arrays:
        """What the last batch did to the evidence."""
        return self._evidence.logged()

    def arrays(self) -> Arrays:
        """The evidence."""
        return self._evidence.arrays()

    def refuting(self, law: POD) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken."""
        return self._evidence.refuting(law)

    def implies(self, law: POD) -> bool:
        """Whether a law follows from one that is kept."""
        return bool(following(Goal(*law.rhs), pack_left_side(law, self._table.width), self._laws)[0])

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self._evidence.differences()

    def _left_sides(self, laws: Iterable[PodBlock]) -> dict[Goal, Words]:
        """Laws by their right sides, of which some have none."""
        nothing = np.empty((0, literal_words(self._table.width)), np.uint64)
        return dict.fromkeys(goals_of(self._table.width), nothing) | {block.goal: block.sets for block in laws}

    def _search_anew(self, checker: Checker, watch: Watch) -> None:
        """Find the laws of the table as it is, with pairs of rows that refute everything else."""
        engine, view = checker.opened()
        search = Search(view, engine, watch)
        found, pairs = pointwise_with_pairs(search, self._question)
        watch.look()
        checker.checks += search.counts.get("checks", 0)
        self._evidence.learn(view.numbers[pairs].astype(np.int32))
        self._settle(goals_of(view.width), self._left_sides(left_sides_in(found.listings)), checker, watch)

    def _think(self, goals: Iterable[Goal], watch: Watch) -> None:
        """Search for the left sides that no pair refutes."""
        signs, width = self._evidence.signs(), self._table.width
        edges = pair_edges(signs.less, signs.greater, width)
        largest = self._question.largest(width)
        for thought in left_sides_of(edges, sorted(goals), width, largest, watch.look):
            if thought.ended_by is not None:
                raise thought.ended_by
            self._laws[thought.goal] = thought.sets

    def _settle(self, goals: Iterable[Goal], held: LeftSides, checker: Checker, watch: Watch) -> None:
        """Think about right sides, and check what follows from no law that held, until nothing is refuted."""
        open_, confirmed = set(goals), set[POD]()
        while open_:
            self._think(open_, watch)
            candidates = [law for goal in sorted(open_) for law in self._unknown(goal, held) if law not in confirmed]
            witnesses = checker.refuted(candidates) if candidates else np.empty((0, 2), np.int32)
            confirmed.update(candidates)  # those that were refuted do not come back
            watch.look()
            open_ = self._refuted_by(witnesses)

    def _unknown(self, goal: Goal, held: LeftSides) -> Iterator[POD]:
        """The candidates of a right side that follow from no law that held."""
        sets = self._laws[goal]
        return PodBlock(goal, sets[~following(goal, sets, held)]).laws()

    def _refuted_by(self, witnesses: Int32s) -> set[Goal]:
        """Learn from pairs of rows; return the right sides that they touch."""
        if not len(witnesses):
            return set()
        return with_weaker(broken_by(self._evidence.learn(witnesses), self._laws, self._table.width).goals)


def left_sides_in(listings: Sequence[Listing]) -> Iterator[PodBlock]:
    """The laws that a search for pointwise order dependencies has found, right side by right side."""
    found = [listing for listing in listings if isinstance(listing, PointwiseListing)]
    if found:
        joined = PointwiseListing.joined(found)
        for number in np.unique(joined.goals).tolist():
            yield PodBlock(goal_of(number), joined.sets[joined.goals == number])


def _difference(held: LeftSides, now: LeftSides, checks: int) -> LawsChange:
    """The laws that went and those that came."""
    came = {goal: sets_without(now[goal], before) for goal, before in held.items()}
    went = {goal: sets_without(before, now[goal]) for goal, before in held.items()}
    implied: list[Flags] = [following(goal, sets, came) for goal, sets in went.items() if len(sets)]
    removed = [PodBlock(goal, sets) for goal, sets in went.items() if len(sets)]
    return LawsChange(removed, [PodBlock(goal, sets) for goal, sets in came.items() if len(sets)], checks, implied)
