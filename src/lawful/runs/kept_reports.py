"""What both kinds of states report of the laws that they keep beside the pinned ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from lawful.dependencies import Law, LawKind, NamedLaw
from lawful.discovery.findings import Findings
from lawful.maintenance.applied import Applied
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.witness_views import Views
from lawful.results.batch_report import BatchReport, ChangedLaw
from lawful.results.discovery_report import DiscoveryReport, FoundFamily
from lawful.runs.ranking import Ranker
from lawful.runs.request import request_of
from lawful.runs.stopping import RankingWatch, UserWatch
from lawful.tables.encoded_table import EncodedTable


def laws_report(
    asked: StateSettings, found: Findings, table: EncodedTable, ranked_by: EncodedTable, where: dict[str, str]
) -> DiscoveryReport:
    """Laws as `discover` would give them, ranked by how they fare on some rows of the table, or on all."""
    begin = time.perf_counter()
    request = request_of(
        {"find": asked.find, "max_size": asked.max_size, "error": asked.error, "measure": asked.measure}
    )
    # Ranking takes over what was found: it is counted before.
    families: dict[str, FoundFamily] = {
        kind: FoundFamily(found.count(kind == "key"), True)
        for kind, is_shown in (("key", asked.shown.keys), ("fd", asked.shown.fds))
        if is_shown
    }
    listed = {listing.kind: FoundFamily(len(listing), True) for listing in found.listings}
    families |= {kind: listed.get(kind, FoundFamily(0, True)) for kind in asked.find if kind not in families}
    watch = RankingWatch(UserWatch(None, None), None, 0.0)
    ranking = Ranker(ranked_by, asked.null, request, watch).ranking(found)
    settings = {**request.settings(), "null": asked.null.value, **where}
    seconds = {"total": round(time.perf_counter() - begin, 4)}
    return DiscoveryReport(table, settings, ranking, True, None, seconds, {}, families)


def counts_of(asked: StateSettings, laws: Iterable[tuple[LawKind, int]]) -> dict[str, int]:
    """How many laws of each kind are kept, given so many at a time."""
    counts: dict[str, int] = dict.fromkeys([*asked.find, *(("fd",) if asked.shown.fds else ())], 0)
    for kind, count in laws:
        if kind in counts:
            counts[kind] += count
    return counts


def with_changed_laws(
    report: BatchReport,
    applied: Applied,
    names: Sequence[str],
    laws: Mapping[str, int],
    shown: Callable[[Law], Views | None],
) -> BatchReport:
    """A report that tells which laws came and went, and how many there are now.

    `shown` gives two rows that break a law that went, where it knows such.
    """
    changes, named = applied.changes, tuple(names)
    removed = [
        ChangedLaw(NamedLaw(law, named), shown(law), is_implied=is_implied)
        for block, implied in zip(changes.removed, changes.implied, strict=True)
        for law, is_implied in zip(block.laws(), implied.tolist(), strict=True)
    ]
    added = [ChangedLaw(NamedLaw(law, named)) for block in changes.added for law in block.laws()]
    return replace(report, added=added, removed=removed, laws=laws)
