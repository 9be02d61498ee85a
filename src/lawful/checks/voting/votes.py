"""The votes of one functional dependency: what the other rows of a class say about a row's value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawful.checks.partitions import Partition
from lawful.checks.voting.kernels.votes import count_votes
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Ints
from lawful.common.meanings import NULL_RANK
from lawful.dependencies import FD


@dataclass(frozen=True, eq=False)
class Votes:
    """How the other rows of a class vote on each row's right side; all zero where nobody votes.

    A class whose left side has a null does not vote: rows that lack a value need not have anything in common. Under
    `ignore`, rows without a right side neither vote nor are voted on.

    Attributes
    ----------
    others
        The other rows of the class.
    alike
        Those of them that have the row's own value.
    rival
        Those of them that have the most frequent value that is neither null nor the row's own.
    suggested
        The rank of that value, 0 if there is none.
    """

    others: Ints
    alike: Ints
    rival: Ints
    suggested: Ints

    @property
    def tested(self) -> Flags:
        """The rows that are voted on."""
        tested: Flags = self.others > 0
        return tested

    @property
    def failing(self) -> Flags:
        """The rows whose value has fewer votes than another one."""
        failing: Flags = self.rival > self.alike
        return failing


def class_votes(law: FD, workspace: Workspace) -> Votes:
    """Count the votes on all rows."""
    partition = workspace.partition(law.lhs)
    counted = [np.zeros(workspace.table.rows, np.int32) for _ in range(4)]
    ranks = workspace.table.distinct(law.rhs) + 1
    count_votes(
        partition.rows,
        partition.offsets,
        _voting_classes(law, partition, workspace),
        workspace.column(law.rhs),
        workspace.lowest,
        workspace.scratch.zeros("slots", ranks),
        workspace.scratch.buffer("seen", ranks),
        *counted,
    )
    return Votes(*counted)


def _voting_classes(law: FD, partition: Partition, workspace: Workspace) -> Flags:
    """Which classes have no null on the left side."""
    firsts = partition.rows[partition.offsets[:-1]]
    votes: Flags = np.ones(partition.classes, np.bool_)
    for column in law.lhs:
        votes &= workspace.column(column)[firsts] != NULL_RANK
    return votes
