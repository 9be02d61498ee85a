"""The loop that finds a longest chain of rows in order within each class, and who of the others it is against."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled, inlined


@compiled
def vote_by_order(
    rows: Int32s,
    labels: Int32s,
    a: Int32s,
    b: Int32s,
    tails: Int32s,
    before: Int32s,
    chain: Int32s,
    others: Int32s,
    rival: Int32s,
) -> None:
    """Write for each row how many of the chain of its class differ from it in both columns, and how many are swapped.

    `rows` come sorted by class, then A, then B, so a longest non-decreasing subsequence of B has no swap. It is sorted
    by both columns: what is swapped with a row stands in two stretches of it, found by halving. `tails`, `before` and
    `chain` have room for all rows.
    """
    start = 0
    while start < rows.size:
        end = start
        while end < rows.size and labels[rows[end]] == labels[rows[start]]:
            end += 1
        length = _longest_chain(rows, b, start, end, tails, before, chain)
        for i in range(start, end):
            row = rows[i]
            a_low = _first(chain, a, length, a[row])
            a_high = _first(chain, a, length, a[row] + 1)
            b_low = _first(chain, b, length, b[row])
            b_high = _first(chain, b, length, b[row] + 1)
            alike_in_both = max(0, min(a_high, b_high) - max(a_low, b_low))
            others[row] = length - (a_high - a_low) - (b_high - b_low) + alike_in_both
            rival[row] = max(0, a_low - b_high) + max(0, b_low - a_high)
        start = end


@inlined
def _longest_chain(rows: Int32s, b: Int32s, start: int, end: int, tails: Int32s, before: Int32s, chain: Int32s) -> int:
    """Write the rows of a longest non-decreasing subsequence of B into `chain`; return how many there are."""
    length = 0
    for i in range(start, end):
        value = b[rows[i]]
        low = 0
        high = length
        while low < high:
            middle = (low + high) // 2
            if b[rows[tails[middle]]] <= value:
                low = middle + 1
            else:
                high = middle
        before[i] = tails[low - 1] if low > 0 else -1
        tails[low] = i
        length = max(length, low + 1)
    place = tails[length - 1]
    for k in range(length - 1, -1, -1):
        chain[k] = rows[place]
        place = before[place]
    return length


@inlined
def _first(chain: Int32s, column: Int32s, length: int, value: int) -> int:
    """The first place of a sorted chain with at least a value."""
    low = 0
    high = length
    while low < high:
        middle = (low + high) // 2
        if column[chain[middle]] < value:
            low = middle + 1
        else:
            high = middle
    return low
