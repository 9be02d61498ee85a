"""Rows in a given order, in blocks that take more rows, under a tree.

Entry i of block b has the keys `keys[b, i]` and the row `rows[b, i]`. Entries are ordered by their first keys, then by
the others, which may count the other way round, then by row. Block b holds what is not before its bound. Blocks stand
in slots, the slots in regions of `REGION`; a region has its blocks in its first slots. So a block that is split moves
only those of its region. Slot s is leaf s of the tree, and node n has the children 2n and 2n + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Bytes, Int32s, Int64s
from lawful.common.compiled import compiled

Keys = npt.NDArray[np.int64]

REGION = 32
SPREAD = 24
"""Slots of a region, and how many of them are taken when blocks are spread out."""

LEADING, TURNED, STRICT, BLOCKS, REGIONS = range(5)
"""Places in `facts`: how many keys come first, whether the others are turned round, whether values clash only if the
earlier one is greater, how many blocks and regions there are."""

MOVED, CHANGED = 1, 2
"""What happened to the block in a slot."""


class Ordering(NamedTuple):
    """All arrays of an order: by block, by slot, by region, by node; the places of the second value, and facts."""

    keys: Keys
    rows: Int32s
    sizes: Int32s
    bounds: Keys
    bound_rows: Int32s
    order: Int32s
    stale: Bytes
    used: Int32s
    dirty: Bytes
    counts: Int64s
    clean: Int64s
    left_clean: Int64s
    right_clean: Int64s
    least: Keys
    greatest: Keys
    by: Int64s
    facts: Int64s


# Kernels below take plain arrays and places in them where they are called for every step of a search: to hand over a
# tuple of arrays, or a part of an array, costs more than what they do.


@compiled
def _bound_is_behind(
    bounds: Keys, bound_rows: Int32s, block: int, asked: Keys, n: int, row: int, leading: int, turned: int
) -> bool:
    """Whether an entry comes before what a block holds."""
    for k in range(asked.shape[1]):
        if bounds[block, k] != asked[n, k]:
            return bool((bounds[block, k] > asked[n, k]) != (turned != 0 and k >= leading))
    return bool(bound_rows[block] > row)


@compiled
def slot_of(o: Ordering, asked: Keys, n: int, row: int) -> int:
    """The slot of the block that an entry, line n of `asked`, belongs to."""
    order, bounds, bound_rows = o.order, o.bounds, o.bound_rows
    leading, turned = o.facts[LEADING], o.facts[TURNED]
    low, high = 0, o.facts[REGIONS] - 1
    while low < high:
        mid = (low + high + 1) >> 1
        if _bound_is_behind(bounds, bound_rows, order[mid * REGION], asked, n, row, leading, turned):
            high = mid - 1
        else:
            low = mid
    first = low * REGION
    low, high = first, first + o.used[low] - 1
    while low < high:
        mid = (low + high + 1) >> 1
        if _bound_is_behind(bounds, bound_rows, order[mid], asked, n, row, leading, turned):
            high = mid - 1
        else:
            low = mid
    return low


@compiled
def _is_before(
    keys: Keys, rows: Int32s, block: int, i: int, asked: Keys, n: int, row: int, leading: int, turned: int
) -> bool:
    """Whether entry i of a block comes before an entry."""
    for k in range(asked.shape[1]):
        if keys[block, i, k] != asked[n, k]:
            return bool((keys[block, i, k] < asked[n, k]) != (turned != 0 and k >= leading))
    return bool(rows[block, i] < row)


@compiled
def place_in_block(o: Ordering, block: int, asked: Keys, n: int, row: int) -> int:
    """How many entries of a block come before an entry, line n of `asked`."""
    keys, rows = o.keys, o.rows
    leading, turned = o.facts[LEADING], o.facts[TURNED]
    low, high = 0, o.sizes[block]
    while low < high:
        mid = (low + high) >> 1
        if _is_before(keys, rows, block, mid, asked, n, row, leading, turned):
            low = mid + 1
        else:
            high = mid
    return low


@compiled
def _make_place(keys: Keys, rows: Int32s, block: int, at: int, size: int) -> None:
    """Move the entries of a block from a place on by one."""
    for i in range(size, at, -1):
        for k in range(keys.shape[2]):
            keys[block, i, k] = keys[block, i - 1, k]
        rows[block, i] = rows[block, i - 1]


@compiled
def _close_place(keys: Keys, rows: Int32s, block: int, at: int, size: int) -> None:
    """Move the entries of a block behind a place back by one."""
    for i in range(at, size - 1):
        for k in range(keys.shape[2]):
            keys[block, i, k] = keys[block, i + 1, k]
        rows[block, i] = rows[block, i + 1]


@compiled
def fill_blocks(o: Ordering, columns: Keys, in_order: Int32s, numbers: Int64s, fill: int) -> None:
    """Put all entries, given by key and number, into blocks of `fill` entries."""
    blocks = 0
    for start in range(0, in_order.size, fill):
        stop = min(start + fill, in_order.size)
        for i in range(start, stop):
            for k in range(columns.shape[0]):
                o.keys[blocks, i - start, k] = columns[k, in_order[i]]
            o.rows[blocks, i - start] = numbers[in_order[i]]
        o.sizes[blocks] = stop - start
        _bound(o, blocks)
        blocks += 1
    if blocks == 0:
        o.sizes[0] = 0
        blocks = 1
    o.facts[BLOCKS] = blocks
    o.facts[REGIONS] = (blocks + SPREAD - 1) // SPREAD
    o.order[:] = -1
    for block in range(blocks):
        slot = block // SPREAD * REGION + block % SPREAD
        o.order[slot] = block
        o.used[block // SPREAD] = block % SPREAD + 1
        o.dirty[block // SPREAD] = 1
        o.stale[slot] = CHANGED


@compiled
def _bound(o: Ordering, block: int) -> None:
    for k in range(o.keys.shape[2]):
        o.bounds[block, k] = o.keys[block, 0, k]
    o.bound_rows[block] = o.rows[block, 0]


@compiled
def _copy_entry(o: Ordering, block: int, i: int, to: int, j: int) -> None:
    for k in range(o.keys.shape[2]):
        o.keys[to, j, k] = o.keys[block, i, k]
    o.rows[to, j] = o.rows[block, i]


@compiled
def _move_leaf(o: Ordering, slot: int, to: int) -> None:
    """Let the block of a slot stand in another, with what the tree knows of it."""
    leaves = o.counts.size // 2
    o.order[to] = o.order[slot]
    o.stale[to] = o.stale[slot] | MOVED
    o.counts[leaves + to], o.clean[leaves + to] = o.counts[leaves + slot], o.clean[leaves + slot]
    for k in range(o.by.size):
        o.least[leaves + to, k] = o.least[leaves + slot, k]
        o.greatest[leaves + to, k] = o.greatest[leaves + slot, k]


@compiled
def _split(o: Ordering, slot: int) -> bool:
    """Split a full block, the new one behind it; false if there is no block or no slot left for it."""
    room, block, region = o.rows.shape[1], o.order[slot], slot // REGION
    new = o.facts[BLOCKS]
    is_last = region == o.facts[REGIONS] - 1 and slot % REGION == o.used[region] - 1
    opens = o.used[region] == REGION and is_last and (region + 1) * REGION < o.order.size
    if new == o.sizes.size or (o.used[region] == REGION and not opens):
        return False
    half = room - room // 4 if is_last else room // 2  # what comes last is often followed
    for i in range(half, room):
        _copy_entry(o, block, i, new, i - half)
    o.sizes[new], o.sizes[block] = room - half, half
    _bound(o, new)
    o.facts[BLOCKS] += 1
    o.stale[slot] |= CHANGED
    o.dirty[region] = 1
    if opens:
        o.facts[REGIONS] += 1
        o.used[region + 1] = 0
        region += 1
        slot = region * REGION - 1
    else:
        for other in range(region * REGION + o.used[region], slot + 1, -1):
            _move_leaf(o, other - 1, other)
    o.order[slot + 1] = new
    o.stale[slot + 1] = MOVED | CHANGED
    o.used[region] += 1
    o.dirty[region] = 1
    return True


@compiled
def insert_entries(o: Ordering, new: Keys, new_rows: Int64s, start: int) -> int:
    """Put entries into their blocks until one is full and cannot be split; return where it stopped."""
    room = o.rows.shape[1]
    for n in range(start, new.shape[0]):
        slot = slot_of(o, new, n, new_rows[n])
        if o.sizes[o.order[slot]] == room:
            if not _split(o, slot):
                return n
            slot = slot_of(o, new, n, new_rows[n])
        block = o.order[slot]
        at = place_in_block(o, block, new, n, new_rows[n])
        _make_place(o.keys, o.rows, block, at, o.sizes[block])
        for k in range(new.shape[1]):
            o.keys[block, at, k] = new[n, k]
        o.rows[block, at] = new_rows[n]
        o.sizes[block] += 1
        o.stale[slot] |= CHANGED
        o.dirty[slot // REGION] = 1
    return int(new.shape[0])


@compiled
def delete_entries(o: Ordering, gone: Keys, gone_rows: Int64s) -> int:
    """Take entries out of their blocks; return how many were there."""
    found = 0
    for n in range(gone.shape[0]):
        slot = slot_of(o, gone, n, gone_rows[n])
        block = o.order[slot]
        o.dirty[slot // REGION] = 1
        at = place_in_block(o, block, gone, n, gone_rows[n])
        if at == o.sizes[block] or o.rows[block, at] != gone_rows[n]:
            continue
        found += 1
        _close_place(o.keys, o.rows, block, at, o.sizes[block])
        o.sizes[block] -= 1
        o.stale[slot] |= CHANGED
    return found


@compiled
def spread_out(o: Ordering, into: Ordering) -> None:
    """Let the blocks stand in slots of another tree, with room between them; blocks without entries are left out."""
    leaves, more = o.counts.size // 2, into.counts.size // 2
    into.order[:] = -1
    kept = 0
    for region in range(o.facts[REGIONS]):
        for slot in range(region * REGION, region * REGION + o.used[region]):
            if o.sizes[o.order[slot]] == 0 and (kept or region < o.facts[REGIONS] - 1):
                continue
            to = kept // SPREAD * REGION + kept % SPREAD
            into.order[to] = o.order[slot]
            into.stale[to] = o.stale[slot] | MOVED
            into.used[kept // SPREAD] = kept % SPREAD + 1
            into.dirty[kept // SPREAD] = 1
            into.counts[more + to], into.clean[more + to] = o.counts[leaves + slot], o.clean[leaves + slot]
            for k in range(o.by.size):
                into.least[more + to, k] = o.least[leaves + slot, k]
                into.greatest[more + to, k] = o.greatest[leaves + slot, k]
            kept += 1
    into.facts[REGIONS] = (kept + SPREAD - 1) // SPREAD
