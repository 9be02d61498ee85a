"""The type of a column of texts that no process holds: each part says what does not fit, the driver decides.

A *test* looks at texts and points at the first that fails it. Of each part of a column, and in the end of the whole
column, the first row that fails a test is all that matters: from these rows follow the type that `sort_texts` would
infer, how dates are read, and the row to blame where a text is not of the type that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.meanings import ColumnType
from lawful.tables.ranking import JSON_BOOLEAN, JSON_NUMBER, JSON_STRING, NotConvertibleError
from lawful.tables.shuffled.order_keys import Form, Reading
from lawful.tables.text_values import (
    BLANKS,
    BOOLEAN_TEXT,
    DECIMAL_TEXT,
    DOTTED_DATE_TEXT,
    INFERRED_DECIMAL_TEXT,
    INFERRED_INTEGER_TEXT,
    INFERRED_TYPES,
    INTEGER_TEXT,
    ISO_DATE_TEXT,
    NAN_TEXT,
    SLASHED_DATE_TEXT,
    TIME_OF_DAY_TEXT,
    TIMESTAMP_TEXT,
    NotThatTypeError,
    cast_or_point_at,
    first_unlike,
    iso_of_dotted,
    iso_of_slashed,
    timestamp_keys,
)

_PLAIN_INTEGER = r"^(0|-?[1-9][0-9]*)$"
_PLAIN_DATE = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$"
_ZONE = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)[ \t]*$"

Finder = Callable[[pa.Array], int | None]


class Test(NamedTuple):
    """A test of texts: `find` gives the place of the first that fails it.

    It is made only of texts that pass the test `after`, and says nothing of columns that fail that.
    """

    find: Finder
    after: str | None = None


class Misfit(NamedTuple):
    """The first row of a column whose text fails a test, and the text."""

    row: int
    text: str


Misfits = Mapping[str, Misfit]
"""What is known of a column: its misfits by the names of tests."""


def _like(pattern: str) -> Finder:
    return lambda texts: first_unlike(texts, pattern)


def _cast(prepare: Callable[[pa.Array], pa.Array], wanted: pa.DataType) -> Finder:
    def find(texts: pa.Array) -> int | None:
        try:
            cast_or_point_at(prepare(texts), wanted)
        except NotThatTypeError as error:
            return error.index
        return None

    return find


def _unsigned(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(pc.utf8_trim(texts, BLANKS), r"^\+", "")


def _zone(*, wanted: bool) -> Finder:
    def find(texts: pa.Array) -> int | None:
        place: int = pc.index(pc.match_substring_regex(texts, _ZONE), pa.scalar(wanted)).as_py()
        return None if place < 0 else place

    return find


def _no_timestamp(texts: pa.Array) -> int | None:
    """The first that is no point in time: instants and wall-clock times are looked at apart."""
    has_zone = np.asarray(pc.match_substring_regex(texts, _ZONE))
    found = []
    for places in (np.flatnonzero(has_zone), np.flatnonzero(~has_zone)):
        try:
            if places.size:
                timestamp_keys(texts.take(pa.array(places)))
        except NotThatTypeError as error:
            found.append(int(places[error.index]))
    return min(found, default=None)


VALUE = "there is a value"
TESTS: dict[str, Test] = {
    VALUE: Test(lambda texts: 0 if len(texts) else None),
    "integer": Test(_like(INFERRED_INTEGER_TEXT)),
    "any integer": Test(_like(INTEGER_TEXT)),
    "64 bits": Test(_cast(_unsigned, pa.int64()), "any integer"),
    "plain integer": Test(_like(_PLAIN_INTEGER), "any integer"),
    "decimal": Test(_like(INFERRED_DECIMAL_TEXT)),
    "any decimal": Test(_like(DECIMAL_TEXT)),
    "nan": Test(_like(NAN_TEXT), "any decimal"),
    "iso": Test(_like(ISO_DATE_TEXT)),
    "iso day": Test(_cast(lambda texts: pc.utf8_trim(texts, BLANKS), pa.date32()), "iso"),
    "plain date": Test(_like(_PLAIN_DATE), "iso"),
    "slashed": Test(_like(SLASHED_DATE_TEXT)),
    "month first": Test(_cast(lambda texts: iso_of_slashed(texts, day_first=False), pa.date32()), "slashed"),
    "day first": Test(_cast(lambda texts: iso_of_slashed(texts, day_first=True), pa.date32()), "slashed"),
    "dotted": Test(_like(DOTTED_DATE_TEXT)),
    "dotted day": Test(_cast(iso_of_dotted, pa.date32()), "dotted"),
    "timestamp": Test(_like(TIMESTAMP_TEXT)),
    "no zone": Test(_zone(wanted=True), "timestamp"),
    "zone": Test(_zone(wanted=False), "timestamp"),
    "point in time": Test(_no_timestamp, "timestamp"),
    "time": Test(_like(TIME_OF_DAY_TEXT)),
    "boolean": Test(_like(BOOLEAN_TEXT)),
}
MARKS = {mark: f"marked {mark}" for mark in (JSON_NUMBER, JSON_BOOLEAN, JSON_STRING)}
"""The first row that has a value of each kind of JSON."""


def failed(
    texts: pa.Array, known: Collection[str] = (), passed_over: Collection[str] = ()
) -> Iterator[tuple[str, int]]:
    """The first of distinct texts that fails each test but some; `known` are tests that texts failed before."""
    if not len(texts):
        return
    failing = set(known)
    for name, test in TESTS.items():
        if name in passed_over or test.after in failing:
            continue
        place = test.find(texts)
        if place is not None:
            failing.add(name)
            yield name, place


def settled(found: Misfits, asked: ColumnType | None) -> Reading:
    """How the texts of a column are read: as the type that was asked for, or the first that fits all of them.

    Raises
    ------
    NotConvertibleError
        For the first row whose text is not of the type that was asked for.
    """
    marks = {mark for mark, name in MARKS.items() if name in found}
    if asked is None and marks and marks not in ({JSON_NUMBER}, {JSON_BOOLEAN}):
        asked = ColumnType.STRING
    if VALUE not in found:
        return Reading(asked or ColumnType.NULL, Form.TEXT, is_plain=True)
    if asked is not None:
        for misfit in _misfits_of(found, asked):
            raise NotConvertibleError(misfit.row, misfit.text)
        return _reading(found, asked)
    return _reading(found, next((type_ for type_ in INFERRED_TYPES if _fits(found, type_)), ColumnType.STRING))


def _fits(found: Misfits, type_: ColumnType) -> bool:
    """Whether a type is inferred: numbers have no leading zeros then, and are not all NaN."""
    if type_ is ColumnType.INTEGER:
        return "integer" not in found
    if type_ is ColumnType.DECIMAL:
        return "decimal" not in found and "nan" in found
    return not any(_misfits_of(found, type_))


def _misfits_of(found: Misfits, type_: ColumnType) -> Iterator[Misfit]:
    """The misfits of a type, the one first that is named first."""
    if type_ is ColumnType.DATE:
        yield from _misfits_of_dates(found)
    elif type_ is ColumnType.TIMESTAMP:
        yield from _named(found, "timestamp")
        if "zone" in found and "no zone" in found:
            yield max(found["zone"], found["no zone"])
        yield from _named(found, "point in time")
    elif type_ in _SHAPES:
        yield from _named(found, _SHAPES[type_])


_SHAPES = {
    ColumnType.INTEGER: "any integer",
    ColumnType.DECIMAL: "any decimal",
    ColumnType.FLOAT: "any decimal",
    ColumnType.TIME: "time",
    ColumnType.BOOLEAN: "boolean",
}


def _named(found: Misfits, *tests: str) -> Iterator[Misfit]:
    return (found[test] for test in tests if test in found)


def _misfits_of_dates(found: Misfits) -> Iterator[Misfit]:
    if "slashed" not in found:
        if "month first" in found and "day first" in found:  # the way that goes on for longer is taken
            yield max(found["month first"], found["day first"])
    elif "dotted" not in found:
        yield from _named(found, "dotted day")
    else:
        yield from _named(found, "iso", "iso day")


def _reading(found: Misfits, type_: ColumnType) -> Reading:
    if type_ is ColumnType.STRING:
        return Reading(type_, Form.TEXT, is_plain=True)
    if type_ is ColumnType.INTEGER and "64 bits" not in found:
        return Reading(type_, Form.WHOLE, is_plain="plain integer" not in found)
    if type_ in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT):
        return Reading(type_, Form.NUMBER)
    if type_ is ColumnType.TIMESTAMP:
        return Reading(type_, Form.INSTANT, "no zone" in found)
    if type_ is ColumnType.DATE:
        is_plain = "iso" not in found and "plain date" not in found
        day_first = "month first" in found if "slashed" not in found else None
        return Reading(type_, Form.DATE if is_plain else Form.WHOLE, day_first, is_plain)
    return Reading(type_, Form.WHOLE)
