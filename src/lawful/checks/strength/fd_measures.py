"""Other measures of functional dependencies, for those who compare: g1, g3, tau and RFI+ beside mu+."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawful.checks.partitions import labels_of
from lawful.checks.strength.judged import frequencies, judged_rows
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


def fd_measures(law: FD, trial: Trial, workspace: Workspace, most_terms: int = _MOST_TERMS) -> FDMeasures:
    """Measure a functional dependency in all ways, given its trial."""
    rows = workspace.table.rows
    judged = judged_rows((*law.lhs, law.rhs), workspace)
    sizes = frequencies(law.rhs, judged, workspace).astype(np.float64)
    size = float(sizes.sum())
    impure = size - float((sizes * sizes).sum()) / size if size else 0.0
    return FDMeasures(
        trial.pairs / max(1, rows * (rows - 1) // 2),
        (trial.removals or 0) / max(1, rows),
        1.0 - trial.lost / impure if impure > 0.0 else 0.0,
        _reliable_information(law, workspace, most_terms),
    )


def _reliable_information(law: FD, workspace: Workspace, most_terms: int) -> float | None:
    left, right, both = _class_sizes(law, workspace)
    entropy = _entropy(right)
    if right.size < 2:
        return 0.0
    shared = _entropy(left) + entropy - _entropy(both)
    (left_sizes, left_counts), (right_sizes, right_counts) = (
        np.unique(sizes, return_counts=True) for sizes in (left, right)
    )
    if float(np.minimum.outer(left_sizes, right_sizes).sum()) > most_terms:
        return None
    by_chance = expected_information(left_sizes, left_counts, right_sizes, right_counts, int(right.sum()))
    unexplained = entropy - by_chance
    return max(0.0, (shared - by_chance) / unexplained) if unexplained > 1e-9 * entropy else 0.0


def _class_sizes(law: FD, workspace: Workspace) -> tuple[Int64s, Int64s, Int64s]:
    """How many judged rows each class of the left side, of the right side, and of both has; single rows too."""
    judged = judged_rows((*law.lhs, law.rhs), workspace)
    labels = labels_of(workspace.partition(law.lhs)).astype(np.int64)
    ranks = workspace.column(law.rhs).astype(np.int64)
    if judged is not None:
        labels, ranks = labels[judged], ranks[judged]
    alone = labels == 0  # rows that agree with no other, each a class of its own
    labels[alone] = labels.max(initial=0) + 1 + np.arange(np.count_nonzero(alone))
    both = labels * (ranks.max(initial=0) + 1) + ranks
    left, right, joint = (np.unique(ids, return_counts=True)[1].astype(np.int64) for ids in (labels, ranks, both))
    return left, right, joint


def _entropy(sizes: Int64s) -> float:
    shares = sizes / max(1, int(sizes.sum()))
    return float(-(shares * np.log(shares)).sum())
