"""Comparing all pairs of rows that agree on a set of columns, unless they are too many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawful.checks import Workspace
from lawful.common.errors import StoppedError
from lawful.evidence import Pool


def compared_classes(
    columns: tuple[int, ...], pool: Pool, workspace: Workspace, most: float, should_stop: Callable[[], bool]
) -> Pool | int:
    """All pairs that agree on some columns, in a pool of their own; only how many they are, if more than `most`."""
    partition = workspace.partition(columns)
    sizes = np.diff(partition.offsets).astype(np.int64)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > most:
        return pairs
    part = pool.empty_copy()
    if not part.add_pairs_of_classes(partition.rows, partition.offsets, should_stop):
        raise StoppedError("the comparison of pairs was stopped")
    return part
