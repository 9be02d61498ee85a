"""Loops over values that come in order, a batch at a time: what is kept between batches is small."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from lawful.common.arrays import Int64s
from lawful.common.compiled import compiled


@compiled
def count_larger_before(labels: Int64s, counts: Int64s, tree: Int64s) -> int:
    """Count the pairs of rows of which the earlier one has the larger label; line i stands for `counts[i]` rows.

    `tree` is a Fenwick tree of the rows that each label had before, from place 1 on, and their sum at place 0; it takes
    in those that come now. Rows of one line have one label, and are no pairs.
    """
    pairs = 0
    for i in range(labels.size):
        place = labels[i] + 1
        not_larger = 0
        step = place
        while step > 0:
            not_larger += tree[step]
            step -= step & -step
        pairs += counts[i] * (tree[0] - not_larger)
        step = place
        while step < tree.size:
            tree[step] += counts[i]
            step += step & -step
        tree[0] += counts[i]
    return pairs


@compiled
def lengthen(values: Int64s, tails: Int64s, length: int) -> int:
    """Go on with the longest non-decreasing subsequence of what has come so far, now with `values[:, i]` for each i.

    A value is a list of words, the first one decides first. `tails[:, k]` is the least value that ends a subsequence
    of length k + 1. Returns the new length, or -1 where the tails have no room for it.
    """
    words = values.shape[0]
    for i in range(values.shape[1]):
        low = 0
        high = length
        while low < high:
            middle = (low + high) // 2
            sign = 0
            for word in range(words):
                if tails[word, middle] != values[word, i]:
                    sign = 1 if tails[word, middle] > values[word, i] else -1
                    break
            if sign <= 0:
                low = middle + 1
            else:
                high = middle
        if low == length:
            if length == tails.shape[1]:
                return -1
            length += 1
        for word in range(words):
            tails[word, low] = values[word, i]
    return length
