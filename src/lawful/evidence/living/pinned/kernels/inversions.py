"""Counting the pairs of a sequence that clash."""

from __future__ import annotations

from lawful.common.compiled import compiled
from lawful.evidence.living.pinned.kernels.order_blocks import REGION, REGIONS, Keys, Ordering
from lawful.evidence.living.pinned.kernels.order_tree import fits


@compiled
def values_in_order(o: Ordering, values: Keys) -> None:
    """Write the values of all entries, one after the other."""
    n = 0
    for region in range(o.facts[REGIONS]):
        for slot in range(region * REGION, region * REGION + o.used[region]):
            block = o.order[slot]
            for i in range(o.sizes[block]):
                for k in range(o.by.size):
                    values[n, k] = o.keys[block, i, o.by[k]]
                n += 1


@compiled
def count_inversions(values: Keys, spare: Keys, is_strict: int) -> int:
    """How many pairs clash: by merging ever longer parts, which sorts the values."""
    one, other = values, spare
    n, width, total = values.shape[0], 1, 0
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for at in range(start, stop):
                if j == stop or (i < middle and fits(one, i, one, j, is_strict)):
                    source = i
                    i += 1
                else:  # all that is left of the first part clashes with this one
                    source = j
                    total += middle - i
                    j += 1
                for k in range(values.shape[1]):
                    other[at, k] = one[source, k]
        one, other = other, one
        width *= 2
    return total
