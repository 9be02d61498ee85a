"""Whether the numbers of two columns are of like size: one mean is at least some share of the other.

Which constraints are searched for depends on it, so it is decided exactly. Floats mostly suffice, for it is known how
far off they can be; where they do not, the decimals that the values are written as are added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from lawful.tables.encoded_table import EncodedTable
from lawful.tables.exact_sums import finite_sum, floats_of

_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""The share of the sum of all sizes by which reading, multiplying and adding in pairs can be off, per doubling."""


@dataclass(frozen=True)
class Mean:
    """The mean of some numbers: nearly, how far from it that may be, and exactly when somebody asks.

    Infinities do not count, nor do numbers beyond the range of floats, and what is nearer to 0 than any float is 0.
    """

    near: float
    margin: float
    count: Callable[[], Fraction]

    @cached_property
    def exact(self) -> Fraction:
        """The mean of the numbers as they are written; a float is what its shortest text says."""
        return self.count()

    @staticmethod
    def of(table: EncodedTable, column: int) -> Mean:
        """The mean of a column's numbers over all rows."""
        values = table.values(column)
        numbers = floats_of(values)
        rows = np.bincount(table.column(column), minlength=len(numbers) + 1)[1:].astype(np.int64)
        is_finite = np.isfinite(numbers)
        total = int(rows[is_finite].sum())
        if total == 0:
            return Mean(0.0, 0.0, Fraction)
        with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond all floats is left to exact arithmetic
            weighted = numbers[is_finite] * rows[is_finite]
            near = float(weighted.sum()) / total
            margin = float(np.abs(weighted).sum()) / total * _ROUNDING * (2 + len(weighted).bit_length())
        return Mean(near, margin, lambda: Fraction(finite_sum(values, rows)[1]) / total)

    @staticmethod
    def known(exact: Fraction) -> Mean:
        """A mean that is known exactly."""
        return Mean(0.0, math.inf, lambda: exact)


def are_alike(one: Mean, other: Mean, least_ratio: float) -> bool:
    """Whether two means have no different signs, and the one nearer to 0 is at least this share of the other."""
    smaller, larger = sorted((one, other), key=lambda mean: abs(mean.near))
    far = abs(larger.near) - larger.margin
    if far > 0 and abs(smaller.near) + smaller.margin < least_ratio * far * (1 - _ROUNDING):
        return False
    sure = min(abs(mean.near) - mean.margin for mean in (one, other)) > 0  # so that both signs are known
    farthest = least_ratio * (abs(larger.near) + larger.margin) * (1 + _ROUNDING)
    if sure and abs(smaller.near) - smaller.margin > farthest:
        return (one.near > 0) == (other.near > 0)
    a, b = one.exact, other.exact
    return a * b >= 0 and min(abs(a), abs(b)) >= Fraction(str(least_ratio)) * max(abs(a), abs(b))
