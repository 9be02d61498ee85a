"""The loop that counts what a functional dependency is tested by and what it loses, class by class."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.common.arrays import Int32s, Ranks
from lawful.common.compiled import compiled

FEWEST_OF_A_GROUP, GROUP = 3, 0.1
"""Rows of a class that disagree with it together are a group if they are so many, and so large a part of it."""


@compiled
def count_splits(
    rows: Int32s, offsets: Int32s, column: Ranks, lowest: int, most_lost: float, slots: Int32s, seen: Int32s
) -> tuple[int, float, int, int, int, int, int]:
    """Count the splits of all classes by `column`; `slots` is zero on entry and on return.

    Returns the chances to fail (rows less classes), what is lost of them (in a class of n rows each pair that differs
    counts 2/n), the pairs that agree, those of them that differ in `column`, the rows of classes with such a pair, the
    fewest rows to remove, and how many of these come in groups: three rows or more of a class with one value, at least
    a tenth of the class. Once more than `most_lost` is lost it ends, with what was counted so far.
    """
    chances = 0
    lost = 0.0
    tested = 0
    split = 0
    in_split = 0
    removals = 0
    repeated = 0
    for c in range(offsets.size - 1):
        parts = 0
        members = 0
        for i in range(offsets[c], offsets[c + 1]):
            rank = column[rows[i]]
            if rank >= lowest:
                members += 1
                if slots[rank] == 0:
                    seen[parts] = rank
                    parts += 1
                slots[rank] += 1
        agreeing = 0
        largest = 0
        grouped = 0
        for p in range(parts):
            part = int(slots[seen[p]])
            agreeing += part * part
            largest = max(largest, part)
            if part >= FEWEST_OF_A_GROUP and part >= GROUP * members:
                grouped += part
            slots[seen[p]] = 0
        if members > 1:
            chances += members - 1
            tested += members * (members - 1) // 2
        if parts > 1:
            lost += members - agreeing / members
            split += (members * members - agreeing) // 2
            in_split += members
            removals += members - largest
            if grouped:
                repeated += grouped - largest
            if lost > most_lost:
                break
    return chances, lost, tested, split, in_split, removals, repeated
