"""The loop that decides order compatibility: is there a swap inside a class of the context?

Every row of a class is a point (A, B). Ordered by A, the class has a swap against `asc` if a row has a B
below the largest B of the rows with a smaller A, and against `desc` if it has one above their smallest B.
So only the smallest and the largest B of each A matter. They are found by sorting the points of a small
class, and in a table indexed by A for a class that is large compared with the ranks of A. In the smallest classes
every pair is looked at.

`extremes` holds (smallest, largest) B for each A; it is (NO_LOW, NO_HIGH) everywhere on entry and on return.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

import numpy as np

from lawful.checks.kernels.partitions import ROWS_AHEAD
from lawful.common.arrays import Int32s, Int64s, Ranks
from lawful.common.compiled import compiled, inlined

NO_LOW = 2**31 - 1
NO_HIGH = -1
LOW_HALF = 2**32 - 1

# Up to here each pair of rows is looked at.
FEW_ROWS = 6
# Up to here insertion beats the library's sort.
INSERTION_LIMIT = 24
# A class this long is first tried on this many of its rows: a law that does not hold mostly breaks at once.
PROBE = 256
# One step of a comparison sort costs about as much as passing this many entries of the table.
TABLE_STEPS = 2


def uses_table(length: int, a_distinct: int) -> bool:
    """Say whether a class is searched through the table of extremes; longer classes more readily."""
    return length > INSERTION_LIMIT and a_distinct < TABLE_STEPS * length * math.log2(length)


_uses_table = compiled(uses_table)


def sorted_limit(a_distinct: int) -> int:
    """Return a bound on how many points are ever sorted at once.

    A class longer than INSERTION_LIMIT has a logarithm above four, so where it is not searched through the
    table it is shorter than the ranks divided by four table steps.
    """
    return max(PROBE, a_distinct // (4 * TABLE_STEPS))


@compiled
def first_swaps(
    rows: Int32s,
    offsets: Int32s,
    a_column: Ranks,
    b_column: Ranks,
    a_distinct: int,
    lowest: int,
    wanted: int,
    a: Int32s,
    b: Int32s,
    keys: Int64s,
    extremes: Int32s,
    found: Int32s,
) -> None:
    """Look for a swap against each direction until one against the wanted direction is found.

    `found` receives the rows of the first swap against `asc` at 0 and 1 and against `desc` at 2 and 3, -1
    where none was seen; `wanted` is 0 or 2. This is DISTOD's algorithm 7, with its loop condition corrected
    (as printed it stops at the first swap of either kind) and its groups ordered by A (algorithm 8 prints B).
    What is found against one direction does not depend on which one is wanted.

    `a` and `b` have room for the ranks of all `rows`, which are fetched some rows ahead of the class that needs
    them: see `partitions.refine`.
    """
    found[:] = -1
    fetched = 0
    for c in range(offsets.size - 1):
        start = offsets[c]
        end = offsets[c + 1]
        length = end - start
        if length > 4 * PROBE:
            fetched = _fetch(rows, a_column, b_column, a, b, fetched, start + PROBE)
            _search_sorted(rows, start, start + PROBE, a, b, lowest, keys, found)
            if found[wanted] >= 0:
                return
        fetched = _fetch(rows, a_column, b_column, a, b, fetched, end)
        if length <= INSERTION_LIMIT and _is_constant(a, b, start, end):
            continue
        if length <= FEW_ROWS:
            _search_pairs(rows, start, end, a, b, lowest, found)
        elif _uses_table(length, a_distinct):
            _search_table(rows, start, end, a, b, a_distinct, lowest, extremes, found)
        else:
            _search_sorted(rows, start, end, a, b, lowest, keys, found)
        if found[wanted] >= 0:
            return


@inlined
def _fetch(rows: Int32s, a_column: Ranks, b_column: Ranks, a: Int32s, b: Int32s, fetched: int, needed: int) -> int:
    """Fetch ranks until there are as many as needed, and then some; return how many there are."""
    if needed <= fetched:
        return fetched
    until = min(max(needed, fetched + ROWS_AHEAD), rows.size)
    for i in range(fetched, until):
        a[i] = a_column[rows[i]]
        b[i] = b_column[rows[i]]
    return until


@inlined
def _is_constant(a: Int32s, b: Int32s, start: int, end: int) -> bool:
    """Say whether all rows of a class have the same A or the same B: then none are swapped.

    So it is in most classes of a context that almost determines one of them. The loop has no branches.
    """
    a_differs = 0
    b_differs = 0
    for i in range(start + 1, end):
        a_differs |= a[i] ^ a[start]
        b_differs |= b[i] ^ b[start]
    return a_differs == 0 or b_differs == 0


@inlined
def _search_pairs(rows: Int32s, start: int, end: int, a: Int32s, b: Int32s, lowest: int, found: Int32s) -> None:
    """Search a class of few rows pair by pair."""
    for i in range(start, end - 1):
        if a[i] < lowest or b[i] < lowest:
            continue
        for j in range(i + 1, end):
            if a[j] >= lowest and b[j] >= lowest:
                same_way = (np.int64(a[i]) - a[j]) * (np.int64(b[i]) - b[j])
                place = 0 if same_way < 0 else 2
                if same_way != 0 and found[place] < 0:
                    found[place] = rows[i]
                    found[place + 1] = rows[j]


@compiled
def _search_sorted(
    rows: Int32s, start: int, end: int, a: Int32s, b: Int32s, lowest: int, keys: Int64s, found: Int32s
) -> None:
    """Search a class by sorting its points; in each run of one A the first B is the smallest."""
    points = 0
    for i in range(start, end):
        if a[i] >= lowest and b[i] >= lowest:
            keys[points] = (np.int64(a[i]) << 32) | np.int64(b[i])
            points += 1
    _sort(keys, points)
    low = NO_LOW
    high = NO_HIGH
    low_a = 0
    high_a = 0
    first = 0
    while first < points:
        rank = keys[first] >> 32
        last = first
        while last + 1 < points and keys[last + 1] >> 32 == rank:
            last += 1
        group_low = keys[first] & LOW_HALF
        group_high = keys[last] & LOW_HALF
        if found[0] < 0 and group_low < high:
            _name_rows(rows, start, end, a, b, high_a, high, rank, group_low, found, 0)
        if found[2] < 0 and group_high > low:
            _name_rows(rows, start, end, a, b, low_a, low, rank, group_high, found, 2)
        if group_high > high:
            high = group_high
            high_a = rank
        if group_low < low:
            low = group_low
            low_a = rank
        first = last + 1


@compiled
def _search_table(
    rows: Int32s,
    start: int,
    end: int,
    a: Int32s,
    b: Int32s,
    a_distinct: int,
    lowest: int,
    extremes: Int32s,
    found: Int32s,
) -> None:
    """Search a class through the table of extremes: one pass over its rows, one over the ranks of A."""
    for i in range(start, end):
        rank = a[i]
        value = b[i]
        if rank >= lowest and value >= lowest:
            if value < extremes[rank, 0]:
                extremes[rank, 0] = value
            if value > extremes[rank, 1]:
                extremes[rank, 1] = value
    low = NO_LOW
    high = NO_HIGH
    low_a = 0
    high_a = 0
    for rank in range(lowest, a_distinct + 1):
        group_low = int(extremes[rank, 0])
        group_high = int(extremes[rank, 1])
        if group_high == NO_HIGH:
            continue
        extremes[rank, 0] = NO_LOW
        extremes[rank, 1] = NO_HIGH
        if found[0] < 0 and group_low < high:
            _name_rows(rows, start, end, a, b, high_a, high, rank, group_low, found, 0)
        if found[2] < 0 and group_high > low:
            _name_rows(rows, start, end, a, b, low_a, low, rank, group_high, found, 2)
        if group_high > high:
            high = group_high
            high_a = rank
        if group_low < low:
            low = group_low
            low_a = rank


@compiled
def _name_rows(
    rows: Int32s,
    start: int,
    end: int,
    a: Int32s,
    b: Int32s,
    first_a: int,
    first_b: int,
    second_a: int,
    second_b: int,
    found: Int32s,
    place: int,
) -> None:
    """Write the first row of the class at each of two points to `found[place]` and the next place."""
    for i in range(start, end):
        if found[place] < 0 and a[i] == first_a and b[i] == first_b:
            found[place] = rows[i]
        elif found[place + 1] < 0 and a[i] == second_a and b[i] == second_b:
            found[place + 1] = rows[i]


@compiled
def _sort(keys: Int64s, count: int) -> None:
    if count > INSERTION_LIMIT:
        keys[:count].sort()
        return
    for i in range(1, count):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key
