"""Which tiles of a class meet for a denial constraint: those whose corners do not exclude that it is violated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawful.checks.denials.denial import Denial
from lawful.common.arrays import Flags, Int32s
from lawful.dependencies import DC, Constant, Predicate
from lawful.engines.shuffle.cutting import Tiles


def compared(predicate: Predicate) -> tuple[int, int] | None:
    """The columns of t and of s that a predicate compares, None if it looks at one row."""
    left, right = predicate.left, predicate.right
    if isinstance(right, Constant) or left.row == right.row:
        return None
    return left.column, right.column


def cut_columns(law: DC, highest: Sequence[int]) -> tuple[int, int] | None:
    """By which columns of t and of s to cut: those of an equality, else of an order; of these the finest."""
    worth = {"=": 2, "!=": 0}
    best: tuple[int, int] | None = None
    best_worth = (-1, -1)
    for predicate in law.predicates:
        pair = compared(predicate)
        if pair is None or (predicate.operator == "=" and pair[0] == pair[1]):
            continue  # rows of a class agree on it
        own = worth.get(predicate.operator, 1), min(highest[pair[0]], highest[pair[1]])
        if own > best_worth:
            best, best_worth = pair, own
    return best


@dataclass(frozen=True, eq=False)
class Meeting:
    """Which tiles of t and of s can hold a pair that satisfies a constraint, and of which all pairs do."""

    can_meet: Flags
    is_sure: Flags


def meeting(denial: Denial | None, t_tiles: Tiles, s_tiles: Tiles) -> Meeting:
    """Compare the corners of tiles, which the constraint was made ready for: those of t, then those of s."""
    can_meet = t_tiles.groups[:, None] == s_tiles.groups[None, :]
    if denial is None:
        return Meeting(np.zeros_like(can_meet), np.zeros_like(can_meet))
    is_sure = can_meet.copy()
    t_rows = np.arange(t_tiles.places.size, dtype=np.int32)
    s_rows = np.arange(t_rows.size, t_rows.size + s_tiles.places.size, dtype=np.int32)

    def extremes(t_values: Int32s, s_values: Int32s) -> tuple[Int32s, Int32s, Int32s, Int32s]:
        t_low, t_high = _by_tile(t_values, t_tiles)
        s_low, s_high = _by_tile(s_values, s_tiles)
        return t_low[:, None], t_high[:, None], s_low[None, :], s_high[None, :]

    for order in denial.orders:
        t_low, t_high, s_low, s_high = extremes(order.bounds(t_rows), order.values(s_rows))
        can_meet &= t_low <= s_high
        is_sure &= t_high <= s_low
    for left, right in (*denial.equal_across, *denial.equal_same):
        t_low, t_high, s_low, s_high = extremes(left[t_rows], right[s_rows])
        can_meet &= (t_low <= s_high) & (s_low <= t_high)
        is_sure &= (t_low == s_high) & (s_low == t_high)
    for left, right in denial.differences:
        t_low, t_high, s_low, s_high = extremes(left[t_rows], right[s_rows])
        can_meet &= ~((t_low == s_high) & (s_low == t_high))
        is_sure &= (t_high < s_low) | (s_high < t_low)
    return Meeting(can_meet, is_sure & can_meet)


def _by_tile(values: Int32s, tiles: Tiles) -> tuple[Int32s, Int32s]:
    low = np.full(tiles.count, np.iinfo(np.int32).max, np.int32)
    high = np.full(tiles.count, np.iinfo(np.int32).min, np.int32)
    np.minimum.at(low, tiles.places, values)
    np.maximum.at(high, tiles.places, values)
    return low, high
