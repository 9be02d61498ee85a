"""Which of the ways to keep laws a state has: made for a table, or read back from what was saved."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.discovery.findings import Block
from lawful.discovery.questions import Watch
from lawful.maintenance.all_laws import AllLaws, packed_of, pod_arrays, pods_of
from lawful.maintenance.almost_laws import AlmostLaws
from lawful.maintenance.evidence import Counted, Witnesses
from lawful.maintenance.exact_laws import ExactLaws
from lawful.maintenance.kept_laws import Checker, KeptLaws, LawBlock
from lawful.maintenance.pods.order_witnesses import OrderWitnesses
from lawful.maintenance.pods.pod_laws import PodLaws
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import Arrays
from lawful.tables.living.living_table import LivingTable


def discovered_laws(table: LivingTable, settings: StateSettings, checker: Checker, watch: Watch) -> AllLaws:
    """Find the laws of a table, and what is needed to keep them."""
    packed = _discovered(table, settings, checker, watch) if settings.has_packed else None
    pods = PodLaws.discovered(table, settings.pod_question(), checker, watch) if settings.has_pods else None
    return AllLaws(table, packed, pods)


def _discovered(table: LivingTable, settings: StateSettings, checker: Checker, watch: Watch) -> KeptLaws:
    counted = settings.is_counted(table.rows, table.width)
    if settings.error:
        return AlmostLaws.discovered(table, settings.question(), checker, watch, counted=counted)
    return ExactLaws.discovered(table, settings.question(), checker, watch, counted=counted)


def restored_laws(table: LivingTable, settings: StateSettings, evidence: Arrays, laws: Sequence[LawBlock]) -> AllLaws:
    """Go on with laws and evidence that were saved."""
    packed = _restored(table, settings, evidence, packed_of(laws)) if settings.has_packed else None
    pods = None
    if settings.has_pods:
        witnesses = OrderWitnesses.from_arrays(table, settings.null, pod_arrays(evidence))
        pods = PodLaws(table, settings.pod_question(), witnesses, pods_of(laws))
    return AllLaws(table, packed, pods)


def _restored(table: LivingTable, settings: StateSettings, evidence: Arrays, laws: Sequence[Block]) -> KeptLaws:
    if settings.error:
        counted = Counted.from_arrays(table, settings.null, evidence) if evidence else None
        return AlmostLaws(table, settings.question(), counted, laws)
    way = Counted if settings.way == "counted" else Witnesses
    return ExactLaws.restored(table, settings.question(), way.from_arrays(table, settings.null, evidence), laws)
