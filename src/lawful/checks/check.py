"""Checking one law on one table: does it hold, and if not, which two rows refute it?

A verdict, its witness included, is a function of the law, the table and the null policy. Neither the cache
nor the order of checks nor the number of threads shows in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lawful.checks.denials.counts import count_pairs
from lawful.checks.denials.denial import violating_pair
from lawful.checks.denials.pairs import as_t_and_s
from lawful.checks.fitting import no_check, require_fitting
from lawful.checks.kernels import orders as order_kernels
from lawful.checks.kernels import partitions as partition_kernels
from lawful.checks.list_ods.orders import broken_order
from lawful.checks.partitions import Partition
from lawful.checks.verdict import CheckTask, Verdict
from lawful.checks.violations import find_violations
from lawful.checks.workspace import Pair, Swaps, Workspace
from lawful.common.arrays import Int32s
from lawful.common.errors import UsageError
from lawful.common.meanings import Direction, Measure
from lawful.dependencies import DC, FD, CanonicalOD, Key, Law, ListOD
from lawful.dependencies.denial_readings import plain_law
from lawful.tables.ranked_table import RankedTable


def check(task: CheckTask, table: RankedTable, workspace: Workspace) -> Verdict:
    """Check the law of a task on a table.

    Parameters
    ----------
    task
        The law to check, and the id that its verdict carries.
    table
        The table, which must be the one that `workspace` was made for.
    workspace
        What checks on this table share.

    Raises
    ------
    UsageError
        If the law is of a kind that has no check here, or names a column that the table does not have.
    """
    require_fitting(task.law, table, workspace)
    if task.measure is not None:
        counted = _count(task.law, task.measure, workspace)
        return Verdict(task.id, counted == 0, None, counted)
    witness = _witness(task.law, workspace)
    if witness is None or not task.damage:
        return Verdict(task.id, witness is None, witness)
    found = find_violations(task.law, table, workspace)
    if isinstance(task.law, DC):
        witness = as_t_and_s(task.law, witness, workspace)
    return Verdict(task.id, False, witness, damage=found.damage)


def _count(law: Law, measure: Measure, workspace: Workspace) -> int:
    if isinstance(law, DC) and measure == "g1" and plain_law(law) is None:
        return count_pairs(law, workspace)
    found = find_violations(law, workspace.table, workspace)
    counted = found.pairs if measure == "g1" else found.removals
    if counted is None:
        raise UsageError(
            "The fewest rows whose removal mends a denial constraint cannot be counted: that is NP-hard.",
            "Measure by pairs (g1).",
        )
    return counted


def _witness(law: Law, workspace: Workspace) -> Pair | None:
    match law:
        case Key(columns):
            return _agreeing_pair(columns, workspace)
        case FD(lhs, rhs):
            return _split(lhs, rhs, workspace)
        case CanonicalOD(context, left, right, direction):
            return _swap(context, left, right, direction, workspace)
        case ListOD():
            return broken_order(law, workspace)
        case DC():
            plain = plain_law(law)
            if plain is not None:
                return _witness(plain, workspace)
            found = violating_pair(law, workspace)
            return None if found is None else _ordered(*found)
        case _:
            raise no_check(law)


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
            return _named(found, partition, workspace)
    return None


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
    asc, desc = (_named(pair, partition, workspace) for pair in (found[:2], found[2:]))
    return Swaps(asc, desc, complete=False)


def _named(found: Sequence[int] | Int32s, partition: Partition, workspace: Workspace) -> Pair | None:
    """Return two rows of a partition as a witness; a negative one says that there is none."""
    if found[0] < 0:
        return None
    first, second = workspace.table_rows(partition, np.array(found, np.int32)).tolist()
    return _ordered(first, second)


def _ordered(first: int, second: int) -> Pair:
    return (first, second) if first < second else (second, first)
