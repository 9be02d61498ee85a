"""Minimal keys and FDs of a table that changes.

A batch, once the table has taken it in:

    evidence that lost its last pair goes, evidence that new pairs bring comes
    the minimal hitting sets follow: some candidates go, others come
    until nothing is refuted                                                   (never, where all pairs are counted)
        check the candidates that follow from no law that held
        the witnesses against the wrong ones join the evidence, and the hitting sets follow

A candidate that contains the left side of a law that held needs no check: no old pair refutes it, and all new pairs
that could were compared. So a batch of insertions checks nothing, a batch of deletions what it gave a chance to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.discovery.findings import KEY, Block, Candidate, Findings, law_of
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.keys_and_fds.thinking import goals_of
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Counted, HeldLaws, KeptEvidence, Pair, ShouldStop, Witnesses
from lawful.maintenance.kept_laws import Checker, LawsChange, difference
from lawful.search import unpack_sets, words_for
from lawful.search.kernels.extensions import find_supersets
from lawful.search.keys_and_fds.kept_determinants import GoalChange, KeptDeterminants
from lawful.search.sets import sets_without
from lawful.tables.living.living_table import LivingTable

_MOST_LEFT_SIDES = 50_000
_TOO_MANY_LOST = 0.2
"""Where a batch takes more of the evidence than this, searching anew costs less than checking what it leaves open."""


class ExactLaws:
    """The minimal keys and FDs of a living table.

    Parameters
    ----------
    question
        Which laws are kept: keys, FDs, up to which size, and what null means.
    evidence, determinants
        What is known of pairs, and the laws that follow from it.
    """

    def __init__(
        self, table: LivingTable, question: Question, evidence: KeptEvidence, determinants: KeptDeterminants
    ) -> None:
        self.table, self.question = table, question
        self.evidence, self._thinking = evidence, determinants
        self._restored: dict[int, Words] | None = None

    @staticmethod
    def discovered(
        table: LivingTable, question: Question, checker: Checker, watch: Watch, *, counted: bool
    ) -> ExactLaws:
        """Find the laws of a table, and the evidence to keep them by."""
        determinants = KeptDeterminants(table.width, goals_of(question, table.width), question.max_size)
        if counted:
            kept = ExactLaws(table, question, Counted.of(table, question.null_policy, watch.is_over), determinants)
            kept._think(None, watch.is_over)
            return kept
        held, pairs = _searched(table, question, checker, watch)
        kept = ExactLaws(table, question, Witnesses.of_pairs(table, question.null_policy, pairs), determinants)
        kept._think(None, watch.is_over)
        # All of them: where no pair refutes anything, nothing has changed, and the empty set may still be wrong.
        every = [GoalChange(block.goal, block.sets[:0], block.sets) for block in kept.blocks()]
        kept._settle(every, held, checker, watch)
        return kept

    @staticmethod
    def restored(table: LivingTable, question: Question, evidence: KeptEvidence, laws: Sequence[Block]) -> ExactLaws:
        """Go on with evidence and laws that were saved; what they are is not looked for again."""
        kept = ExactLaws(table, question, evidence, KeptDeterminants(table.width, range(0)))
        kept._restored = {block.goal: block.sets for block in laws}
        return kept

    @property
    def _determinants(self) -> KeptDeterminants:
        """What thinks about the laws; of a state that was only opened, it is made when it is first needed."""
        if self._restored is not None:
            goals, family = goals_of(self.question, self.table.width), self.evidence.family()
            sets = [self._restored[goal] for goal in goals]
            nothing = np.empty((0, words_for(self.table.width)), np.uint64)
            arrays = {
                "laws": np.concatenate([nothing, *sets]),
                "ends": np.cumsum([len(of_goal) for of_goal in sets], dtype=np.int64),
                "nodes_per_law": np.ones(len(goals)),
            }
            self._thinking = KeptDeterminants.from_arrays(
                arrays, self.table.width, goals, self.question.max_size, family.agree, family.differ
            )
            self._restored = None
        return self._thinking

    def blocks(self) -> Iterator[Block]:
        """All laws, goal by goal."""
        for goal in goals_of(self.question, self.table.width):
            yield Block(goal, self._restored[goal] if self._restored is not None else self._thinking.laws(goal))

    def implies(self, columns: Words, goal: int) -> bool:
        """Whether a key (goal -1) or an FD follows from the laws that are kept, by adding columns."""
        if goal not in goals_of(self.question, self.table.width):
            return False
        sets = next(block.sets for block in self.blocks() if block.goal == goal)
        return bool(((sets & columns) == sets).all(axis=1).any())

    @property
    def agree_sets(self) -> int:
        """How many agree sets are kept."""
        return len(self.evidence)

    def logged(self) -> Arrays:
        """What the last batch did to the evidence."""
        return self.evidence.logged()

    def arrays(self) -> Arrays:
        """The evidence."""
        return self.evidence.arrays()

    def refuting(self, columns: Words, goal: int) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken."""
        return self.evidence.refuting(columns, goal)

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self.evidence.differences()

    def findings(self, _: Checker) -> Findings:
        """All laws as a discovery gives them."""
        return Findings([block for block in self.blocks() if len(block.sets)], complete=True)

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        held = {block.goal: block.sets for block in self.blocks()}
        assert self._determinants  # a state that was opened makes it of the evidence as it is before the batch
        kept = len(self.evidence)
        change = self.evidence.change(gone, new, _held_laws(held), checker.pairs, watch.is_over)
        changed = np.concatenate([change.gone, change.come])
        if not self.evidence.is_exact and len(change.gone) > _TOO_MANY_LOST * kept:
            _, pairs = _searched(self.table, self.question, checker, watch)
            changed = np.concatenate([changed, self.evidence.learn(pairs)])
        changes = self._think(changed, watch.is_over)
        if not self.evidence.is_exact:
            self._settle(changes, held, checker, watch)
        return difference(held, {block.goal: block.sets for block in self.blocks()}, checker.checks)

    def replay(
        self,
        gone: Int64s,
        new: range,
        logged: dict[str, np.ndarray],
        removed: Sequence[Block],
        added: Sequence[Block],
    ) -> None:
        """Follow a batch by what was logged of it; only right after `restored`."""
        assert self._restored is not None
        self.evidence.replay(gone, new, logged)
        for block in removed:
            self._restored[block.goal] = sets_without(self._restored[block.goal], block.sets)
        for block in added:
            self._restored[block.goal] = np.concatenate([self._restored[block.goal], block.sets])

    def _think(self, changed: Words | None, should_stop: ShouldStop) -> list[GoalChange]:
        family = self.evidence.family()
        return self._determinants.update(family.agree, family.differ, changed, should_stop)

    def _settle(self, changes: list[GoalChange], held: dict[int, Words], checker: Checker, watch: Watch) -> None:
        """Check what came and follows from no law that held, until nothing is refuted."""
        confirmed: set[Candidate] = set()
        columns = tuple(range(self.table.width))
        while True:
            opened: list[Candidate] = []
            for change in changes:
                watch.look()  # a wide table has many sets to compare for each right side
                came = unpack_sets(_not_implied(change.added, held.get(change.goal)))
                opened += [(change.goal, places) for places in came if (change.goal, places) not in confirmed]
            if not opened:
                return
            witnesses = checker.refuted(law_of(candidate, columns) for candidate in opened)
            confirmed.update(opened)  # those that were refuted do not come back
            if not len(witnesses):
                return
            changes = self._think(self.evidence.learn(witnesses), watch.is_over)


