"""Sums of numbers as they are written, without rounding: a float is what its shortest text says."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.arrays import Int64s
from lawful.tables.arrow_functions import as_arrow, as_numpy, pc
from lawful.tables.ranking import typed_to_text

_EXACTLY = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation])
"""Sums and products take as many digits as they have."""


def floats_of(values: pa.Array) -> npt.NDArray[np.float64]:
    """The float that is nearest to each number."""
    try:
        return np.asarray(as_numpy(pc.cast(values, pa.float64(), safe=False)))
    except pa.ArrowInvalid:  # spellings that only Python reads
        return np.array([float(text) for text in typed_to_text(values).to_pylist()])


def exact_sum(values: pa.Array, rows: Int64s, added: Decimal = Decimal(0)) -> Decimal:
    """The sum of numbers, each times its rows, and of what was added before."""
    for text, times in zip(typed_to_text(values).to_pylist(), rows.tolist(), strict=True):
        added = _EXACTLY.fma(Decimal(text.strip()), Decimal(times), added)
    return added


def finite_sum(values: pa.Array, rows: Int64s, added: Decimal = Decimal(0)) -> tuple[int, Decimal]:
    """The rows whose numbers count, and the sum of these and of what was added before.

    Numbers beyond the range of floats do not count, and what is nearer to 0 than any float is 0.
    """
    numbers = floats_of(values)
    is_finite = np.isfinite(numbers)
    counted = np.flatnonzero(is_finite & (numbers != 0))
    return int(rows[is_finite].sum()), exact_sum(values.take(as_arrow(counted)), rows[counted], added)
