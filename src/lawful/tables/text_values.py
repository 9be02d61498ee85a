"""From the texts of a column to its type and its order.

A text source (CSV, JSON lines) gives only texts. This module decides, from *all* distinct texts of a column,
which type they have, and sorts them as that type sorts. Nothing is decided from a prefix, and no two texts
become one value unless their type says that they are equal (`1.0` and `1.00` as decimals).

Departing from most readers, a number with a leading zero (`007`) makes its column a string: such a column
holds identifiers, and reading `007` and `7` as one value would invent laws.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.meanings import ColumnType
from lawful.tables.arrow_functions import as_arrow, as_numpy, pc

BLANKS = " \t"
"""What may surround numbers, dates, timestamps and booleans."""
INTEGER_TEXT = r"^[ \t]*[+-]?[0-9]+[ \t]*$"
DECIMAL_TEXT = (
    r"^[ \t]*([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?|[+-]?(?i:inf|infinity)|(?i:nan))[ \t]*$"
)
INFERRED_INTEGER_TEXT = r"^[ \t]*[+-]?(0|[1-9][0-9]*)[ \t]*$"
INFERRED_DECIMAL_TEXT = (
    r"^[ \t]*([+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?|[+-]?(?i:inf|infinity)|(?i:nan))[ \t]*$"
)
NAN_TEXT = r"^[ \t]*(?i:nan)[ \t]*$"
ISO_DATE_TEXT = r"^[ \t]*[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]*$"
SLASHED_DATE_TEXT = r"^[ \t]*([0-9]{2})/([0-9]{2})/([0-9]{4})[ \t]*$"
DOTTED_DATE_TEXT = r"^[ \t]*([0-9]{2})\.([0-9]{2})\.([0-9]{4})[ \t]*$"
TIMESTAMP_TEXT = (
    r"^[ \t]*(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ](?P<time>[0-9]{2}:[0-9]{2})"
    r"(?:(?P<second>:[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?[ \t]*$"
)
TIME_OF_DAY_TEXT = (
    r"^[ \t]*(?P<time>(?:[01][0-9]|2[0-3]):[0-5][0-9])(?P<second>:[0-5][0-9](?:[.,](?P<fraction>[0-9]{1,9}))?)?[ \t]*$"
)
BOOLEAN_TEXT = r"^[ \t]*(?i:true|false)[ \t]*$"


TYPES_THAT_ARE_FOUND = 2
"""Counts up when texts get other types than before: what was read by then is read again."""


class NotThatTypeError(Exception):
    """A text that is not of the type asked for; `index` is its place among the texts."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass(frozen=True)
class SortedTexts:
    """The order of distinct texts under a type.

    `ranks[i]` is the dense rank of text i, from 1, or 0 where the text means null (NaN); `representatives`
    are the indices of one text per rank, the earliest, in rank order.
    """

    type: ColumnType
    ranks: npt.NDArray[np.int32]
    representatives: npt.NDArray[np.int64]


Keys = tuple[npt.NDArray[np.generic], ...]


def sort_texts(texts: pa.Array, asked: ColumnType | None = None) -> SortedTexts:
    """Infer the type of the distinct `texts` (or take the one asked for) and rank them.

    Raises
    ------
    NotThatTypeError
        Where a type is asked for and a text does not have it.
    """
    if len(texts) == 0:
        return SortedTexts(asked or ColumnType.NULL, np.zeros(0, np.int32), np.zeros(0, np.int64))
    if asked is not None:
        return _sort_asked(texts, asked)
    for candidate in INFERRED_TYPES:
        if _looks_like(texts, candidate):
            try:
                return _SORTERS[candidate](texts, candidate)
            except NotThatTypeError:
                continue
    return _sort_strings(texts, ColumnType.STRING)


INFERRED_TYPES = (
    ColumnType.INTEGER,
    ColumnType.DECIMAL,
    ColumnType.DATE,
    ColumnType.TIMESTAMP,
    ColumnType.TIME,
    ColumnType.BOOLEAN,
)
"""The types that are looked for, in this order."""
_PATTERNS = {
    ColumnType.INTEGER: (INFERRED_INTEGER_TEXT,),
    ColumnType.DECIMAL: (INFERRED_DECIMAL_TEXT,),
    ColumnType.DATE: (ISO_DATE_TEXT, SLASHED_DATE_TEXT, DOTTED_DATE_TEXT),
    ColumnType.TIMESTAMP: (TIMESTAMP_TEXT,),
    ColumnType.TIME: (TIME_OF_DAY_TEXT,),
    ColumnType.BOOLEAN: (BOOLEAN_TEXT,),
}
"""What all texts of a column must look like for its type to be inferred."""

