"""Groups of violating rows in short: which values are in conflict, how many rows have each, and which come first."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from lawful.checks.check import find_violations
from lawful.checks.law_checks import checks_of
from lawful.checks.workspace import Workspace
from lawful.common.arrays import Int32s
from lawful.dependencies import Law
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
    """How much of violations to tell: groups, variants of each, and rows of each variant; None is all of them."""

    groups: int | None
    variants: int | None = 10
    rows: int | None = 5


def summarize(law: Law, table: RankedTable, workspace: Workspace, most: Most) -> list[GroupRows]:
    """Give the first groups of violating rows in short, however many rows they have."""
    groups = islice(find_violations(law, table, workspace), most.groups)
    return [summary_of_group(members, law, workspace, most) for members in groups]


def summary_of_group(members: Int32s, law: Law, workspace: Workspace, most: Most) -> GroupRows:
    """Give one group of violating rows in short."""
    _, conflicting = parts_of(law)
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
    ranked = range(first.size) if checks_of(law).lists_in_order else np.lexsort((order[first], -sizes)).tolist()
    variants = tuple(
        VariantRows(int(sizes[v]), tuple(members[order[first[v] : first[v] + sizes[v]][: most.rows]].tolist()))
        for v in islice(ranked, most.variants)
    )
    return GroupRows(members.size, int(members[0]), variants, first.size - len(variants))


def parts_of(law: Law) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns that the rows of a violating group agree on, and those in which they are in conflict."""
    return checks_of(law).parts(law)
