"""Rows as batches: their places, and values as values whatever the source was."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shown_rows import RowShower, Shown, with_own_names
from lawful.tables.typed_values import value_type

UTC = dt.UTC


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path_factory.mktemp("cache")))


def read(folder: Path, texts: list[str], **types: ColumnType) -> EncodedTable:
    """A CSV file of one column."""
    path = folder / "t.csv"
    path.write_text("a\n" + "".join(f'"{text}"\n' for text in texts))
    return encode_in_process(path, ReadOptions(types=types), reuse=False)


def shown(table: EncodedTable, rows: list[int], *, as_text: bool = False) -> pa.RecordBatch:
    shower = RowShower(table, Shown(tuple(range(table.width)), as_text))
    batch = shower.batch(np.arange(len(rows), dtype=np.int64), np.array(rows, np.int32))
    assert batch.schema == shower.schema
    return batch


@pytest.mark.parametrize(
    ("texts", "type_", "values"),
    [
        (["7", " -12 ", "", "+3"], pa.int64(), [7, -12, None, 3]),
        (["9223372036854775807", "-9223372036854775808"], pa.int64(), [2**63 - 1, -(2**63)]),
        (["9223372036854775808", "1"], pa.decimal128(19, 0), [Decimal(2**63), Decimal(1)]),
        (["1" * 50, "-2"], pa.decimal256(50, 0), [Decimal("1" * 50), Decimal(-2)]),
        (["1" * 5000, "0"], pa.string(), ["1" * 5000, "0"]),
        (["1.50", "-0.125", "NaN", ".5", "2.", "0.0"], pa.decimal128(4, 3), None),
        (["2e-3", "1.5E2", "7"], pa.decimal128(6, 3), [Decimal("0.002"), Decimal(150), Decimal(7)]),
        (["1e-300", "3.5"], pa.float64(), [1e-300, 3.5]),
        (["1e-300", "1e999"], pa.string(), ["1e-300", "1e999"]),
        (["inf", "1.5", "-Infinity"], pa.float64(), [float("inf"), 1.5, float("-inf")]),
        (["2024-02-29", "0001-01-01"], pa.date32(), [dt.date(2024, 2, 29), dt.date(1, 1, 1)]),
        (["02/29/2024", ""], pa.date32(), [dt.date(2024, 2, 29), None]),
        (["2024-02-29 13:00", "9999-12-31T23:59:59.5"], pa.timestamp("us"), None),
        (["2024-02-29T13:00Z", "2024-02-29T13:00+02:00"], pa.timestamp("us", "UTC"), None),
        (["2024-02-29 13:00:00.123456789"], pa.timestamp("ns"), None),
        (["3024-02-29 13:00:00.123456789"], pa.string(), ["3024-02-29 13:00:00.123456789"]),
        (["TRUE", "false", ""], pa.bool_(), [True, False, None]),
        (["007", "x"], pa.string(), ["007", "x"]),
        (["", ""], pa.null(), [None, None]),
    ],
)
def test_texts_are_read_as_their_type_says(
    tmp_path: Path, texts: list[str], type_: pa.DataType, values: list[Any] | None
) -> None:
    table = read(tmp_path, texts)
    assert value_type(table, 0) == type_
    found = shown(table, list(range(len(texts))))["0"]
    assert found.type == type_
    assert values is None or found.to_pylist() == values
    assert shown(table, [0], as_text=True)["0"].to_pylist() == [texts[0] or None]


def test_decimals_and_times_are_exact(tmp_path: Path) -> None:
    decimals = shown(read(tmp_path, ["1.50", "-0.125", "NaN", ".5", "2.", "0.0"]), [0, 1, 2, 3, 4, 5])["0"]
    assert decimals.to_pylist() == [Decimal("1.5"), Decimal("-0.125"), None, Decimal("0.5"), Decimal(2), Decimal(0)]
    local = shown(read(tmp_path, ["2024-02-29 13:00", "9999-12-31T23:59:59.5"]), [0, 1])["0"]
    assert local.to_pylist() == [dt.datetime(2024, 2, 29, 13), dt.datetime(9999, 12, 31, 23, 59, 59, 500_000)]
    instants = shown(read(tmp_path, ["2024-02-29T13:00Z", "2024-02-29T13:00+02:00"]), [0, 1])["0"]
    assert instants.to_pylist() == [dt.datetime(2024, 2, 29, hour, tzinfo=UTC) for hour in (13, 11)]
    nanos = shown(read(tmp_path, ["2024-02-29 13:00:00.123456789"]), [0])["0"]
    assert nanos.cast(pa.int64()).to_pylist() == [1_709_211_600_123_456_789]


def test_chosen_types_count(tmp_path: Path) -> None:
    assert shown(read(tmp_path, ["007", "0" * 5000 + "8"], a=ColumnType.INTEGER), [1, 0])["0"].to_pylist() == [8, 7]
    assert shown(read(tmp_path, ["1", "2"], a=ColumnType.STRING), [0])["0"].to_pylist() == ["1"]
    assert shown(read(tmp_path, ["1", "2.5"], a=ColumnType.FLOAT), [0])["0"].type == pa.float64()
    for type_, expected in ((ColumnType.INTEGER, pa.int64()), (ColumnType.DATE, pa.date32())):
        assert value_type(read(tmp_path, ["", ""], a=type_), 0) == expected
    table = encode_in_process(pa.table({"a": ["3", "12"]}), ReadOptions(types={"a": ColumnType.INTEGER}))
    assert shown(table, [0, 1])["0"].to_pylist() == [3, 12]


TYPED = pa.table(
    {
        "i": pa.array([3, None, -1], pa.int16()),
        "u": pa.array([2**64 - 1, 0, 0], pa.uint64()),
        "f": pa.array([1.5, None, -0.0], pa.float64()),
        "m": pa.array([Decimal("1.25"), None, Decimal("-3.00")], pa.decimal128(9, 2)),
        "d": pa.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
        "t": pa.array([dt.datetime(2024, 2, 29, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
        "b": pa.array([True, None, False]),
        "x": pa.array([b"\x00", None, b""]),
        "s": pa.array(["", None, "z"]),
        "n": pa.nulls(3),
    }
)


def test_typed_sources_keep_their_types(tmp_path: Path) -> None:
    table = encode_in_process(TYPED, ReadOptions())
    found = shown(table, [2, 0, 1, 2])
    for position, name in enumerate(TYPED.column_names):
        assert found[str(position)].type == TYPED.schema.field(name).type
        assert found[str(position)].to_pylist() == TYPED[name].take([2, 0, 1, 2]).to_pylist()
    assert found["row"].to_pylist() == [2, 0, 1, 2]
    assert found["number"].to_pylist() == [3, 1, 2, 3]
    assert found["file"].to_pylist() == [None] * 4


@given(st.lists(st.sampled_from(["", "1", "1.5", "-2", "10"]), min_size=1, max_size=20), st.data())
def test_any_rows_in_any_order(tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject) -> None:
    table = read(tmp_path_factory.mktemp("t"), texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1)))
    expected = [Decimal(texts[row]) if texts[row] else None for row in rows]
    assert shown(table, rows)["0"].to_pylist() == expected
    assert shown(table, rows, as_text=True)["0"].to_pylist() == [texts[row] or None for row in rows]


def test_places_of_many_rows_are_those_of_each(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.csv").write_text('x\n1\n"2\n2"\n3\n')
    (folder / "b.csv").write_text("x\n4\n\n5\n")
    table = encode_in_process(folder, ReadOptions())
    rows = list(range(table.rows))
    found = shown(table, rows)
    for row in rows:
        place = table.place(row)
        assert (found["file"][row].as_py(), found["number"][row].as_py()) == (place.file, place.number)


def test_without_values_there_are_ids_alone() -> None:
    batch = RowShower(encode_in_process(TYPED, ReadOptions()), None).batch(np.array([4]), np.array([1], np.int32))
    assert batch.to_pydict() == {"group": [4], "row": [1]}


def test_own_names_give_way() -> None:
    assert with_own_names(["a"]) == ["_group", "_row", "_file", "_number", "a"]
    assert with_own_names(["_Row", "__file"]) == ["___group", "___row", "___file", "___number", "_Row", "__file"]
    assert with_own_names(["_file"], ("group", "row")) == ["_group", "_row", "_file"]
