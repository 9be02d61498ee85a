"""Generated tables with pointwise order dependencies."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_SEED = 17
_STATES = 50
_SALARIES = 20_000
_RETURNS_A_DAY = 40
_LETTER_VALUES = 16


def tax_returns(rows: int, first: int = 0) -> pa.Table:
    """Tax returns as in the example of IncPOD: dates rise with serial numbers, rates with the salaries of a state.

    `first` is the number of the first row; tables with other first rows have other chances and the same laws.
    """
    chance = np.random.default_rng((_SEED, first))
    number = np.arange(first, first + rows, dtype=np.int32)
    state = chance.integers(0, _STATES, rows, dtype=np.int32)
    salary = chance.integers(0, _SALARIES, rows, dtype=np.int32)
    return pa.table(
        {
            "number": number,
            "date": number // _RETURNS_A_DAY,
            "state": state,
            "salary": salary,
            "rate": salary // 1_000 + state * 7 % 11,
            "exemption": chance.integers(0, 3_000, rows, dtype=np.int32),
        }
    )


def letters(rows: int, columns: int) -> pa.Table:
    """Small whole numbers that lean on one common number, as the measures of a letter do; no law is planted."""
    chance = np.random.default_rng(_SEED)
    size = chance.normal(0, 1, rows)
    made = {}
    for column in range(columns):
        lean = 0.9 * np.cos(column)
        value = 7.5 + 2.2 * (lean * size + np.sqrt(1 - lean * lean) * chance.normal(0, 1, rows))
        made[f"c{column}"] = np.clip(np.rint(value), 0, _LETTER_VALUES - 1).astype(np.int32)
    return pa.table(made)
