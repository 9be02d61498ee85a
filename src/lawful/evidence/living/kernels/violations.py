"""Counting the pairs whose agree sets have wanted bits: by a pass over all sets, or by sums over supersets."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.words import ZERO

_BLOCK = 2048
"""Sets whose words are laid out side by side and asked all questions while they are in the nearest cache."""


@compiled
def count_matches(keys: Words, counts: Int64s, masks: Words, wanted: Words) -> Int64s:
    """For each question add up the counts of the sets whose bits under the mask are as wanted."""
    totals = np.zeros(masks.shape[0], np.int64)
    width = keys.shape[1]
    lines = np.empty((width, _BLOCK), np.uint64)
    matching = np.empty(_BLOCK, np.int64)
    is_asked = np.zeros(width, np.bool_)
    for c in range(masks.shape[0]):
        for w in range(width):
            is_asked[w] |= masks[c, w] != ZERO
    for first in range(0, keys.shape[0], _BLOCK):
        size = min(_BLOCK, keys.shape[0] - first)
        for w in range(width):
            if is_asked[w]:
                for k in range(size):
                    lines[w, k] = keys[first + k, w]
        for c in range(masks.shape[0]):
            for k in range(size):
                matching[k] = counts[first + k]
            for w in range(width):
                mask, bits, line = masks[c, w], wanted[c, w], lines[w]
                if mask != ZERO:
                    for k in range(size):
                        matching[k] = matching[k] if line[k] & mask == bits else 0
            total = 0
            for k in range(size):
                total += matching[k]
            totals[c] += total
    return totals


@compiled
def superset_sums(sums: Int64s) -> None:
    """Add to the entry of every set those of all its proper supersets; entry s is the set of the bits of s."""
    step = 1
    while step < sums.size:
        for start in range(0, sums.size, 2 * step):
            without, with_bit = sums[start : start + step], sums[start + step : start + 2 * step]
            for k in range(step):
                without[k] += with_bit[k]
        step *= 2
