"""Which rows violate a denial constraint, and in how many pairs."""

from __future__ import annotations

import numpy as np

from lawful.checks.denials.counts import count_pairs
from lawful.checks.denials.denial import all_groups, make_ready, search
from lawful.checks.kernels import violations as violation_kernels
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int32s
from lawful.dependencies import DC
from lawful.dependencies.denial_implication import swapped


def denial_violations(dc: DC, workspace: Workspace) -> tuple[Int32s, Int32s, int]:
    """Return the rows that are in a violating pair, where each group of them begins, and the number of pairs.

    Rows of one group agree on the columns that the constraint wants to be equal.
    """
    violating = violating_ts(dc, workspace)
    other_way = swapped(dc)
    if other_way != dc:
        violating |= violating_ts(other_way, workspace)
    denial = make_ready(dc, workspace)
    partition = workspace.partition(denial.equal_columns if denial is not None else ())
    rows = np.empty(np.count_nonzero(violating), np.int32)
    offsets = np.empty(partition.classes + 1, np.int32)
    _, groups = violation_kernels.keep_marked(partition.rows, partition.offsets, violating, rows, offsets)
    return rows, offsets[: groups + 1].copy(), count_pairs(dc, workspace)


def violating_ts(dc: DC, workspace: Workspace) -> Flags:
    """Mark the rows that violate a constraint as t."""
    violating = np.zeros(workspace.table.rows, np.bool_)
    denial = make_ready(dc, workspace)
    if denial is not None:
        groups = all_groups(denial, workspace)
        partners = search(denial, groups, first_only=False)
        violating[groups.t_rows[partners >= 0]] = True
    return violating
