"""Sorted partitions of lists of columns, and what one list says of another: valid, split or swap.

List-based order dependencies know nulls only as values, sorted first, as ORDER BY sorts them.
"""

from __future__ import annotations

import numpy as np

from lawful.checks.kernels import violations as violation_kernels
from lawful.checks.list_ods.kernels import orders as kernels
from lawful.checks.partitions import SortedPartition
from lawful.checks.strength.orders import list_trial, order_trial
from lawful.checks.strength.trial import Trial
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Int32s
from lawful.common.meanings import Direction
from lawful.dependencies import ListOD

_TABLE_ENTRIES_A_ROW = 4
_LARGEST_TABLE = 1 << 20
"""A table of all pairs of class and rank is passed as quickly as rows are sorted up to about these sizes."""
_KEY_BITS = 63

Marked = tuple[tuple[int, Direction], ...]


def broken_order(law: ListOD, workspace: Workspace) -> Pair | None:
    """Return two rows that break the law: a swap if there is one, else a split, else nothing."""
    left, left_falls = _canonical(law.lhs)
    right, right_falls = _canonical(law.rhs)
    x, y = sorted_partition(left, workspace), sorted_partition(right, workspace)
    found = np.empty(2, np.int32)
    # Both lists turned around say the same, so only whether one is matters.
    state = kernels.find_violation(
        x.ids,
        x.classes,
        y.ids,
        max(0, y.classes - 1),
        left_falls != right_falls,
        workspace.scratch.extremes(x.classes),
        found,
    )
    if state == kernels.VALID:
        return None
    return int(found.min()), int(found.max())


def order_violations(law: ListOD, workspace: Workspace) -> tuple[Int32s, Int32s, int, int]:
    """Find all rows that take part in a split or a swap: the four fields of `Violations`.

    Sorted by the left list and, within its ties, *against* the right list, both kinds of violation are strict
    inversions of the right list: so pairs are inversions, and what may stay is a longest non-decreasing
    subsequence. A block holds the rows that are linked by violations, each to some other of the block.
    """
    x, highest, values = _both_rising(law, workspace)
    rows = _rows_by(highest - values, highest, np.arange(workspace.table.rows, dtype=np.int32), workspace)
    rows = _rows_by(x.ids, x.classes, rows, workspace)
    sequence = values[rows]
    spare = np.empty(rows.size, np.int32)
    offsets = np.empty(rows.size + 1, np.int32)
    blocks = kernels.mark_blocks(sequence, spare, offsets)
    labels, taking_part = np.zeros(rows.size, np.int32), np.zeros(rows.size, np.bool_)
    pairs, removals = violation_kernels.measure_swaps(rows, labels, values, sequence, spare, taking_part)
    kept, kept_offsets = _broken_blocks(rows, offsets[: blocks + 1])
    return kept, kept_offsets, int(pairs), int(removals)


def list_order_trial(law: ListOD, workspace: Workspace) -> Trial:
    """How an order dependency fares: the order of the classes of its lists, and what splits add; see `list_trial`."""
    x, highest, values = _both_rising(law, workspace)
    rows = _rows_by(values, highest, np.arange(workspace.table.rows, dtype=np.int32), workspace)
    rows = _rows_by(x.ids, x.classes, rows, workspace)
    order = order_trial(rows, np.zeros(rows.size, np.int32), x.ids, values)
    violating, _, pairs, removals = order_violations(law, workspace)
    return list_trial(order, x.ids, values, pairs, violating.size, removals)


def ranks_of_lists(law: ListOD, workspace: Workspace) -> tuple[Int32s, Int32s]:
    """The ranks of all rows by each list, or of both turned around, which says the same."""
    x, _, values = _both_rising(law, workspace)
    return x.ids, values


def _both_rising(law: ListOD, workspace: Workspace) -> tuple[SortedPartition, int, Int32s]:
    """The left list, and of the right one the highest rank and the ranks, such that both should rise together."""
    left, left_falls = _canonical(law.lhs)
    right, right_falls = _canonical(law.rhs)
    x, y = sorted_partition(left, workspace), sorted_partition(right, workspace)
    highest = max(0, y.classes - 1)
    return x, highest, highest - y.ids if left_falls != right_falls else y.ids


