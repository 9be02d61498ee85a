"""Comparing listed rows by order, with labels in the place of values.

Codes stand column by column in two segments, the base and the tail; row r of the table is row r of the base, or row
r minus the base's length of the tail.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ONE, ZERO


@compiled
def add_signs(
    base: Int32s, tail: Int32s, left: Int32s, right: Int32s, labels: Int64s, own: int, ignore: bool, words: Words
) -> None:
    """Set bit `own` of a plane of `less` and of `greater` where pairs compare so in a column, given as its codes.

    Parameters
    ----------
    labels
        A number for each code; numbers compare as the values do.
    ignore
        Whether null is unknown: then both bits are set.
    words
        `uint64[2, pairs]`: the word that the bit is in, of both planes.
    """
    in_base = base.size
    bit = ONE << np.uint64(own)
    for k in range(left.size):
        one, other = left[k], right[k]
        a = base[one] if one < in_base else tail[one - in_base]
        b = base[other] if other < in_base else tail[other - in_base]
        is_unknown = ignore and (a == 0 or b == 0)
        if is_unknown or labels[a] < labels[b]:
            words[0, k] |= bit
        if is_unknown or labels[a] > labels[b]:
            words[1, k] |= bit


@compiled
def turn_falling(words: Words, left: Int32s, right: Int32s) -> None:
    """Exchange the rows of pairs whose first column with an order falls: of two mirror images one is kept."""
    width = words.shape[0] // 2
    for k in range(left.size):
        falls = False
        for w in range(width):
            differs = words[w, k] ^ words[width + w, k]
            if differs != ZERO:
                falls = words[width + w, k] & (differs & (~differs + ONE)) != ZERO
                break
        if falls:
            for w in range(width):
                words[w, k], words[width + w, k] = words[width + w, k], words[w, k]
            left[k], right[k] = right[k], left[k]
