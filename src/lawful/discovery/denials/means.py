"""Whether the numbers of two columns are of like size: one mean is at least some share of the other.

Which constraints are searched for depends on it, so it is decided exactly. Floats mostly suffice, for it is known how
far off they can be; where they do not, the decimals that the values are written as are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.arrays import Int64s
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranking import typed_to_text

_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""The share of the sum of all sizes by which reading, multiplying and adding in pairs can be off, per doubling."""
_DIGITS_OF_FLOATS = 700
"""From the largest float to the smallest, in decimal places."""


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
        numbers = _floats(values)
        rows = np.bincount(table.column(column), minlength=len(numbers) + 1)[1:].astype(np.int64)
        is_finite = np.isfinite(numbers)
        total = int(rows[is_finite].sum())
        if total == 0:
            return Mean(0.0, 0.0, Fraction)
        with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond all floats is left to exact arithmetic
            weighted = numbers[is_finite] * rows[is_finite]
            near = float(weighted.sum()) / total
            margin = float(np.abs(weighted).sum()) / total * _ROUNDING * (2 + len(weighted).bit_length())
        counted = np.flatnonzero(is_finite & (numbers != 0))
        return Mean(near, margin, lambda: _exact(values.take(pa.array(counted)), rows[counted], total))


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


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(pc.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:  # spellings that only Python reads
        return np.array([float(text) for text in typed_to_text(values).to_pylist()])


def _exact(values: pa.Array, rows: Int64s, total: int) -> Fraction:
    """The sum of values, each times its rows, divided by the number of all rows."""
    texts = typed_to_text(values).to_pylist()
    digits = max(map(len, texts), default=1) + _DIGITS_OF_FLOATS + total.bit_length()
    arithmetic = Context(prec=digits, traps=[Inexact, InvalidOperation])
    added = Decimal(0)
    for text, times in zip(texts, rows.tolist(), strict=True):
        added = arithmetic.fma(Decimal(text.strip()), Decimal(times), added)
    return Fraction(added) / total
