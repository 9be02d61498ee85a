"""Discovery of all minimal canonical order dependencies, the FDs among them, by one of two strategies."""

from __future__ import annotations

from lawful.checks import RankedTable
from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.findings import Emit, Findings
from lawful.discovery.questions import Progress, Watch
from lawful.engines import Engine


def discover_canonical_ods(
    table: RankedTable, engine: Engine, question: CanonicalQuestion, watch: Watch, emit: Emit, progress: Progress
) -> Findings:
    """Find all minimal FDs and order-compatible pairs that hold; at a limit, what was certain by then.

    `engine` must be open on the table. Everything that is emitted is final. FDs come in blocks, pairs in listings.
    """
    if question.taken_strategy == "lattice":
        from lawful.discovery.canonical_ods.lattice import discover_by_lattice

        return discover_by_lattice(table, engine, question, watch, emit, progress)
    return discover_by_evidence(table, engine, question, watch, emit, progress)
