"""Small tables of many columns, and all their minimal keys by looking at all pairs of rows and all sets of columns."""

from __future__ import annotations

import numpy as np
from checks.tables import ArrayTable, ranked

from lawful.common.meanings import NullPolicy
from lawful.dependencies import Key


def narrow_table(seed: int, width: int, most_rows: int = 30) -> ArrayTable:
    """Random columns of few values each, some with nulls; some follow from another one, and some rows may be equal."""
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(2, most_rows + 1))
    columns: list[np.ndarray] = []
    for _ in range(width):
        if columns and chance.random() < 0.3:
            source = columns[int(chance.integers(len(columns)))]
            column = chance.integers(chance.integers(2), 4, source.max() + 1)[source]
        else:
            column = chance.integers(chance.integers(2), chance.integers(2, 7), rows)
        columns.append(ranked(column.tolist()))
    return ArrayTable(columns)


def brute_keys(table: ArrayTable, policy: NullPolicy, largest: int | None) -> set[Key]:
    """Every minimal set of columns, of at most so many, on which no two rows agree."""
    lowest = 1 if policy is NullPolicy.IGNORE else 0
    rows = table.as_rows()
    agree = {
        sum(1 << c for c, (a, b) in enumerate(zip(one, other, strict=True)) if a == b and a >= lowest)
        for place, one in enumerate(rows)
        for other in rows[:place]
    }
    found: list[int] = []
    for columns in sorted(range(1 << table.width), key=int.bit_count):
        if largest is not None and columns.bit_count() > largest:
            break
        is_key = all(columns & ~both for both in agree)
        if is_key and not any(smaller & ~columns == 0 for smaller in found):
            found.append(columns)
    return {Key(tuple(c for c in range(table.width) if columns >> c & 1)) for columns in found}
