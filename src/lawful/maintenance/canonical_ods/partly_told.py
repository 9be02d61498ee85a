"""Canonical order dependencies that are kept for list-based ones, of which some or none are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from lawful.common.arrays import Flags, Int64s, Words
from lawful.dependencies import Law, LawKind
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search
from lawful.maintenance.canonical_ods.canonical_laws import CanonicalBlock, CanonicalLaws
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, LawBlock, LawsChange
from lawful.maintenance.storing import Numbered, numbered_arrays, read_numbered

IsTold = Callable[[Words], Flags]
"""Which contexts are told."""


class PartlyTold:
    """All that `CanonicalLaws` keeps, of which some laws are told, and others only logged and saved."""

    name = CanonicalLaws.name
    kinds: tuple[LawKind, ...] = CanonicalLaws.kinds

    def __init__(self, kept: CanonicalLaws, is_told: IsTold) -> None:
        self.kept, self._is_told = kept, is_told
        self._last = LawsChange([], [], 0)

    @property
    def vectors(self) -> int:
        """How many vectors of signs are kept."""
        return self.kept.vectors

    def blocks(self) -> Iterator[CanonicalBlock]:
        """The laws that are told."""
        return (self._part(block) for block in self.kept.blocks())

    def number(self, block: LawBlock) -> int:
        """The place of the columns and the direction."""
        return self.kept.number(block)

    def findings(self, checker: Checker) -> Findings:
        """The laws that are told, as a discovery gives them."""
        found = self.kept.findings(checker)
        for place, listing in enumerate(found.listings):
            contexts = np.concatenate([block.sets for block in self.kept.blocks()])
            found.listings[place] = listing.chosen(np.flatnonzero(self._is_told(contexts)))
        return Findings(listings=[listing for listing in found.listings if len(listing)])

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table and the FDs have taken in."""
        change = self._last = self.kept.apply(gone, new, checker, watch)
        implied = [
            flags[self._is_told(block.sets)] for block, flags in zip(change.removed, change.implied, strict=True)
        ]
        return LawsChange(
            [part for part in map(self._part, change.removed) if len(part.sets)],
            [part for part in map(self._part, change.added) if len(part.sets)],
            change.checks,
            [flags for flags in implied if len(flags)],
        )

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[Numbered], added: Sequence[Numbered]
    ) -> None:
        """Follow a batch by what was logged of it."""
        went, came = (read_numbered(logged, name) for name in ("untold-removed", "untold-added"))
        self.kept.replay(gone, new, logged, [*removed, *went], [*added, *came])

    def logged(self) -> Arrays:
        """What the last batch did to the evidence, and to laws that are not told."""
        went, came = self._untold(self._last.removed), self._untold(self._last.added)
        return self.kept.logged() | numbered_arrays(went, "untold-removed") | numbered_arrays(came, "untold-added")

    def arrays(self) -> Arrays:
        """The evidence, and laws that are not told."""
        return self.kept.arrays() | numbered_arrays(self._untold(self.kept.blocks()), "untold")

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law, if one is known."""
        return self.kept.refuting(law)

    def implies(self, law: Law) -> bool:
        """Whether a law follows from one that is kept."""
        return self.kept.implies(law)

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say."""
        return self.kept.differences()

    def anew(self, search: Search) -> Iterator[LawBlock]:
        """Find all laws of the rows as they are."""
        return (self._part(block) for block in self.kept.anew(search))

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        return self.kept.what(block, names)

    def _part(self, block: LawBlock) -> CanonicalBlock:
        assert isinstance(block, CanonicalBlock)
        return block._replace(sets=block.sets[self._is_told(block.sets)])

    def _untold(self, blocks: Iterable[LawBlock]) -> list[Numbered]:
        return [(self.number(block), block.sets[~self._is_told(block.sets)]) for block in blocks]


def joined(laws: Iterable[Numbered]) -> list[Numbered]:
    """The laws of each number in one piece: those that are told, and those that are not."""
    found: dict[int, list[Words]] = {}
    for number, sets in laws:
        found.setdefault(number, []).append(sets)
    return [(number, np.concatenate(parts)) for number, parts in found.items()]
