"""Tables to discover laws on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def table(rows: int = 400, width: int = 7, seed: int = 3) -> pa.Table:
    """Columns of few to many values, one that another determines, one with nulls, and one row twice."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"c{place}": random.integers(0, 2 + 3 * place, rows) for place in range(width)}
    columns["half"] = columns["c4"] // 2
    columns["gaps"] = pa.array(columns["c3"], mask=columns["c1"] == 0)
    once = pa.table(columns)
    return pa.concat_tables([once, once.slice(0, 1)])


TABLE = table()


def slow_table(rows: int = 60_000) -> pa.Table:
    """A constant and twins, which are found at once, beside columns that take a while."""
    random = np.random.default_rng(1)
    columns: dict[str, Any] = {f"c{place}": random.integers(0, 4 + 7 * place, rows) for place in range(12)}
    return pa.table({**columns, "twin": columns["c11"] * 2, "constant": np.zeros(rows)})
