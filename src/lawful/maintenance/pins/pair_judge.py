"""Whether two rows break a law, row against many: for laws of every kind, where no index does better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawful.checks.denials.denial import Denial, make_ready
from lawful.checks.denials.refining import compare
from lawful.checks.fitting import require_fitting
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.errors import UsageError
from lawful.common.meanings import Direction, NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Key, Law, ListOD, Predicate, kind_of
from lawful.dependencies.laws import Operator
from lawful.dependencies.pointwise import as_denial
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
        workspace = Workspace(table, null)
        require_fitting(law, table, workspace)
        self._lists: tuple[Int64s, Int64s] | None = None
        self._denial: Denial | None = None
        if isinstance(law, ListOD):
            self._lists = _list_ranks(law.lhs, workspace), _list_ranks(law.rhs, workspace)
        else:
            self._denial = make_ready(denial_of(law), workspace)

    def partners(self, row: int, among: Int64s) -> Flags:
        """Which of some rows break the law with a row, one way round or the other; it is none of them."""
        if self._lists is not None:
            left, right = self._lists
            by_left, by_right = np.sign(left[among] - left[row]), np.sign(right[among] - right[row])
            return np.asarray(((by_left == 0) & (by_right != 0)) | (by_left * by_right < 0))
        if self._denial is None:
            return np.zeros(len(among), np.bool_)
        one = np.full(len(among), row, np.int64)
        return _satisfy(self._denial, one, among) | _satisfy(self._denial, among, one)


def denial_of(law: Law) -> DC:
    """The denial constraint that says what a law says."""
    match law:
        case DC():
            return law
        case POD():
            return as_denial(law)
        case Key(columns):
            return _compared([(column, "=") for column in columns])
        case FD(lhs, rhs):
            return _compared([*((column, "=") for column in lhs), (rhs, "!=")])
        case CanonicalOD(context, left, right, direction):
            falls: Operator = ">" if direction == "asc" else "<"
            return _compared([*((column, "=") for column in context), (left, "<"), (right, falls)])
        case _:
            raise UsageError(f"two rows cannot be held against a law of the kind {kind_of(law)}", "Pin another law.")


def _compared(marked: Sequence[tuple[int, str]]) -> DC:
    return DC(tuple(Predicate(Cell("t", column), operator, Cell("s", column)) for column, operator in marked))  # type: ignore[arg-type]  # all are operators


def _satisfy(denial: Denial, t: Int64s, s: Int64s) -> Flags:
    """Which pairs of rows satisfy all comparisons, as t and s."""
    satisfied: Flags = np.ones(len(t), np.bool_)
    for fits, rows in ((denial.t_fits, t), (denial.s_fits, s)):
        if fits is not None:
            satisfied &= fits[rows]
    for left, right in (*denial.equal_same, *denial.equal_across):
        satisfied &= left[t] == right[s]
    for left, right in denial.differences:
        satisfied &= left[t] != right[s]
    for order in denial.orders:
        satisfied &= compare(order.columns[0][t], order.operator, order.columns[1][s])
    return satisfied


def _list_ranks(marked: Sequence[tuple[int, Direction]], workspace: Workspace) -> Int64s:
    """Ranks of rows by a list of columns."""
    ranks: Int64s = np.zeros(workspace.table.rows, np.int64)
    for column, direction in marked:
        own: Int32s = workspace.column(column)
        ranks = ranks * (workspace.table.distinct(column) + 1)
        ranks += own if direction == "asc" else workspace.table.distinct(column) - own
        ranks = np.unique(ranks, return_inverse=True)[1].ravel().astype(np.int64)
    return ranks
