"""Other measures of functional dependencies, for those who compare: g1, g3, tau and RFI+ beside mu+."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawful.checks.partitions import labels_of
from lawful.checks.strength.class_sizes import ClassSizes
from lawful.checks.strength.judged import judged_rows
from lawful.checks.strength.kernels.information import expected_information
from lawful.checks.strength.trial import Trial
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Int64s
from lawful.dependencies import FD

_MOST_TERMS = 1 << 27
"""So many terms of the expected information take about ten seconds; a law that needs more has no RFI+."""


@dataclass(frozen=True, slots=True)
class FDMeasures:
    """What the literature measures of X -> Y beside mu+, which is its strength (Parciak et al., ICDE 2024).

    Attributes
    ----------
    tau
        Goodman and Kruskal's tau: (pdep(Y|X) - pdep(Y)) / (1 - pdep(Y)), which rewards left sides that are nearly
        unique.
    g1
        The share of all pairs of rows that violate it.
    g3
        The share of all rows to remove.
    rfi_plus
        The fraction of information I(X;Y) / H(Y), less its mean over all permutations of Y, by what is left up to 1;
        not below 0. None where the mean takes too many terms.
    """

    g1: float
    g3: float
    tau: float
    rfi_plus: float | None


@dataclass(frozen=True)
class FDClasses:
    """The classes of the judged rows by the left side of an FD, by its right side, and by both."""

    left: ClassSizes
    right: ClassSizes
    both: ClassSizes


def fd_measures(law: FD, trial: Trial, workspace: Workspace, most_terms: int = _MOST_TERMS) -> FDMeasures:
    """Measure a functional dependency in all ways, given its trial."""
    return measures_of_classes(trial, _classes(law, workspace), workspace.table.rows, most_terms)


def measures_of_classes(trial: Trial, classes: FDClasses, rows: int, most_terms: int = _MOST_TERMS) -> FDMeasures:
    """Measure a functional dependency on a table of so many rows, given its trial and its classes."""
    size, squares = float(classes.right.rows), float(2 * classes.right.pairs + classes.right.rows)
    impure = size - squares / size if size else 0.0
    return FDMeasures(
        trial.pairs / max(1, rows * (rows - 1) // 2),
        (trial.removals or 0) / max(1, rows),
        1.0 - trial.lost / impure if impure > 0.0 else 0.0,
        _reliable_information(classes, most_terms),
    )


def _reliable_information(classes: FDClasses, most_terms: int) -> float | None:
    left, right = classes.left, classes.right
    if right.classes < 2:
        return 0.0
    entropy = right.entropy
    shared = left.entropy + entropy - classes.both.entropy
    if _terms(left.sizes, right.sizes) > most_terms:
        return None
    by_chance = expected_information(left.sizes, left.counts, right.sizes, right.counts, right.rows)
    unexplained = entropy - by_chance
    return max(0.0, (shared - by_chance) / unexplained) if unexplained > 1e-9 * entropy else 0.0


def _terms(left: Int64s, right: Int64s) -> float:
    """The sum of the smaller of two sizes over all pairs of them; sizes rise."""
    sums = np.concatenate([[0.0], np.cumsum(right.astype(np.float64))])
    smaller = np.searchsorted(right, left)
    return float((sums[smaller] + left.astype(np.float64) * (right.size - smaller)).sum())


def _classes(law: FD, workspace: Workspace) -> FDClasses:
    """How many judged rows each class of the left side, of the right side, and of both has; single rows too."""
    judged = judged_rows((*law.lhs, law.rhs), workspace)
    labels = labels_of(workspace.partition(law.lhs)).astype(np.int64)
    ranks = workspace.column(law.rhs).astype(np.int64)
    if judged is not None:
        labels, ranks = labels[judged], ranks[judged]
    alone = labels == 0  # rows that agree with no other, each a class of its own
    labels[alone] = labels.max(initial=0) + 1 + np.arange(np.count_nonzero(alone))
    both = labels * (ranks.max(initial=0) + 1) + ranks
    return FDClasses(*(ClassSizes.of(np.unique(ids, return_counts=True)[1]) for ids in (labels, ranks, both)))
