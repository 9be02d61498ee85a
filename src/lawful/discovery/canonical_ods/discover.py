"""Discovery of all minimal canonical order dependencies, the FDs among them: by two strategies, or within an error."""

from __future__ import annotations

from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.findings import Findings
from lawful.discovery.search import Search


def discover_canonical_ods(search: Search, question: CanonicalQuestion) -> Findings:
    """Find all minimal FDs and order-compatible pairs that hold; at a limit, what was certain by then.

    Everything that is emitted is final. FDs come in blocks, pairs in listings.
    """
    if question.error:
        from lawful.discovery.canonical_ods.almost import discover_almost_canonical

        return discover_almost_canonical(search, question)
    if question.taken_strategy == "lattice":
        from lawful.discovery.canonical_ods.lattice import discover_by_lattice

        return discover_by_lattice(search, question)
    return discover_by_evidence(search, question)
