"""Which rows break a law with each other, for laws of every kind: row against many, and how many for each of many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.checks.denials.denial import Denial, Order, as_table, make_ready
from lawful.checks.denials.groups import Groups
from lawful.checks.denials.kernels import counts as denial_count_kernels
from lawful.checks.denials.pairs import satisfies
from lawful.checks.fitting import require_fitting
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.meanings import Direction, NullPolicy
from lawful.dependencies import DC, Law, ListOD
from lawful.dependencies.as_denials import denial_of
from lawful.dependencies.denial_implication import swapped
from lawful.tables.encoded_table import EncodedTable


class PairJudge:
    """Compares rows of one table as a law says.

    Parameters
    ----------
    law
        The law.
    table
        The rows, as ranks that compare as values do.
    null
        What null means.
    """

    def __init__(self, law: Law, table: EncodedTable, null: NullPolicy) -> None:
        self._workspace = Workspace(table, null)
        require_fitting(law, table, self._workspace)
        self._dc: DC | None = None if isinstance(law, ListOD) else denial_of(law)
        if isinstance(law, ListOD):
            self._denial: Denial | None = _lists_denied(law, self._workspace)
        else:
            self._denial = make_ready(denial_of(law), self._workspace)

    def fits(self) -> tuple[Flags, Flags]:
        """Which rows may be t, and which may be s, by what the law asks of one row."""
        every: Flags = np.full(self._workspace.table.rows, self._denial is not None)
        if self._denial is None:
            return every, every
        t_fits, s_fits = self._denial.t_fits, self._denial.s_fits
        return every if t_fits is None else t_fits, every if s_fits is None else s_fits

    def partners(self, row: int, among: Int64s) -> Flags:
        """Which of some rows break the law with a row, one way round or the other; it is none of them."""
        if self._denial is None:
            return np.zeros(len(among), np.bool_)
        one = np.full(len(among), row, np.int64)
        return satisfies(self._denial, one, among) | satisfies(self._denial, among, one)

    def degrees(self, ours: Flags, theirs: Flags) -> Int64s:
        """With how many of some rows each of others breaks the law; a row is no partner of itself.

        Two rows that break it both ways round satisfy the comparisons and the same with t and s exchanged, and count
        once.
        """
        rows = self._workspace.table.rows
        if self._denial is None or not ours.any() or not theirs.any():
            return np.zeros(rows, np.int64)
        found = self._partners_of(self._denial, ours, theirs)
        if self._dc is None:
            return found + self._partners_of(_turned(self._denial), ours, theirs)
        other_way = swapped(self._dc)
        if other_way == self._dc:
            return found
        found += self._partners_of(_turned(self._denial), ours, theirs)
        both_ways = make_ready(DC(self._dc.predicates + other_way.predicates), self._workspace)
        return found if both_ways is None else found - self._partners_of(both_ways, ours, theirs)

    def _partners_of(self, denial: Denial, ours: Flags, theirs: Flags) -> Int64s:
        """How many of theirs satisfy a constraint as s with each of ours as t."""
        found = np.zeros(self._workspace.table.rows, np.int64)
        t_fits, s_fits = (
            mine if fits is None else mine & fits for mine, fits in ((ours, denial.t_fits), (theirs, denial.s_fits))
        )
        groups = Groups.of(self._workspace.partition(denial.equal_columns), t_fits, s_fits)
        _add(denial, groups.matching(denial.equal_across), 0, 1, found)
        if not denial.apart:
            # Rows without another that agrees with them are in no group.
            itself = np.intersect1d(groups.t_rows, groups.s_rows)
            found[itself[satisfies(denial, itself, itself)]] -= 1
        return found


def _add(denial: Denial, groups: Groups, settled: int, sign: int, found: Int64s) -> None:
    """Add what satisfies the orders, less what agrees where the differences from `settled` on ask otherwise."""
    if groups.t_rows.size == 0 or groups.s_rows.size == 0:
        return
    partners = np.zeros(groups.t_rows.size, np.int64)
    denial_count_kernels.count_partners(
        groups.t_offsets,
        groups.s_offsets,
        as_table([order.bounds(groups.t_rows) for order in denial.orders], groups.t_rows.size),
        as_table([order.values(groups.s_rows) for order in denial.orders], groups.s_rows.size),
        partners,
    )
    if not partners.any():  # nor has any part of it
        return
    found[groups.t_rows] += sign * partners
    for number in range(settled, len(denial.differences)):
        _add(denial, groups.matching([denial.differences[number]]), number + 1, -sign, found)


def _turned(denial: Denial) -> Denial:
    """The same with t and s exchanged."""

    def turned(columns: tuple[Int32s, Int32s]) -> tuple[Int32s, Int32s]:
        return columns[1], columns[0]

    return Denial(
        denial.equal_columns,
        denial.equal_same,
        tuple(map(turned, denial.equal_across)),
        tuple(Order(turned(order.columns), not order.falling, order.strict) for order in denial.orders),
        tuple(map(turned, denial.differences)),
        denial.s_fits,
        denial.t_fits,
        denial.apart,
    )


def _lists_denied(law: ListOD, workspace: Workspace) -> Denial:
    """What breaks a list-based order: t is not after s in the left list, and after it in the right one."""
    left, right = list_ranks(law.lhs, workspace), list_ranks(law.rhs, workspace)
    orders = Order((left, left), falling=False, strict=False), Order((right, right), falling=True, strict=True)
    return Denial((), (), (), orders, (), None, None, apart=True)


def list_ranks(marked: Sequence[tuple[int, Direction]], workspace: Workspace) -> Int32s:
    """Ranks of rows by a list of columns."""
    ranks: Int64s = np.zeros(workspace.table.rows, np.int64)
    for column, direction in marked:
        own: Int32s = workspace.column(column)
        ranks = ranks * (workspace.table.distinct(column) + 1)
        ranks += own if direction == "asc" else workspace.table.distinct(column) - own
        ranks = np.unique(ranks, return_inverse=True)[1].ravel().astype(np.int64)
    return ranks.astype(np.int32)
