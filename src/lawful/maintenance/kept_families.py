"""The families of laws that a state keeps, in one shape; here keys and FDs, and pointwise order dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from lawful.common.arrays import Flags, Int64s, Words
from lawful.dependencies import FD, POD, Key, Law, LawKind
from lawful.discovery.findings import KEY, Block, Findings, candidate_of
from lawful.discovery.keys_and_fds.approximate import discover_almost
from lawful.discovery.keys_and_fds.discover import discover_keys_and_fds
from lawful.discovery.pods.discover import discover_pointwise
from lawful.discovery.pods.listing import goal_number, goal_of
from lawful.discovery.pods.questions import PointwiseQuestion
from lawful.discovery.questions import Question, Watch
from lawful.discovery.search import Search
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, KeptLaws, LawBlock, LawsChange
from lawful.maintenance.pods.pod_blocks import PodBlock
from lawful.maintenance.pods.pod_laws import PodLaws, left_sides_in
from lawful.maintenance.settings import Shown
from lawful.maintenance.storing import Numbered, numbered_arrays, read_numbered
from lawful.search import pack_set
from lawful.tables.living.living_table import LivingTable


class KeptFamily(Protocol):
    """Keeps the laws of one family. It follows every batch after the families that it builds on."""

    name: str
    """What its arrays are named by in files."""
    kinds: tuple[LawKind, ...]

    @property
    def vectors(self) -> int:
        """How many kinds of pairs are kept to keep the laws by."""

    def blocks(self) -> Iterator[LawBlock]:
        """All laws, without their errors."""

    def number(self, block: LawBlock) -> int:
        """What tells a block apart in files."""

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""

    def logged(self) -> Arrays:
        """What has to be known of the last batch to follow it without looking at rows again."""

    def arrays(self) -> Arrays:
        """Everything but the laws, to be saved."""

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken, if one is known."""

    def implies(self, law: Law) -> bool:
        """Whether a law is known to hold on all rows, since it follows from one that is kept."""

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say, in words."""

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are, without what is kept."""

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""