_ASKED_PATTERNS = {
    ColumnType.INTEGER: INTEGER_TEXT,
    ColumnType.DECIMAL: DECIMAL_TEXT,
    ColumnType.FLOAT: DECIMAL_TEXT,
    ColumnType.TIMESTAMP: TIMESTAMP_TEXT,
    ColumnType.TIME: TIME_OF_DAY_TEXT,
    ColumnType.BOOLEAN: BOOLEAN_TEXT,
}
"""What each text must look like where the user chose the type."""


def _looks_like(texts: pa.Array, candidate: ColumnType) -> bool:
    """Every text matches one pattern of the type; a column that is only NaN holds no numbers."""
    if not any(_all_match(texts, pattern) for pattern in _PATTERNS[candidate]):
        return False
    return candidate is not ColumnType.DECIMAL or not _all_match(texts, NAN_TEXT)


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return first_unlike(texts, pattern) is None


def first_unlike(texts: pa.Array, pattern: str) -> int | None:
    """The place of the first text that does not match, None if all do."""
    # Most columns fail at their first value, and Python looks at one value quicker than Arrow.
    if re.match(pattern, texts[0].as_py()) is None:
        return 0
    matches = pc.match_substring_regex(texts, pattern)
    return None if pc.all(matches).as_py() else int(pc.index(matches, pa.scalar(False)).as_py())


def _sort_asked(texts: pa.Array, asked: ColumnType) -> SortedTexts:
    """Sort as the user wants, or raise for the first text that is not of that type."""
    sorter = _SORTERS.get(asked)
    if sorter is None:
        raise NotThatTypeError(0)
    if asked in _ASKED_PATTERNS:
        _require(texts, _ASKED_PATTERNS[asked])
    return sorter(texts, asked)


def _require(texts: pa.Array, pattern: str) -> None:
    """Raise for the first text that does not match."""
    place = first_unlike(texts, pattern)
    if place is not None:
        raise NotThatTypeError(place)


def rank_by_keys(keys: Keys, is_null: npt.NDArray[np.bool_] | None, type_: ColumnType) -> SortedTexts:
    """Dense ranks by the lexicographic order of `keys`; equal keys share a rank, nulls have rank 0."""
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    if is_null is not None and is_null.any():
        order = order[~is_null[order]]
    fresh = np.ones(len(order), np.bool_)
    if len(order) > 1:
        same = np.ones(len(order) - 1, np.bool_)
        for key in keys:
            in_order = key[order]
            same &= in_order[1:] == in_order[:-1]
        fresh[1:] = ~same
    ranks = np.zeros(len(keys[0]), np.int32)
    ranks[order] = np.cumsum(fresh, dtype=np.int32)
    # The sorts are stable, so the first of equal texts is the one that came first in the table.
    return SortedTexts(type_, ranks, order[fresh].astype(np.int64))


def _sort_strings(texts: pa.Array, _: ColumnType) -> SortedTexts:
    # UTF-8 bytes sort as code points do; the texts are distinct, so no two share a rank.
    order = as_numpy(pc.sort_indices(texts)).astype(np.int64)
    ranks = np.empty(len(texts), np.int32)
    ranks[order] = np.arange(1, len(texts) + 1, dtype=np.int32)
    return SortedTexts(ColumnType.STRING, ranks, order)


def _sort_integers(texts: pa.Array, type_: ColumnType) -> SortedTexts:
    try:
        return rank_by_keys((as_numpy(pc.cast(texts, pa.int64())),), None, type_)
    except pa.ArrowInvalid:  # blanks, a plus sign, or beyond 64 bits
        plain = pc.replace_substring_regex(pc.utf8_trim(texts, BLANKS), r"^\+", "")
    try:
        return rank_by_keys((as_numpy(pc.cast(plain, pa.int64())),), None, type_)
    except pa.ArrowInvalid:  # beyond 64 bits
        return rank_by_keys(decimal_keys(plain), None, type_)


