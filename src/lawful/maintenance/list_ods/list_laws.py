"""Minimal list-based order dependencies of a table that changes.

They follow from the FDs and canonical order dependencies (`dependencies.od_mapping`), which are kept anyway. So a batch
that changes none of those changes no list, and otherwise the lists are grown again without a look at a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from lawful.common.arrays import Flags, Int64s, Words
from lawful.common.meanings import Direction
from lawful.dependencies import FD, Law, LawKind, ListOD
from lawful.dependencies.implication import canonical_parts
from lawful.dependencies.od_mapping import CanonicalTheory, list_ods_from_canonical
from lawful.discovery.findings import Block, Findings, ListedLaws
from lawful.discovery.list_ods.classes import ListClasses, Member
from lawful.discovery.list_ods.discover import discover_list_ods, interests_of_lists
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.maintenance.canonical_ods.canonical_laws import CanonicalBlock
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, LawBlock, LawsChange
from lawful.maintenance.storing import Numbered
from lawful.search.sets import sets_without
from lawful.tables.living.living_table import LivingTable

_PIECES = 4
"""Marks of two bytes each that a word has room for."""
_BETWEEN = 0xFFFF
"""What stands between the two lists of a law."""


class KnownFds(Protocol):
    """All minimal FDs."""

    def fds(self) -> list[Block]:
        """FDs as they are now."""

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes an FD, if one is known."""

    def implies(self, law: Law) -> bool:
        """Whether an FD holds."""


