"""Laying out ranks as bytes, in an order of the rows, for the kernels that compare all pairs."""

from __future__ import annotations

import numpy as np

from lawful.evidence.words_kernels import Bytes, Int32s, Int64s, compiled


@compiled
def extremes(ranks: Int32s) -> Int32s:
    """The lowest and, below, the highest rank of every line; 1 and 0 of an empty one."""
    ends = np.empty((2, ranks.shape[0]), np.int32)
    for k in range(ranks.shape[0]):
        lowest, highest = np.int32(1), np.int32(0)
        for rank in ranks[k]:
            lowest, highest = min(lowest, rank), max(highest, rank)
        ends[0, k], ends[1, k] = lowest, highest
    return ends


@compiled
def rows_in_order(ranks: Int32s, highest: Int64s, lanes: Int64s) -> Int32s:
    """Rows sorted by some lanes, of which a later one counts more; equal rows stay as they stand.

    Ranks are dense, so that counting them lane by lane is quicker than comparing rows.
    """
    rows = ranks.shape[1]
    order, after = np.empty(rows, np.int32), np.empty(rows, np.int32)
    for row in range(rows):
        order[row] = row
    starts = np.empty(highest.max() + 2 if highest.size else 0, np.int64)
    for lane in lanes:
        own = ranks[lane]
        starts[: highest[lane] + 2] = 0
        for row in range(rows):
            starts[own[row] + 1] += 1
        for rank in range(highest[lane]):
            starts[rank + 1] += starts[rank]
        for place in range(rows):
            row = order[place]
            after[starts[own[row]]] = row
            starts[own[row]] += 1
        order, after = after, order
    return order


@compiled
def byte_planes(ranks: Int32s, lane_of_plane: Int64s, byte_of_plane: Int64s) -> Bytes:
    """One byte of the ranks of one lane a plane."""
    planes = np.empty((lane_of_plane.size, ranks.shape[1]), np.uint8)
    for p in range(lane_of_plane.size):
        lane, shift, out = ranks[lane_of_plane[p]], 8 * byte_of_plane[p], planes[p]
        for row in range(out.size):
            out[row] = (lane[row] >> shift) & 255
    return planes


@compiled
def ordered_byte_planes(ranks: Int32s, order: Int32s, lane_of_plane: Int64s, byte_of_plane: Int64s) -> Bytes:
    """One byte of the ranks of one lane a plane, the rows in an order."""
    planes = np.empty((lane_of_plane.size, order.size), np.uint8)
    for p in range(lane_of_plane.size):
        lane, shift, out = ranks[lane_of_plane[p]], 8 * byte_of_plane[p], planes[p]
        for place in range(order.size):
            out[place] = (lane[order[place]] >> shift) & 255
    return planes