def _searched(
    table: LivingTable, question: Question, checker: Checker, watch: Watch
) -> tuple[dict[int, Words], Int32s]:
    """The laws of the table as it is, and the pairs of rows that refute everything else."""
    engine, view = checker.opened()
    search = Search(view, engine, watch)
    hybrid = replace(question, strategy="hybrid")
    found = discover_keys_and_fds(search, hybrid)
    watch.look()
    held: dict[int, list[Words]] = {}
    for block in found.blocks:
        held.setdefault(block.goal, []).append(block.sets)
    pairs = search.shared(hybrid).known_pairs
    rows = view.numbers[pairs].astype(np.int32)
    return {goal: np.concatenate(sets) for goal, sets in held.items()}, rows


def _held_laws(held: dict[int, Words]) -> HeldLaws:
    if sum(map(len, held.values())) > _MOST_LEFT_SIDES:
        return HeldLaws(None, [])
    constants = [goal for goal, sets in held.items() if goal != KEY and len(sets) and not sets.any()]
    if KEY in held and len(held[KEY]) and not held[KEY].any():
        return HeldLaws(None, constants)
    left_sides: dict[tuple[int, ...], list[int]] = {}
    for goal, sets in held.items():
        for columns in unpack_sets(sets):
            if columns:
                left_sides.setdefault(columns, []).append(goal)
    return HeldLaws(left_sides, constants)


def _not_implied(candidates: Words, held: Words | None) -> Words:
    """The candidates that contain none of the sets that held."""
    if held is None or not len(held) or not len(candidates):
        return candidates
    is_implied = find_supersets(candidates, held)
    left: Words = candidates[~is_implied]
    return left
