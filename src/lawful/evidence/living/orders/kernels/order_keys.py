"""New values among the labels of those that are known."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled


@compiled
def insert_codes(order: Int32s, known: int, codes: Int32s, places: Int64s) -> None:
    """Put codes between the first `known` entries of `order`, each behind as many of them as `places` says."""
    stop = known
    for k in range(codes.size - 1, -1, -1):
        for place in range(stop - 1, places[k] - 1, -1):
            order[place + k + 1] = order[place]
        order[places[k] + k] = codes[k]
        stop = places[k]


@compiled
def labels_between(order: Int32s, labels: Int64s, places: Int64s, gap: int) -> Int64s:
    """Labels for new values in their order, none if a gap has no room for those that fall into it.

    `places[k]` known values are smaller than new value k. Those between two neighbours take the middle third of what is
    between them, those beyond an end are `gap` apart.
    """
    given = np.empty(places.size, np.int64)
    first = 0
    while first < places.size:
        place = places[first]
        last = first
        while last + 1 < places.size and places[last + 1] == place:
            last += 1
        count = last - first + 1
        if order.size == 0:
            start, step = 0, gap
        elif place == 0:
            start, step = labels[order[0]] - count * gap, gap
        elif place == order.size:
            start, step = labels[order[-1]] + gap, gap
        else:
            low, high = labels[order[place - 1]], labels[order[place]]
            if high - low <= count:
                return given[:0]
            step = max(1, (high - low) // (3 * count))
            start = low + (high - low - step * (count - 1)) // 2
        for k in range(count):
            given[first + k] = start + k * step
        first = last + 1
    return given
