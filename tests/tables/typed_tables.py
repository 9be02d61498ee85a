"""Random typed Arrow tables, and the ranks that their columns have."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tables.text_oracle import dense_ranks

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))
_few = st.integers(-3, 3)
_any_float = st.floats(allow_nan=True, allow_infinity=True)
_floats = st.one_of(st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, 0.1, 5e-324]), _any_float)
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=3) | st.sampled_from(
    ["", "a", "A", "\ufffd", "\U0001f600", "e\u0301", "\u00e9", "\x00"]
)

SPARK_TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.int32(), _few | st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), _few | st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), st.sampled_from([0.0, -0.0, math.nan, math.inf, 0.5, -2.0]) | st.floats(width=32)),
    (pa.float64(), _floats),
    (pa.decimal128(5, 2), st.integers(-99999, 99999).map(lambda cents: Decimal(cents).scaleb(-2))),
    (pa.decimal128(38, 0), st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal)),
    (pa.date32(), st.dates(date(1, 1, 1)) | st.dates(date(2020, 1, 1), date(2020, 1, 3))),
    (pa.timestamp("us", "UTC"), _moments.map(lambda moment: moment.replace(tzinfo=UTC))),
    (pa.timestamp("us"), _moments),
    (pa.bool_(), st.booleans()),
    (pa.string(), _texts),
    (pa.binary(), st.binary(max_size=3)),
]
"""Types that Parquet and Spark both have."""

OTHER_TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.uint64(), st.integers(0, 3) | st.integers(0, 2**64 - 1)),
    (pa.uint8(), st.integers(0, 255)),
    (pa.decimal256(60, 3), st.integers(-(10**50), 10**50).map(lambda number: Decimal(f"{number}e-3"))),
    # Older Arrows have no decimals of this width.
    (
        getattr(pa, "decimal64", pa.decimal128)(9, 1),
        st.integers(-99, 99).map(lambda tenths: Decimal(tenths).scaleb(-1)),
    ),
    (pa.timestamp("ns", "Europe/Zurich"), st.integers(-(10**18), 10**18)),
    (pa.timestamp("s"), _few),
    (pa.time64("ns"), st.integers(0, 10**9)),
    (pa.duration("us"), st.builds(timedelta, microseconds=_few)),
    (pa.large_string(), _texts),
    (pa.string_view(), _texts),
    (pa.large_binary(), st.binary(max_size=3)),
    (pa.binary(2), st.binary(min_size=2, max_size=2)),
    (pa.null(), st.none()),
]

_ROWS = st.integers(0, 9)


@st.composite
def typed_tables(draw: st.DrawFn, types: list[tuple[pa.DataType, st.SearchStrategy[Any]]]) -> pa.Table:
    """A table with two columns of every type, one of them with nulls, and cut into chunks."""
    rows = draw(_ROWS)
    columns = {}
    for position, (type_, values) in enumerate(types):
        for nullable in (False, True):
            cells = draw(st.lists(st.none() | values if nullable else values, min_size=rows, max_size=rows))
            columns[f"{position} {type_} {nullable}"] = pa.array(cells, type_)
    table = pa.table(columns)
    cut = draw(st.integers(0, rows))
    return pa.concat_tables([table.slice(0, cut), table.slice(cut)]) if draw(st.booleans()) else table


def expected_ranks(column: pa.ChunkedArray) -> list[int]:
    """Dense ranks by Python's own comparison; NaN is null, and -0.0 equals 0.0 there too."""
    if pa.types.is_timestamp(column.type) or pa.types.is_time(column.type):
        return dense_ranks(column.cast(pa.int64()).to_pylist())  # Python has no nanoseconds
    cells = column.to_pylist()
    return dense_ranks([None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells])