def sorted_partition(marked: Marked, workspace: Workspace) -> SortedPartition:
    """Return the sorted partition of a list whose first column rises, grown from its longest prefix in the cache."""
    rows = workspace.table.rows
    if not marked:
        return SortedPartition(np.zeros(rows, np.int32), 1)
    chain = tuple(_key(column, direction) for column, direction in marked)
    known, found = workspace.cache.longest_prefix(chain)
    if isinstance(found, SortedPartition):
        partition = found
    else:
        known = 1
        partition = SortedPartition(workspace.column(marked[0][0]), workspace.table.distinct(marked[0][0]) + 1)
    for length in range(known + 1, len(chain) + 1):
        partition = expand(partition, *marked[length - 1], workspace)
        workspace.cache.put(chain[:length], partition)
    return partition


def expand(partition: SortedPartition, column: int, direction: Direction, workspace: Workspace) -> SortedPartition:
    """Return the sorted partition of the list with one more column at its end."""
    ranks, highest = workspace.column(column), workspace.table.distinct(column)
    turned, scratch = direction == "desc", workspace.scratch
    out = np.empty(ranks.size, np.int32)
    size = partition.classes * (highest + 1)
    if size <= min(_TABLE_ENTRIES_A_ROW * ranks.size, _LARGEST_TABLE):
        table = scratch.zeros("table", size)
        classes = kernels.expand_by_table(partition.ids, ranks, highest, turned, size, table, out)
    else:
        classes = _expand_by_sorting(partition, ranks, highest, turned, workspace, out)
    out.flags.writeable = False
    return SortedPartition(out, int(classes))


def _expand_by_sorting(
    partition: SortedPartition, ranks: Int32s, highest: int, turned: bool, workspace: Workspace, out: Int32s
) -> int:
    """Number the pairs of class and rank by sorting integers that hold both, and the row too if there is room.

    The rows come along for nothing then, and nothing but the last step reads or writes at scattered places.
    """
    rank_bits, row_bits = highest.bit_length(), ranks.size.bit_length()
    keys = workspace.scratch.keys(ranks.size)[: ranks.size]
    if partition.classes.bit_length() + rank_bits + row_bits <= _KEY_BITS:
        kernels.pack_pairs(partition.ids, ranks, highest, turned, rank_bits, row_bits, keys)
        keys.sort()
        return int(kernels.number_packed(keys, row_bits, out))
    kernels.pack_pairs(partition.ids, ranks, highest, turned, rank_bits, 0, keys)
    return int(kernels.number_ordered(keys, np.argsort(keys), out))


def _key(column: int, direction: Direction) -> int:
    """Name a marked column in the cache: below zero, because columns themselves stand for partitions of sets."""
    return -1 - 2 * column - (direction == "desc")


def _canonical(marked: Marked) -> tuple[Marked, bool]:
    """Return the list with its first column rising, and whether all directions were turned around for that."""
    if not marked or marked[0][1] == "asc":
        return marked, False
    return tuple((column, "desc" if direction == "asc" else "asc") for column, direction in marked), True


def _rows_by(ranks: Int32s, highest: int, rows: Int32s, workspace: Workspace) -> Int32s:
    out = np.empty_like(rows)
    violation_kernels.sort_rows(rows, ranks, highest, workspace.scratch.zeros("slots", highest + 1), out)
    return out


def _broken_blocks(rows: Int32s, offsets: Int32s) -> tuple[Int32s, Int32s]:
    """Keep the blocks of more than one row, each in ascending order of rows."""
    lengths = np.diff(offsets)
    broken = lengths > 1
    in_broken = np.repeat(broken, lengths)
    label = np.repeat(np.arange(lengths.size), lengths)[in_broken]
    kept = rows[in_broken]
    kept = kept[np.lexsort((kept, label))]
    return kept, np.concatenate([[0], np.cumsum(lengths[broken])]).astype(np.int32)
