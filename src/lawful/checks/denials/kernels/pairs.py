"""Loops over cluster pairs: some rows as t against some rows as s, standing for all pairs between them."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from lawful.checks.denials.kernels.ranks import Int32Table, falling
from lawful.common.arrays import Int32s
from lawful.common.compiled import compiled

# Below so many rows on either side, each run of t gets the s that it reaches, as Hydra does for all.
SHORT = 6


@compiled
def split_by_order(
    t_rows: Int32s, t_offsets: Int32s, s_rows: Int32s, s_offsets: Int32s, bounds: Int32s, values: Int32s
) -> tuple[Int32s, Int32s, Int32s, Int32s]:
    """Split every cluster pair into cluster pairs of exactly the pairs whose bound is at most the value.

    Departs from Hydra's inequality join (section 6.3), which gives each t all the s that it reaches, quadratic
    in the rows: sorted by rank, the upper half of s is reached by the whole lower half of t, and the two halves
    are split in turn. So all clusters together have at most log n entries per row.
    """
    out_t, out_s = np.empty(t_rows.size + 8, np.int32), np.empty(s_rows.size + 8, np.int32)
    out_t_offsets, out_s_offsets = np.zeros(16, np.int32), np.zeros(16, np.int32)
    pairs = 0
    stack = np.empty((4 * 64, 4), np.int32)
    for g in range(t_offsets.size - 1):
        if t_offsets[g] == t_offsets[g + 1] or s_offsets[g] == s_offsets[g + 1]:
            continue
        ts = falling(np.arange(t_offsets[g], t_offsets[g + 1]).astype(np.int32), bounds)
        ss = falling(np.arange(s_offsets[g], s_offsets[g + 1]).astype(np.int32), values)
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, ts.size, 0, ss.size
        depth = 1
        while depth > 0:
            depth -= 1
            t_from, t_to, s_from, s_to = stack[depth]
            # Rows come by falling ranks: the first t has the highest bound, the last s the lowest value.
            while t_from < t_to and s_from < s_to and bounds[ts[t_from]] > values[ss[s_from]]:
                t_from += 1
            while t_from < t_to and s_from < s_to and values[ss[s_to - 1]] < bounds[ts[t_to - 1]]:
                s_to -= 1
            if t_from == t_to or s_from == s_to:
                continue
            t_cut, s_cut = t_from, s_to
            if bounds[ts[t_from]] > values[ss[s_to - 1]]:
                lowest, highest = bounds[ts[t_to - 1]], values[ss[s_from]]
                pivot = lowest + (highest - lowest + 1) // 2
                if min(t_to - t_from, s_to - s_from) <= SHORT:
                    # Cut where the first t stops reaching: the run of t with that bound takes all s before.
                    pivot = bounds[ts[t_from]]
                while t_cut < t_to and bounds[ts[t_cut]] > pivot:
                    t_cut += 1
                s_cut = s_from
                while s_cut < s_to and values[ss[s_cut]] >= pivot:
                    s_cut += 1
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = t_from, t_cut, s_from, s_cut
                stack[depth + 1, 0], stack[depth + 1, 1] = t_cut, t_to
                stack[depth + 1, 2], stack[depth + 1, 3] = s_cut, s_to
                depth += 2
            if t_cut < t_to and s_from < s_cut:
                pairs += 1
                out_t = _room(out_t, out_t_offsets[pairs - 1] + t_to - t_cut)
                out_s = _room(out_s, out_s_offsets[pairs - 1] + s_cut - s_from)
                out_t_offsets, out_s_offsets = _room(out_t_offsets, pairs + 1), _room(out_s_offsets, pairs + 1)
                out_t_offsets[pairs] = _copy(t_rows, ts, t_cut, t_to, out_t, out_t_offsets[pairs - 1])
                out_s_offsets[pairs] = _copy(s_rows, ss, s_from, s_cut, out_s, out_s_offsets[pairs - 1])
    return (
        out_t[: out_t_offsets[pairs]].copy(),
        out_t_offsets[: pairs + 1].copy(),
        out_s[: out_s_offsets[pairs]].copy(),
        out_s_offsets[: pairs + 1].copy(),
    )


@compiled
def _room(array: Int32s, size: int) -> Int32s:
    """Return the array, or a longer copy where it does not hold so many entries."""
    if size <= array.size:
        return array
    longer = np.empty(2 * size, np.int32)
    for i in range(array.size):  # not by a slice, which takes seconds to compile
        longer[i] = array[i]
    return longer


@compiled
def _copy(rows: Int32s, places: Int32s, start: int, end: int, out: Int32s, filled: int) -> int:
    for i in range(start, end):
        out[filled] = rows[places[i]]
        filled += 1
    return filled


@compiled
def expand(
    t_rows: Int32s, t_offsets: Int32s, s_rows: Int32s, s_offsets: Int32s, place: Int32s, pairs: Int32Table
) -> int:
    """Write the pairs of two different rows from a place on, as many as there is room for; return how many.

    `place` is a cluster pair, a t and an s in it, counted from their beginnings; it is moved on.
    """
    written = 0
    g, i, j = place
    while g < t_offsets.size - 1 and written < pairs.shape[1]:
        if i < t_offsets[g + 1] - t_offsets[g]:
            t = t_rows[t_offsets[g] + i]
            end = s_offsets[g + 1] - s_offsets[g]
            while j < end and written < pairs.shape[1]:
                s = s_rows[s_offsets[g] + j]
                j += 1
                if s != t:
                    pairs[0, written] = t
                    pairs[1, written] = s
                    written += 1
            if j == end:
                i += 1
                j = 0
        else:
            g += 1
            i = 0
            j = 0
    place[0], place[1], place[2] = g, i, j
    return written
