"""The rows that a law is judged on, and how often each value is among them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lawful.checks.partitions import Partition
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int64s
from lawful.common.meanings import NULL_RANK, NullPolicy


def judged_rows(columns: Iterable[int], workspace: Workspace) -> Flags | None:
    """Which rows a law over these columns is judged on; None for all."""
    if workspace.null_policy is NullPolicy.EQUAL:
        return None
    judged: Flags | None = None
    for column in columns:
        if workspace.frequencies(column)[NULL_RANK]:
            known = workspace.column(column) != NULL_RANK
            judged = known if judged is None else judged & known
    return judged


def frequencies(column: int, judged: Flags | None, workspace: Workspace) -> Int64s:
    """How many of the judged rows have each rank of a column, ranks that do not occur left out."""
    counted = (
        workspace.frequencies(column)
        if judged is None
        else np.bincount(workspace.column(column)[judged], minlength=1).astype(np.int64)
    )
    return counted[counted > 0]


def size_of(judged: Flags | None, workspace: Workspace) -> int:
    """How many rows are judged."""
    return workspace.table.rows if judged is None else int(np.count_nonzero(judged))


def pairs_among(sizes: Int64s) -> int:
    """How many pairs there are within groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def agreeing_pairs(partition: Partition, judged: Flags | None) -> int:
    """How many pairs of judged rows are in a class."""
    if partition.size == 0:
        return 0
    if judged is None:
        return pairs_among(np.diff(partition.offsets).astype(np.int64))
    members = judged[partition.rows].astype(np.int64)
    return pairs_among(np.add.reduceat(members, partition.offsets[:-1]))
