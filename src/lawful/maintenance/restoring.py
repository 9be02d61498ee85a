"""Which of the ways to keep laws a state has: made for a table, or read back from what was saved."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.discovery.findings import Block
from lawful.discovery.questions import Watch
from lawful.maintenance.almost_laws import AlmostLaws
from lawful.maintenance.evidence import Counted, Witnesses
from lawful.maintenance.exact_laws import ExactLaws
from lawful.maintenance.kept_laws import Checker, KeptLaws
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import Arrays
from lawful.tables.living.living_table import LivingTable


def discovered_laws(table: LivingTable, settings: StateSettings, checker: Checker, watch: Watch) -> KeptLaws:
    """Find the laws of a table, and what is needed to keep them."""
    counted = settings.is_counted(table.rows, table.width)
    if settings.error:
        return AlmostLaws.discovered(table, settings.question(), checker, watch, counted=counted)
    return ExactLaws.discovered(table, settings.question(), checker, watch, counted=counted)


def restored_laws(table: LivingTable, settings: StateSettings, evidence: Arrays, laws: Sequence[Block]) -> KeptLaws:
    """Go on with laws and evidence that were saved."""
    if settings.error:
        counted = Counted.from_arrays(table, settings.null, evidence) if evidence else None
        return AlmostLaws(table, settings.question(), counted, laws)
    way = Counted if settings.way == "counted" else Witnesses
    return ExactLaws.restored(table, settings.question(), way.from_arrays(table, settings.null, evidence), laws)
