"""The few operations on one 64-bit word that every kernel of this room shares."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int64s, Words
from lawful.common.compiled import compiled

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
SIX = np.uint64(6)
LAST_BIT = np.uint64(63)

NONE = -1
"""The end of a list of numbers in a row of an array."""

_PAIRS = np.uint64(0x5555555555555555)
_NIBBLES = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM_BYTES = np.uint64(0x0101010101010101)
_TWO = np.uint64(2)
_FOUR = np.uint64(4)
_TOP_BYTE = np.uint64(56)


@compiled
def popcount(word: np.uint64) -> int:
    """The number of ones; LLVM knows this pattern and emits one instruction for it."""
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _NIBBLES) + ((word >> _TWO) & _NIBBLES)
    word = (word + (word >> _FOUR)) & _BYTES
    # np.multiply and not *: the product wraps on purpose, and only * warns of it when not compiled.
    return int(np.int64(np.multiply(word, _SUM_BYTES) >> _TOP_BYTE))


@compiled
def lowest(word: np.uint64) -> int:
    """The position of the lowest one of a word that is not zero."""
    return popcount(~word & (word - ONE))


@compiled
def bit(position: int) -> np.uint64:
    """The word with a one at a position, taken modulo 64."""
    return ONE << (np.uint64(position) & LAST_BIT)


@compiled
def add_listed(members: Words, numbers: Int64s) -> None:
    """Add the numbers of a list that ends with `NONE` to a set."""
    for number in numbers:
        if number == NONE:
            break
        members[number >> 6] |= bit(number)


@compiled
def drop_listed(members: Words, numbers: Int64s) -> None:
    """Take the numbers of a list that ends with `NONE` out of a set."""
    for number in numbers:
        if number == NONE:
            break
        members[number >> 6] &= ~bit(number)
