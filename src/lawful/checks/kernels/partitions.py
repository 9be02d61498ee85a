"""Loops over stripped partitions: group a column, refine a partition, look for a difference in a class.

A partition is two arrays in CSR form: `rows`, the row ids class by class, and `offsets`, where each class
starts. `lowest` is the smallest rank that counts: 0 keeps null as a value, 1 drops the rows that have it.

Scratch arrays come from the caller. `slots` is zero everywhere on entry and again on return, so that a call
costs what the partition holds and not what the column could.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Ranks
from lawful.common.compiled import compiled

ROWS_AHEAD = 4096
_FEW_ROWS = 16
"""Classes of up to so many rows are split by comparing rows with each other: a counting sort would have to clear its
counters."""


@compiled
def group_column(
    column: Int32s, distinct: int, lowest: int, slots: Int32s, out_rows: Int32s, out_offsets: Int32s
) -> tuple[int, int]:
    """Group all rows by one column with a counting sort; return how many rows and classes were written.

    Classes come in the order of their ranks. This is DISTOD's section 6.2.2 for level 1: the sorted
    partition without its singletons.
    """
    for row in range(column.size):
        slots[column[row]] += 1
    size = 0
    classes = 0
    out_offsets[0] = 0
    for rank in range(distinct + 1):
        members = slots[rank]
        if rank >= lowest and members >= 2:
            slots[rank] = size
            size += members
            classes += 1
            out_offsets[classes] = size
        else:
            slots[rank] = -1
    for row in range(column.size):
        rank = column[row]
        position = slots[rank]
        if position >= 0:
            out_rows[position] = row
            slots[rank] = position + 1
    slots[: distinct + 1] = 0
    return size, classes


@compiled
def refine(
    rows: Int32s,
    offsets: Int32s,
    column: Ranks,
    lowest: int,
    first_only: bool,
    slots: Int32s,
    ranks: Int32s,
    seen: Int32s,
    out_rows: Int32s,
    out_offsets: Int32s,
) -> tuple[int, int]:
    """Split every class by `column`; return how many rows and classes were written.

    The stripped product of DISTOD's section 6.2.2 with a single column as its second factor, which needs
    no class number per row. The parts of a class come in the order of their first rows, their rows
    ascending. With `first_only` the loop ends after the first class that leaves a part.

    Ranks are fetched some rows ahead of the class that needs them: a column may be read all over the place, and
    only a loop that does nothing else keeps many of these reads under way. `seen` and `out_rows` have room for one
    entry more than the result.

    In a class of few rows each row looks for those of its rank, and strikes them out. But most small classes either
    dissolve, because no rank occurs twice, or stay whole, and a loop without branches sees to both: ranks that differ
    in their last six bits differ. It stands here because a call, even one that Numba inlines, counts references
    to all its arrays, which takes longer than the class.
    """
    size = 0
    classes = 0
    fetched = 0
    start = 0
    out_offsets[0] = 0
    for c in range(offsets.size - 1):
        end = int(offsets[c + 1])
        if end > fetched:
            until = min(max(end, fetched + ROWS_AHEAD), rows.size)
            for i in range(fetched, until):
                ranks[i] = column[rows[i]]
            fetched = until
        if end - start > _FEW_ROWS:
            size, classes = _split_by_counting(
                rows, ranks, start, end, lowest, slots, seen, out_rows, out_offsets, size, classes
            )
        else:
            first_rank = ranks[start]
            differs = np.int32(0)
            once = np.uint64(0)
            twice = np.uint64(0)
            for i in range(start, end):
                differs |= ranks[i] ^ first_rank
                bit = np.uint64(1) << np.uint64(ranks[i] & 63)
                twice |= once & bit
                once |= bit
            if differs == 0 and first_rank >= lowest:
                for i in range(start, end):
                    out_rows[size] = rows[i]
                    size += 1
                classes += 1
                out_offsets[classes] = size
            elif differs != 0 and twice != 0:
                for i in range(start, end - 1):
                    rank = ranks[i]
                    if rank < lowest:
                        continue
                    part = size
                    out_rows[size] = rows[i]
                    size += 1
                    for j in range(i + 1, end):
                        if ranks[j] == rank:
                            ranks[j] = -1
                            out_rows[size] = rows[j]
                            size += 1
                    if size == part + 1:
                        size = part
                    else:
                        classes += 1
                        out_offsets[classes] = size
        if first_only and classes > 0:
            break
        start = end
    return size, classes


@compiled
def _split_by_counting(
    rows: Int32s,
    ranks: Int32s,
    start: int,
    end: int,
    lowest: int,
    slots: Int32s,
    seen: Int32s,
    out_rows: Int32s,
    out_offsets: Int32s,
    size: int,
    classes: int,
) -> tuple[int, int]:
    """Split a class by a counting sort over the ranks that it has.

    Which ranks occur once cannot be foreseen, so no branch depends on it: their rows are written to the last place
    of `out_rows`, which is not part of the result.
    """
    parts = 0
    aside = out_rows.size - 1
    for i in range(start, end):
        rank = ranks[i]
        if rank >= lowest:
            seen[parts] = rank
            parts += slots[rank] == 0
            slots[rank] += 1
    for p in range(parts):
        members = slots[seen[p]]
        stays = members >= 2
        slots[seen[p]] = size if stays else aside
        size += members if stays else 0
        classes += stays
        out_offsets[classes] = size
    for i in range(start, end):
        rank = ranks[i]
        if rank >= lowest:
            position = slots[rank]
            out_rows[position] = rows[i]
            slots[rank] = position + 1
    for p in range(parts):
        slots[seen[p]] = 0
    return size, classes


@compiled
def arrange(rows: Int32s, column: Ranks, arranged: Ranks) -> None:
    """Write the ranks of some rows, one after the other."""
    for i in range(rows.size):
        arranged[i] = column[rows[i]]


@compiled
def label_rows(rows: Int32s, offsets: Int32s, labels: Int32s) -> None:
    """Give each row of class `c` the label `c + 1`; rows in no class keep theirs."""
    for c in range(offsets.size - 1):
        for i in range(offsets[c], offsets[c + 1]):
            labels[rows[i]] = c + 1


@compiled
def first_difference(rows: Int32s, offsets: Int32s, column: Ranks, lowest: int) -> tuple[int, int]:
    """Return the first two rows of a class that differ in `column`, or (-1, -1).

    The refinement test of DISTOD's section 6.3.1, but by looking at the rows instead of comparing the
    errors of two partitions: it needs no second partition, stops early and names the witness.
    """
    for c in range(offsets.size - 1):
        end = offsets[c + 1]
        i = offsets[c]
        while i < end and column[rows[i]] < lowest:
            i += 1
        if i < end:
            reference = rows[i]
            rank = column[reference]
            for j in range(i + 1, end):
                other = column[rows[j]]
                if other != rank and other >= lowest:
                    return int(reference), int(rows[j])
    return -1, -1
