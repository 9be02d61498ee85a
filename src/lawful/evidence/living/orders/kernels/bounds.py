"""Where a key stands in a part of an array that grows."""

from __future__ import annotations

from lawful.common.arrays import Int64s
from lawful.common.compiled import compiled


@compiled
def lower_bound(keys: Int64s, start: int, stop: int, key: int) -> int:
    """The first place from `start` on whose key is not smaller, `stop` if there is none."""
    while start < stop:
        mid = (start + stop) >> 1
        if keys[mid] < key:
            start = mid + 1
        else:
            stop = mid
    return start


@compiled
def upper_bound(keys: Int64s, start: int, stop: int, key: int) -> int:
    """The first place from `start` on whose key is greater, `stop` if there is none."""
    while start < stop:
        mid = (start + stop) >> 1
        if keys[mid] <= key:
            start = mid + 1
        else:
            stop = mid
    return start
