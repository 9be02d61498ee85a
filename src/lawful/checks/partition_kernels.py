"""Loops over stripped partitions: group a column, refine a partition, look for a difference in a class.

A partition is two arrays in CSR form: `rows`, the row ids class by class, and `offsets`, where each class
starts. `lowest` is the smallest rank that counts: 0 keeps null as a value, 1 drops the rows that have it.

Scratch arrays come from the caller. `slots` is zero everywhere on entry and again on return, so that a call
costs what the partition holds and not what the column could.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from numba import njit

from lawful.checks.ranked_table import Int32s, Ranks

ROWS_AHEAD = 4096
_FEW_ROWS = 16
"""Up to here rows are compared with each other; counting them would have to clean up after itself."""


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
    no class numbers a row. The parts of a class come in the order of their first rows, their rows
    ascending. With `first_only` the loop ends after the first class that leaves a part.

    Ranks are fetched some rows ahead of the class that needs them: the column is read all over the place, and
    only a loop that does nothing else keeps many of these reads under way.
    """
    size = 0
    classes = 0
    fetched = 0
    out_offsets[0] = 0
    for c in range(offsets.size - 1):
        start = offsets[c]
        end = offsets[c + 1]
        if end > fetched:
            until = min(max(end, fetched + ROWS_AHEAD), rows.size)
            for i in range(fetched, until):
                ranks[i] = column[rows[i]]
            fetched = until
        if end - start == 2:
            # Most classes of a fine partition have two rows: nothing to count.
            rank = ranks[start]
            if rank >= lowest and rank == ranks[start + 1]:
                out_rows[size] = rows[start]
                out_rows[size + 1] = rows[start + 1]
                size += 2
                classes += 1
                out_offsets[classes] = size
        elif end - start <= _FEW_ROWS:
            size, classes = _split_by_comparing(rows, ranks, start, end, lowest, out_rows, out_offsets, size, classes)
        else:
            size, classes = _split_by_counting(
                rows, ranks, start, end, lowest, slots, seen, out_rows, out_offsets, size, classes
            )
        if first_only and classes > 0:
            break
    return size, classes


@njit(cache=True, nogil=True, inline="always")
def _split_by_comparing(
    rows: Int32s,
    ranks: Int32s,
    start: int,
    end: int,
    lowest: int,
    out_rows: Int32s,
    out_offsets: Int32s,
    size: int,
    classes: int,
) -> tuple[int, int]:
    """Split a class of few rows: each row looks for those of its rank, and strikes them out."""
    for i in range(start, end):
        rank = ranks[i]
        if rank < lowest:
            continue
        first = size
        for j in range(i + 1, end):
            if ranks[j] == rank:
                ranks[j] = -1
                if size == first:
                    out_rows[size] = rows[i]
                    size += 1
                out_rows[size] = rows[j]
                size += 1
        if size > first:
            classes += 1
            out_offsets[classes] = size
    return size, classes


@njit(cache=True, nogil=True)
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
    """Split a class by a counting sort over the ranks that it has."""
    parts = 0
    for i in range(start, end):
        rank = ranks[i]
        if rank >= lowest:
            if slots[rank] == 0:
                seen[parts] = rank
                parts += 1
            slots[rank] += 1
    for p in range(parts):
        members = slots[seen[p]]
        if members >= 2:
            slots[seen[p]] = size
            size += members
            classes += 1
            out_offsets[classes] = size
        else:
            slots[seen[p]] = -1
    for i in range(start, end):
        rank = ranks[i]
        if rank >= lowest:
            position = slots[rank]
            if position >= 0:
                out_rows[position] = rows[i]
                slots[rank] = position + 1
    for p in range(parts):
        slots[seen[p]] = 0
    return size, classes


@njit(cache=True, nogil=True)
def label_rows(rows: Int32s, offsets: Int32s, labels: Int32s) -> None:
    """Give each row of class `c` the label `c + 1`; rows in no class keep theirs."""
    for c in range(offsets.size - 1):
        for i in range(offsets[c], offsets[c + 1]):
            labels[rows[i]] = c + 1


@njit(cache=True, nogil=True)
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
