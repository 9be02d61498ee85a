"""Laying out ranks as bytes, in an order of the rows, for the kernels that compare all pairs."""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Bytes, Int32s, Int64s
from lawful.common.compiled import compiled

BLOCK = 32
"""Rows that one vector instruction compares. Runs are compared in whole blocks, without a slow rest at the end, and so
planes have room behind their rows for all but one row of a last block."""


@compiled
def in_blocks(rows: int) -> int:
    """The number of rows rounded up to whole blocks."""
    return -(-rows // BLOCK) * BLOCK


@compiled
def rows_of(planes: Bytes) -> int:
    """How many rows planes have, without the room behind them."""
    rows: int = planes.shape[1] - BLOCK + 1
    return rows


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
def rows_in_order(ranks: Int32s, highest: Int64s, lines: Int64s) -> Int32s:
    """Rows sorted by some lines of ranks, of which a later one counts more; equal rows stay as they stand.

    Ranks are dense, so that counting them line by line is quicker than comparing rows.
    """
    rows = ranks.shape[1]
    order, after = np.empty(rows, np.int32), np.empty(rows, np.int32)
    for row in range(rows):
        order[row] = row
    starts = np.empty(highest.max() + 2 if highest.size else 0, np.int64)
    for line in lines:
        own = ranks[line]
        starts[: highest[line] + 2] = 0
        for row in range(rows):
            starts[own[row] + 1] += 1
        for rank in range(highest[line]):
            starts[rank + 1] += starts[rank]
        for place in range(rows):
            row = order[place]
            after[starts[own[row]]] = row
            starts[own[row]] += 1
        order, after = after, order
    return order


@compiled
def byte_planes(ranks: Int32s, line_of_plane: Int64s, byte_of_plane: Int64s) -> Bytes:
    """One byte of the ranks of one line per plane."""
    rows = ranks.shape[1]
    planes = np.zeros((line_of_plane.size, rows + BLOCK - 1), np.uint8)
    for p in range(line_of_plane.size):
        line, shift, out = ranks[line_of_plane[p]], 8 * byte_of_plane[p], planes[p]
        for row in range(rows):
            out[row] = (line[row] >> shift) & 255
    return planes


@compiled
def ordered_byte_planes(ranks: Int32s, order: Int32s, line_of_plane: Int64s, byte_of_plane: Int64s) -> Bytes:
    """The same with the rows in an order."""
    planes = np.zeros((line_of_plane.size, order.size + BLOCK - 1), np.uint8)
    for p in range(line_of_plane.size):
        line, shift, out = ranks[line_of_plane[p]], 8 * byte_of_plane[p], planes[p]
        for place in range(order.size):
            out[place] = (line[order[place]] >> shift) & 255
    return planes
