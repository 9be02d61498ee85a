"""Tables that make single phases of a search long: wide ones, and ones with very many kinds of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa


def entities(rows: int = 28_000, columns: int = 137, seed: int = 0) -> pa.Table:
    """A key, and groups of columns that follow an entity: few and many values, some wrong, some missing."""
    random = np.random.default_rng(seed)
    made: dict[str, Any] = {"id": random.permutation(rows)}
    while len(made) < columns:
        group, count = len(made), int(rows ** random.uniform(0.3, 0.98))
        entity = random.integers(0, count, rows)
        made[f"e{group}"] = entity
        for part in range(int(random.integers(3, 9))):
            values = int(random.choice([2, 5, 20, 200, count // 2 + 2, count]))
            column = random.integers(0, values, count)[entity].astype(float)
            if random.random() < 0.3:
                wrong = random.random(rows) < 0.01
                column[wrong] = random.integers(0, values, int(wrong.sum()))
            if random.random() < 0.3:
                column[random.random(rows) < random.choice([0.05, 0.5, 0.9])] = np.nan
            made[f"e{group}_{part}"] = column
    return pa.table({name: pa.array(made[name], from_pandas=True) for name in list(made)[:columns]})


def measurements(rows: int = 20_000, columns: int = 13, seed: int = 0) -> pa.Table:
    """Numbers of few and many values that compare with each other: nearly every pair of rows is of its own kind."""
    random = np.random.default_rng(seed)
    common = random.normal(size=(rows, 3))
    made = {}
    for place in range(columns):
        own = random.normal(size=rows) * random.choice([0.05, 0.5, 1.0])
        value = common @ random.normal(size=3) * random.choice([0, 1]) + own
        kinds = (value * 1e4, np.clip(value * 2, -4, 4), value * 50, value > 1)
        made[f"c{place}"] = kinds[place % 4].astype(int)
    return pa.table(made)


def events(rows: int = 24_000, columns: int = 26, seed: int = 5) -> pa.Table:
    """A time, columns that mostly grow with it, and columns of any order."""
    random = np.random.default_rng(seed)
    time = np.sort(random.integers(0, rows // 3, rows))
    made = {"id": np.arange(rows), "time": time}
    for place in range(columns - 2):
        values = int(random.choice([2, 3, 8, 30, 300, 3000]))
        column = random.integers(0, values, rows)
        if place % 3 == 0:
            column = np.where(random.random(rows) < 0.01, column, time * values // rows)
        made[f"c{place}"] = column
    return pa.table(made)


TABLES: dict[str, Callable[[], pa.Table]] = {"entities": entities, "measurements": measurements, "events": events}
