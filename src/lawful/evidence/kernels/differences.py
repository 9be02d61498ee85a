"""Which sets of columns two rows differ on, as far as these include no smaller one."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Bytes, Int64s, Words
from lawful.common.compiled import compiled, inlined
from lawful.evidence.kernels.layout import in_blocks, rows_of
from lawful.evidence.kernels.tiles import RUN, as_words, compare_run
from lawful.evidence.kernels.words import ZERO

_FRONT = 8
"""How many of the kept edges are held against all pairs at once; edges that are often included move up to these."""


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
                missed[pair] &= first & ~words[0, pair] != ZERO
        else:
            for pair in range(listed):
                outside = first & ~words[0, pair]
                for w in range(1, kept.shape[1]):
                    outside |= kept[k, w] & ~words[w, pair]
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
    own: Bytes,
    planes: Bytes,
    ordered: int,
    group: Int64s,
    bit: Bytes,
    nulls: Bytes,
    groups: int,
    group_start: Int64s,
    kept: Words,
) -> int:
    """Find the minimal sets of lanes on which two rows do not agree; return how many, -1 if `kept` is too small."""
    rows = rows_of(planes)
    found = np.empty((group_start.size, RUN), np.uint8)
    words = np.empty((kept.shape[1], RUN), np.uint64)
    missed = np.empty(RUN, np.uint8)
    edge = np.empty(kept.shape[1], np.uint64)
    size = 0
    for i in range(rows - 1):
        for j in range(i + 1, rows, RUN):
            pairs = min(RUN, rows - j)
            compare_run(own, planes, ordered, group, bit, nulls, groups, i, j, in_blocks(pairs), found)
            as_words(found[:groups], group_start, in_blocks(pairs), words)  # where a pair does not agree
            _look_at_front(words, pairs, kept, min(size, _FRONT), missed)
            for k in range(pairs):
                if not missed[k]:
                    continue
                for w in range(edge.size):
                    edge[w] = words[w, k]
                if not _hits_known(edge, kept, size):
                    if size == kept.shape[0]:
                        return -1
                    size = _keep(edge, kept, size)
    return size
