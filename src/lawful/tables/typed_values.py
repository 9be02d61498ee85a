"""Values of an encoded table as values: a text source keeps texts, which its types say how to read.

Each column has one Arrow type, which holds all of its values exactly. Where there is none, as for decimals of a
hundred digits or for timestamps of nanoseconds in the year 3000, floats or the texts themselves are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.tables.arrow_functions import pc
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.text_values import boolean_keys, date_keys, is_day_first, timestamp_keys

_BLANKS = " \t"
_MOST_DIGITS = (38, 76)
"""What decimals of 128 and of 256 bits hold."""
_LONG = 1 << 63
_NANOS = 1_000_000_000
_MICRO_DIGITS = 6


def value_type(table: EncodedTable, position: int) -> pa.DataType:
    """The Arrow type that holds all values of a column."""
    values, type_ = table.values(position), table.type(position)
    if not pa.types.is_string(values.type):
        return values.type
    if len(values) == 0:
        return _TYPES_WITHOUT_VALUES.get(type_, pa.string())
    finder = _TYPES.get(type_)
    return pa.string() if finder is None else finder(values)


def typed_values(table: EncodedTable, rows: npt.NDArray[np.int64], position: int, type_: pa.DataType) -> pa.Array:
    """The values of a column in some rows, as the type that `value_type` has found for it."""
    ranks = np.asarray(table.column(position))[rows]
    # A value that many rows have is read once.
    distinct, places = np.unique(ranks, return_inverse=True)
    known = distinct[distinct != NULL_RANK]
    values = table.values(position).take(pa.array(known.astype(np.int64) - 1))
    if values.type != type_:
        values = pa.nulls(0, type_) if len(values) == 0 else _read(values, type_, table.values(position))
    places = places.ravel() - (len(distinct) - len(known))
    return values.take(pa.array(places, mask=places < 0))


def _integer_type(texts: pa.Array) -> pa.DataType:
    """Values come in their order: the least and the greatest decide."""
    least, greatest = (_number(texts[place].as_py()) for place in (0, len(texts) - 1))
    if least >= -_LONG and greatest < _LONG:
        return pa.int64()
    return _decimal_of(max(least.adjusted(), greatest.adjusted()) + 1, 0) or pa.string()


def _decimal_type(texts: pa.Array) -> pa.DataType:
    numbers = pc.utf8_trim(texts, _BLANKS)
    if pc.any(pc.match_substring(numbers, "inf", ignore_case=True)).as_py():
        return pa.float64()
    is_scientific = pc.match_substring(numbers, "e", ignore_case=True)
    plain = pc.replace_substring_regex(numbers.filter(pc.invert(is_scientific)), r"^[+-]?0*", "")
    whole, scale = _longest(plain, r"\..*$"), _longest(plain, r"^[^.]*\.?")
    for text in numbers.filter(is_scientific).to_pylist():
        _, digits, exponent = Decimal(text).as_tuple()
        assert isinstance(exponent, int)
        whole, scale = max(whole, len(digits) + exponent), max(scale, -exponent)
    found = _decimal_of(whole + scale, scale)
    if found is not None:
        return found
    return pa.float64() if all(math.isfinite(float(text)) for text in numbers.to_pylist()) else pa.string()


def _longest(texts: pa.Array, without: str) -> int:
    """The length of the longest text, without a part of it."""
    longest = pc.max(pc.utf8_length(pc.replace_substring_regex(texts, without, ""))).as_py()
    return 0 if longest is None else int(longest)


def _decimal_of(digits: int, scale: int) -> pa.DataType | None:
    if digits <= _MOST_DIGITS[0]:
        return pa.decimal128(max(digits, 1), scale)
    return pa.decimal256(digits, scale) if digits <= _MOST_DIGITS[1] else None


def _timestamp_type(texts: pa.Array) -> pa.DataType:
    (seconds, nanos), has_zone = timestamp_keys(texts)
    zone = "UTC" if has_zone else None
    if not (nanos.astype(np.int64) % 10 ** (9 - _MICRO_DIGITS)).any():
        return pa.timestamp("us", zone)
    limit = _LONG // _NANOS - 1
    fits = -limit < int(seconds.astype(np.int64).min()) and int(seconds.astype(np.int64).max()) < limit
    return pa.timestamp("ns", zone) if fits else pa.string()


_TYPES: dict[ColumnType, Callable[[pa.Array], pa.DataType]] = {
    ColumnType.INTEGER: _integer_type,
    ColumnType.DECIMAL: _decimal_type,
    ColumnType.FLOAT: lambda _: pa.float64(),
    ColumnType.DATE: lambda _: pa.date32(),
    ColumnType.TIMESTAMP: _timestamp_type,
    ColumnType.BOOLEAN: lambda _: pa.bool_(),
}

_TYPES_WITHOUT_VALUES: dict[ColumnType, pa.DataType] = {
    ColumnType.NULL: pa.null(),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.DECIMAL: pa.decimal128(_MOST_DIGITS[0], 0),
    ColumnType.FLOAT: pa.float64(),
    ColumnType.DATE: pa.date32(),
    ColumnType.TIMESTAMP: pa.timestamp("us"),
    ColumnType.BOOLEAN: pa.bool_(),
}


def _read(values: pa.Array, type_: pa.DataType, of_column: pa.Array) -> pa.Array:
    """Read some of the texts of a column; how its dates are read, all of them decide."""
    if pa.types.is_date(type_):
        return _read_dates(values, day_first=is_day_first(of_column))
    return _READERS[_kind(type_)](values, type_)


def _kind(type_: pa.DataType) -> str:
    """The reader of a type: types with parameters share one."""
    return str(type_).partition("[")[0].partition("(")[0]


def _read_integers(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    return pa.array([int(_number(text)) for text in texts.to_pylist()], type_)


def _read_decimals(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    return pa.array([_number(text) for text in texts.to_pylist()], type_)


def _number(text: str) -> Decimal:
    return Decimal(text.strip(_BLANKS))  # which reads any number of digits, as int does not


def _read_floats(texts: pa.Array, _: pa.DataType) -> pa.Array:
    return pa.array([float(text) for text in texts.to_pylist()], pa.float64())


def _read_dates(texts: pa.Array, *, day_first: bool) -> pa.Array:
    return pa.array(date_keys(texts, day_first=day_first)[0].astype(np.int32)).cast(pa.date32())


def _read_booleans(texts: pa.Array, _: pa.DataType) -> pa.Array:
    return pa.array(boolean_keys(texts)[0])


def _read_timestamps(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    (seconds, nanos), _ = timestamp_keys(texts)
    ticks = _NANOS if type_.unit == "ns" else 10**_MICRO_DIGITS
    counted = seconds.astype(np.int64) * ticks + nanos.astype(np.int64) // (_NANOS // ticks)
    return pa.array(counted).cast(type_)


_READERS: dict[str, Callable[[pa.Array, pa.DataType], pa.Array]] = {
    "int64": _read_integers,
    "decimal128": _read_decimals,
    "decimal256": _read_decimals,
    "double": _read_floats,
    "bool": _read_booleans,
    "timestamp": _read_timestamps,
}
