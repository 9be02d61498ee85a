"""How many pairs of rows violate a denial constraint, exactly and without enumerating them.

Pairs that differ are all pairs without those that agree, so differences are counted by inclusion and exclusion:
each is left out or turned into an equality, which only splits groups further. What is left are orders within
groups; see `kernels.counts`.
"""

from __future__ import annotations

from lawful.checks.denials.denial import Denial, all_groups, as_table, make_ready
from lawful.checks.denials.groups import Groups
from lawful.checks.denials.kernels import counts as denial_count_kernels
from lawful.checks.workspace import Workspace
from lawful.dependencies import DC
from lawful.dependencies.denial_implication import swapped


def count_ordered_pairs(dc: DC, workspace: Workspace) -> int:
    """Count the ordered pairs (t, s) of different rows that satisfy all predicates."""
    denial = make_ready(dc, workspace)
    return 0 if denial is None else count_ready(denial, workspace)


def count_ready(denial: Denial, workspace: Workspace) -> int:
    """Count the same for a constraint that was made ready."""
    return 0 if workspace.table.rows < 2 else _count(denial, all_groups(denial, workspace), 0)


def count_pairs(dc: DC, workspace: Workspace) -> int:
    """Count the unordered pairs of rows that violate a constraint one way round or the other.

    A pair that violates it both ways satisfies the predicates and the same with t and s exchanged.
    """
    ordered = count_ordered_pairs(dc, workspace)
    other_way = swapped(dc)
    if ordered == 0 or other_way == dc:
        return ordered // 2
    both_ways = count_ordered_pairs(DC(dc.predicates + other_way.predicates), workspace)
    return ordered - both_ways // 2


def _count(denial: Denial, groups: Groups, settled: int) -> int:
    """Count what satisfies the orders, less what agrees where the differences from `settled` on ask otherwise."""
    if groups.t_rows.size == 0 or groups.s_rows.size == 0:
        return 0
    pairs = denial_count_kernels.count_groups(
        groups.t_rows,
        groups.t_offsets,
        groups.s_rows,
        groups.s_offsets,
        as_table([order.bounds(groups.t_rows) for order in denial.orders], groups.t_rows.size),
        as_table([order.values(groups.s_rows) for order in denial.orders], groups.s_rows.size),
    )
    if pairs == 0:  # nor has any part of it
        return 0
    agreeing = (
        _count(denial, groups.matching([denial.differences[number]]), number + 1)
        for number in range(settled, len(denial.differences))
    )
    return int(pairs) - sum(agreeing)
