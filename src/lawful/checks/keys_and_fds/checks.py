"""Keys and functional dependencies on a table: by the classes of rows that agree on their columns."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from lawful.checks.kernels import partitions as partition_kernels
from lawful.checks.kernels import violations as violation_kernels
from lawful.checks.law_checks import LawChecks, Parts, partition_cost
from lawful.checks.strength.fd_measures import fd_measures
from lawful.checks.strength.keys_and_fds import fd_trial, key_trial
from lawful.checks.strength.trial import Trial
from lawful.checks.violations import Violations
from lawful.checks.witnesses import named_pair
from lawful.checks.workspace import Pair, Workspace
from lawful.dependencies import FD, Key
from lawful.tables.ranked_table import RankedTable


class KeyChecks(LawChecks):
    """No two rows may be in a class of the columns."""

    def witness(self, law: Key, workspace: Workspace) -> Pair | None:
        """Two rows that agree on all columns."""
        return _agreeing_pair(law.columns, workspace)

    def violations(self, law: Key, workspace: Workspace) -> Violations:
        """All rows that agree with another."""
        return _agreements(law.columns, workspace)

    def trial(self, law: Key, workspace: Workspace) -> Trial:
        """See `key_trial`."""
        return key_trial(law, workspace)

    def cost(self, law: Key, table: RankedTable) -> float:
        """A partition has to be built."""
        work, _ = partition_cost(law.columns, table)
        return work

    def parts(self, law: Key) -> Parts:
        """Rows agree on the columns, and nothing else is in conflict."""
        return law.columns, ()


class FDChecks(LawChecks):
    """The rows of a class of the left side must agree on the right side."""

    def witness(self, law: FD, workspace: Workspace) -> Pair | None:
        """Two rows that agree on the left side and differ on the right side."""
        return _split(law.lhs, law.rhs, workspace)

    def violations(self, law: FD, workspace: Workspace) -> Violations:
        """All rows of classes that have more than one value on the right side."""
        return _splits(law.lhs, law.rhs, workspace)

    def trial(self, law: FD, workspace: Workspace) -> Trial:
        """See `fd_trial`."""
        return fd_trial(law, workspace)

    def measures(self, law: FD, trial: Trial, workspace: Workspace) -> dict[str, float | None]:
        """Further g1 and g3, tau and RFI+; see `fd_measures`."""
        return asdict(fd_measures(law, trial, workspace))

    def cost(self, law: FD, table: RankedTable) -> float:
        """A partition has to be built and read."""
        work, covered = partition_cost(law.lhs, table)
        return work + covered

    def parts(self, law: FD) -> Parts:
        """Rows agree on the left side and are in conflict on the right side."""
        return law.lhs, (law.rhs,)


def _agreeing_pair(columns: tuple[int, ...], workspace: Workspace) -> Pair | None:
    """Return the first two rows of the first class of the columns' partition.

    The last column only splits classes until one part of two rows is left, so a set of columns that is no key
    is refuted without building its partition.
    """
    chain = workspace.chain(columns)
    all_but_last = chain[:-1] if len(chain) > 1 else chain
    for coarser in workspace.growing(all_but_last):
        agreeing = workspace.refine(coarser, chain[-1], first_only=True) if len(chain) > 1 else coarser
        if agreeing.size > 0:
            first, second = workspace.table_rows(agreeing, agreeing.rows[:2])
            return int(first), int(second)
    return None


def _split(lhs: tuple[int, ...], rhs: int, workspace: Workspace) -> Pair | None:
    """Return two rows that agree on `lhs` and differ on `rhs`."""
    if workspace.is_constant(rhs):
        return None
    for partition in workspace.growing(lhs):
        ranks = workspace.ranks(partition, rhs)
        found = partition_kernels.first_difference(partition.rows, partition.offsets, ranks, workspace.lowest)
        if found[0] >= 0:
            return named_pair(found, partition, workspace)
    return None


def _agreements(columns: tuple[int, ...], workspace: Workspace) -> Violations:
    partition = workspace.partition(columns)
    lengths = np.diff(partition.offsets).astype(np.int64)
    pairs = int((lengths * (lengths - 1) // 2).sum())
    return Violations(partition.rows, partition.offsets, pairs, partition.error)


def _splits(lhs: tuple[int, ...], rhs: int, workspace: Workspace) -> Violations:
    partition = workspace.partition(lhs)
    ranks = workspace.table.distinct(rhs) + 1
    rows = np.empty(partition.size, np.int32)
    offsets = np.empty(partition.classes + 1, np.int32)
    size, classes, pairs, removals = violation_kernels.collect_splits(
        partition.rows,
        partition.offsets,
        workspace.column(rhs),
        workspace.lowest,
        workspace.scratch.zeros("slots", ranks),
        workspace.scratch.buffer("seen", ranks),
        rows,
        offsets,
    )
    return Violations(rows[:size].copy(), offsets[: classes + 1].copy(), int(pairs), int(removals))