class KnownPairs(Protocol):
    """All minimal canonical order dependencies beside FDs."""

    def blocks(self) -> Iterator[CanonicalBlock]:
        """All of them."""

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes one, if one is known."""

    def implies(self, law: Law) -> bool:
        """Whether one holds."""


class ListBlock(NamedTuple):
    """List-based order dependencies, each a line of words: the marks of the left list, then those of the right one."""

    sets: Words

    @property
    def kind(self) -> LawKind:
        """The kind of the laws."""
        return "list-od"

    def laws(self) -> Iterator[ListOD]:
        """The laws as values."""
        marks = np.ascontiguousarray(self.sets, "<u8").view("<u2")
        for line in marks.tolist():
            cut = line.index(_BETWEEN)
            yield ListOD(_marked(line[:cut]), _marked(line[cut + 1 :]))

    @staticmethod
    def of(laws: Sequence[ListOD], width: int) -> ListBlock:
        """Pack laws over so many columns, of which each stands in a law at most once."""
        marks = np.zeros((len(laws), -(-(width + 1) // _PIECES) * _PIECES), "<u2")
        for line, law in zip(marks, laws, strict=True):
            line[: len(law.lhs)] = [_mark(*one) for one in law.lhs]
            line[len(law.lhs)] = _BETWEEN
            line[len(law.lhs) + 1 : len(law.lhs) + 1 + len(law.rhs)] = [_mark(*one) for one in law.rhs]
        return ListBlock(marks.view("<u8").astype(np.uint64))


def _mark(column: int, direction: Direction) -> int:
    return 2 * column + (direction == "desc") + 1


def _marked(marks: Sequence[int]) -> tuple[tuple[int, Direction], ...]:
    return tuple(((mark - 1) >> 1, "desc" if (mark - 1) & 1 else "asc") for mark in marks if mark)


class ListLaws:
    """The minimal list-based order dependencies of a living table, stated as a discovery states them.

    Parameters
    ----------
    table, question
        The table, and which laws are kept.
    known, pairs
        The FDs and the other canonical laws, which are kept by themselves, of all sizes that lists may ask for.
    laws
        The laws that follow from these; None if nobody has worked them out.
    """

    name = "lists"
    kinds: tuple[LawKind, ...] = ("list-od",)

    def __init__(
        self,
        table: LivingTable,
        question: ListQuestion,
        known: KnownFds,
        pairs: KnownPairs,
        laws: Sequence[Numbered] | None = None,
    ) -> None:
        self._table, self._question, self._known, self._pairs = table, question, known, pairs
        nothing = ListBlock.of([], table.width).sets
        self._basis: list[Words] = []
        """What the laws were worked out from, if they were."""
        self._laws = self._derived() if laws is None else np.concatenate([nothing, *(sets for _, sets in laws)])

    @property
    def vectors(self) -> int:
        """Nothing is kept beside what is kept for the laws that these follow from."""
        return 0

    def blocks(self) -> Iterator[ListBlock]:
        """All laws."""
        yield ListBlock(self._laws)

    def number(self, block: LawBlock) -> int:
        """There is one block."""
        return 0

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""
        laws = tuple(ListBlock(self._laws).laws())
        if not laws:
            return Findings()
        _, view = checker.opened()
        return Findings(listings=[ListedLaws("list-od", laws, interests_of_lists(laws, view, self._question))])

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the laws which these follow from have followed."""
        watch.look()
        if self._basis and all(map(np.array_equal, self._basis, self._premises())):
            return LawsChange([], [], checker.checks)
        before, self._laws = self._laws, self._derived()
        went, came = sets_without(before, self._laws), sets_without(self._laws, before)
        removed = ListBlock(went)
        implied: Flags = np.array([self.implies(law) for law in removed.laws()], np.bool_)
        return LawsChange(
            [removed] if len(went) else [],
            [ListBlock(came)] if len(came) else [],
            checker.checks,
            [implied] if len(went) else [],
        )

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it."""
        for _, sets in removed:
            self._laws = sets_without(self._laws, sets)
        self._laws = np.concatenate([self._laws, *(sets for _, sets in added)])

    def logged(self) -> Arrays:
        """Nothing: the laws that changed are logged."""
        return {}

    def arrays(self) -> Arrays:
        """Nothing beside the laws."""
        return {}

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law: one of its canonical parts is refuted."""
        if not isinstance(law, ListOD):
            return None
        fds, pairs = canonical_parts(law)
        found = [*map(self._known.refuting, fds), *map(self._pairs.refuting, pairs)]
        return next((pair for pair in found if pair is not None), None)

    def implies(self, law: Law) -> bool:
        """Whether a law follows from what is kept: all of its canonical parts do."""
        if not isinstance(law, ListOD):
            return False
        fds, pairs = canonical_parts(law)
        return all(map(self._known.implies, fds)) and all(map(self._pairs.implies, pairs))

    def differences(self) -> list[str]:
        """Nothing: no evidence is kept for these alone."""
        return []

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are, from the rows themselves."""
        found = discover_list_ods(search, self._question)
        laws = [law for listing in found.listings for law in listing.laws() if isinstance(law, ListOD)]
        yield ListBlock.of(laws, self._table.width)

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        return "list-based order dependencies"

    def _premises(self) -> list[Words]:
        """The FDs and the other canonical laws, each in the same place every time."""
        return [*(block.sets for block in self._known.fds()), *(block.sets for block in self._pairs.blocks())]

    def _derived(self) -> Words:
        """The laws that follow from the FDs and the other canonical laws."""
        self._basis = self._premises()
        width, largest = self._table.width, self._question.max_size
        if largest == 0:
            return ListBlock.of([], width).sets
        fds = [law for block in self._known.fds() for law in block.laws() if isinstance(law, FD)]
        pairs = [law for block in self._pairs.blocks() for law in block.laws()]
        classes = _classes_of(CanonicalTheory(fds, pairs, width), width)
        laws = list_ods_from_canonical(fds, pairs, width, max_size=largest)
        return ListBlock.of([*classes.stated_first(), *classes.folded(laws)], width).sets


def _classes_of(theory: CanonicalTheory, width: int) -> ListClasses:
    """Group the columns that order rows alike, as `discovery.list_ods.classes` does on a table."""
    constants: list[Member] = []
    classes: list[list[Member]] = []
    for column in range(width):
        if theory.determines(0, column):
            constants.append((column, False))
            continue
        for members in classes:
            turned = _compared(theory, members[0][0], column)
            if turned is not None:
                members.append((column, turned))
                break
        else:
            classes.append([(column, False)])
    found = [tuple(members) for members in classes]
    if constants:
        found.append(tuple(constants))
    return ListClasses(tuple(found), len(found) - 1 if constants else None)


def _compared(theory: CanonicalTheory, first: int, second: int) -> bool | None:
    """Whether the second column is the first one turned around; None if it is neither that nor the same."""
    for direction, turned in (("asc", False), ("desc", True)):
        one, other = ((first, "asc"),), ((second, direction),)
        if theory.orders(one, other) and theory.orders(other, one):
            return turned
    return None
