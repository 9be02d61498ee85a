"""Sorting rows into clusters, and listing pairs of them, one short list at a time.

Lists are written to arrays that the caller reuses, and a loop can be taken up again where a list was full, so
that no more pairs than one list exist at any time.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled

WITHIN, OTHER, BACK, FORTH = range(4)

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_ONE = np.uint64(0xBF58476D1CE4E5B9)
_MIX_TWO = np.uint64(0x94D049BB133111EB)
_SHIFT_ONE = np.uint64(30)
_SHIFT_TWO = np.uint64(27)
_SHIFT_THREE = np.uint64(31)
_HALF = np.uint64(32)


@compiled
def sort_by(column: Int32s, distinct: int, order: Int32s, out: Int32s) -> Int64s:
    """Sort all rows by their ranks, equal ones staying in their order; return where each rank starts."""
    starts = np.zeros(distinct + 2, np.int64)
    for rank in column:
        starts[rank + 1] += 1
    for rank in range(distinct + 1):
        starts[rank + 1] += starts[rank]
    # The column is read all over the place: only a loop that does nothing else keeps many of these reads under way.
    ranks = np.empty_like(order)
    for position in range(order.size):
        ranks[position] = column[order[position]]
    place = starts.astype(np.int32)
    for position in range(order.size):
        rank = ranks[position]
        out[place[rank]] = order[position]
        place[rank] += 1
    return starts


@compiled
def window_pairs(
    rows: Int32s, starts: Int64s, distance: int, cluster: int, position: int, left: Int32s, right: Int32s
) -> tuple[int, int, int]:
    """List the pairs of rows that stand `distance` apart in a cluster, from a position on.

    Returns how many pairs were listed and where to go on; the end is at `starts.size - 1`.
    """
    listed = 0
    while cluster < starts.size - 1:
        position = max(position, starts[cluster])
        end = starts[cluster + 1] - distance
        while position < end:
            if listed == left.size:
                return listed, cluster, position
            left[listed] = rows[position]
            right[listed] = rows[position + distance]
            listed += 1
            position += 1
        cluster += 1
    return listed, cluster, position


@compiled
def _random_below(seed: np.uint64, number: int, bound: int) -> int:
    """A number from 0 to `bound` - 1 that depends on the seed and the number alone (SplitMix64)."""
    # np.multiply and np.add: they wrap on purpose, and only the operators warn of it when not compiled.
    mixed = np.add(seed, np.multiply(np.uint64(number + 1), _STEP))
    mixed = np.multiply(mixed ^ (mixed >> _SHIFT_ONE), _MIX_ONE)
    mixed = np.multiply(mixed ^ (mixed >> _SHIFT_TWO), _MIX_TWO)
    mixed ^= mixed >> _SHIFT_THREE
    return int(np.int64(((mixed >> _HALF) * np.uint64(bound)) >> _HALF))


@compiled
def focused_pairs(
    rows: Int32s,
    starts: Int64s,
    strategy: int,
    seed: np.uint64,
    cluster: int,
    position: int,
    left: Int32s,
    right: Int32s,
) -> tuple[int, int, int]:
    """Pair each row with a random one of the same, other, earlier or later clusters, from a position on.

    Rows stand in the order of their clusters, and these in the order of their values. A row without a partner
    is passed over. Returns as `window_pairs` does.
    """
    listed = 0
    while cluster < starts.size - 1:
        first = starts[cluster]
        end = starts[cluster + 1]
        if strategy == WITHIN:
            partners = end - first - 1
        elif strategy == OTHER:
            partners = rows.size - (end - first)
        elif strategy == BACK:
            partners = first
        else:
            partners = rows.size - end
        position = max(position, first)
        while position < end and partners > 0:
            if listed == left.size:
                return listed, cluster, position
            partner = _random_below(seed, position, partners)
            if strategy == WITHIN:
                partner += first
                partner += partner >= position
            elif strategy == OTHER and partner >= first:
                partner += end - first
            elif strategy == FORTH:
                partner += end
            left[listed] = rows[position]
            right[listed] = rows[partner]
            listed += 1
            position += 1
        cluster += 1
    return listed, cluster, position
