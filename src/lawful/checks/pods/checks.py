"""Pointwise order dependencies on a table: each is a denial constraint, and is checked and counted as one."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.checks.denials.checks import DCChecks
from lawful.checks.law_checks import LawChecks, Parts
from lawful.checks.strength.trial import Trial
from lawful.checks.violations import Violations
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Int32s
from lawful.common.meanings import Measure
from lawful.dependencies import POD
from lawful.dependencies.pointwise import as_denial
from lawful.tables.ranked_table import RankedTable

_DENIALS = DCChecks()


class PODChecks(LawChecks):
    """A pair of rows that satisfies the left side satisfies the right side."""

    def witness(self, law: POD, workspace: Workspace) -> Pair | None:
        """Two rows that satisfy the left side and not the right side, one way round or the other."""
        return _DENIALS.witness(as_denial(law), workspace)

    def oriented(self, law: POD, pair: Pair, workspace: Workspace) -> Pair:
        """The pair as the law compares it."""
        return _DENIALS.oriented(as_denial(law), pair, workspace)

    def violations(self, law: POD, workspace: Workspace) -> Violations:
        """All rows that are in a violating pair."""
        return _DENIALS.violations(as_denial(law), workspace)

    def violating_pairs(self, law: POD, workspace: Workspace) -> Iterator[tuple[Int32s, Int32s]] | None:
        """All violating pairs, as the law compares them."""
        return _DENIALS.violating_pairs(as_denial(law), workspace)

    def counts_removals(self, law: POD) -> bool:
        """Only where the law is a functional dependency or an order compatibility: else that is NP-hard."""
        return _DENIALS.counts_removals(as_denial(law))

    def count(self, law: POD, measure: Measure, workspace: Workspace) -> int:
        """Pairs are counted without listing the rows."""
        return _DENIALS.count(as_denial(law), measure, workspace)

    def trial(self, law: POD, workspace: Workspace) -> Trial:
        """As of the constraint."""
        return _DENIALS.trial(as_denial(law), workspace)

    def cost(self, law: POD, table: RankedTable) -> float:
        """Groups are built by what must be equal, and searched."""
        return _DENIALS.cost(as_denial(law), table)

    def cost_of_counting(self, law: POD) -> float:
        """What it costs to count the violations of the constraint."""
        return _DENIALS.cost_of_counting(as_denial(law))

    def chain(self, law: POD, table: RankedTable) -> list[tuple[int, int]]:
        """Groups are partitions by what must be equal."""
        return _DENIALS.chain(as_denial(law), table)

    def parts(self, law: POD) -> Parts:
        """Rows agree on what must be equal; all other columns are in conflict."""
        return _DENIALS.parts(as_denial(law))
