"""Rows of partitions as witnesses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.checks.partitions import Partition
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Int32s


def named_pair(found: Sequence[int] | Int32s, partition: Partition, workspace: Workspace) -> Pair | None:
    """Return two rows of a partition as a witness; a negative one says that there is none."""
    if found[0] < 0:
        return None
    first, second = workspace.table_rows(partition, np.array(found, np.int32)).tolist()
    return ordered(first, second)


def ordered(first: int, second: int) -> Pair:
    """Return a pair with the smaller row id first."""
    return (first, second) if first < second else (second, first)
