"""Where a key stands in a part of an array that grows."""

from __future__ import annotations

from lawful.common.arrays import Int32s, Int64s
from lawful.common.compiled import compiled


@compiled
def lower_bound(keys: Int32s | Int64s, start: int, stop: int, key: int) -> int:
    """The first place from `start` on whose key is not smaller, `stop` if there is none."""
    while start < stop:
        mid = (start + stop) >> 1
        if keys[mid] < key:
            start = mid + 1
        else:
            stop = mid
    return start


@compiled
def upper_bound(keys: Int32s | Int64s, start: int, stop: int, key: int) -> int:
    """The first place from `start` on whose key is greater, `stop` if there is none."""
    while start < stop:
        mid = (start + stop) >> 1
        if keys[mid] <= key:
            start = mid + 1
        else:
            stop = mid
    return start


@compiled
def lower_bound_near(keys: Int32s | Int64s, start: int, stop: int, key: int) -> int:
    """The same as `lower_bound` where the place is not far from `start`: steps double until they are beyond it."""
    step = 1
    while start + step <= stop and keys[start + step - 1] < key:
        start += step
        step += step
    return lower_bound(keys, start, min(stop, start + step), key)


@compiled
def upper_bound_near(keys: Int32s | Int64s, start: int, stop: int, key: int) -> int:
    """The same as `upper_bound` where the place is not far from `start`, as where few keys are equal."""
    step = 1
    while start + step <= stop and keys[start + step - 1] <= key:
        start += step
        step += step
    return upper_bound(keys, start, min(stop, start + step), key)
