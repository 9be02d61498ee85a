"""Groups of violating rows in short: which values are in conflict, how many rows have each, and which come first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from lawful.checks.violations import find_violations
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Int32s
from lawful.common.errors import UsageError
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, ListOD, Predicate, columns_of
from lawful.tables.ranked_table import RankedTable


class VariantRows(NamedTuple):
    """The rows of a group that have the same values in conflict: how many, and the first of them."""

    size: int
    first: tuple[int, ...]


class GroupRows(NamedTuple):
    """A group: how many rows, the first of them, some of its variants, and how many variants there are besides.

    The variants with most rows come first; those of an order in their order.
    """

    size: int
    first: int
    variants: tuple[VariantRows, ...]
    more_variants: int


class Most(NamedTuple):
    """How much of violations to tell: groups, variants of each, and rows of each variant."""

    groups: int
    variants: int = 10
    rows: int = 5


def summarize(law: Law, table: RankedTable, workspace: Workspace, most: Most) -> list[GroupRows]:
    """Give the first groups of violating rows in short, however many rows they have."""
    _, conflicting = parts_of(law)
    groups = islice(find_violations(law, table, workspace), most.groups)
    return [_summary(members, law, conflicting, workspace, most) for members in groups]


def _summary(members: Int32s, law: Law, conflicting: Sequence[int], workspace: Workspace, most: Most) -> GroupRows:
    ranks = [workspace.column(column)[members] for column in conflicting]
    # The first column decides first, and rows of the same ranks stay in their order.
    order = np.lexsort(ranks[::-1]) if ranks else np.arange(members.size)
    starts = np.zeros(members.size, np.bool_)
    starts[:1] = True
    for column in ranks:
        in_order = column[order]
        starts[1:] |= in_order[1:] != in_order[:-1]
    first = np.flatnonzero(starts)
    sizes = np.diff(np.append(first, members.size))
    ranked = range(first.size) if isinstance(law, CanonicalOD) else np.lexsort((order[first], -sizes)).tolist()
    variants = tuple(
        VariantRows(int(sizes[v]), tuple(members[order[first[v] : first[v] + min(sizes[v], most.rows)]].tolist()))
        for v in islice(ranked, most.variants)
    )
    return GroupRows(members.size, int(members[0]), variants, first.size - len(variants))


def parts_of(law: Law) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns that the rows of a violating group agree on, and those in which they are in conflict."""
    match law:
        case Key(columns):
            return columns, ()
        case FD(lhs, rhs):
            return lhs, (rhs,)
        case CanonicalOD(context, left, right, _):
            return context, (left, right)
        case ListOD(lhs, rhs):
            return (), tuple(column for column, _ in (*lhs, *rhs))
        case DC(predicates):
            shared = tuple(sorted({column for predicate in predicates for column in _equated(predicate)}))
            return shared, tuple(column for column in columns_of(law) if column not in shared)
        case _:
            raise UsageError(f"{law!r} cannot be explained")


def _equated(predicate: Predicate) -> tuple[int, ...]:
    """The column that a predicate wants to be equal in both rows, if it is of that form."""
    left, right = predicate.left, predicate.right
    is_across = isinstance(right, Cell) and left.row != right.row and left.column == right.column
    return (left.column,) if is_across and predicate.operator == "=" else ()
