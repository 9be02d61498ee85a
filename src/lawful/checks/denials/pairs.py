"""All pairs of rows that violate a denial constraint, streamed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lawful.checks.denials.denial import Denial, all_groups, make_ready, search
from lawful.checks.denials.groups import Groups
from lawful.checks.denials.refining import Join, Pairs, compare, kept, refined_pairs
from lawful.checks.workspace import Pair, Workspace
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.dependencies import DC
from lawful.dependencies.denial_implication import swapped


def ordered_violating_pairs(dc: DC, workspace: Workspace) -> Iterator[Pairs]:
    """Yield all ordered pairs (t, s) that satisfy the predicates, each once, in chunks of arrays.

    First every row goes that is in no violating pair, in near-linear time. So the rest costs about what there
    is to write.
    """
    denial, other_way = make_ready(dc, workspace), make_ready(swapped(dc), workspace)
    if denial is None or other_way is None or workspace.table.rows < 2:
        return
    groups = all_groups(denial, workspace)
    partners = search(denial, groups, first_only=False)
    if not (partners >= 0).any():
        return
    t_rows, t_offsets = kept(groups.t_rows, groups.t_offsets, partners >= 0)
    turned = Groups(groups.s_rows, groups.s_offsets, groups.t_rows, groups.t_offsets)
    partners = search(other_way, turned, first_only=False)
    s_rows, s_offsets = kept(groups.s_rows, groups.s_offsets, partners >= 0)
    violating = Groups(t_rows, t_offsets, s_rows, s_offsets).without_empty()
    yield from refined_pairs(violating, _refiners(denial))


def violating_pairs(dc: DC, workspace: Workspace, narrower: DC | None = None) -> Iterator[Pairs]:
    """Yield every two rows that violate a constraint once, as (t, s) in an order in which they do.

    Where they do both ways, the smaller row is t. With a `narrower` constraint, of these pairs those that violate it
    as this t and this s.
    """
    other_way = make_ready(swapped(dc), workspace)
    assert other_way is not None or make_ready(dc, workspace) is None
    for t, s in ordered_violating_pairs(dc if narrower is None else narrower, workspace):
        assert other_way is not None
        wanted = (t < s) | ~satisfies(other_way, t, s)
        if wanted.any():
            yield t[wanted], s[wanted]


def as_t_and_s(dc: DC, pair: Pair, workspace: Workspace) -> Pair:
    """Turn a pair that violates a constraint so that its first row is t; as it is where both ways violate."""
    denial = make_ready(dc, workspace)
    first, second = (np.array([row], np.int32) for row in pair)
    return pair if denial is not None and satisfies(denial, first, second).all() else (pair[1], pair[0])


def _refiners(denial: Denial) -> list[Join]:
    """The comparisons that groups do not settle."""
    orders = [Join(*order.columns, order.operator) for order in denial.orders]
    return [*orders, *(Join(left, right, "!=") for left, right in denial.differences)]


def satisfies(denial: Denial, t: Int32s | Int64s, s: Int32s | Int64s) -> Flags:
    """Say which pairs satisfy all comparisons of a constraint."""
    satisfied = np.ones(t.size, np.bool_)
    for fits, rows in ((denial.t_fits, t), (denial.s_fits, s)):
        if fits is not None:
            satisfied &= fits[rows]
    equal = [Join(left, right, "=") for left, right in (*denial.equal_same, *denial.equal_across)]
    for join in (*equal, *_refiners(denial)):
        satisfied &= compare(join.left[t], join.operator, join.right[s])
    return satisfied
