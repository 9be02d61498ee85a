"""Texts as keys that Spark groups and sorts by: each is made of its text alone, whatever other texts there are.

Under one reading, two texts have the same key where `sort_texts` gives them the same rank, and keys sort as the ranks
do. Whole numbers of 64 bits, dates, times and booleans are numbers. Other numbers are texts: sign, power of ten and
digits, those of negative ones turned around. Points in time are bytes, because 64 bits do not count the nanoseconds of
ten thousand years.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.arrays import Int64s
from lawful.common.meanings import ColumnType
from lawful.tables.text_values import BLANKS, NAN_TEXT, Keys, boolean_keys, date_keys, time_keys, timestamp_keys


class Form(Enum):
    """What the keys of a column are."""

    TEXT = "texts as they are"
    WHOLE = "whole numbers of 64 bits"
    NUMBER = "numbers as texts that sort as they do"
    INSTANT = "points in time"
    DATE = "dates"

    @property
    def spark_type(self) -> str:
        """Spark's type for such keys."""
        return {Form.WHOLE: "bigint", Form.INSTANT: "binary", Form.DATE: "date"}.get(self, "string")

    @property
    def arrow_type(self) -> pa.DataType:
        """Arrow's type for such keys."""
        return {"bigint": pa.int64(), "binary": pa.binary(), "date": pa.date32()}.get(self.spark_type, pa.string())


@dataclass(frozen=True)
class Reading:
    """How the texts of a column are read.

    Attributes
    ----------
    type
        The type of the values.
    form
        What their keys are.
    settled
        Of dates with slashes, whether the day comes first; of timestamps, whether they have zones. Else None.
    is_plain
        Whether a key tells its text, because no value of the column is written in two ways.
    """

    type: ColumnType
    form: Form
    settled: bool | None = None
    is_plain: bool = False

    @property
    def day_first(self) -> bool:
        """How dates with slashes are read."""
        return self.type is ColumnType.DATE and bool(self.settled)


def order_keys(texts: pa.Array, reading: Reading) -> pa.Array:
    """The keys of texts that are of the type, none of them null; NaN has none."""
    if reading.form is Form.TEXT or not len(texts):
        return texts.cast(reading.form.arrow_type)
    if reading.form is Form.NUMBER:
        return number_keys(texts)
    if reading.form is Form.INSTANT:
        return instant_keys(timestamp_keys(texts)[0])
    if reading.type is ColumnType.INTEGER:
        return pc.cast(pc.replace_substring_regex(pc.utf8_trim(texts, BLANKS), r"^\+", ""), pa.int64())
    if reading.type is ColumnType.DATE:
        days = pa.array(date_keys(texts, day_first=reading.day_first)[0], pa.int32())
        return days.cast(pa.date32()) if reading.form is Form.DATE else days.cast(pa.int64())
    if reading.type is ColumnType.TIME:
        return pa.array(nanoseconds(time_keys(texts)), pa.int64())
    return pa.array(boolean_keys(texts)[0].astype(np.int64), pa.int64())


def nanoseconds(keys: Keys) -> Int64s:
    """Seconds and nanoseconds as one number."""
    seconds, nanos = (np.asarray(key, np.int64) for key in keys)
    return seconds * 1_000_000_000 + nanos


def instant_keys(keys: Keys) -> pa.Array:
    """Seconds and nanoseconds as twelve bytes."""
    packed = np.empty(len(keys[0]), np.dtype([("seconds", ">u8"), ("nanos", ">u4")]))
    packed["seconds"] = np.asarray(keys[0], np.int64).view(np.uint64) ^ np.uint64(1 << 63)
    packed["nanos"] = keys[1]
    bytes_ = pa.py_buffer(packed.tobytes())
    return pa.Array.from_buffers(pa.binary(packed.itemsize), len(packed), [None, bytes_]).cast(pa.binary())


_NUMBER_TEXT = r"^[ \t]*(?P<sign>[+-]?)0*(?P<whole>[0-9]*)\.?(?P<part>[0-9]*)(?:[eE](?P<exponent>[+-]?[0-9]+))?[ \t]*$"
_MIDDLE = 500_000_000_000
"""Powers of ten are counted from here, so that all have as many digits: exponents have nine, texts fewer than that."""
_NEGATIVE, _ZERO, _POSITIVE = "1", "2", "3"
_INFINITE = {"-inf": "0", "inf": "4"}
_TURNED = str.maketrans("0123456789", "9876543210")


def number_keys(texts: pa.Array) -> pa.Array:
    """Keys of decimal texts, exact whatever their digits and powers; none for NaN."""
    matched = pc.extract_regex(texts, _NUMBER_TEXT)
    parts = {field.name: part for field, part in zip(matched.type, matched.flatten(), strict=True)}
    digits = pc.binary_join_element_wise(parts["whole"], parts["part"], "")
    stripped = pc.utf8_ltrim(digits, "0")
    exponent = pc.if_else(pc.equal(parts["exponent"], ""), "0", pc.utf8_ltrim(parts["exponent"], "+"))
    power = pc.add(pc.cast(exponent, pa.int64()), _length(parts["whole"]))
    power = pc.subtract(power, pc.subtract(_length(digits), _length(stripped)))
    significant = pc.utf8_rtrim(stripped, "0")
    is_negative = pc.equal(parts["sign"], "-")
    turned = pc.if_else(is_negative, pc.negate(power), power)
    shown = pc.cast(pc.add(turned, _MIDDLE), pa.string())
    above = pc.binary_join_element_wise(_POSITIVE, shown, significant, "")
    below = pc.binary_join_element_wise(_NEGATIVE, shown, _nines(significant, is_negative), "~", "")
    finite = pc.if_else(pc.equal(significant, ""), _ZERO, pc.if_else(is_negative, below, above))
    return finite if matched.null_count == 0 else pc.coalesce(finite, _not_finite(texts))


def _length(texts: pa.Array) -> pa.Array:
    return pc.cast(pc.binary_length(texts), pa.int64())


def _nines(digits: pa.Array, where: pa.Array) -> pa.Array:
    """Digits turned around, so that more is less; only where that is asked for."""
    if not pc.any(where).as_py():
        return digits
    asked = zip(digits.to_pylist(), where.to_pylist(), strict=True)
    return pa.array([text.translate(_TURNED) if is_asked else text for text, is_asked in asked], pa.string())


def _not_finite(texts: pa.Array) -> pa.Array:
    plain = pc.utf8_lower(pc.utf8_trim(texts, BLANKS + "+"))
    is_nan = pc.match_substring_regex(texts, NAN_TEXT)
    key = pc.if_else(pc.starts_with(plain, "-"), _INFINITE["-inf"], _INFINITE["inf"])
    return pc.if_else(is_nan, pa.scalar(None, pa.string()), key)
