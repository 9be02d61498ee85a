"""The canonical texts of integers and decimals."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from lawful.tables.living.steps import Step, as_it_is, one_by_one
from lawful.tables.text_values import BLANKS, DECIMAL_TEXT

NAN = "nan"
"""Stands for a text that is of the type and means null."""

_PLAIN_DIGITS = 40
"""Decimals are written without an exponent while this many digits before the point and behind it are enough."""
_GREATEST_EXPONENT = 999_999_999
_LONGEST_FROM_EXPONENT = 400
"""1e999999999 is an integer, but nobody wants its digits; those of every float are fewer."""

_CANONICAL_INTEGER = r"^(0|-?[1-9][0-9]*)$"
_WHOLE = r"^[ \t]*[+-]?[0-9]+(\.0*)?[ \t]*$"
_CANONICAL_DECIMAL = r"^(0|-?[1-9][0-9]{0,39}|-?(0|[1-9][0-9]{0,39})\.[0-9]{0,39}[1-9])$"  # 40 digits: `_PLAIN_DIGITS`
_PLAIN_DECIMAL = r"^[ \t]*[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})[ \t]*$"


def _without_idle_zeros(texts: pa.Array) -> pa.Array:
    """Numbers without an exponent: no plus, no zeros in front and behind, a digit before the point, no minus zero."""
    plain = pc.replace_substring_regex(pc.utf8_trim(texts, BLANKS), r"^\+?(-?)0*([0-9]*)", r"\1\2")
    plain = pc.replace_substring_regex(plain, r"^([^.]*)(?:(\.[0-9]*[1-9])0*|\.0*)$", r"\1\2")
    plain = pc.replace_substring_regex(plain, r"^(-?)(\.|$)", r"\10\2")  # group 1, a zero, group 2
    return pc.replace_substring_regex(plain, r"^-0$", "0")


def _integer(text: str) -> str | None:
    number = Decimal(text.strip(BLANKS))
    if number.is_nan():
        return NAN
    if number.is_infinite():
        return None
    sign, digits, exponent = _parts(number)
    if exponent < 0 or len(digits) + exponent > max(len(text), _LONGEST_FROM_EXPONENT):
        return None
    return sign + _plain(digits, exponent)


def _decimal(text: str) -> str:
    number = Decimal(text.strip(BLANKS))
    if number.is_nan():
        return NAN
    if number.is_infinite():
        return "inf" if number > 0 else "-inf"
    sign, digits, exponent = _parts(number)
    leading = len(digits) + exponent - 1
    if exponent >= -_PLAIN_DIGITS and leading < _PLAIN_DIGITS:
        return sign + _plain(digits, exponent)
    # An exponent of ten digits would be no number to `sort_texts`: what is beyond nine goes into the digits before it.
    shown = max(-_GREATEST_EXPONENT, min(leading, _GREATEST_EXPONENT))
    return f"{sign}{_plain(digits, exponent - shown)}e{shown}"


def _parts(number: Decimal) -> tuple[str, str, int]:
    """The sign, the digits without zeros at their end, and the power of ten that they count."""
    negative, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int), "a finite number"
    written = "".join(map(str, digits))
    kept = written.rstrip("0")
    if not kept:
        return "", "0", 0
    return "-" if negative else "", kept, exponent + len(written) - len(kept)


def _plain(digits: str, exponent: int) -> str:
    if exponent >= 0:
        return digits + "0" * exponent
    point = len(digits) + exponent
    return f"{digits[:point]}.{digits[point:]}" if point > 0 else f"0.{'0' * -point}{digits}"


INTEGER_STEPS: tuple[Step, ...] = (
    (_CANONICAL_INTEGER, as_it_is),
    (_WHOLE, _without_idle_zeros),
    (DECIMAL_TEXT, one_by_one(_integer)),
)
DECIMAL_STEPS: tuple[Step, ...] = (
    (_CANONICAL_DECIMAL, as_it_is),
    (_PLAIN_DECIMAL, _without_idle_zeros),
    (DECIMAL_TEXT, one_by_one(_decimal)),
)
