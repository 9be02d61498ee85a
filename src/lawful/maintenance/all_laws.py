"""All laws that a state keeps, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.common.arrays import Int64s
from lawful.dependencies import Law
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_families import KeptFamily, PackedFamily, PodFamily
from lawful.maintenance.kept_laws import Checker, LawBlock, LawsChange
from lawful.maintenance.pods.pod_laws import PodLaws
from lawful.maintenance.storing import numbered_arrays, prefixed, read_numbered, unprefixed


class AllLaws:
    """The laws of a living table.

    Parameters
    ----------
    families
        What keeps them, each family after those that it builds on.
    """

    def __init__(self, families: Sequence[KeptFamily]) -> None:
        self.families = tuple(families)

    @property
    def pods(self) -> PodLaws | None:
        """What keeps pointwise order dependencies."""
        return next((family.kept for family in self.families if isinstance(family, PodFamily)), None)

    @property
    def agree_sets(self) -> int:
        """How many agree sets are kept to keep keys and FDs; 0 if none are."""
        return sum(family.vectors for family in self.families if isinstance(family, PackedFamily))

    @property
    def sign_vectors(self) -> int:
        """How many vectors of signs are kept to keep all other laws; 0 if none are."""
        return sum(family.vectors for family in self.families if not isinstance(family, PackedFamily))

    def blocks(self) -> Iterator[LawBlock]:
        """All laws, block by block, without their errors."""
        for family in self.families:
            yield from family.blocks()

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""
        found = Findings(complete=True)
        for family in self.families:
            more = family.findings(checker)
            found.blocks += more.blocks
            found.listings += more.listings
        return found

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        changes = [family.apply(gone, new, checker, watch) for family in self.families]
        return LawsChange(
            [block for change in changes for block in change.removed],
            [block for change in changes for block in change.added],
            checker.checks,
            [implied for change in changes for implied in change.implied],
        )

    def replay(self, gone: Int64s, new: range, logged: Arrays) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""
        evidence = unprefixed(logged, "evidence")
        for family in self.families:
            removed, added = (read_numbered(logged, _named(name, family.name)) for name in ("removed", "added"))
            family.replay(gone, new, part_of(evidence, family.name), removed, added)

    def logged(self, change: LawsChange) -> Arrays:
        """What has to be known of the last batch to follow it without looking at rows again."""
        arrays = self._laws_arrays(change.removed, "removed") | self._laws_arrays(change.added, "added")
        for family in self.families:
            arrays |= prefixed(family.logged(), _named("evidence", family.name))
        return arrays

    def arrays(self) -> Arrays:
        """Everything, to be saved."""
        arrays = self._laws_arrays(list(self.blocks()), "laws")
        for family in self.families:
            arrays |= prefixed(family.arrays(), _named("evidence", family.name))
        return arrays

    def _laws_arrays(self, blocks: Sequence[LawBlock], name: str) -> Arrays:
        arrays: Arrays = {}
        for family in self.families:
            own = [(family.number(block), block.sets) for block in blocks if block.kind in family.kinds]
            arrays |= numbered_arrays(own, _named(name, family.name))
        return arrays

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken, if one is known."""
        pairs = (family.refuting(law) for family in self.families)
        return next((pair for pair in pairs if pair is not None), None)

    def implies(self, law: Law) -> bool:
        """Whether a law is known to hold on all rows, since it follows from one that is kept."""
        return any(family.implies(law) for family in self.families)

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say, in words."""
        return [text for family in self.families for text in family.differences()]

    def what(self, block: LawBlock, names: Sequence[str]) -> str:
        """What people call the laws of a block."""
        return next(family.what(block, names) for family in self.families if block.kind in family.kinds)


def _named(what: str, family: str) -> str:
    return f"{what}-{family}" if family else what


def part_of(evidence: Arrays, family: str) -> Arrays:
    """What of the evidence that was saved is a family's own; that of keys and FDs is among all others."""
    return unprefixed(evidence, family) if family else evidence
