"""Small random tables of columns of several types, which share values where their types can be compared."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

_DAY, _NOON = datetime.date(2024, 2, 28), datetime.datetime(2024, 2, 28, 12)

KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int64(), [-1, 0, 1, 2, 10]),
    "small": (pa.int8(), [0, 1, 2, 3, 10]),
    "decimal": (pa.decimal128(9, 2), [Decimal("0.10"), Decimal(1), Decimal("2.50"), Decimal(10), Decimal(-1)]),
    "float": (pa.float64(), [0.1, 1.0, 2.5, 1e300, float("inf")]),
    "text": (pa.string(), ["", "a", "b", "ä", "10"]),
    "date": (pa.date32(), [_DAY + datetime.timedelta(days) for days in range(5)]),
    "time": (pa.timestamp("us"), [_NOON + datetime.timedelta(0, 0, micros) for micros in range(5)]),
    "zoned": (pa.timestamp("us", "UTC"), [_NOON + datetime.timedelta(hours) for hours in range(5)]),
    "truth": (pa.bool_(), [False, True]),
    "bytes": (pa.binary(), [b"", b"a", b"\xff", b"b", b"a\x00"]),
    "nothing": (pa.int64(), [None]),
}
"""For each kind its type and some values."""


@st.composite
def mixed_tables(draw: st.DrawFn, max_rows: int = 7, max_width: int = 4, **fixed: Any) -> pa.Table:
    """Tables with ties, duplicates, nulls and constants, down to no rows; often of columns that can be compared."""
    rows = draw(st.integers(fixed.get("min_rows", 0), max_rows))
    numbers = ["whole", "small", "decimal", "float"]
    kinds = draw(st.lists(st.sampled_from([*numbers, *numbers, *KINDS]), min_size=1, max_size=max_width))
    columns = {}
    for place, kind in enumerate(kinds):
        type_, values = KINDS[kind]
        cell = st.sampled_from(values[: draw(st.integers(1, len(values)))])
        cells = st.one_of(cell, cell, cell, st.none()) if draw(st.booleans()) else cell
        columns[f"c{place}"] = pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), type_)
    return pa.table(columns)
