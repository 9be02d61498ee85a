"""The loop that counts what an order within classes is tested by and what it loses, ties included."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from lawful.checks.kernels.violations import count_inversions, longest_non_decreasing, mark_inverted
from lawful.common.arrays import Flags, Int32s
from lawful.common.compiled import compiled


@compiled
def count_orders(
    rows: Int32s, labels: Int32s, a: Int32s, b: Int32s, values: Int32s, spare: Int32s, swapped: Flags
) -> tuple[int, int, int, int, float, float]:
    """Mark the rows that take part in a swap, and count how the order of `a` and `b` fares within the classes.

    `rows` come sorted by class, then A, then B. Returns the pairs that differ in both columns, the swaps, the fewest
    rows to remove, the chances to fail, the logarithm of the share of all arrangements of B within the classes that
    have no swap (as it is where the table has none), and the variance of (concordant pairs - swaps) over all
    arrangements (Kendall, "Rank correlation methods", with ties in both rankings).
    """
    tested = 0
    swaps = 0
    removals = 0
    chances = 0
    log_share = 0.0
    variance = 0.0
    start = 0
    while start < rows.size:
        end = start
        while end < rows.size and labels[rows[end]] == labels[rows[start]]:
            values[end] = b[rows[end]]
            end += 1
        mark_inverted(rows, start, end, values, swapped)
        size = end - start
        both, log_both, distinct = _ties_in_both(rows, start, end, a, values)
        for i in range(start, end):
            spare[i - start] = a[rows[i]]
        ties_a = _ties(spare, 0, size)
        removals += size - longest_non_decreasing(values, start, end, spare)
        swaps += count_inversions(values, start, end, spare)
        ties_b = _ties(values, start, end)
        tested += size * (size - 1) // 2 - ties_a[0] - ties_b[0] + both
        chances += min(distinct - 1, size - max(ties_a[1], ties_b[1]))
        log_share += ties_a[2] + ties_b[2] - math.lgamma(size + 1.0) - log_both
        variance += _variance(size, ties_a, ties_b)
        start = end
    return tested, swaps, removals, chances, log_share, variance


@compiled
def _ties(values: Int32s, start: int, end: int) -> tuple[int, int, float, float, float, float]:
    """Of sorted values: tied pairs, the longest run, and sums over runs: log t!, t(t-1)(2t+5), t(t-1)(t-2), t(t-1)."""
    pairs = 0
    longest = 0
    log_orders = 0.0
    first = 0.0
    second = 0.0
    third = 0.0
    i = start
    while i < end:
        j = i
        while j < end and values[j] == values[i]:
            j += 1
        run = j - i
        t = float(run)
        pairs += run * (run - 1) // 2
        longest = max(longest, run)
        log_orders += math.lgamma(t + 1.0)
        first += t * (t - 1.0) * (2.0 * t + 5.0)
        second += t * (t - 1.0) * (t - 2.0)
        third += t * (t - 1.0)
        i = j
    return pairs, longest, log_orders, first, second, third


@compiled
def _ties_in_both(rows: Int32s, start: int, end: int, a: Int32s, values: Int32s) -> tuple[int, float, int]:
    """The pairs that are tied in A and in B, the sum of log t! over the runs of such rows, and the number of runs."""
    pairs = 0
    runs = 0
    log_orders = 0.0
    i = start
    while i < end:
        j = i
        while j < end and values[j] == values[i] and a[rows[j]] == a[rows[i]]:
            j += 1
        pairs += (j - i) * (j - i - 1) // 2
        log_orders += math.lgamma(j - i + 1.0)
        runs += 1
        i = j
    return pairs, log_orders, runs


@compiled
def _variance(
    size: int,
    ties_a: tuple[int, int, float, float, float, float],
    ties_b: tuple[int, int, float, float, float, float],
) -> float:
    n = float(size)
    if size < 2:
        return 0.0
    found = (n * (n - 1.0) * (2.0 * n + 5.0) - ties_a[3] - ties_b[3]) / 18.0
    found += ties_a[5] * ties_b[5] / (2.0 * n * (n - 1.0))
    if size > 2:
        found += ties_a[4] * ties_b[4] / (9.0 * n * (n - 1.0) * (n - 2.0))
    return found
