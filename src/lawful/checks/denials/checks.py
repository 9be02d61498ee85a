"""Denial constraints on a table: as the simpler law that says the same, or by searches within groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lawful.checks.denials.counts import count_pairs
from lawful.checks.denials.denial import violating_pair
from lawful.checks.denials.pairs import as_t_and_s, violating_pairs
from lawful.checks.denials.violations import denial_violations
from lawful.checks.law_checks import LawChecks, Parts, checks_of, partition_cost
from lawful.checks.strength.denials import denial_trial
from lawful.checks.strength.trial import Trial
from lawful.checks.violations import Violations
from lawful.checks.witnesses import ordered
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Int32s
from lawful.common.meanings import Measure
from lawful.dependencies import DC, Cell, Predicate, columns_of
from lawful.dependencies.denial_readings import plain_law
from lawful.tables.ranked_table import RankedTable


class DCChecks(LawChecks):
    """No pair of rows may satisfy all predicates."""

    def witness(self, law: DC, workspace: Workspace) -> Pair | None:
        """Two rows that satisfy all predicates, one way round or the other."""
        plain = plain_law(law)
        if plain is not None:
            return checks_of(plain).witness(plain, workspace)
        found = violating_pair(law, workspace)
        return None if found is None else ordered(*found)

    def oriented(self, law: DC, pair: Pair, workspace: Workspace) -> Pair:
        """The pair as t and s."""
        return as_t_and_s(law, pair, workspace)

    def violations(self, law: DC, workspace: Workspace) -> Violations:
        """All rows that are in a violating pair."""
        plain = plain_law(law)
        if plain is not None:
            return checks_of(plain).violations(plain, workspace)
        return Violations(*denial_violations(law, workspace), None)

    def violating_pairs(self, law: DC, workspace: Workspace) -> Iterator[tuple[Int32s, Int32s]] | None:
        """All violating pairs (t, s), unless a simpler law says the same."""
        return violating_pairs(law, workspace) if plain_law(law) is None else None

    def counts_removals(self, law: DC) -> bool:
        """Only where a simpler law says the same: else that is NP-hard."""
        return plain_law(law) is not None

    def count(self, law: DC, measure: Measure, workspace: Workspace) -> int:
        """Pairs are counted without listing the rows."""
        if measure == "g1" and plain_law(law) is None:
            return count_pairs(law, workspace)
        return super().count(law, measure, workspace)

    def trial(self, law: DC, workspace: Workspace) -> Trial:
        """As of the simpler law that says the same, or by its predicates."""
        plain = plain_law(law)
        if plain is not None:
            return checks_of(plain).trial(plain, workspace)
        return denial_trial(law, self.violations(law, workspace), workspace)

    def cost(self, law: DC, table: RankedTable) -> float:
        """Groups are built by what must be equal, and searched; each order beyond two halves them again and again."""
        equal = equal_columns(law.predicates)
        work, covered = partition_cost(equal, table)
        halvings = math.log2(2 + covered) ** max(0, _orders(law.predicates) - 2)
        return work + covered * (2 + len(law.predicates) - len(equal)) * halvings

    def cost_of_counting(self, law: DC) -> float:
        """Measured on 2 million rows: 50 ns per row, or as for the simpler law that says the same."""
        plain = plain_law(law)
        return 400.0 if plain is None else checks_of(plain).cost_of_counting(plain)

    def chain(self, law: DC, table: RankedTable) -> list[tuple[int, int]]:
        """Groups are partitions by what must be equal."""
        return sorted((-table.distinct(column), column) for column in equal_columns(law.predicates))

    def parts(self, law: DC) -> Parts:
        """Rows agree on what must be equal; all other columns are in conflict."""
        shared = tuple(sorted({column for predicate in law.predicates for column in _equated(predicate)}))
        return shared, tuple(column for column in columns_of(law) if column not in shared)


def equal_columns(predicates: Sequence[Predicate]) -> list[int]:
    """The columns on which a denial constraint wants t and s to be equal."""
    return [
        predicate.left.column
        for predicate in predicates
        if predicate.operator == "=" and predicate.right == Cell("s", predicate.left.column)
    ]


def _orders(predicates: Sequence[Predicate]) -> int:
    return sum(predicate.operator not in ("=", "!=") and isinstance(predicate.right, Cell) for predicate in predicates)


def _equated(predicate: Predicate) -> tuple[int, ...]:
    """The column that a predicate wants to be equal in both rows, if it is of that form."""
    left, right = predicate.left, predicate.right
    is_across = isinstance(right, Cell) and left.row != right.row and left.column == right.column
    return (left.column,) if is_across and predicate.operator == "=" else ()
