"""What the type and the order of a column of texts are, written to be read rather than to be fast.

Numbers are Python's integers and fractions, dates and times are those of `datetime`, strings are compared as
Python compares them: by code point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from lawful.common.meanings import ColumnType

NAN = "not a number"
Reader = Callable[[str], Any]


class MisfitError(Exception):
    """A text that is not of the type."""


def _match(pattern: str, text: str) -> re.Match[str]:
    found = re.fullmatch(rf"[ \t]*{pattern}[ \t]*", text, re.ASCII)
    if found is None:
        raise MisfitError(text)
    return found


def read_integer(text: str) -> int:
    return int(_match(r"([+-]?\d+)", text)[1])


def read_decimal(text: str) -> Any:
    """A pair that orders: infinities lie outside of the numbers. NaN is no value."""
    number = _match(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?|[+-]?(?i:inf|infinity)|(?i:nan))", text)[1]
    if number.lower() == "nan":
        return NAN
    if "inf" in number.lower():
        return (-1, Fraction(0)) if number.startswith("-") else (1, Fraction(0))
    return (0, Fraction(number))


def _day(year: str, month: str, day: str) -> date:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        raise MisfitError(f"{year}-{month}-{day}") from None


def read_iso_date(text: str) -> date:
    return _day(*_match(r"(\d{4})-(\d{2})-(\d{2})", text).groups())


def read_us_date(text: str) -> date:
    month, day, year = _match(r"(\d{2})/(\d{2})/(\d{4})", text).groups()
    return _day(year, month, day)


def read_day_first_date(text: str) -> date:
    day, month, year = _match(r"(\d{2})/(\d{2})/(\d{4})", text).groups()
    return _day(year, month, day)


def read_dotted_date(text: str) -> date:
    day, month, year = _match(r"(\d{2})\.(\d{2})\.(\d{4})", text).groups()
    return _day(year, month, day)


def read_time(text: str) -> tuple[time, int]:
    hour, minute, second, fraction = _match(r"(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?", text).groups()
    try:
        return time(int(hour), int(minute), int(second or 0)), int((fraction or "").ljust(9, "0"))
    except ValueError:
        raise MisfitError(text) from None


_CLOCK = r"(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"


def _instant(parts: Sequence[str | None]) -> tuple[datetime, int]:
    year, month, day, hour, minute, second, fraction = parts
    try:
        clock = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
    except ValueError:
        raise MisfitError(str(parts)) from None
    return clock, int((fraction or "").ljust(9, "0"))


def read_wall_clock(text: str) -> tuple[datetime, int]:
    return _instant(_match(_CLOCK, text).groups())


def read_instant(text: str) -> tuple[datetime, int]:
    *clock, zone = _match(_CLOCK + r"(Z|[+-]\d{2}(?::?\d{2})?)", text).groups()
    moment, nanoseconds = _instant(clock)
    if zone == "Z":
        return moment, nanoseconds
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
    if hours > 18 or minutes > 59:
        raise MisfitError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return (moment + offset if zone[0] == "-" else moment - offset), nanoseconds


def read_boolean(text: str) -> bool:
    return _match(r"((?i:true|false))", text)[1].lower() == "true"


# A column is of a type if one of its readers reads every text.
READERS: dict[ColumnType, tuple[Reader, ...]] = {
    ColumnType.INTEGER: (read_integer,),
    ColumnType.DECIMAL: (read_decimal,),
    ColumnType.FLOAT: (read_decimal,),
    ColumnType.DATE: (read_iso_date, read_us_date, read_day_first_date, read_dotted_date),
    ColumnType.TIMESTAMP: (read_wall_clock, read_instant),
    ColumnType.TIME: (read_time,),
    ColumnType.BOOLEAN: (read_boolean,),
    ColumnType.STRING: (str,),
}


def read_as(type_: ColumnType, texts: Sequence[str]) -> list[Any]:
    """The values of texts that all have the type."""
    for reader in READERS[type_]:
        try:
            return [reader(text) for text in texts]
        except MisfitError:
            continue
    raise MisfitError(type_)


def fits(type_: ColumnType, texts: Sequence[str]) -> bool:
    try:
        read_as(type_, texts)
    except MisfitError:
        return False
    return True


def infer(texts: Sequence[str]) -> ColumnType:
    """The first type that all texts have; identifiers with leading zeros and columns of only NaN are strings."""
    if not texts:
        return ColumnType.NULL
    identifiers = any(re.match(r"[ \t]*[+-]?0[0-9]", text) for text in texts)
    all_nan = all(re.fullmatch(r"[ \t]*(?i:nan)[ \t]*", text) for text in texts)
    if not identifiers and not all_nan:
        for number in (ColumnType.INTEGER, ColumnType.DECIMAL):
            if fits(number, texts):
                return number
    for other in (ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME, ColumnType.BOOLEAN):
        if fits(other, texts):
            return other
    return ColumnType.STRING


def dense_ranks(values: Sequence[Hashable | None]) -> list[int]:
    """0 for None and NaN, and 1, 2, ... for the values in their order."""
    known: set[Any] = {value for value in values if value is not None and value != NAN}
    rank = {value: place for place, value in enumerate(sorted(known), 1)}
    return [0 if value is None or value == NAN else rank[value] for value in values]


def rank_texts(column: Sequence[str | None], asked: ColumnType | None = None) -> tuple[ColumnType, list[int]]:
    """The type of a column and the rank of every row."""
    texts = [text for text in column if text is not None]
    type_ = asked or infer(texts)
    if not texts:
        return type_, [0] * len(column)
    values = dict(zip(texts, read_as(type_, texts), strict=True))
    return type_, dense_ranks([None if text is None else values[text] for text in column])
