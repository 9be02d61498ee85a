"""The canonical texts of dates, timestamps, times of day and lengths of time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.arrays import Flags, Int64s
from lawful.tables.living.steps import Step, as_it_is
from lawful.tables.text_values import (
    BLANKS,
    DOTTED_DATE_TEXT,
    ISO_DATE_TEXT,
    SLASHED_DATE_TEXT,
    TIME_OF_DAY_TEXT,
    TIMESTAMP_TEXT,
    iso_of_dotted,
    iso_of_slashed,
    zone_seconds,
)

_TIME_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CANONICAL_TIMESTAMP = rf"^{_DATE} {_TIME_OF_DAY}(\.[0-9]{{0,8}}[1-9])?Z?$"
_WRITTEN_OUT = rf"^{_DATE}[T ]{_TIME_OF_DAY}(\.[0-9]{{1,9}})?Z?$"
_MIDNIGHT = rf"^[ \t]*{_DATE}[T ]00:00(:00([.,]0{{1,9}})?)?[ \t]*$"
_FIRST_SECOND, _LAST_SECOND = -62_167_219_200, 253_402_300_799
"""Of the years that have four digits, 0000 to 9999."""
_FARTHEST_ZONE = (18 * 60 + 59) * 60
_ZONE = r"(Z|[+-]18:59)$"
_NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def has_zone(timestamps: pa.Array) -> pa.Array:
    """Whether canonical timestamps have zones."""
    return pc.match_substring_regex(timestamps, _ZONE)


def common_unit(values: pa.Array) -> pa.Array:
    """Timestamps with a zone at UTC, and lengths of time as a number of nanoseconds; other values as they are."""
    if pa.types.is_timestamp(values.type):
        zone = None if values.type.tz is None else "UTC"
        try:
            return pc.cast(values, pa.timestamp("s", zone))  # whose texts are canonical, as most columns' can be
        except pa.ArrowInvalid:  # fractions of seconds
            return pc.cast(values, pa.timestamp(values.type.unit, zone))
    if not pa.types.is_duration(values.type):
        return values
    counts, nanos = pc.cast(values, pa.int64()), _NANOS[values.type.unit]
    try:
        return pc.multiply_checked(counts, nanos)
    except pa.ArrowInvalid:  # beyond 64 bits, as centuries are in nanoseconds
        return pa.array([None if count is None else str(count * nanos) for count in counts.to_pylist()], pa.string())


def _existing_days(dates: pa.Array) -> pa.Array:
    """Null for dates that look right but are no days (2023-02-30)."""
    return _kept(dates, _is_day(dates))


def _kept(texts: pa.Array, flags: Flags) -> pa.Array:
    return texts if flags.all() else pc.if_else(pa.array(flags), texts, pa.scalar(None, pa.string()))


def _is_day(texts: pa.Array) -> Flags:
    """Whether texts that begin as 2023-02-30 begin with a day that there is; a year 0000 is a leap year."""
    year, month, day = (_digits(texts, first, last) for first, last in ((0, 4), (5, 7), (8, 10)))
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    # From August on the long months are the even ones.
    last_day = np.where(month == 2, 28 + is_leap, 30 + ((month + month // 8) % 2))
    return np.asarray((month >= 1) & (month <= 12) & (day >= 1) & (day <= last_day))


def _digits(texts: pa.Array, first: int, last: int) -> Int64s:
    return np.asarray(pc.cast(pc.utf8_slice_codeunits(texts, first, last), pa.int64()))


def date_steps(*, day_first: bool) -> tuple[Step, ...]:
    """How dates are read, those with slashes as it is settled for their column."""
    return (
        (ISO_DATE_TEXT, lambda texts: _existing_days(pc.utf8_trim(texts, BLANKS))),
        (SLASHED_DATE_TEXT, lambda texts: _existing_days(iso_of_slashed(texts, day_first=day_first))),
        (DOTTED_DATE_TEXT, lambda texts: _existing_days(iso_of_dotted(texts))),
        (_MIDNIGHT, _days_of),
    )


def _days_of(midnights: pa.Array) -> pa.Array:
    return _existing_days(pc.utf8_slice_codeunits(pc.utf8_trim(midnights, BLANKS), 0, 10))


def _beginning_of(days: pa.Array) -> pa.Array:
    return _existing_days(pc.binary_join_element_wise(pc.utf8_trim(days, BLANKS), "00:00:00", " "))


def _without_idle_zeros(texts: pa.Array) -> pa.Array:
    """Timestamps that lack nothing, as programs write them: with a T, or with all digits of their unit."""
    plain = pc.replace_substring_regex(pc.utf8_replace_slice(texts, 10, 11, " "), r"(\.[0-9]*[1-9])0+(Z?)$", r"\1\2")
    return _existing_days(pc.replace_substring_regex(plain, r"\.0+(Z?)$", r"\1"))


def _timestamps(texts: pa.Array) -> pa.Array:
    """Timestamps of any spelling: null where the day, the time or the zone does not exist."""
    matched = pc.extract_regex(texts, TIMESTAMP_TEXT)
    parts = {field.name: part for field, part in zip(matched.type, matched.flatten(), strict=True)}
    second = pc.if_else(pc.equal(parts["second"], ""), ":00", parts["second"])
    time_of_day = pc.binary_join_element_wise(parts["time"], second, "")
    clock = pc.binary_join_element_wise(parts["date"], time_of_day, " ")
    exists = _is_day(clock) & np.asarray(pc.match_substring_regex(clock, rf" {_TIME_OF_DAY}$"))
    ahead, has_such_zone = _zones(parts["zone"])
    fraction = pc.replace_substring_regex(parts["fraction"], "0+$", "")
    point = pc.if_else(pc.equal(fraction, ""), "", ".")
    clock, zone = _at_utc(_kept(clock, exists), ahead, parts["zone"])
    written = pc.binary_join_element_wise(clock, point, fraction, zone, "")
    return _kept(written, exists & has_such_zone)


def _times_of_day(texts: pa.Array) -> pa.Array:
    """Times of any spelling, with seconds and without zeros behind."""
    plain = pc.replace_substring(pc.utf8_trim(texts, BLANKS), ",", ".")
    whole = pc.if_else(
        pc.equal(pc.utf8_length(plain), len("12:30")), pc.binary_join_element_wise(plain, ":00", ""), plain
    )
    return pc.replace_substring_regex(pc.replace_substring_regex(whole, r"(\.[0-9]*[1-9])0+$", r"\1"), r"\.0+$", "")


def _zones(zones: pa.Array) -> tuple[Int64s, Flags]:
    """How far each zone is ahead of UTC, 0 where there is none; and whether there is such a zone."""
    distinct = zones.dictionary_encode()
    ahead = [zone_seconds(zone) if zone else 0 for zone in distinct.dictionary.to_pylist()]
    codes = distinct.indices.to_numpy()
    known = np.array([seconds is not None for seconds in ahead], np.bool_)
    return np.array([seconds or 0 for seconds in ahead], np.int64)[codes], known[codes]


def _at_utc(clock: pa.Array, ahead: Int64s, zones: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The time at UTC, and the zone to write behind it.

    At the ends of the calendar UTC may be in a year of five digits or before the year 0: such a time is written in the
    zone that is farthest off, where it is in a year that can be written.
    """
    is_zoned = pc.not_equal(zones, "")
    if not pc.any(is_zoned).as_py():
        return clock, zones
    seconds = pc.fill_null(pc.cast(pc.cast(clock, pa.timestamp("s")), pa.int64()), 0).to_numpy() - ahead
    early, late = seconds < _FIRST_SECOND, seconds > _LAST_SECOND
    seconds = seconds + np.where(early, _FARTHEST_ZONE, 0) - np.where(late, _FARTHEST_ZONE, 0)
    zone = pc.if_else(pa.array(early), "+18:59", pc.if_else(pa.array(late), "-18:59", "Z"))
    shifted = pc.cast(pc.cast(pa.array(seconds), pa.timestamp("s")), pa.string())
    return pc.if_else(is_zoned, shifted, clock), pc.if_else(is_zoned, zone, "")


TIMESTAMP_STEPS: tuple[Step, ...] = (
    (_CANONICAL_TIMESTAMP, _existing_days),
    (_WRITTEN_OUT, _without_idle_zeros),
    (TIMESTAMP_TEXT, _timestamps),
    (ISO_DATE_TEXT, _beginning_of),
)
TIME_STEPS: tuple[Step, ...] = (
    (rf"^{_TIME_OF_DAY}(\.[0-9]{{0,8}}[1-9])?$", as_it_is),
    (TIME_OF_DAY_TEXT, _times_of_day),
)
DURATION_STEPS: tuple[Step, ...] = ((r"^(0|-?[1-9][0-9]*)$", as_it_is),)