def _sort_decimals(texts: pa.Array, type_: ColumnType) -> SortedTexts:
    is_nan = as_numpy(pc.match_substring_regex(texts, NAN_TEXT))
    plain = pc.utf8_trim(texts, BLANKS)
    if is_nan.any():
        plain = pc.if_else(as_arrow(is_nan), "0", plain)
    return rank_by_keys(decimal_keys(plain), is_nan, type_)


def decimal_keys(texts: pa.Array) -> Keys:
    """Keys that order decimal texts exactly: the nearest float, then a tie-break.

    Rounding to a float never reverses an order, so only texts that share their float need exact arithmetic.
    """
    try:
        floats = as_numpy(pc.cast(texts, pa.float64()))
    except pa.ArrowInvalid:  # spellings that only Python reads: "+1", "5."
        floats = np.array([float(text) for text in texts.to_pylist()], np.float64)
    floats = floats + 0.0  # -0.0 and 0.0 are one number
    tie_break = np.zeros(len(floats), np.int64)
    order = np.argsort(floats, kind="stable")
    in_order = floats[order]
    starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    sizes = np.diff(np.append(starts, len(order)))
    for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
        members = order[start : start + size]
        exact = [Decimal(texts[int(member)].as_py()) for member in members]
        places = {value: place for place, value in enumerate(sorted(set(exact)))}
        tie_break[members] = [places[value] for value in exact]
    return floats, tie_break


def _sort_dates(texts: pa.Array, type_: ColumnType) -> SortedTexts:
    return rank_by_keys(date_keys(texts), None, type_)


def date_keys(texts: pa.Array, *, day_first: bool | None = None) -> Keys:
    """Keys that order the texts of dates: days since 1970.

    `day_first` says how dates with slashes are read; where it is left out, these texts are a whole column and decide.
    """
    if _all_match(texts, SLASHED_DATE_TEXT):
        day_first = is_day_first(texts) if day_first is None else day_first
        iso = iso_of_slashed(texts, day_first=day_first)
    elif _all_match(texts, DOTTED_DATE_TEXT):
        iso = iso_of_dotted(texts)
    else:
        _require(texts, ISO_DATE_TEXT)
        iso = pc.utf8_trim(texts, BLANKS)
    days = cast_or_point_at(iso, pa.date32())
    return (as_numpy(pc.cast(days, pa.int32())),)


def is_day_first(texts: pa.Array) -> bool:
    """Whether the dates of a column that have slashes are 31/12/2024 and not 12/31/2024.

    The month comes first unless there is a date that this makes impossible. If both ways do, the one that goes on for
    longer is taken, so that the date that spoils it is named.
    """
    slashed = texts.filter(pc.match_substring_regex(texts, SLASHED_DATE_TEXT))
    month_first = _readable_dates(iso_of_slashed(slashed, day_first=False))
    return month_first < len(slashed) and _readable_dates(iso_of_slashed(slashed, day_first=True)) > month_first


def _readable_dates(iso: pa.Array) -> int:
    """How many texts there are before the first that is no date."""
    try:
        pc.cast(iso, pa.date32())
    except pa.ArrowInvalid:
        return _first_misfit(iso, pa.date32())
    return len(iso)


def iso_of_slashed(texts: pa.Array, *, day_first: bool) -> pa.Array:
    """Dates with slashes as ISO 8601 writes them."""
    return pc.replace_substring_regex(texts, SLASHED_DATE_TEXT, r"\3-\2-\1" if day_first else r"\3-\1-\2")


def iso_of_dotted(texts: pa.Array) -> pa.Array:
    """Dates with dots as ISO 8601 writes them."""
    return pc.replace_substring_regex(texts, DOTTED_DATE_TEXT, r"\3-\2-\1")


def _sort_times(texts: pa.Array, type_: ColumnType) -> SortedTexts:
    return rank_by_keys(time_keys(texts), None, type_)


def time_keys(texts: pa.Array) -> Keys:
    """Keys that order the texts of times of day: seconds since midnight, and nanoseconds."""
    matched = pc.extract_regex(texts, TIME_OF_DAY_TEXT)
    parts = {field.name: part for field, part in zip(matched.type, matched.flatten(), strict=True)}
    hours, minutes = (_two_digits(parts["time"], start) for start in (0, 3))
    seconds = _two_digits(pc.if_else(pc.equal(parts["second"], ""), ":00", parts["second"]), 1)
    nanos = as_numpy(pc.cast(pc.utf8_rpad(parts["fraction"], 9, "0"), pa.int64()))
    return hours * 3600 + minutes * 60 + seconds, nanos


