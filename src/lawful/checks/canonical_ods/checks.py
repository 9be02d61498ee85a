"""Canonical order dependencies on a table: by the extremes of one column within the classes of the context."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lawful.checks.kernels import orders as order_kernels
from lawful.checks.kernels import violations as violation_kernels
from lawful.checks.law_checks import LawChecks, Parts, partition_cost
from lawful.checks.partitions import Partition, labels_of
from lawful.checks.strength.orders import order_trial
from lawful.checks.strength.trial import Trial
from lawful.checks.violations import Violations
from lawful.checks.witnesses import named_pair
from lawful.checks.workspace import Pair, Swaps, Workspace
from lawful.common.arrays import Int32s
from lawful.common.meanings import Direction
from lawful.dependencies import CanonicalOD
from lawful.tables.ranked_table import RankedTable


class CanonicalODChecks(LawChecks):
    """Among rows of a class of the context, none may be ordered against each other by the two columns."""

    lists_in_order = True

    def witness(self, law: CanonicalOD, workspace: Workspace) -> Pair | None:
        """A swap: two rows that agree on the context and break the order."""
        return _swap(law.context, law.left, law.right, law.direction, workspace)

    def violations(self, law: CanonicalOD, workspace: Workspace) -> Violations:
        """All rows that take part in a swap."""
        return _swaps(law.context, law.left, law.right, law.direction, workspace)

    def trial(self, law: CanonicalOD, workspace: Workspace) -> Trial:
        """See `order_trial`."""
        rows, labels, b = rows_in_order(law, workspace)
        return order_trial(rows, labels, workspace.column(law.left), b)

    def cost(self, law: CanonicalOD, table: RankedTable) -> float:
        """A partition has to be built, and each of its classes searched."""
        work, covered = partition_cost(law.context, table)
        classes = math.prod(float(max(1, table.distinct(column))) for column in law.context)
        return work + covered * (2 + math.log2(1 + table.rows / classes))

    def parts(self, law: CanonicalOD) -> Parts:
        """Rows agree on the context, and their order is in conflict."""
        return law.context, (law.left, law.right)


def rows_in_order(law: CanonicalOD, workspace: Workspace) -> tuple[Int32s, Int32s, Int32s]:
    """The rows that a law is judged on, by class, then left, then right column; see `_in_order`."""
    return _in_order(workspace.partition(law.context), law.left, law.right, law.direction, workspace)


def _swap(context: tuple[int, ...], left: int, right: int, direction: Direction, workspace: Workspace) -> Pair | None:
    """Return two rows that agree on `context` and break the order of `left` and `right`.

    A search looks for swaps in both directions until the one asked for is refuted. So if that one holds,
    both are known, and if not, the other may be; the workspace remembers it.
    """
    key = (context, left, right)
    swaps = workspace.recall_swaps(key)
    if not swaps.settles(direction):
        for partition in workspace.growing(context):
            swaps = swaps.joined(_search_swaps(partition, left, right, direction, workspace))
            if swaps.settles(direction):
                break
        else:
            swaps = replace(swaps, complete=True)
        workspace.remember_swaps(key, swaps)
    return swaps.against(direction)


def _search_swaps(partition: Partition, left: int, right: int, direction: Direction, workspace: Workspace) -> Swaps:
    """Search the classes for swaps until one against `direction` is found; note those of the other too."""
    table, scratch = workspace.table, workspace.scratch
    # A swap is one whichever column is looked at first; fewer ranks make a smaller table of extremes.
    a, b = sorted((left, right), key=table.distinct)
    ranks = table.distinct(a)
    with_table = order_kernels.uses_table(partition.size, ranks)
    found = np.empty(4, np.int32)
    order_kernels.first_swaps(
        partition.rows,
        partition.offsets,
        workspace.ranks(partition, a),
        workspace.ranks(partition, b),
        ranks,
        workspace.lowest,
        0 if direction == "asc" else 2,
        scratch.buffer("ranks", partition.size),
        scratch.buffer("other ranks", partition.size),
        scratch.keys(min(partition.size, order_kernels.sorted_limit(ranks))),
        scratch.extremes(ranks + 1 if with_table else 0),
        found,
    )
    asc, desc = (named_pair(pair, partition, workspace) for pair in (found[:2], found[2:]))
    return Swaps(asc, desc, complete=False)


def _swaps(context: tuple[int, ...], left: int, right: int, direction: Direction, workspace: Workspace) -> Violations:
    partition = workspace.partition(context)
    judged, labels, b = _in_order(partition, left, right, direction, workspace)
    swapped = np.zeros(workspace.table.rows, np.bool_)
    values, spare = np.empty(judged.size, np.int32), np.empty(judged.size, np.int32)
    pairs, removals = violation_kernels.measure_swaps(judged, labels, b, values, spare, swapped)

    rows = np.empty(np.count_nonzero(swapped), np.int32)
    offsets = np.empty(partition.classes + 1, np.int32)
    _, groups = violation_kernels.keep_marked(partition.rows, partition.offsets, swapped, rows, offsets)
    return Violations(rows, offsets[: groups + 1].copy(), int(pairs), int(removals))


def _in_order(
    partition: Partition, left: int, right: int, direction: Direction, workspace: Workspace
) -> tuple[Int32s, Int32s, Int32s]:
    """The judged rows by class, then left, then right column; the class of each row; and the right column, rising."""
    a, b = workspace.column(left), workspace.column(right)
    a_distinct, b_distinct = workspace.table.distinct(left), workspace.table.distinct(right)
    judged = partition.rows
    if workspace.lowest > 0:
        judged = judged[(a[judged] >= workspace.lowest) & (b[judged] >= workspace.lowest)]
    if direction == "desc":
        # Turned around, a falling column rises, and a swap is a swap against `asc`.
        b = b_distinct - b
    labels = labels_of(partition)
    # Three stable counting sorts, the least significant key first.
    judged = _sorted(judged, b, b_distinct, workspace)
    judged = _sorted(judged, a, a_distinct, workspace)
    return _sorted(judged, labels, partition.classes, workspace), labels, b


def _sorted(rows: Int32s, ranks: Int32s, highest: int, workspace: Workspace) -> Int32s:
    out = np.empty_like(rows)
    violation_kernels.sort_rows(rows, ranks, highest, workspace.scratch.zeros("slots", highest + 1), out)
    return out
