"""Comparing all pairs of rows within classes, as many at a time as a short list holds."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.compare import Masks, agree_words, known_words
from lawful.evidence.kernels.vector_set import add_pairs

CLASS, ROW, OTHER, SIZE = range(4)
STATE_SLOTS = 4
"""Where a walk stands: the class, the places of the two rows of the next pair, and how many vectors there are."""


@compiled
def list_pairs(rows: Int32s, offsets: Int32s, state: Int64s, left: Int32s, right: Int32s) -> int:
    """List the next pairs of rows that share a class; return how many, which is fewer than fit at the end only."""
    listed = 0
    c, i, j = state[CLASS], state[ROW], state[OTHER]
    while c < offsets.size - 1:
        end = offsets[c + 1]
        i = max(i, np.int64(offsets[c]))
        j = max(j, i + 1)
        while i < end - 1:
            row = rows[i]
            stop = min(end, j + left.size - listed)
            for k in range(j, stop):
                left[listed] = row
                right[listed] = rows[k]
                listed += 1
            if stop < end:
                state[CLASS], state[ROW], state[OTHER] = c, i, stop
                return listed
            i += 1
            j = i + 1
        c += 1
    state[CLASS] = c
    return listed


@compiled
def add_pairs_of_classes(
    rows: Int32s,
    offsets: Int32s,
    matrix: Int32s,
    masks: Masks,
    at_once: int,
    most: int,
    slots: Int32s,
    shift: int,
    keys: Words,
    witnesses: Int32s,
    state: Int64s,
) -> int:
    """Compare pairs from where `state` says, about `most` or as many as there is sure to be room for; return how many.

    A vector of two planes says where a pair agrees and, below, where it is known to differ.
    """
    left = np.empty(at_once, np.int32)
    right = np.empty(at_once, np.int32)
    words = np.empty((keys.shape[0] * keys.shape[2], at_once), np.uint64)
    done = 0
    while state[CLASS] < offsets.size - 1 and done < most and state[SIZE] + at_once <= witnesses.shape[0]:
        listed = list_pairs(rows, offsets, state, left, right)
        if keys.shape[0] == 2:
            known_words(matrix, masks, left[:listed], right[:listed], words)
        else:
            agree_words(matrix, masks, left[:listed], right[:listed], words)
        state[SIZE] = add_pairs(words, left[:listed], right[:listed], slots, shift, keys, witnesses, state[SIZE])
        done += listed
    return done