def _two_digits(texts: pa.Array, start: int) -> npt.NDArray[np.int64]:
    return np.asarray(pc.cast(pc.utf8_slice_codeunits(texts, start, start + 2), pa.int64()))


def _sort_timestamps(texts: pa.Array, type_: ColumnType) -> SortedTexts:
    keys, _ = timestamp_keys(texts)
    return rank_by_keys(keys, None, type_)


def timestamp_keys(texts: pa.Array) -> tuple[Keys, bool]:
    """Keys that order the texts of timestamps, and whether they have a zone.

    Seconds and nanoseconds over all years, which no 64-bit nanosecond count could hold.
    """
    matched = pc.extract_regex(texts, TIMESTAMP_TEXT)
    parts = {field.name: part for field, part in zip(matched.type, matched.flatten(), strict=True)}
    zoned = as_numpy(pc.not_equal(parts["zone"], ""))
    if zoned.any() != zoned.all():  # an instant and a wall-clock time have no order between them
        raise NotThatTypeError(int(np.flatnonzero(zoned != zoned[0])[0]))
    second = pc.if_else(pc.equal(parts["second"], ""), ":00", parts["second"])
    clock = pc.binary_join_element_wise(parts["date"], "T", parts["time"], second, "")
    seconds = as_numpy(pc.cast(cast_or_point_at(clock, pa.timestamp("s")), pa.int64()))
    if zoned.any():
        seconds = seconds - _zone_offsets(parts["zone"])
    nanos = as_numpy(pc.cast(pc.utf8_rpad(parts["fraction"], 9, "0"), pa.int64()))
    return (seconds, nanos), bool(zoned.any())


def _zone_offsets(zones: pa.Array) -> npt.NDArray[np.int64]:
    distinct = zones.dictionary_encode()
    offsets = [zone_seconds(zone) for zone in distinct.dictionary.to_pylist()]
    codes = as_numpy(distinct.indices)
    bad = [index for index, offset in enumerate(offsets) if offset is None]
    if bad:
        raise NotThatTypeError(int(np.flatnonzero(np.isin(codes, bad))[0]))
    return np.asarray(np.array(offsets, np.int64)[codes])


def zone_seconds(zone: str) -> int | None:
    """How far a zone is ahead of UTC, or None where there is no such zone."""
    if zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 18 or minutes > 59:
        return None
    return (-1 if zone[0] == "-" else 1) * (hours * 3600 + minutes * 60)


def cast_or_point_at(texts: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cast, or raise for the first text that looks right but is no such day or time (2023-02-30)."""
    try:
        return pc.cast(texts, wanted)
    except pa.ArrowInvalid:
        raise NotThatTypeError(_first_misfit(texts, wanted)) from None


def _first_misfit(texts: pa.Array, wanted: pa.DataType) -> int:
    """Search by halves: of a range that cannot be cast, the first half that cannot holds the first misfit."""
    first, last = 0, len(texts)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            pc.cast(texts.slice(first, middle - first), wanted)
            first = middle
        except pa.ArrowInvalid:
            last = middle
    return first


def _sort_booleans(texts: pa.Array, type_: ColumnType) -> SortedTexts:
    return rank_by_keys(boolean_keys(texts), None, type_)


def boolean_keys(texts: pa.Array) -> Keys:
    """Keys that order the texts of booleans."""
    truth = pc.equal(pc.utf8_lower(pc.utf8_trim(texts, BLANKS)), "true")
    return (as_numpy(truth),)


_SORTERS: dict[ColumnType, Callable[[pa.Array, ColumnType], SortedTexts]] = {
    ColumnType.STRING: _sort_strings,
    ColumnType.INTEGER: _sort_integers,
    ColumnType.DECIMAL: _sort_decimals,
    ColumnType.FLOAT: _sort_decimals,
    ColumnType.DATE: _sort_dates,
    ColumnType.TIMESTAMP: _sort_timestamps,
    ColumnType.TIME: _sort_times,
    ColumnType.BOOLEAN: _sort_booleans,
}