class PackedFamily:
    """Keys and FDs.

    Parameters
    ----------
    table, question
        The table, and which laws are kept.
    kept
        What keeps them.
    shown
        Which of them are told.
    """

    name = ""
    kinds: tuple[LawKind, ...] = ("key", "fd")

    def __init__(self, table: LivingTable, question: Question, kept: KeptLaws, shown: Shown) -> None:
        self._table, self._question, self._kept, self._shown = table, question, kept, shown
        self._hides = (question.keys, question.fds, question.max_size) != shown
        self._hidden: tuple[list[Block], list[Block]] = [], []
        self._fds_before: list[Block] = []

    @property
    def vectors(self) -> int:
        """How many agree sets are kept."""
        return self._kept.agree_sets

    def fds(self) -> list[Block]:
        """All FDs that are kept, told or not."""
        return [block for block in self._kept.blocks() if block.goal != KEY]

    def fds_before(self) -> list[Block]:
        """All FDs that were kept before the last batch."""
        return self._fds_before

    def blocks(self) -> Iterator[Block]:
        """All laws that are told."""
        for block in self._kept.blocks():
            yield self._told(block) if self._hides else block

    def number(self, block: LawBlock) -> int:
        """The goal."""
        assert isinstance(block, Block)
        return block.goal

    def findings(self, checker: Checker) -> Findings:
        """All laws that are told, as a discovery gives them."""
        found = self._kept.findings(checker)
        if self._hides:
            told = map(self._told, found.blocks)
            found.blocks = [block for block in told if len(block.sets)]
        return found

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        self._fds_before = self.fds()
        change = self._kept.apply(gone, new, checker, watch)
        if not self._hides:
            return change
        removed, added = list(map(_packed, change.removed)), list(map(_packed, change.added))
        self._hidden = [self._untold(block) for block in removed], [self._untold(block) for block in added]
        implied = [of_block[self._shown.of(block)] for block, of_block in zip(removed, change.implied, strict=True)]
        return LawsChange(
            [block for block in map(self._told, removed) if len(block.sets)],
            [block for block in map(self._told, added) if len(block.sets)],
            change.checks,
            [flags for flags in implied if len(flags)],
        )

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it."""
        went = [Block(*each) for each in (*removed, *read_numbered(logged, "hidden-removed"))]
        came = [Block(*each) for each in (*added, *read_numbered(logged, "hidden-added"))]
        self._kept.replay(gone, new, logged, went, came)

    def logged(self) -> Arrays:
        """What the last batch did to the evidence, and to laws that are not told."""
        logged = self._kept.logged()
        if self._hides:
            for blocks, name in zip(self._hidden, ("hidden-removed", "hidden-added"), strict=True):
                logged = logged | numbered_arrays(_numbered(blocks), name)
        return logged

    def arrays(self) -> Arrays:
        """The evidence, and laws that are not told."""
        arrays = self._kept.arrays()
        if self._hides:
            arrays = arrays | numbered_arrays(_numbered(map(self._untold, self._kept.blocks())), "hidden")
        return arrays

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken, if one is known."""
        if not isinstance(law, Key | FD):
            return None
        goal, columns = candidate_of(law)
        return self._kept.refuting(pack_set(columns, self._table.width), goal)

    def implies(self, law: Law) -> bool:
        """Whether a law follows from one that is kept."""
        if not isinstance(law, Key | FD):
            return False
        goal, columns = candidate_of(law)
        return self._kept.implies(pack_set(columns, self._table.width), goal)

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self._kept.differences()

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are."""
        discover = discover_almost if self._question.error else discover_keys_and_fds
        for block in discover(search, self._question).blocks:
            yield self._told(block)

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        goal = self.number(block)
        return "keys" if goal == KEY else f"left sides of {names[goal]!r}"

    def _told(self, block: Block) -> Block:
        return _chosen(block, self._shown.of(block))

    def _untold(self, block: Block) -> Block:
        return _chosen(block, ~self._shown.of(block))


def _numbered(blocks: Iterable[Block]) -> list[Numbered]:
    return [(block.goal, block.sets) for block in blocks]


def _packed(block: LawBlock) -> Block:
    assert isinstance(block, Block)
    return block


def _chosen(block: Block, chosen: Flags) -> Block:
    if chosen.all():
        return block
    return Block(block.goal, block.sets[chosen], None if block.errors is None else block.errors[chosen])


class PodFamily:
    """Pointwise order dependencies."""

    name = "pods"
    kinds: tuple[LawKind, ...] = ("pod",)

    def __init__(self, kept: PodLaws, question: PointwiseQuestion) -> None:
        self.kept, self._question = kept, question

    @property
    def vectors(self) -> int:
        """How many vectors of signs are kept."""
        return self.kept.sign_vectors

    def blocks(self) -> Iterator[PodBlock]:
        """All laws, right side by right side."""
        return self.kept.blocks()

    def number(self, block: LawBlock) -> int:
        """The right side."""
        assert isinstance(block, PodBlock)
        return goal_number(block.goal)

    @staticmethod
    def block(number: int, sets: Words) -> PodBlock:
        """Laws with a right side."""
        return PodBlock(goal_of(number), sets)

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""
        return Findings(listings=[self.kept.listing(checker)])

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        return self.kept.apply(gone, new, checker, watch)

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it."""
        self.kept.replay(logged, [self.block(*each) for each in removed], [self.block(*each) for each in added])

    def logged(self) -> Arrays:
        """What the last batch did to the evidence."""
        return self.kept.logged()

    def arrays(self) -> Arrays:
        """The evidence."""
        return self.kept.arrays()

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken, if one is known."""
        return self.kept.refuting(law) if isinstance(law, POD) else None

    def implies(self, law: Law) -> bool:
        """Whether a law follows from one that is kept."""
        return isinstance(law, POD) and self.kept.implies(law)

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self.kept.differences()

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are."""
        yield from left_sides_in(discover_pointwise(search, self._question).listings)

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        assert isinstance(block, PodBlock)
        return f"left sides of {{{names[block.goal.column]}{block.goal.operator}}}"
