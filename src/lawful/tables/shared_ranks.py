"""Ranks that several columns share, so that values of different columns can be compared, and places of constants.

The ranks of a column order its own values only. Here the values of some columns are ordered together, each as
its type reads it: 7 and 7.0 are one number whichever columns they stand in, and 02/29/2024 is 2024-02-29.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s
from lawful.common.errors import UsageError
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.dependencies import Constant
from lawful.tables.arrow_functions import as_numpy, pc
from lawful.tables.encoded_table import Column, EncodedTable
from lawful.tables.ranking import typed_to_text
from lawful.tables.text_values import (
    SLASHED_DATE_TEXT,
    Keys,
    NotThatTypeError,
    boolean_keys,
    date_keys,
    decimal_keys,
    is_day_first,
    iso_of_slashed,
    rank_by_keys,
    sort_texts,
    time_keys,
    timestamp_keys,
)

NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
TEXTS = frozenset({ColumnType.STRING, ColumnType.BINARY})
_TICKS_A_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def comparable(one: ColumnType, other: ColumnType) -> bool:
    """Whether values of two types have an order between them; a column without values fits any."""
    if ColumnType.NULL in (one, other):
        return True
    return one is other or (one in NUMBERS and other in NUMBERS)


@runtime_checkable
class ComparesValues(Protocol):
    """Rows of a table that compare values by themselves, because they have them at hand."""

    def shared_ranks(self, columns: Sequence[int]) -> list[Int32s]:
        """Rank the rows of several columns together, as the function of this name does."""

    def constant_place(self, column: int, constant: Constant) -> int:
        """Say where a constant stands among the values of a column, as the function of this name does."""


def shared_ranks(table: EncodedTable | ComparesValues, columns: Sequence[int]) -> list[Int32s]:
    """Rank the rows of several columns together: equal ranks are equal values, and null is 0.

    Raises
    ------
    UsageError
        If values of two of the columns have no order between them.
    """
    if not isinstance(table, EncodedTable):
        return table.shared_ranks(columns)
    codes = shared_codes(table, columns)
    return [code[np.asarray(table.column(column))] for code, column in zip(codes, columns, strict=True)]


def shared_codes(table: EncodedTable, columns: Sequence[int]) -> list[Int32s]:
    """For each column, the shared rank that each of its own ranks stands for; see `shared_ranks`."""
    type_ = common_type([table.columns[column] for column in columns])
    values = [table.values(column) for column in columns]
    ranks = rank_together(values, type_)
    return [np.concatenate((np.array([NULL_RANK], np.int32), part)) for part in ranks]


def common_type(columns: Sequence[Column]) -> ColumnType:
    """The type of the first of some columns that has values; an error unless all can be compared with it."""
    filled = [column for column in columns if column.type is not ColumnType.NULL]
    for column in filled:
        if not comparable(filled[0].type, column.type):
            raise UsageError(
                f"{filled[0].name!r} ({filled[0].type.value}) and {column.name!r} ({column.type.value}) "
                "have no order between them",
                "Compare columns of one type, or choose the types with --types.",
            )
    return filled[0].type if filled else ColumnType.NULL


def constant_place(table: EncodedTable | ComparesValues, column: int, constant: Constant) -> int:
    """Say where a constant stands among the values of a column.

    Returns twice the rank of the value that it equals. A constant that is no value of the column stands
    between two, at an odd place. So a row of rank r compares with the constant as 2 r with the place.

    Raises
    ------
    UsageError
        If the constant is not of the column's type.
    """
    if not isinstance(table, EncodedTable):
        return table.constant_place(column, constant)
    described = table.columns[column]
    if described.type is ColumnType.NULL:
        return 2 * NULL_RANK + 1
    single = constant_array(constant, described.type, described.name)
    values = table.values(column)
    if described.type is ColumnType.DATE and pa.types.is_string(values.type):
        single = _as_in_column(single, values, constant, described.name)
    own, (place,) = rank_together([values, single], described.type)
    below = int(np.searchsorted(own, place))  # the column's own ranks rise with the shared ones
    is_value = below < len(own) and own[below] == place
    return 2 * (below + 1) if is_value else 2 * below + 1


def _as_in_column(single: pa.Array, values: pa.Array, constant: Constant, name: str) -> pa.Array:
    has_slashes = len(values) and pc.match_substring_regex(values, SLASHED_DATE_TEXT)[0].as_py()
    return iso_constant(single, constant, name, day_first=is_day_first(values) if has_slashes else None)


def iso_constant(single: pa.Array, constant: Constant, name: str, *, day_first: bool | None) -> pa.Array:
    """A date with slashes as ISO 8601 writes it, read as the dates of the column are if they have slashes."""
    if not pc.match_substring_regex(single, SLASHED_DATE_TEXT)[0].as_py():
        return single
    iso = iso_of_slashed(single, day_first=is_day_first(single) if day_first is None else day_first)
    try:
        sort_texts(iso, ColumnType.DATE)
    except NotThatTypeError:
        raise _unfit(constant, ColumnType.DATE, name) from None
    return iso


def rank_together(values: Sequence[pa.Array], type_: ColumnType) -> list[Int32s]:
    """Dense ranks from 1 on over the values of all arrays, cut as the arrays are."""
    filled = [array for array in values if len(array)]
    ends = np.cumsum([len(array) for array in values])
    if not filled:
        return [np.zeros(0, np.int32) for _ in values]
    ranks = _rank_texts(filled) if type_ in TEXTS else rank_by_keys(_joined_keys(filled, type_), None, type_).ranks
    return [np.ascontiguousarray(part) for part in np.split(ranks, ends[:-1])]


Coded = tuple[pa.Array, Int32s]
"""The distinct values of some rows, and for each row the number of its own, from 1 on; 0 for null."""


def rank_coded(columns: Sequence[Coded], types: Sequence[ColumnType]) -> list[Int32s]:
    """Rank the rows of several columns, of types that can be compared, together; see `shared_ranks`."""
    filled = [type_ for type_ in types if type_ is not ColumnType.NULL]
    ranks = rank_together([values for values, _ in columns], filled[0] if filled else ColumnType.NULL)
    return [
        np.append(np.int32(NULL_RANK), own)[codes].astype(np.int32)
        for own, (_, codes) in zip(ranks, columns, strict=True)
    ]


def place_among(coded: Coded, ranks: Int32s, single: pa.Array, type_: ColumnType) -> int:
    """Say where a constant, read as a value, stands among rows that have these ranks; see `constant_place`."""
    values, codes = coded
    own, (place,) = rank_together([values, single], type_)
    shared = np.append(np.int32(NULL_RANK), own)[codes]
    if (equal := ranks[shared == place]).size:
        return 2 * int(equal[0])
    return 2 * int(ranks[shared < place].max(initial=NULL_RANK)) + 1


def _rank_texts(values: Sequence[pa.Array]) -> Int32s:
    encoded = pa.concat_arrays(values).dictionary_encode()
    order = as_numpy(pc.sort_indices(encoded.dictionary))
    rank_of_code = np.empty(len(order), np.int32)
    rank_of_code[order] = np.arange(1, len(order) + 1, dtype=np.int32)
    ranks: Int32s = rank_of_code[as_numpy(encoded.indices)]
    return ranks


def _joined_keys(values: Sequence[pa.Array], type_: ColumnType) -> Keys:
    if type_ in NUMBERS:
        return _number_keys(values)
    if type_ is ColumnType.TIMESTAMP:
        parts, zoned = zip(*(_timestamp_keys(array) for array in values), strict=True)
        if any(zoned) != all(zoned):
            raise UsageError("an instant and a time without a zone have no order between them")
    else:
        parts = tuple(_KEYS[type_](array) for array in values)
    return tuple(np.concatenate(key) for key in zip(*parts, strict=True))


def whole_keys(values: pa.Array, type_: ColumnType) -> Keys:
    """Whole numbers that order dates, times or booleans, each made of its value alone."""
    return _timestamp_keys(values)[0] if type_ is ColumnType.TIMESTAMP else _KEYS[type_](values)


def _number_keys(values: Sequence[pa.Array]) -> Keys:
    """Whole numbers of 64 bits as they are; all others by their decimal texts, exactly.

    A float stands for the shortest text that names it, as a number in a law does: 0.1 is one tenth.
    """
    if all(pa.types.is_integer(array.type) or pa.types.is_string(array.type) for array in values):
        try:
            return (np.concatenate([as_numpy(pc.cast(array, pa.int64())) for array in values]),)
        except pa.ArrowInvalid:  # blanks, fractions, or beyond 64 bits
            pass
    texts = pa.concat_arrays([typed_to_text(array) for array in values])
    return decimal_keys(pc.utf8_trim(texts, " \t"))


def _date_keys(values: pa.Array) -> Keys:
    if pa.types.is_string(values.type):
        return date_keys(values)
    return (as_numpy(pc.cast(pc.cast(values, pa.date32()), pa.int32())),)


def _timestamp_keys(values: pa.Array) -> tuple[Keys, bool]:
    if pa.types.is_string(values.type):
        return timestamp_keys(values)
    return _tick_keys(values), values.type.tz is not None


def _tick_keys(values: pa.Array) -> Keys:
    """Seconds and nanoseconds of values that count in units of time."""
    width = pa.int32() if pa.types.is_time32(values.type) else pa.int64()
    ticks = as_numpy(pc.cast(values, width)).astype(np.int64)
    a_second = _TICKS_A_SECOND[values.type.unit]
    return ticks // a_second, ticks % a_second * (_TICKS_A_SECOND["ns"] // a_second)


def _boolean_keys(values: pa.Array) -> Keys:
    if pa.types.is_string(values.type):
        return boolean_keys(values)
    return (as_numpy(values),)


def _time_keys(values: pa.Array) -> Keys:
    return time_keys(values) if pa.types.is_string(values.type) else _tick_keys(values)


_KEYS = {
    ColumnType.DATE: _date_keys,
    ColumnType.TIME: _time_keys,
    ColumnType.DURATION: _tick_keys,
    ColumnType.BOOLEAN: _boolean_keys,
}


def constant_array(constant: Constant, type_: ColumnType, name: str) -> pa.Array:
    """Read a constant as a value of a column's type."""
    value = constant.value
    if isinstance(value, bool):
        fits = type_ is ColumnType.BOOLEAN
    elif isinstance(value, str):
        fits = type_ in (ColumnType.STRING, ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME)
    else:
        fits = type_ in NUMBERS
    if not fits:
        raise _unfit(constant, type_, name)
    if isinstance(value, bool):
        return pa.array([value])
    text = value if isinstance(value, str) else format(Decimal(value), "f")
    read = pa.array([text], pa.string())
    if isinstance(value, str):
        try:
            sort_texts(read, type_)
        except NotThatTypeError:
            raise _unfit(constant, type_, name) from None
    return read


def _unfit(constant: Constant, type_: ColumnType, name: str) -> UsageError:
    return UsageError(
        f"{name!r} is of type {type_.value}, and cannot be compared with {constant.value!r}",
        "Texts, dates and timestamps are written in single quotes; numbers, true and false without.",
    )
