"""Counting what breaks keys and functional dependencies, group by group, while rows come and go.

A group may have rows and no representative that is known: the one it had has left. Whoever needs one looks for it.
"""

from __future__ import annotations

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled

BOTH, ONLY_T, ONLY_S = range(3)
"""What a row may be in a pair (t, s) that is denied; -1 if neither."""
NONE, UNKNOWN = -1, -2
"""No row at all; some row, of which is not known which."""


@compiled
def _agreeing(counts: Int32s, group: int) -> tuple[int, int]:
    """How many pairs of rows of a group can be t and s, and how many rows are in such pairs."""
    c = int(counts[group, BOTH])
    if counts.shape[1] == 1:
        return c * (c - 1) // 2, c if c > 1 else 0
    a, b = int(counts[group, ONLY_T]), int(counts[group, ONLY_S])
    rows = (a if b + c > 0 else 0) + (b if a + c > 0 else 0) + (c if a + b + c > 1 else 0)
    return (a + c) * (b + c) - c - c * (c - 1) // 2, rows


@compiled
def change_agreeing(
    ids: Int32s, roles: Int32s, rows: Int64s, change: int, counts: Int32s, known: Int32s, totals: Int64s
) -> None:
    """Let rows come (`change` is 1) or go (-1); `known[group, 2 role]` and the next are two rows of a group.

    `totals` are the pairs and the rows that break the law.
    """
    for k in range(ids.size):
        group, role = ids[k], roles[k]
        if role < 0:
            continue
        pairs, violating = _agreeing(counts, group)
        counts[group, role] += change
        now_pairs, now_violating = _agreeing(counts, group)
        totals[0] += now_pairs - pairs
        totals[1] += now_violating - violating
        for place in (2 * role, 2 * role + 1):
            if change > 0 and known[group, place] < 0:
                known[group, place] = rows[k]
                break
            if change < 0 and known[group, place] == rows[k]:
                known[group, place] = NONE


@compiled
def find_agreeing(ids: Int32s, roles: Int32s, rows: Int64s, counts: Int32s, known: Int32s, partners: Int64s) -> None:
    """Write for each row another one that it can be t and s with; `rows` is -1 for rows that are not counted."""
    for k in range(ids.size):
        group, own = ids[k], roles[k]
        partners[k] = NONE
        if group < 0 or own < 0 or group >= counts.shape[0]:
            continue
        for role in range(counts.shape[1]):
            if own == role and own != BOTH:
                continue
            others = counts[group, role] - (1 if own == role and rows[k] >= 0 else 0)
            if others <= 0:
                continue
            if partners[k] == NONE:
                partners[k] = UNKNOWN
            for place in (2 * role, 2 * role + 1):
                if known[group, place] >= 0 and known[group, place] != rows[k]:
                    partners[k] = known[group, place]
                    break
            if partners[k] >= 0:
                break


@compiled
def change_differing(
    ids: Int32s,
    both: Int32s,
    rows: Int64s,
    change: int,
    sizes: Int32s,
    kinds: Int32s,
    first: Int32s,
    both_sizes: Int32s,
    both_known: Int32s,
    after: Int32s,
    totals: Int64s,
) -> None:
    """Let rows come or go that must not differ within their group.

    By group there are its rows, how many kinds of rows it has, and the first of all kinds that it ever had; by kind
    (`both`, a group with a value) its rows, one that is known, and the kind after it in its group (-2: it is new).
    """
    for k in range(ids.size):
        group, kind = ids[k], both[k]
        if after[kind] == -2:
            after[kind] = first[group]
            first[group] = kind
        violating = sizes[group] if kinds[group] > 1 else 0
        if change > 0:
            totals[0] += sizes[group] - both_sizes[kind]
            kinds[group] += both_sizes[kind] == 0
            if both_known[kind] < 0:
                both_known[kind] = rows[k]
        else:
            totals[0] -= sizes[group] - both_sizes[kind]
            kinds[group] -= both_sizes[kind] == 1
            if both_known[kind] == rows[k]:
                both_known[kind] = NONE
        sizes[group] += change
        both_sizes[kind] += change
        totals[1] += (sizes[group] if kinds[group] > 1 else 0) - violating


@compiled
def find_differing(
    ids: Int32s,
    both: Int32s,
    first: Int32s,
    both_sizes: Int32s,
    both_known: Int32s,
    after: Int32s,
    partners: Int64s,
) -> None:
    """Write for each row one of its group that differs from it."""
    for k in range(ids.size):
        partners[k] = NONE
        if ids[k] < 0 or ids[k] >= first.size:
            continue
        kind = first[ids[k]]
        while kind >= 0:
            if kind != both[k] and both_sizes[kind] > 0:
                partners[k] = both_known[kind] if both_known[kind] >= 0 else UNKNOWN
                if partners[k] >= 0:
                    break
            kind = after[kind]
