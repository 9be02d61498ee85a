"""Sizes of memory and of files, as people write and read them."""

from __future__ import annotations

import re
from fractions import Fraction

from lawful.common.errors import UsageError

_UNITS = ("", "k", "m", "g", "t")
_SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([kmgt]?)(?:i?b)?\s*", re.ASCII)
_STEP = 1024


def parse_size(text: str, what: str | None = None) -> int:
    """Read a size such as 512m, 4g, 1.5 GB or a plain number of bytes; `what` says where it was written."""
    matched = _SIZE.fullmatch(text.lower())
    if matched is None:
        place = f"{what}: " if what else ""
        raise UsageError(f"{place}{text!r} is not a size", "Write 512m or 4g, or a number of bytes.")
    return int(Fraction(matched[1]) * _STEP ** _UNITS.index(matched[2]))


def size_in_bytes(size: int | str | None) -> int | None:
    """A size that may be given as a text, or not at all."""
    return parse_size(size) if isinstance(size, str) else size


def shown_size(size: int) -> str:
    """Write a size in the largest unit of which there is one: `512 bytes`, `8.2 KB`, `20 GB`."""
    if size < _STEP:
        return "1 byte" if size == 1 else f"{size} bytes"
    amount, unit = float(size), 0
    # What would be rounded to 1024 is one of the next unit.
    while round(amount, 1) >= _STEP and unit < len(_UNITS) - 1:
        amount /= _STEP
        unit += 1
    digits = f"{amount:.1f}".removesuffix(".0")
    return f"{digits} {_UNITS[unit].upper()}B"
