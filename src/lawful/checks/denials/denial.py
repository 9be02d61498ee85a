"""A denial constraint made ready for a table: who may be t, who may be s, and how the two are compared.

Comparisons within one row and with constants only say who may be t or s. Equalities put rows into groups.
What is left are orders, all turned into one form, and differences; see `kernels.search`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lawful.checks.denials.groups import Groups
from lawful.checks.denials.kernels import search as denial_search_kernels
from lawful.checks.denials.refining import compare
from lawful.checks.partitions import Partition
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Flags, Int32s
from lawful.common.errors import UsageError
from lawful.common.meanings import NULL_RANK, NullPolicy
from lawful.dependencies import DC, Cell, Constant, Predicate, columns_of
from lawful.dependencies.laws import Operator

Columns = tuple[Int32s, Int32s]
"""What a comparison reads of t and of s, by row, in ranks that both share."""

_LESS, _EQUAL, _GREATER = 1, 2, 4
_ALLOWED: dict[Operator, int] = {
    "<": _LESS,
    "<=": _LESS | _EQUAL,
    "=": _EQUAL,
    ">=": _GREATER | _EQUAL,
    ">": _GREATER,
    "!=": _LESS | _GREATER,
}
_MOST_ORDERS = 60
_FIRST_PROBE = 2048
_PROBED_FROM = 32_768
_FIRST_CHUNK = 4096
_CHUNK_GROWTH = 8


@dataclass(frozen=True, slots=True)
class Order:
    """One comparison that orders t and s; as `bound of t <= value of s`, whatever the operator was."""

    columns: Columns
    falling: bool
    strict: bool

    @property
    def operator(self) -> Operator:
        """The operator that it was."""
        return (">" if self.falling else "<") if self.strict else (">=" if self.falling else "<=")

    def bounds(self, rows: Int32s) -> Int32s:
        """What some rows ask for as t."""
        ranks = self.columns[0][rows]
        bounds: Int32s = (-ranks if self.falling else ranks) + np.int32(self.strict)
        return bounds

    def values(self, rows: Int32s) -> Int32s:
        """What some rows offer as s."""
        ranks = self.columns[1][rows]
        return -ranks if self.falling else ranks


@dataclass(frozen=True, eq=False, slots=True)
class Denial:
    """A denial constraint over the rows of one table.

    Attributes
    ----------
    equal_columns, equal_same
        The columns on which t and s agree, by number and by rank.
    equal_across
        The other equalities: between different columns of t and s.
    orders
        The comparisons with <, <=, > and >=.
    differences
        The comparisons with !=.
    t_fits, s_fits
        Which rows may be t or s at all; None for all rows.
    apart
        Whether the comparisons alone already keep t and s from being the same row.
    """

    equal_columns: tuple[int, ...]
    equal_same: tuple[Columns, ...]
    equal_across: tuple[Columns, ...]
    orders: tuple[Order, ...]
    differences: tuple[Columns, ...]
    t_fits: Flags | None
    s_fits: Flags | None
    apart: bool


def make_ready(dc: DC, workspace: Workspace) -> Denial | None:
    """Take a constraint apart; None if no pair of rows whatsoever satisfies its comparisons."""
    allowed: dict[tuple[int, int], int] = {}
    for predicate in dc.predicates:
        if (pair := _compared_columns(predicate)) is not None:
            allowed[pair] = allowed.get(pair, _LESS | _EQUAL | _GREATER) & _ALLOWED[predicate.operator]
    if not all(allowed.values()):
        return None
    equal_columns = tuple(a for (a, b), relations in allowed.items() if a == b and relations == _EQUAL)
    across, orders, differences = [], [], []
    for (a, b), relations in allowed.items():
        if relations == _EQUAL:
            if a != b:
                across.append(workspace.shared(a, b))
        elif relations == _LESS | _GREATER:
            differences.append(workspace.shared(a, b))
        else:
            falling, strict = bool(relations & _GREATER), not relations & _EQUAL
            orders.append(Order(workspace.shared(a, b), falling, strict))
    if len(orders) > _MOST_ORDERS:
        raise UsageError(f"A denial constraint with more than {_MOST_ORDERS} comparisons that order is not checked.")
    t_fits, s_fits = _fitting_rows(dc, workspace)
    apart = any(a == b and not relations & _EQUAL for (a, b), relations in allowed.items())
    same = tuple(workspace.shared(column, column) for column in equal_columns)
    return Denial(equal_columns, same, tuple(across), tuple(orders), tuple(differences), t_fits, s_fits, apart)


def _compared_columns(predicate: Predicate) -> tuple[int, int] | None:
    """The columns of t and of s that a predicate compares; None if it looks at one row only."""
    left, right = predicate.left, predicate.right
    if isinstance(right, Constant) or left.row == right.row:
        return None
    return left.column, right.column


def _fitting_rows(dc: DC, workspace: Workspace) -> tuple[Flags | None, Flags | None]:
    """Which rows may be t and which s, by the predicates that look at one row and by the null policy."""
    known: Flags | None = None
    if workspace.null_policy is NullPolicy.IGNORE:
        for column in columns_of(dc):
            known = _both(known, workspace.column(column) != NULL_RANK)
        if known is not None and known.all():
            known = None
    fits: dict[str, Flags | None] = {"t": known, "s": known}
    for predicate in dc.predicates:
        if _compared_columns(predicate) is None:
            row = predicate.left.row
            fits[row] = _both(fits[row], satisfying_rows(predicate, workspace))
    return fits["t"], fits["s"]


def _both(one: Flags | None, other: Flags) -> Flags:
    return other if one is None else one & other


def satisfying_rows(predicate: Predicate, workspace: Workspace) -> Flags:
    """Which rows satisfy a predicate that looks at one row."""
    left, right = predicate.left, predicate.right
    if isinstance(right, Cell):
        first, second = workspace.shared(left.column, right.column)
        return compare(first, predicate.operator, second)
    place = workspace.place_of(left.column, right)
    return compare(2 * workspace.column(left.column).astype(np.int64), predicate.operator, np.int64(place))


def violating_pair(dc: DC, workspace: Workspace) -> Pair | None:
    """Return a pair (t, s) that satisfies all predicates, if there is one: which one depends on nothing else."""
    denial = make_ready(dc, workspace)
    if denial is None or workspace.table.rows < 2:
        return None
    for groups in growing_groups(denial, workspace):
        partners = search(denial, groups, first_only=True)
        found = np.flatnonzero(partners >= 0)
        if found.size:
            return int(groups.t_rows[found[0]]), int(groups.s_rows[partners[found[0]]])
    return None


def search(denial: Denial, groups: Groups, *, first_only: bool) -> Int32s:
    """For each t of the groups a place among their s that violates with it, or -1; only one if asked."""
    partners = np.full(groups.t_rows.size, -1, np.int32)
    differences = list(denial.differences)
    if not denial.apart:  # a row is no partner of itself
        t_colours = [*(left[groups.t_rows] for left, _ in differences), groups.t_rows]
        s_colours = [*(right[groups.s_rows] for _, right in differences), groups.s_rows]
    else:
        t_colours = [left[groups.t_rows] for left, _ in differences]
        s_colours = [right[groups.s_rows] for _, right in differences]
    denial_search_kernels.search_groups(
        groups.t_offsets,
        groups.s_offsets,
        as_table([order.bounds(groups.t_rows) for order in denial.orders], groups.t_rows.size),
        as_table([order.values(groups.s_rows) for order in denial.orders], groups.s_rows.size),
        as_table(t_colours, groups.t_rows.size),
        as_table(s_colours, groups.s_rows.size),
        first_only,
        partners,
    )
    return partners


def as_table(columns: Sequence[Int32s], rows: int) -> NDArray[np.int32]:
    """Stack columns, of which there may be none."""
    return np.stack(columns) if columns else np.empty((0, rows), np.int32)


def growing_groups(denial: Denial, workspace: Workspace) -> Iterator[Groups]:
    """Yield the groups of rows that agree, in chunks that grow, so that a broken constraint is seen early.

    All pairs to look at are in the chunks. A long class is a chunk of its own, and a sample of its rows comes
    before it. So the first pair that is found depends on the classes alone, and not on where chunks begin.
    """
    searched = 0
    for partition in workspace.growing(denial.equal_columns):
        while searched < partition.classes:
            last = _end_of_chunk(partition.offsets, searched)
            chunk = workspace.by_table_rows(_classes(partition, searched, last))
            if chunk.classes == 1 and chunk.size >= _PROBED_FROM:
                yield Groups.of(_sampled(chunk), denial.t_fits, denial.s_fits).matching(denial.equal_across)
            yield Groups.of(chunk, denial.t_fits, denial.s_fits).matching(denial.equal_across)
            searched = last


def _end_of_chunk(offsets: Int32s, first: int) -> int:
    """Where a chunk of classes ends that begins with class `first`."""
    start = int(offsets[first])
    target = start + max(_FIRST_CHUNK, _CHUNK_GROWTH * start)
    last = max(first + 1, int(np.searchsorted(offsets, target)))
    last = min(last, offsets.size - 1)
    long_classes = np.flatnonzero(np.diff(offsets[first : last + 1]) >= _PROBED_FROM)
    return last if long_classes.size == 0 else first + max(1, int(long_classes[0]))


def all_groups(denial: Denial, workspace: Workspace) -> Groups:
    """All groups of rows that agree, at once."""
    partition = workspace.partition(denial.equal_columns)
    return Groups.of(partition, denial.t_fits, denial.s_fits).matching(denial.equal_across)


def _classes(partition: Partition, first: int, last: int) -> Partition:
    start, end = partition.offsets[first], partition.offsets[last]
    offsets = partition.offsets[first : last + 1] - start
    return Partition(partition.rows[start:end], offsets, partition.table_rows, partition.root)


def _sampled(partition: Partition) -> Partition:
    """Rows at regular distances, class by class."""
    step = -(-partition.size // _FIRST_PROBE)
    offsets = -(-partition.offsets // step)
    return Partition(partition.rows[::step].copy(), offsets.astype(np.int32), partition.table_rows)
