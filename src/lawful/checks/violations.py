"""All violations of a law on one table, exactly: the rows, how many pairs, how few removals mend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lawful.checks.denials.violations import denial_violations
from lawful.checks.fitting import no_check, require_fitting
from lawful.checks.kernels import violations as violation_kernels
from lawful.checks.list_ods.orders import order_violations
from lawful.checks.partitions import labels_of
from lawful.checks.verdict import Damage
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Int32s
from lawful.common.meanings import Direction
from lawful.dependencies import DC, FD, CanonicalOD, Key, Law, ListOD
from lawful.dependencies.denial_readings import plain_law
from lawful.tables.ranked_table import RankedTable


@dataclass(frozen=True, eq=False, slots=True)
class Violations:
    """The rows that break a law, and how badly.

    Attributes
    ----------
    rows
        The violating row ids, group by group, ascending within a group; no row occurs twice. A group is
        a class of rows that agree: on the columns of a key; on the left side of a functional dependency (all
        rows of a class that has more than one value on the right); on the context of an order dependency
        (only the rows that take part in a swap). Of a list-based order dependency a group is the rows that are
        linked by splits and swaps. Of a denial constraint it is the rows that are in a violating pair, by the
        columns on which it wants t and s to be equal.
    offsets
        Group `g` is `rows[offsets[g]:offsets[g + 1]]`.
    pairs
        The number of unordered pairs of rows that refute the law: g1, but counted.
    removals
        The fewest rows whose removal makes the law hold: g3, but counted. None for a denial constraint that is
        no key, functional or order dependency in disguise: there this number is NP-hard.
    """

    rows: Int32s
    offsets: Int32s
    pairs: int
    removals: int | None

    @property
    def damage(self) -> Damage:
        """The numbers alone."""
        return Damage(self.rows.size, self.offsets.size - 1, self.pairs, self.removals)

    def __iter__(self) -> Iterator[Int32s]:
        for g in range(self.offsets.size - 1):
            yield self.rows[self.offsets[g] : self.offsets[g + 1]]


def find_violations(law: Law, table: RankedTable, workspace: Workspace) -> Violations:
    """Find all violations of a law; takes the same arguments and raises the same errors as `check`."""
    require_fitting(law, table, workspace)
    match law:
        case Key(columns):
            return _agreements(columns, workspace)
        case FD(lhs, rhs):
            return _splits(lhs, rhs, workspace)
        case CanonicalOD(context, left, right, direction):
            return _swaps(context, left, right, direction, workspace)
        case ListOD():
            return Violations(*order_violations(law, workspace))
        case DC():
            plain = plain_law(law)
            if plain is not None:
                return find_violations(plain, table, workspace)
            return Violations(*denial_violations(law, workspace), None)
        case _:
            raise no_check(law)


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


def _swaps(context: tuple[int, ...], left: int, right: int, direction: Direction, workspace: Workspace) -> Violations:
    partition = workspace.partition(context)
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
    judged = _sorted(judged, labels, partition.classes, workspace)
    swapped = np.zeros(workspace.table.rows, np.bool_)
    values, spare = np.empty(judged.size, np.int32), np.empty(judged.size, np.int32)
    pairs, removals = violation_kernels.measure_swaps(judged, labels, b, values, spare, swapped)

    rows = np.empty(np.count_nonzero(swapped), np.int32)
    offsets = np.empty(partition.classes + 1, np.int32)
    _, groups = violation_kernels.keep_marked(partition.rows, partition.offsets, swapped, rows, offsets)
    return Violations(rows, offsets[: groups + 1].copy(), int(pairs), int(removals))


def _sorted(rows: Int32s, ranks: Int32s, highest: int, workspace: Workspace) -> Int32s:
    out = np.empty_like(rows)
    violation_kernels.sort_rows(rows, ranks, highest, workspace.scratch.zeros("slots", highest + 1), out)
    return out
