"""All laws that a state keeps: keys and FDs by one way of keeping them, pointwise order dependencies by another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.common.arrays import Int64s
from lawful.dependencies import FD, POD, Key, Law
from lawful.discovery.findings import Block, Findings, candidate_of
from lawful.discovery.questions import Watch
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, KeptLaws, LawBlock, LawsChange
from lawful.maintenance.pods.pod_blocks import PodBlock
from lawful.maintenance.pods.pod_laws import PodLaws
from lawful.maintenance.state_files import Arrays
from lawful.maintenance.storing import prefixed, unprefixed
from lawful.search import pack_set
from lawful.tables.living.living_table import LivingTable

_PODS = "pods"


class AllLaws:
    """The laws of a living table.

    Parameters
    ----------
    table
        The table.
    packed
        What keeps its keys and FDs, if a state has such.
    pods
        What keeps its pointwise order dependencies, if a state has such.
    """

    def __init__(self, table: LivingTable, packed: KeptLaws | None, pods: PodLaws | None) -> None:
        self._table, self._packed, self._pods = table, packed, pods

    @property
    def pods(self) -> PodLaws | None:
        """What keeps pointwise order dependencies."""
        return self._pods

    @property
    def agree_sets(self) -> int:
        """How many agree sets are kept to keep keys and FDs; 0 if none are."""
        return 0 if self._packed is None else self._packed.agree_sets

    @property
    def sign_vectors(self) -> int:
        """How many vectors of signs are kept to keep pointwise order dependencies; 0 if none are."""
        return 0 if self._pods is None else self._pods.sign_vectors

    def blocks(self) -> Iterator[LawBlock]:
        """All laws, right side by right side, without their errors."""
        if self._packed is not None:
            yield from self._packed.blocks()
        if self._pods is not None:
            yield from self._pods.blocks()

    def findings(self, checker: Checker) -> Findings:
        """All laws as a discovery gives them."""
        found = Findings(complete=True) if self._packed is None else self._packed.findings(checker)
        if self._pods is not None:
            found.listings.append(self._pods.listing(checker))
        return found

    def apply(self, gone: Int64s, new: range, checker: Checker, watch: Watch) -> LawsChange:
        """Follow a batch that the table has taken in."""
        changes = [each.apply(gone, new, checker, watch) for each in (self._packed, self._pods) if each is not None]
        return LawsChange(
            [block for change in changes for block in change.removed],
            [block for change in changes for block in change.added],
            checker.checks,
            [implied for change in changes for implied in change.implied],
        )

    def replay(
        self, gone: Int64s, new: range, logged: Arrays, removed: Sequence[LawBlock], added: Sequence[LawBlock]
    ) -> None:
        """Follow a batch by what was logged of it; only of a state that was just read."""
        if self._packed is not None:
            self._packed.replay(gone, new, logged, packed_of(removed), packed_of(added))
        if self._pods is not None:
            self._pods.replay(unprefixed(logged, _PODS), pods_of(removed), pods_of(added))

    def logged(self) -> Arrays:
        """What has to be known of the last batch to follow it without looking at rows again."""
        packed = {} if self._packed is None else self._packed.logged()
        return packed if self._pods is None else packed | prefixed(self._pods.logged(), _PODS)

    def arrays(self) -> Arrays:
        """Everything but the laws, to be saved; `pod_arrays` finds its part in it."""
        packed = {} if self._packed is None else self._packed.arrays()
        return packed if self._pods is None else packed | prefixed(self._pods.arrays(), _PODS)

    def refuting(self, law: Law) -> Pair | None:
        """A pair of rows that refutes a law which the last batch has broken, if one is known."""
        if isinstance(law, POD):
            return None if self._pods is None else self._pods.refuting(law)
        if self._packed is None or not isinstance(law, Key | FD):
            return None
        goal, columns = candidate_of(law)
        return self._packed.refuting(pack_set(columns, self._table.width), goal)

    def implies(self, law: Law) -> bool:
        """Whether a law is known to hold on all rows, since it follows from one that is kept."""
        if isinstance(law, POD):
            return self._pods is not None and self._pods.implies(law)
        if self._packed is None or not isinstance(law, Key | FD):
            return False
        goal, columns = candidate_of(law)
        return self._packed.implies(pack_set(columns, self._table.width), goal)

    def differences(self) -> list[str]:
        """What of the evidence is not as the rows say, in words."""
        return [text for each in (self._packed, self._pods) if each is not None for text in each.differences()]


def pod_arrays(arrays: Arrays) -> Arrays:
    """What `AllLaws.arrays` has of pointwise order dependencies."""
    return unprefixed(arrays, _PODS)


def packed_of(blocks: Sequence[LawBlock]) -> list[Block]:
    """The keys and FDs among some laws."""
    return [block for block in blocks if isinstance(block, Block)]


def pods_of(blocks: Sequence[LawBlock]) -> list[PodBlock]:
    """The pointwise order dependencies among some laws."""
    return [block for block in blocks if isinstance(block, PodBlock)]
