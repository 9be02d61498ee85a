"""How the laws of each family are checked: the part of a family that looks at a table.

Whoever checks, counts, lists or packs laws asks the checks of their family, so a family that registers its checks is
checked everywhere: in threads, on Spark, with all that is counted of broken laws.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from lawful.checks.strength.trial import Trial, log_binomial_tail
from lawful.checks.violations import Violations
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Int32s
from lawful.common.errors import UsageError
from lawful.common.meanings import Measure
from lawful.dependencies import columns_of, kind_of
from lawful.tables.ranked_table import RankedTable

PASSES_OF_REFINING = 3
"""How often a row is visited to take one more column into a partition."""

Parts = tuple[tuple[int, ...], tuple[int, ...]]


class LawChecks(ABC):
    """What can be asked of a table about one law of a family; `law` is always of its type.

    Attributes
    ----------
    nulls_are_values
        Whether the family knows nulls only as values, so that it has no meaning where they are ignored.
    lists_in_order
        Whether rows in conflict are shown in the order of their values, and not the most frequent first.
    """

    nulls_are_values: ClassVar[bool] = False
    lists_in_order: ClassVar[bool] = False

    @abstractmethod
    def witness(self, law: Any, workspace: Workspace) -> Pair | None:
        """Two rows that refute a law, the smaller row id first, or None if it holds."""

    @abstractmethod
    def violations(self, law: Any, workspace: Workspace) -> Violations:
        """All rows that violate a law, and how many pairs and removals these are."""

    def oriented(self, law: Any, pair: Pair, workspace: Workspace) -> Pair:
        """A witness in the order in which its rows are shown, where that matters."""
        return pair

    def violating_pairs(self, law: Any, workspace: Workspace) -> Iterator[tuple[Int32s, Int32s]] | None:
        """All violating pairs of a law, in chunks; None where the groups of its violations say as much."""
        return None

    def counts_removals(self, law: Any) -> bool:
        """Whether the fewest rows whose removal mends a law can be counted."""
        return True

    def count(self, law: Any, measure: Measure, workspace: Workspace) -> int:
        """How many pairs violate a law (g1), or how few rows to remove mend it (g3)."""
        found = self.violations(law, workspace)
        counted = found.pairs if measure == "g1" else found.removals
        if counted is None:
            raise UsageError(
                "The fewest rows whose removal mends a denial constraint cannot be counted: that is NP-hard.",
                "Measure by pairs (g1).",
            )
        return counted

    def trial(self, law: Any, workspace: Workspace) -> Trial:
        """How many pairs test a law, how many chance would lose, and how many are lost.

        A family that does not say so is taken to be tested by all pairs and to lose half of them by chance.
        """
        found = self.violations(law, workspace)
        rows = workspace.table.rows
        tested, chances = rows * (rows - 1) // 2, rows / 2.0
        lost = found.pairs * chances / tested if tested else 0.0
        chance = log_binomial_tail(chances, 0.5, lost)
        expected = chances / 2.0 if tested else 0.0
        return Trial(tested, found.pairs, found.rows.size, found.removals, chances, expected, lost, chance)

    def measures(self, law: Any, trial: Trial, workspace: Workspace) -> dict[str, float | None]:
        """What the literature measures of a law, by name: the shares of all pairs and of all rows that break it."""
        return shares_of_all(trial, workspace.table.rows)

    def cost(self, law: Any, table: RankedTable) -> float:
        """About how many rows a check visits if nothing is cached and the law holds."""
        work, covered = partition_cost(columns_of(law), table)
        return work + covered

    def cost_of_counting(self, law: Any) -> float:
        """How many times as long as a check it takes to count all violations.

        A check in a search takes about 0.125 ns per visited row: partitions are found in the cache, and broken laws
        left early. Counting on 2 million rows took 3 ns per row.
        """
        return 20.0

    def chain(self, law: Any, table: RankedTable) -> list[tuple[int, int]]:
        """A key by which laws that share partitions come to stand side by side."""
        shared, _ = self.parts(law)
        return sorted((-table.distinct(column), column) for column in shared)

    @abstractmethod
    def parts(self, law: Any) -> Parts:
        """The columns that the rows of a violating group agree on, and those in which they are in conflict."""


def shares_of_all(trial: Trial, rows: int) -> dict[str, float | None]:
    """The shares of all pairs and of all rows that break a law."""
    removed = None if trial.removals is None else trial.removals / max(1, rows)
    return {"g1": trial.pairs / max(1, rows * (rows - 1) // 2), "g3": removed}


_checks: dict[str, LawChecks | Callable[[str], LawChecks]] = {}


def register_checks(kind: str, checks: LawChecks | Callable[[str], LawChecks]) -> None:
    """Let laws of a family be checked, by its checks or by what gives them when a law is first checked."""
    _checks[kind] = checks


def forget_checks(kind: str) -> None:
    """Take a family's checks out again."""
    del _checks[kind]


def checks_of(law: object) -> LawChecks:
    """The checks of a law's family."""
    kind = kind_of(law)
    try:
        checks = _checks[kind]
    except KeyError:
        raise UsageError(
            f"A law of the kind {kind} cannot be checked.", f"These kinds can: {', '.join(_checks)}."
        ) from None
    if not isinstance(checks, LawChecks):
        checks = _checks[kind] = checks(kind)
    return checks


def can_be_checked(kind: str) -> bool:
    """Whether laws of a family can be checked."""
    return kind in _checks


def partition_cost(columns: Sequence[int], table: RankedTable) -> tuple[float, float]:
    """The rows visited to build a partition, and the rows that it covers.

    Columns are taken as independent and their values as equally frequent.
    """
    rows = table.rows
    covered = work = float(rows)
    combinations = 1.0
    for distinct in sorted(map(table.distinct, columns), reverse=True):
        work += PASSES_OF_REFINING * covered
        # A row shares its values with no other row with a chance of about exp(-rows / combinations).
        combinations *= max(1, distinct)
        covered = rows * -math.expm1(-rows / combinations)
    return work, covered
