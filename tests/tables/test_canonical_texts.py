"""One text for each value, against the readers of the oracle and against the order of distinct texts."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lawful.common.meanings import ColumnType
from lawful.tables.living.canonical import CanonicalTexts, canonical_order, canonical_texts, canonical_values
from lawful.tables.text_values import NotThatTypeError, sort_texts
from tables import text_oracle as oracle
from tables.text_strategies import KINDS, odd_ones, text_columns

Texts = Sequence[str | None]

_huge = st.builds(
    lambda sign, digits, mark, exponent: f"{sign}{digits}{mark}{exponent}",
    st.sampled_from(["", "-", "+"]),
    st.sampled_from(["1", "1000", "0.001", "123456", "0", "1.50", "00.10"]),
    st.sampled_from(["e", "E-", "e+"]),
    st.sampled_from(["38", "39", "40", "41", "42", "999999996", "999999999", "000000002"]),
)
_long = st.builds(
    lambda whole, zeros, rest: f"{whole}{'0' * zeros}.{rest}",
    st.sampled_from(["", "1", "-12", "007", "+3"]),
    st.integers(36, 43),
    st.builds(lambda zeros, digit: "0" * zeros + digit, st.integers(0, 43), st.sampled_from(["", "1", "20"])),
)
_ends_of_time = st.builds(
    lambda clock, zone: clock + zone,
    st.sampled_from(["0000-01-01T00:00", "0000-01-01 18:59:00.50", "9999-12-31T23:59:59.9", "9999-12-31T05:00"]),
    st.sampled_from(["", "Z", "+18:59", "-1859", "+01", "-01", "+00:00", "+19:00", "-18:60"]),
)
_mixed = st.lists(st.one_of(st.none(), odd_ones, _huge, _long, _ends_of_time, *KINDS.values()), max_size=12)
columns = st.one_of(
    text_columns(),
    _mixed,
    st.lists(st.one_of(KINDS["integers"], KINDS["decimals"], _huge, _long), max_size=12),
    st.lists(st.one_of(KINDS["instants"], _ends_of_time), max_size=12),
    st.lists(st.one_of(*(KINDS[kind] for kind in KINDS if kind.endswith("dates"))), max_size=12),
)
types = st.sampled_from(sorted(oracle.READERS))
DATES_OF_OTHERS = (oracle.read_us_date, oracle.read_day_first_date, oracle.read_dotted_date)
TAKE_MORE = (ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP)


def canonical(column: Texts, type_: ColumnType, settled: bool | None = None) -> CanonicalTexts:
    found = canonical_texts(pa.array(column, pa.string()), type_, settled=settled)
    assert found.texts.type == pa.string()
    assert len(found.texts) == len(found.fits) == len(column)
    return found


def accepted(text: str, type_: ColumnType) -> bool:
    """Whether a column of this one text may be asked to have the type."""
    try:
        sort_texts(pa.array([text]), type_)
    except NotThatTypeError:
        return False
    return True


def same_value(one: str, other: str, type_: ColumnType) -> bool | None:
    """Whether two texts are one value; None where no column has both."""
    if one == other:
        return True
    try:
        first, second = sort_texts(pa.array([one, other]), type_).ranks.tolist()
    except NotThatTypeError:
        return None
    return first == second


@given(columns, types)
@example(["1.50", "1.5", "+1.5", "15e-1", ".150E1"], ColumnType.DECIMAL)
@example(["-0", "0.0", "+0", "-.0", "0e999999999"], ColumnType.DECIMAL)
@example(["1000e999999999", "1e999999999", "0.001e-999999999", "1e-999999999"], ColumnType.DECIMAL)
@example(["2020-01-01T00:00Z", "2019-12-31T23:00-01:00"], ColumnType.TIMESTAMP)
@example(["9999-12-31T23:59:59-18:59", "9999-12-31T23:00:59-18:00", "0000-01-01T00:00+18"], ColumnType.TIMESTAMP)
@example(["03/01/2020", "2020-03-01", "2020-02-30"], ColumnType.DATE)
def test_texts_fit_and_are_equal_as_in_the_order_of_texts(column: Texts, type_: ColumnType) -> None:
    found = canonical(column, type_)
    pairs = list(zip(column, found.texts.to_pylist(), found.fits.tolist(), strict=True))
    for text, known, fits in pairs:
        if text is None:
            assert (known, fits) == (None, True)
        elif type_ not in TAKE_MORE or accepted(text, type_):
            assert canonical([text], type_).fits[0] == accepted(text, type_), text
            assert fits == accepted(text, type_) or type_ is ColumnType.TIMESTAMP
        assert fits or known is None
    for (one, known, fits), (other, other_known, other_fits) in itertools.combinations(pairs, 2):
        if one is None or other is None or not (fits and other_fits):
            continue
        same = same_value(one, other, type_)
        if same is not None:
            assert (known == other_known) == same, (one, other)


@given(columns, types)
@example(["1e39", "1e40", "-1e-41", "1e-40", "inf", "-inf", "nan"], ColumnType.FLOAT)
def test_canonical_texts_are_of_the_type_and_sort_as_the_texts_do(column: Texts, type_: ColumnType) -> None:
    found = canonical(column, type_)
    known = found.texts.drop_null().unique()
    again = canonical(known.to_pylist(), type_, found.settled)
    assert again.texts.to_pylist() == known.to_pylist()
    assert again.fits.all()
    ranks = sort_texts(known, type_).ranks.tolist() if len(known) else []
    assert sorted(ranks) == list(range(1, len(known) + 1))
    assert [ranks[place] for place in canonical_order(known, type_)] == sorted(ranks)
    rank_of = {None: 0, **dict(zip(known.to_pylist(), ranks, strict=True))}
    fitting = pa.array(column, pa.string()).filter(pa.array(found.fits)).drop_null().unique()
    try:
        expected = sort_texts(fitting, type_).ranks.tolist()
    except NotThatTypeError:
        return  # a batch that only living columns take
    texts = canonical(fitting.to_pylist(), type_, found.settled).texts.to_pylist()
    assert [rank_of[text] for text in texts] == expected


@given(text_columns(), types)
def test_values_are_those_of_the_oracle(column: Texts, type_: ColumnType) -> None:
    for reader in oracle.READERS[type_]:
        found = canonical(column, type_)
        texts = found.texts.to_pylist()
        for text, known, fits in zip(column, texts, found.fits, strict=True):
            if text is None or not fits:
                continue
            try:
                value = reader(text)
            except oracle.MisfitError:
                continue
            assert (known is None) == (value == oracle.NAN)
            if known is not None and reader not in DATES_OF_OTHERS:
                assert reader(known) == value


@given(st.lists(st.one_of(st.none(), KINDS["integers"], KINDS["decimals"], odd_ones), max_size=12))
@example(["1.0", "1e3", ".0", "-0.0", "1.5", "inf", "nan", "1e-1", "10e-1", "1e400", "1e999999999", "0e999999999"])
def test_an_integer_column_takes_numbers_without_a_fraction(column: Texts) -> None:
    found = canonical(column, ColumnType.INTEGER)
    for text, known, fits in zip(column, found.texts.to_pylist(), found.fits, strict=True):
        try:
            value: Any = None if text is None else _whole(text)
        except oracle.MisfitError:
            assert not fits
        else:
            assert fits
            assert known == (None if value is None else str(value))


def _whole(text: str) -> int | None:
    """The integer that a text is, None for NaN."""
    if text.endswith("e999999999"):
        if text[0] != "0":
            raise oracle.MisfitError
        return 0
    value = oracle.read_decimal(text)
    if value == oracle.NAN:
        return None
    infinite, number = value
    if infinite or number.denominator != 1 or len(str(number)) > 400:
        raise oracle.MisfitError
    return int(number)


def test_timestamps_have_zones_everywhere_or_nowhere() -> None:
    column = [None, "x", "2020-01-01T00:00Z", "2020-01-01T00:00", "2020-01-01 00:00:00.50+00"]
    found = canonical(column, ColumnType.TIMESTAMP)
    assert found.settled is True
    assert found.fits.tolist() == [True, False, True, False, True]
    assert found.texts.to_pylist() == [None, None, "2020-01-01 00:00:00Z", None, "2020-01-01 00:00:00.5Z"]
    assert canonical(column, ColumnType.TIMESTAMP, settled=False).fits.tolist() == [True, False, False, True, False]
    assert canonical([None, "x"], ColumnType.TIMESTAMP).settled is None
    assert canonical([None, "x"], ColumnType.TIMESTAMP, settled=True).settled is True
    assert canonical([], ColumnType.TIMESTAMP).settled is None


def test_dates_and_midnights_stand_for_each_other() -> None:
    column = ["2020-02-29", "2020-02-29 00:00:00", " 2020-02-29T00:00 ", "2020-02-29T00:00:00.000", "2019-02-29T00:00"]
    odd = ["2020-02-29 00:00:01", "2020-02-29 00:00Z", "2020-02-29 12:00", "2020-02-29 00:00:00.001", "2020-02-30"]
    found = canonical(column + odd, ColumnType.DATE)
    assert found.texts.to_pylist() == ["2020-02-29"] * 4 + [None] * 6
    assert found.fits.tolist() == [True] * 4 + [False] * 6
    found = canonical(["2020-02-29 12:00", " 2020-02-29", "2019-02-29", "02/29/2020"], ColumnType.TIMESTAMP)
    assert found.texts.to_pylist() == ["2020-02-29 12:00:00", "2020-02-29 00:00:00", None, None]
    assert canonical(["2020-02-29"], ColumnType.TIMESTAMP, settled=True).fits.tolist() == [False]


def test_whether_the_day_comes_first_is_settled_once() -> None:
    unclear, day_first = ["03/04/2024", "2024-01-02", "05.06.2024"], "31/12/2024"
    read = ["2024-04-03", "2024-01-02", "2024-06-05", "2024-12-31"]
    assert canonical([*unclear, day_first], ColumnType.DATE).texts.to_pylist() == read
    assert canonical(unclear, ColumnType.DATE).settled is False
    assert canonical(unclear, ColumnType.DATE).texts.to_pylist()[0] == "2024-03-04"
    assert canonical(unclear, ColumnType.DATE, settled=True).texts.to_pylist()[0] == "2024-04-03"
    assert canonical(["12/31/2024"], ColumnType.DATE, settled=True).fits.tolist() == [False]
    assert canonical(unclear[1:], ColumnType.DATE).settled is None


def test_a_column_without_values_takes_only_null() -> None:
    assert canonical([None, "x", ""], ColumnType.NULL).fits.tolist() == [True, False, False]


def test_binary_and_duration_fit_as_they_are_written() -> None:
    binary = canonical(["00ff", "", "0", "FF", "zz"], ColumnType.BINARY)
    assert binary.texts.to_pylist() == ["00ff", "", None, None, None]
    assert canonical(["5", "-12", "05", "12:30"], ColumnType.DURATION).texts.to_pylist() == ["5", "-12", None, None]
    times = canonical(["12:30:00.500", "12:30:00,000", " 12:30", "24:00:00"], ColumnType.TIME)
    assert times.texts.to_pylist() == ["12:30:00.5", "12:30:00", "12:30:00", None]


@pytest.mark.parametrize("layout", [pa.string(), pa.large_string(), pa.string_view()])
def test_layouts_and_slices(layout: pa.DataType) -> None:
    texts = pa.array(["x", "1.0", None, "7"], layout).slice(1)
    found = canonical_texts(texts, ColumnType.INTEGER)
    assert (found.texts.type, found.texts.to_pylist()) == (pa.string(), ["1", None, "7"])


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers(-(2**53), 2**53).map(float)), max_size=10))
def test_floats(values: list[float | None]) -> None:
    array = pa.array(values, pa.float64())
    for type_ in (ColumnType.FLOAT, ColumnType.DECIMAL, ColumnType.INTEGER):
        found = canonical_values(array, type_)
        for value, text, fits in zip(values, found.texts.to_pylist(), found.fits, strict=True):
            if value is None or np.isnan(value):
                assert (text, fits) == (None, True)
            elif type_ is ColumnType.INTEGER:
                assert fits == value.is_integer()
                assert not fits or float(Fraction(text)) == value
            else:
                assert fits
                assert float(text) == value
                assert text != "-0"


def test_typed_values() -> None:
    def texts(values: pa.Array, type_: ColumnType) -> list[str | None]:
        found = canonical_values(values, type_)
        return [text if fits else "misfit" for text, fits in zip(found.texts.to_pylist(), found.fits, strict=True)]

    moment = datetime.datetime(2020, 1, 1, 0, 30, 0, 500_000)
    for unit in ("ms", "us", "ns"):
        assert texts(pa.array([moment], pa.timestamp(unit)), ColumnType.TIMESTAMP) == ["2020-01-01 00:30:00.5"]
        midnight = datetime.datetime(2020, 1, 1)
        both = texts(pa.array([moment, None, midnight], pa.timestamp(unit)), ColumnType.TIMESTAMP)
        assert both == ["2020-01-01 00:30:00.5", None, "2020-01-01 00:00:00"]
        assert texts(pa.array([midnight], pa.timestamp(unit)), ColumnType.TIMESTAMP) == ["2020-01-01 00:00:00"]
        settled = pa.array([moment], pa.timestamp(unit, "Europe/Berlin"))
        assert texts(settled, ColumnType.TIMESTAMP) == ["2020-01-01 00:30:00.5Z"]
        length = pa.array([datetime.timedelta(milliseconds=5), None], pa.duration(unit))
        assert texts(length, ColumnType.DURATION) == ["5000000", None]
    assert texts(pa.array([2**62], pa.duration("s")), ColumnType.DURATION) == [str(2**62 * 10**9)]
    for type_ in (pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        assert texts(pa.array([datetime.time(1, 2, 3, 500_000)], type_), ColumnType.TIME) == ["01:02:03.5"]
    assert texts(pa.array([1, None, -5], pa.int8()), ColumnType.INTEGER) == ["1", None, "-5"]
    assert texts(pa.array([1, None, -5], pa.int8()), ColumnType.STRING) == ["1", None, "-5"]
    assert texts(pa.array([0.1], pa.float32()), ColumnType.FLOAT) == [str(float(np.float32(0.1)))]
    decimals = pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("1E-10")], pa.decimal128(20, 10))
    assert texts(decimals, ColumnType.DECIMAL) == ["1.5", "2", "0.0000000001"]
    assert texts(decimals, ColumnType.INTEGER) == ["misfit", "2", "misfit"]
    assert texts(pa.array([True, None, False]), ColumnType.BOOLEAN) == ["true", None, "false"]
    assert texts(pa.array([True]), ColumnType.INTEGER) == ["misfit"]
    assert texts(pa.array([b"\x00\xff", b""]), ColumnType.BINARY) == ["00ff", ""]
    assert texts(pa.array([datetime.date(2020, 3, 1)]), ColumnType.DATE) == ["2020-03-01"]
    assert texts(pa.nulls(2), ColumnType.NULL) == [None, None]
    assert texts(pa.array(["03/01/2020", None]).dictionary_encode(), ColumnType.DATE) == ["2020-03-01", None]
    unused = pa.DictionaryArray.from_arrays([1, None], ["2020-01-01T00:00", "2020-01-01T00:00Z"])
    assert texts(unused, ColumnType.TIMESTAMP) == ["2020-01-01 00:00:00Z", None]


def test_orders_that_texts_do_not_have() -> None:
    def in_order(texts: list[str], type_: ColumnType) -> list[str]:
        return [texts[place] for place in canonical_order(pa.array(texts), type_)]

    assert in_order(["10", "9", "-1"], ColumnType.DURATION) == ["-1", "9", "10"]
    assert in_order(["10:00:00", "09:59:59.5", "09:59:59"], ColumnType.TIME) == [
        "09:59:59",
        "09:59:59.5",
        "10:00:00",
    ]
    assert in_order(["ff", "", "00ff", "00"], ColumnType.BINARY) == ["", "00", "00ff", "ff"]
