"""Comparing all pairs of rows within classes, or of a small table, as many at a time as a short list holds."""

from __future__ import annotations

import numpy as np

from lawful.evidence.compare_kernels import Masks, agree_words, known_words
from lawful.evidence.vector_set_kernels import add_pairs
from lawful.evidence.words_kernels import ZERO, Bytes, Int32s, Int64s, Words, compiled, inlined

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


_FRONT = 8
"""So many edges are looked at for all pairs; what is included often moves up to them."""


@inlined
def _hits_known(edge: Words, kept: Words, size: int) -> bool:
    """Whether an edge includes one of the kept ones, which then moves up: neighbours mostly include the same."""
    for k in range(size):
        w = 0
        while w < edge.size and kept[k, w] & ~edge[w] == ZERO:
            w += 1
        if w == edge.size:
            if k > 0:
                for w in range(edge.size):
                    kept[k, w], kept[k >> 1, w] = kept[k >> 1, w], kept[k, w]
            return True
    return False


@compiled
def _look_at_front(words: Words, listed: int, kept: Words, front: int, missed: Bytes) -> None:
    """Tell which pairs include none of the first kept edges: without a branch, many pairs at a time."""
    missed[:listed] = True
    for k in range(front):
        first = kept[k, 0]
        if kept.shape[1] == 1:
            for pair in range(listed):
                missed[pair] &= first & words[0, pair] != ZERO
        else:
            for pair in range(listed):
                outside = first & words[0, pair]
                for w in range(1, kept.shape[1]):
                    outside |= kept[k, w] & words[w, pair]
                missed[pair] &= outside != ZERO


@compiled
def _keep(edge: Words, kept: Words, size: int) -> int:
    """Keep an edge instead of all that include it."""
    left = 0
    for k in range(size):
        outside = ZERO
        for w in range(edge.size):
            outside |= edge[w] & ~kept[k, w]
        if outside != ZERO:
            for w in range(edge.size):
                kept[left, w] = kept[k, w]
            left += 1
    kept[left] = edge
    return left + 1


@compiled
def minimal_differences(
    matrix: Int32s, masks: Masks, ignores_nulls: bool, at_once: int, everything: Words, kept: Words
) -> int:
    """Find the minimal sets of columns on which two rows do not agree; return how many, -1 if `kept` is too small."""
    rows = np.arange(matrix.shape[0]).astype(np.int32)
    offsets = np.array([0, rows.size], np.int32)
    state = np.zeros(STATE_SLOTS, np.int64)
    left = np.empty(at_once, np.int32)
    right = np.empty(at_once, np.int32)
    words = np.empty((everything.size * (2 if ignores_nulls else 1), at_once), np.uint64)
    edge = np.empty(everything.size, np.uint64)
    missed = np.empty(at_once, np.uint8)
    size = 0
    while state[CLASS] < 1:
        listed = list_pairs(rows, offsets, state, left, right)
        if ignores_nulls:
            known_words(matrix, masks, left[:listed], right[:listed], words)
        else:
            agree_words(matrix, masks, left[:listed], right[:listed], words)
        _look_at_front(words, listed, kept, min(size, _FRONT), missed)
        for k in range(listed):
            if not missed[k]:
                continue
            for w in range(edge.size):
                edge[w] = everything[w] & ~words[w, k]
            if not _hits_known(edge, kept, size):
                if size == kept.shape[0]:
                    return -1
                size = _keep(edge, kept, size)
    return size
