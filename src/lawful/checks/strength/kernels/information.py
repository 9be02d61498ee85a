"""The loop that sums what two columns would tell about each other if one of them were shuffled."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from lawful.common.arrays import Int64s
from lawful.common.compiled import compiled


@compiled
def expected_information(
    left_sizes: Int64s, left_counts: Int64s, right_sizes: Int64s, right_counts: Int64s, rows: int
) -> float:
    """The mean mutual information of two columns over all permutations of one, in nats.

    Values with equally many rows are taken together: `left_counts[i]` values have `left_sizes[i]` rows each. How many
    rows have both values of a pair is hypergeometric (Vinh, Epps and Bailey, JMLR 2010, section 3.2).
    """
    n = float(rows)
    total = 0.0
    for i in range(left_sizes.size):
        a = left_sizes[i]
        for j in range(right_sizes.size):
            b = right_sizes[j]
            fixed = (
                math.lgamma(a + 1.0)
                + math.lgamma(b + 1.0)
                + math.lgamma(n - a + 1.0)
                + math.lgamma(n - b + 1.0)
                - math.lgamma(n + 1.0)
            )
            mean = 0.0
            for k in range(max(1, a + b - rows), min(a, b) + 1):
                log_chance = fixed - (
                    math.lgamma(k + 1.0)
                    + math.lgamma(a - k + 1.0)
                    + math.lgamma(b - k + 1.0)
                    + math.lgamma(n - a - b + k + 1.0)
                )
                mean += k / n * math.log(n * k / (float(a) * b)) * math.exp(log_chance)
            total += mean * left_counts[i] * right_counts[j]
    return total
