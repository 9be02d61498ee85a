"""List-based order dependencies from canonical ones: the second strategy, which looks at the table for these only.

A list-based law holds if its canonical parts do (`od_mapping`), so all minimal FDs and canonical order dependencies
decide every list. FindOD and this are each other's test.
"""

from __future__ import annotations

from lawful.common.errors import StoppedError
from lawful.dependencies import FD, CanonicalOD, ListOD
from lawful.dependencies.od_mapping import list_ods_from_canonical
from lawful.discovery.canonical_ods.discover import discover_canonical_ods
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.list_ods.questions import ListQuestion
from lawful.discovery.search import Search


def minimal_laws_from_canonical(search: Search, question: ListQuestion) -> list[ListOD]:
    """Find the canonical laws, then all minimal list-based ones."""
    aside = Search(search.table, search.engine, search.watch, progress=search.progress, checks=search.checks)
    canonical = discover_canonical_ods(aside, CanonicalQuestion(seed=question.seed))
    if not canonical.complete:
        raise StoppedError(canonical.stopped_because or "stopped before all canonical order dependencies were known")
    fds = [law for block in canonical.blocks for law in block.laws() if isinstance(law, FD)]
    pairs = [law for listing in canonical.listings for law in listing.laws() if isinstance(law, CanonicalOD)]
    search.progress(f"thinking about {len(fds):,} FDs and {len(pairs):,} canonical order dependencies")
    return list_ods_from_canonical(
        fds, pairs, search.table.width, bidirectional=question.bidirectional, max_size=question.max_size
    )
