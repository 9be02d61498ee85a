"""Which rows a new row has to be compared with: those that agree with it on enough columns to break a law.

A set of at most 16 columns is its own address in a bitmap, one bit per subset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Flags, Int32s, Int64s, Words
from lawful.common.compiled import compiled

Masks = npt.NDArray[np.uint32]

_ONE, _SIX, _LAST = np.uint64(1), np.uint64(6), np.uint64(63)
_LACKING = np.array(
    [
        0x5555555555555555,
        0x3333333333333333,
        0x0F0F0F0F0F0F0F0F,
        0x00FF00FF00FF00FF,
        0x0000FFFF0000FFFF,
        0x00000000FFFFFFFF,
    ],
    dtype=np.uint64,
)
"""For each of the first six columns, the subsets of a word that lack it."""


@compiled
def suspicious_sets(contexts: Words, starts: Int64s, sides: Int64s, columns: int) -> Words:
    """The bitmap of the sets that contain a context of some sides, and none of these sides.

    Parameters
    ----------
    contexts, starts
        The contexts of sides k are those from `starts[k]` to `starts[k + 1]`, one word each.
    sides
        `int64[sides, 2]`: two columns, or -1.
    """
    found = np.zeros(1 << max(columns - 6, 0), np.uint64)
    of_sides = np.empty_like(found)
    for k in range(sides.shape[0]):
        if starts[k] == starts[k + 1]:
            continue
        of_sides[:] = 0
        for i in range(starts[k], starts[k + 1]):
            of_sides[np.int64(contexts[i] >> _SIX)] |= _ONE << (contexts[i] & _LAST)
        _close_upward(of_sides, columns)
        for side in range(2):
            _take_away(of_sides, sides[k, side])
        found |= of_sides
    return found


@compiled
def _close_upward(bitmap: Words, columns: int) -> None:
    for i in range(bitmap.size):
        word = bitmap[i]
        for column in range(min(columns, 6)):
            word |= (word & _LACKING[column]) << np.uint64(1 << column)
        bitmap[i] = word
    for column in range(6, columns):
        stride = 1 << (column - 6)
        for start in range(0, bitmap.size, 2 * stride):
            for i in range(start, start + stride):
                bitmap[i + stride] |= bitmap[i]


@compiled
def _take_away(bitmap: Words, column: int) -> None:
    """Unmark the sets with a column."""
    if column < 0:
        return
    for i in range(bitmap.size):
        if column < 6:
            bitmap[i] &= _LACKING[column]
        elif (i >> (column - 6)) & 1:
            bitmap[i] = 0


@compiled
def mark_agreeing(codes: Int32s, columns: Int64s, own: Int32s, ignore: bool, masks: Masks) -> None:
    """Set a bit for every row and column where the row has the same code as one row; the first bit is the first column.

    `codes` is `int32[columns, rows]`; `ignore` says that null agrees with nothing.
    """
    for place in range(columns.size):
        column = columns[place]
        wanted = own[column]
        if ignore and wanted == 0:
            continue
        shift, of_column = np.uint32(place), codes[column]
        for row in range(masks.size):
            masks[row] |= np.uint32(of_column[row] == wanted) << shift


@compiled
def mark_swapped(
    codes: Int32s, others: Int32s, labels: Int64s, other_labels: Int64s, value: int, other: int, flags: Any, marked: Any
) -> None:
    """Mark the rows that two columns order against each other, compared with a row that has some values there.

    `flags` says whether the columns descend, and whether null is unknown.
    """
    descends, ignore = flags[0], flags[1]
    label, other_label = labels[value], other_labels[other]
    for row in range(marked.size):
        a, b = codes[row], others[row]
        if ignore and (a == 0 or b == 0):
            continue
        rises, falls = label < labels[a], label > labels[a]
        other_rises, other_falls = other_label < other_labels[b], other_label > other_labels[b]
        if descends:
            swapped = (rises and other_rises) or (falls and other_falls)
        else:
            swapped = (rises and other_falls) or (falls and other_rises)
        marked[row] |= swapped


@compiled
def suspects_among(masks: Masks, suspicious: Words, marked: Flags, is_live: Flags) -> Int32s:
    """The live rows that are marked, or that agree on a suspicious set of columns."""
    found = np.empty(masks.size, np.int32)
    count = 0
    for row in range(masks.size):
        mask = masks[row]
        is_suspect = (suspicious[mask >> np.uint32(6)] >> np.uint64(mask & np.uint32(63))) & _ONE
        found[count] = row
        count += is_live[row] and (is_suspect != 0 or marked[row])
    return found[:count]
