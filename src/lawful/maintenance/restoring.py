"""Which families of laws a state keeps: found for a table, or read back from what was saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lawful.discovery.findings import Block
from lawful.discovery.keys_and_fds.thinking import goals_of
from lawful.discovery.questions import Question, Watch
from lawful.maintenance.all_laws import AllLaws, part_of
from lawful.maintenance.almost_laws import AlmostLaws
from lawful.maintenance.canonical_ods.canonical_laws import CanonicalLaws
from lawful.maintenance.canonical_ods.partly_told import PartlyTold, joined
from lawful.maintenance.denials.denial_laws import DenialLaws
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Counted, Witnesses
from lawful.maintenance.exact_laws import ExactLaws
from lawful.maintenance.kept_families import KeptFamily, PackedFamily, PodFamily
from lawful.maintenance.kept_laws import Checker, KeptLaws
from lawful.maintenance.list_ods.list_laws import ListLaws
from lawful.maintenance.pods.order_witnesses import OrderWitnesses
from lawful.maintenance.pods.pod_laws import PodLaws
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.sign_witnesses import SignWitnesses
from lawful.maintenance.storing import Numbered, read_numbered, unprefixed
from lawful.search import words_for
from lawful.tables.living.living_table import LivingTable

Begin = Callable[[str], None]
"""Is told which kind of laws is searched for now."""


def untold(_: str) -> None:
    """Tell nobody."""


def discovered_laws(
    table: LivingTable, settings: StateSettings, checker: Checker, watch: Watch, begin: Begin = untold
) -> AllLaws:
    """Find the laws of a table, and what is needed to keep them."""
    families: list[KeptFamily] = []
    if settings.has_packed:
        begin("key" if settings.find == ("key",) else "fd")
        kept = _discovered(table, settings, checker, watch)
        packed = PackedFamily(table, settings.question(), kept, settings.shown)
        families.append(packed)
        if settings.has_canonical:
            begin("canonical-od" if "canonical-od" in settings.find else "list-od")
            found = CanonicalLaws.discovered(table, settings.canonical_question(), packed, checker, watch)
            families += _with_lists(table, settings, packed, found)
    if "pod" in settings.find:
        begin("pod")
        question = settings.pod_question()
        families.append(PodFamily(PodLaws.discovered(table, question, checker, watch), question))
    if "dc" in settings.find:
        begin("dc")
        families.append(DenialLaws.discovered(table, settings.denial_question(), checker, watch))
    return AllLaws(families)


def _with_lists(
    table: LivingTable,
    settings: StateSettings,
    packed: PackedFamily,
    canonical: CanonicalLaws,
    lists: Sequence[Numbered] | None = None,
) -> list[KeptFamily]:
    """Canonical order dependencies, and the list-based ones that follow from them, if a state has such."""
    if "list-od" not in settings.find:
        return [canonical]
    told = PartlyTold(canonical, settings.tells_contexts)
    return [told, ListLaws(table, settings.list_question(), packed, canonical, lists)]


def _discovered(table: LivingTable, settings: StateSettings, checker: Checker, watch: Watch) -> KeptLaws:
    counted = settings.is_counted(table.rows, table.width)
    if settings.error:
        return AlmostLaws.discovered(table, settings.question(), checker, watch, counted=counted)
    return ExactLaws.discovered(table, settings.question(), checker, watch, counted=counted)


def restored_laws(table: LivingTable, settings: StateSettings, saved: Arrays) -> AllLaws:
    """Go on with laws and evidence that were saved."""
    families: list[KeptFamily] = []
    evidence = unprefixed(saved, "evidence")
    if settings.has_packed:
        laws = [*read_numbered(saved, "laws"), *read_numbered(evidence, "hidden")]
        kept = _restored(table, settings, evidence, _joined(laws, settings.question(), table.width))
        packed = PackedFamily(table, settings.question(), kept, settings.shown)
        families.append(packed)
        if settings.has_canonical:
            own = part_of(evidence, CanonicalLaws.name)
            pairs = joined([*read_numbered(saved, f"laws-{CanonicalLaws.name}"), *read_numbered(own, "untold")])
            signs = SignWitnesses.from_arrays(table, settings.null, own)
            canonical = CanonicalLaws(table, settings.canonical_question(), signs, packed, pairs)
            lists = read_numbered(saved, f"laws-{ListLaws.name}")
            families += _with_lists(table, settings, packed, canonical, lists)
    if "pod" in settings.find:
        witnesses = OrderWitnesses.from_arrays(table, settings.null, part_of(evidence, PodFamily.name))
        question, pods = settings.pod_question(), read_numbered(saved, f"laws-{PodFamily.name}")
        blocks = [PodFamily.block(*each) for each in pods]
        families.append(PodFamily(PodLaws(table, question, witnesses, blocks), question))
    if "dc" in settings.find:
        own, laws = part_of(evidence, DenialLaws.name), read_numbered(saved, f"laws-{DenialLaws.name}")
        families.append(DenialLaws.restored(table, settings.denial_question(), own, laws))
    return AllLaws(families)


def _restored(table: LivingTable, settings: StateSettings, evidence: Arrays, laws: Sequence[Block]) -> KeptLaws:
    if settings.error:
        counted = Counted.from_arrays(table, settings.null, evidence) if evidence else None
        return AlmostLaws(table, settings.question(), counted, laws)
    way = Counted if settings.way == "counted" else Witnesses
    return ExactLaws.restored(table, settings.question(), way.from_arrays(table, settings.null, evidence), laws)


def _joined(laws: Sequence[Numbered], question: Question, width: int) -> list[Block]:
    """The laws of each goal in one block: those that are told, and those that are not."""
    nothing = np.empty((0, words_for(width)), np.uint64)
    return [
        Block(goal, np.concatenate([nothing, *(sets for number, sets in laws if number == goal)]))
        for goal in goals_of(question, width)
    ]
