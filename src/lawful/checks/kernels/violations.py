"""Loops that collect all violations of a law and measure them."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.common.arrays import Flags, Int32s
from lawful.common.compiled import compiled


@compiled
def collect_splits(
    rows: Int32s,
    offsets: Int32s,
    column: Int32s,
    lowest: int,
    slots: Int32s,
    seen: Int32s,
    out_rows: Int32s,
    out_offsets: Int32s,
) -> tuple[int, int, int, int]:
    """Collect the classes with more than one rank in `column`.

    Returns the number of rows and of classes written, the number of unordered pairs that differ within a
    class, and the fewest rows to remove: in each class all but its largest part.
    """
    size = 0
    classes = 0
    pairs = 0
    removals = 0
    out_offsets[0] = 0
    for c in range(offsets.size - 1):
        parts = 0
        members = 0
        for i in range(offsets[c], offsets[c + 1]):
            rank = column[rows[i]]
            if rank >= lowest:
                out_rows[size + members] = rows[i]
                members += 1
                if slots[rank] == 0:
                    seen[parts] = rank
                    parts += 1
                slots[rank] += 1
        agreeing = 0
        largest = 0
        for p in range(parts):
            part = int(slots[seen[p]])
            agreeing += part * part
            largest = max(largest, part)
            slots[seen[p]] = 0
        if parts > 1:
            size += members
            classes += 1
            out_offsets[classes] = size
            pairs += (members * members - agreeing) // 2
            removals += members - largest
    return size, classes, pairs, removals


@compiled
def sort_rows(rows: Int32s, ranks: Int32s, highest: int, slots: Int32s, out: Int32s) -> None:
    """Sort rows by their ranks with a stable counting sort; `slots` is zero on entry and on return."""
    for i in range(rows.size):
        slots[ranks[rows[i]]] += 1
    position = 0
    for rank in range(highest + 1):
        members = slots[rank]
        slots[rank] = position
        position += members
    for i in range(rows.size):
        rank = ranks[rows[i]]
        out[slots[rank]] = rows[i]
        slots[rank] += 1
    slots[: highest + 1] = 0


@compiled
def measure_swaps(
    rows: Int32s, labels: Int32s, b: Int32s, values: Int32s, spare: Int32s, swapped: Flags
) -> tuple[int, int]:
    """Mark the rows that take part in a swap; return the number of swaps and the fewest rows to remove.

    `rows` come sorted by class, then A, then B. So within a class a later row has either the same A and a B
    not below, or a larger A: swaps are exactly the strict inversions of B.
    """
    swaps = 0
    removals = 0
    start = 0
    while start < rows.size:
        end = start
        while end < rows.size and labels[rows[end]] == labels[rows[start]]:
            values[end] = b[rows[end]]
            end += 1
        mark_inverted(rows, start, end, values, swapped)
        # The tails of the subsequences fit into the spare array, and so does the merge that follows.
        removals += end - start - longest_non_decreasing(values, start, end, spare)
        swaps += count_inversions(values, start, end, spare)
        start = end
    return swaps, removals


@compiled
def mark_inverted(rows: Int32s, start: int, end: int, values: Int32s, swapped: Flags) -> None:
    """Mark every row with a larger value before it or a smaller one after it."""
    largest = values[start]
    for i in range(start, end):
        largest = max(largest, values[i])
        if values[i] < largest:
            swapped[rows[i]] = True
    smallest = values[end - 1]
    for i in range(end - 1, start - 1, -1):
        smallest = min(smallest, values[i])
        if values[i] > smallest:
            swapped[rows[i]] = True


@compiled
def longest_non_decreasing(values: Int32s, start: int, end: int, tails: Int32s) -> int:
    """Return the length of the longest non-decreasing subsequence.

    `tails[k]` is the smallest value that ends one of length k + 1.
    """
    length = 0
    for i in range(start, end):
        value = values[i]
        low = 0
        high = length
        while low < high:
            middle = (low + high) // 2
            if tails[middle] <= value:
                low = middle + 1
            else:
                high = middle
        tails[low] = value
        if low == length:
            length += 1
    return length


@compiled
def count_inversions(values: Int32s, start: int, end: int, spare: Int32s) -> int:
    """Count the pairs in which the earlier value is larger, merging runs bottom up; sorts `values`."""
    inversions = 0
    width = 1
    while width < end - start:
        for left in range(start, end - width, 2 * width):
            middle = left + width
            right = min(middle + width, end)
            if values[middle - 1] <= values[middle]:
                continue
            i = left
            j = middle
            for k in range(right - left):
                if j == right or (i < middle and values[i] <= values[j]):
                    spare[k] = values[i]
                    i += 1
                else:
                    spare[k] = values[j]
                    j += 1
                    inversions += middle - i
            for k in range(right - left):
                values[left + k] = spare[k]
        width *= 2
    return inversions


@compiled
def keep_marked(rows: Int32s, offsets: Int32s, marked: Flags, out_rows: Int32s, out_offsets: Int32s) -> tuple[int, int]:
    """Copy the marked rows class by class, without empty classes; return rows and classes written."""
    size = 0
    classes = 0
    out_offsets[0] = 0
    for c in range(offsets.size - 1):
        for i in range(offsets[c], offsets[c + 1]):
            if marked[rows[i]]:
                out_rows[size] = rows[i]
                size += 1
        if size > out_offsets[classes]:
            classes += 1
            out_offsets[classes] = size
    return size, classes
