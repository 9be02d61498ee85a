"""Columns ranked together, and constants placed among the values of a column."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import UsageError
from lawful.dependencies import Constant
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shared_ranks import constant_place, shared_ranks

INTEGERS = st.integers(-5, 5)
DECIMALS = st.integers(-50, 50).map(lambda tenths: Decimal(tenths).scaleb(-1))
FLOATS = st.integers(-50, 50).map(lambda tenths: tenths / 10)
DATES = st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 6))
TEXTS = st.text("abä€", max_size=2)
BOOLEANS = st.booleans()


def columns_of(*kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    return st.lists(st.tuples(*(st.one_of(st.none(), kind) for kind in kinds)), max_size=8)


def encoded(rows: list[tuple[Any, ...]], types: list[pa.DataType]) -> EncodedTable:
    columns = [pa.array([row[i] for row in rows], type_) for i, type_ in enumerate(types)]
    return encode_in_process(pa.table(columns, names=[f"c{i}" for i in range(len(types))]), ReadOptions())


def assert_shared(table: EncodedTable, values: list[list[Any]]) -> None:
    """Ranks compare as the values do, across all columns, null first and equal to itself."""
    ranks = shared_ranks(table, range(len(values)))
    cells = [
        (rank, value)
        for column, own in zip(ranks, values, strict=True)
        for rank, value in zip(column, own, strict=True)
    ]
    for rank, value in cells:
        assert (rank == 0) == (value is None)
        for other_rank, other in cells:
            if value is not None and other is not None:
                assert (rank < other_rank, rank == other_rank) == (value < other, value == other)


@given(columns_of(INTEGERS, DECIMALS, FLOATS))
def test_numbers_of_all_types_are_compared_by_their_decimal_values(rows: list[tuple[Any, ...]]) -> None:
    table = encoded(rows, [pa.int16(), pa.decimal128(5, 1), pa.float64()])
    exact = [[None if row[i] is None else Decimal(str(row[i])) for row in rows] for i in range(3)]
    assert_shared(table, exact)


@pytest.mark.parametrize(
    ("kind", "types"),
    [
        (TEXTS, [pa.string(), pa.large_string()]),
        (DATES, [pa.date32(), pa.date64()]),
        (BOOLEANS, [pa.bool_(), pa.bool_()]),
        (INTEGERS, [pa.int64(), pa.int8()]),
    ],
)
@given(data=st.data())
def test_values_of_one_type_are_compared(
    kind: st.SearchStrategy[Any], types: list[pa.DataType], data: st.DataObject
) -> None:
    rows = data.draw(columns_of(kind, kind))
    assert_shared(encoded(rows, types), [[row[i] for row in rows] for i in range(2)])


def test_texts_are_read_as_their_columns_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "t.csv"
    path.write_text(
        "us,iso,one,two,early,late\n"
        "02/29/2024,2023-01-01,7,7.0,2020-01-01 10:00,2020-01-01T09:59:59.5\n"
        "01/01/2023,2024-02-29,12345678901234567890,.5,2020-01-01 10:00:00.000,2020-01-01T10:00\n"
    )
    table = encode_in_process(path, ReadOptions())
    us, iso = shared_ranks(table, (0, 1))
    assert us.tolist() == iso.tolist()[::-1] == [2, 1]
    one, two = shared_ranks(table, (2, 3))
    assert (one.tolist(), two.tolist()) == ([2, 3], [2, 1])
    early, late = shared_ranks(table, (4, 5))
    assert (early.tolist(), late.tolist()) == ([2, 2], [1, 2])


@given(columns_of(FLOATS), FLOATS)
def test_a_constant_stands_where_its_value_would(rows: list[tuple[Any, ...]], number: float) -> None:
    table = encoded(rows, [pa.float64()])
    if not any(value is not None for (value,) in rows):
        return
    place = constant_place(table, 0, Constant(number))
    for rank, (value,) in zip(table.column(0), rows, strict=True):
        smaller = value is None or value < number
        assert (2 * rank < place, 2 * rank == place) == (smaller, not smaller and value == number)


def test_constants_of_each_type() -> None:
    day = datetime.date(2020, 1, 2)
    moment = datetime.datetime(2020, 1, 2, 12)
    types = [pa.string(), pa.date32(), pa.timestamp("ms"), pa.bool_(), pa.decimal128(4, 2)]
    table = encoded([("b", day, moment, True, Decimal("1.50"))], types)
    assert [constant_place(table, 0, Constant(text)) for text in ("a", "b", "c")] == [1, 2, 3]
    assert [constant_place(table, 1, Constant(text)) for text in ("2020-01-01", "01/02/2020", "2020-01-03")] == [
        1,
        2,
        3,
    ]
    assert [constant_place(table, 2, Constant(text)) for text in ("2020-01-02 11:59", "2020-01-02T12:00")] == [1, 2]
    assert [constant_place(table, 3, Constant(truth)) for truth in (False, True)] == [1, 2]
    assert [constant_place(table, 4, Constant(number)) for number in (1, 1.5, 10**30)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("column", "constant"), [(0, 5), (0, True), (1, "x"), (1, "2020-02-30"), (1, 5), (2, "5"), (2, True)]
)
def test_a_constant_of_another_type_is_refused(column: int, constant: Any) -> None:
    table = encoded([("b", datetime.date(2020, 1, 2), 3)], [pa.string(), pa.date32(), pa.int64()])
    with pytest.raises(UsageError, match="cannot be compared with"):
        constant_place(table, column, Constant(constant))


def test_columns_without_an_order_between_them_are_refused() -> None:
    zoned = pa.timestamp("ms", "UTC")
    moment = datetime.datetime(2020, 1, 2)
    table = encoded([("b", 3, moment, moment)], [pa.string(), pa.int64(), pa.timestamp("s"), zoned])
    with pytest.raises(UsageError, match="no order between"):
        shared_ranks(table, (0, 1))
    with pytest.raises(UsageError, match="no order between"):
        shared_ranks(table, (2, 3))


def test_a_column_without_values_fits_any() -> None:
    table = encoded([("b", None), (None, None)], [pa.string(), pa.null()])
    assert [ranks.tolist() for ranks in shared_ranks(table, (1, 0))] == [[0, 0], [1, 0]]
    assert constant_place(table, 1, Constant("anything")) == 1
