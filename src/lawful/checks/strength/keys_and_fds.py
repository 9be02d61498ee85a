"""The trials of keys and functional dependencies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from lawful.checks.partitions import Partition
from lawful.checks.strength.class_sizes import ClassSizes
from lawful.checks.strength.judged import agreeing_pairs, frequencies, judged_rows, pairs_among, size_of
from lawful.checks.strength.kernels.splits import count_splits
from lawful.checks.strength.trial import Trial, log_binomial_tail, log_poisson_tail
from lawful.checks.workspace import Workspace
from lawful.dependencies import FD, Key


def fd_trial(law: FD, workspace: Workspace) -> Trial:
    """Each row beyond the first of a class of the left side is a chance to differ on the right side.

    Two rows of the table differ on the right side with the chance q, so independent columns lose q of the chances. In a
    class of n rows each pair that differs counts 2/n, so that classes count by their rows and not by their pairs. Then
    1 - lost / expected is mu+ to the letter.
    """
    partition = workspace.partition(law.lhs)
    ranks = workspace.table.distinct(law.rhs) + 1
    counted = count_splits(
        partition.rows,
        partition.offsets,
        workspace.column(law.rhs),
        workspace.lowest,
        math.inf,
        workspace.scratch.zeros("slots", ranks),
        workspace.scratch.buffer("seen", ranks),
    )
    judged = judged_rows((*law.lhs, law.rhs), workspace)
    return trial_of_splits(Splits(*counted), RightSide.of(ClassSizes.of(frequencies(law.rhs, judged, workspace))))


class Splits(NamedTuple):
    """What `count_splits` counts."""

    chances: int
    lost: float
    tested: int
    pairs: int
    rows: int
    removals: int
    repeated: int


class RightSide(NamedTuple):
    """How a right side is spread: the chance that two rows differ on it, and the share of its most frequent value."""

    differing: float
    usual: float

    @staticmethod
    def of(sizes: ClassSizes) -> RightSide:
        """Given how many rows have each value."""
        usual = sizes.largest / sizes.rows if sizes.rows else 1.0
        return RightSide(difference_chance(sizes.rows, sizes.pairs), usual)


def trial_of_splits(counted: Splits, right: RightSide) -> Trial:
    """The trial of a functional dependency."""
    differing, usual = right
    chances, lost, removals = float(counted.chances), float(counted.lost), int(counted.removals)
    return Trial(
        int(counted.tested),
        int(counted.pairs),
        int(counted.rows),
        removals,
        chances,
        chances * differing,
        lost,
        log_chance_of_fd(chances, differing, usual, lost, removals),
        int(counted.repeated),
    )


def difference_chance(rows: int, alike: int) -> float:
    """The chance that two rows differ, where so many pairs do not."""
    pairs = rows * (rows - 1) // 2
    return (pairs - alike) / pairs if pairs else 0.0


def log_chance_of_fd(chances: float, differing: float, usual: float, lost: float, removals: int) -> float:
    """How likely independent columns lose as little, as a logarithm: the larger of two estimates.

    What is lost has the right mean, but where one value is usual, a single other row is counted twice in a large
    class, and luck is commoner than trials of pairs say: there rows that do not have the usual value are counted
    instead. These have too high a mean where many values are about as frequent.
    """
    by_pairs = log_binomial_tail(chances, differing, lost)
    by_rows = log_binomial_tail(chances, 1.0 - usual, removals)
    return max(by_pairs, by_rows)


def key_trial(law: Key, workspace: Workspace) -> Trial:
    """Each pair of rows that could agree on the columns is a chance.

    One column with d values is expected to repeat as often as draws from d equally likely values do: pairs / d.
    Several columns are expected to agree as often as all but one do and that one happens to agree as well, for the
    column that makes this least likely: each column has to be worth its place. Where more agreements are expected
    than half of the rows, they are not independent of each other and count as that many.
    """
    rows = size_of(judged_rows(law.columns, workspace), workspace)
    return trial_of_agreements(workspace.partition(law.columns), rows, *_expected(law.columns, rows, workspace))


def trial_of_agreements(partition: Partition, rows: int, tested: int, expected: float) -> Trial:
    """The trial of a key, given its partition, the judged rows, and the pairs that test it and are expected to fail."""
    agreeing = Agreements(agreeing_pairs(partition, None), partition.size, partition.error)
    return trial_of_counts(agreeing, rows, tested, expected)


class Agreements(NamedTuple):
    """The pairs and the rows that agree on the columns of a key, and the fewest rows to remove."""

    pairs: int
    rows: int
    removals: int


def trial_of_counts(agreeing: Agreements, rows: int, tested: int, expected: float) -> Trial:
    """The trial of a key, given what agrees, the judged rows, and the pairs that test it and are expected to fail."""
    if rows < 2:  # the partition of no columns has all rows in a class, or none where there is none to compare
        tested, expected = 0, 0.0
    unit = min(1.0, rows / 2.0 / expected) if expected else 1.0
    return Trial(
        tested,
        agreeing.pairs,
        agreeing.rows,
        agreeing.removals,
        tested * unit,
        expected * unit,
        agreeing.pairs * unit,
        log_poisson_tail(expected * unit, agreeing.pairs * unit),
    )


def _expected(columns: tuple[int, ...], rows: int, workspace: Workspace) -> tuple[int, float]:
    """The pairs that test a key, and how many of them independent columns would lose."""
    judged = judged_rows(columns, workspace)
    pairs = rows * (rows - 1) // 2
    if len(columns) < 2 or not pairs:
        return expected_repeats(pairs, frequencies(columns[0], judged, workspace).size if columns else 0)
    agreeing = {c: agreeing_pairs(workspace.partition(o for o in columns if o != c), judged) for c in columns}
    return expected_agreements(pairs, [(agreeing[c], pairs_among(frequencies(c, judged, workspace))) for c in columns])


def expected_repeats(pairs: int, values: int) -> tuple[int, float]:
    """What tests a key of one column with so many values, or of none, and what chance would lose."""
    return pairs, pairs / values if values else 0.0


def expected_agreements(pairs: int, parts: Iterable[tuple[int, int]]) -> tuple[int, float]:
    """What tests a key of several columns, and what chance would lose: the least of all columns that may be left out.

    A part has the pairs that agree on all columns but one, and those that agree on that one.
    """
    tested, expected = 0, math.inf
    for others, alone in parts:
        share = alone / pairs
        if others * share < expected:
            tested, expected = others, others * share
    return tested, expected
