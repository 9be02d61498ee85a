"""Clusters of rows that share a value, in one pool of row numbers, and the agree sets that they show.

Cluster c is `pool[start[c] : start[c] + size[c]]`, with room for `room[c]` rows. `cluster[column, row]` is the
cluster of a row's value, -1 where a null shares nothing, and `place[column, row]` where the row stands in the pool.
The last line of both is not a column: its clusters hold the rows that are null in the same columns, all rows once.
"""

from __future__ import annotations

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.compiled import compiled
from lawful.evidence.kernels.count_table import slot_of
from lawful.evidence.kernels.words import ONE, ZERO


@compiled
def move_clusters(
    moving: Int64s, rooms: Int64s, start: Int64s, size: Int64s, room: Int64s, pool: Int32s, used: int
) -> int:
    """Give clusters a new place with more room behind what is used of the pool; return how much is used then."""
    for k in range(moving.size):
        c = moving[k]
        pool[used : used + size[c]] = pool[start[c] : start[c] + size[c]]
        start[c], room[c] = used, rooms[k]
        used += rooms[k]
    return used


@compiled
def link_rows(cluster: Int32s, place: Int32s, first: int, last: int, start: Int64s, size: Int64s, pool: Int32s) -> None:
    """Put rows into their clusters, which have room. Places are counted from the start of a cluster."""
    for row in range(first, last):
        for line in range(cluster.shape[0]):
            c = cluster[line, row]
            if c >= 0:
                place[line, row] = size[c]
                pool[start[c] + size[c]] = row
                size[c] += 1


@compiled
def unlink_rows(
    cluster: Int32s, place: Int32s, first: int, last: int, start: Int64s, size: Int64s, pool: Int32s
) -> None:
    """Take rows out of their clusters: the last row of a cluster fills the hole."""
    for row in range(first, last):
        for line in range(cluster.shape[0]):
            c = cluster[line, row]
            if c >= 0:
                size[c] -= 1
                moved = pool[start[c] + size[c]]
                pool[start[c] + place[line, row]] = moved
                place[line, moved] = place[line, row]


@compiled
def rename_rows(cluster: Int32s, place: Int32s, rows: Int64s, start: Int64s, pool: Int32s) -> None:
    """Write the numbers of rows to where they stand in the pool."""
    for row in rows:
        for line in range(cluster.shape[0]):
            if cluster[line, row] >= 0:
                pool[start[cluster[line, row]] + place[line, row]] = row


@compiled
def _count(words: Words, amount: int, table: Words, shift: int, witnesses: Int32s, vectors: int) -> tuple[int, int]:
    """Add to the count of the only vector of `words[word, 0]`; return its slot and how many vectors there are.

    The slot is negated less one if the vector is new, and needs a witness.
    """
    slot = slot_of(words, 0, table, shift)
    last = table.shape[1] - 1
    is_new = table[slot, last] == ZERO
    if is_new:
        for w in range(last):
            table[slot, w] = words[w, 0]
    table[slot, last] += np.uint64(amount)
    return (-1 - slot, vectors + 1) if is_new else (slot, vectors)


@compiled
def _touch(
    cluster: Int32s,
    start: Int64s,
    size: Int64s,
    pool: Int32s,
    row: int,
    shared: Words,
    seen_by: Int32s,
    touched: Int32s,
) -> int:
    """List the earlier rows that share a value with a row, and set the bits of what they share; return how many."""
    count = 0
    for column in range(cluster.shape[0] - 1):
        c = cluster[column, row]
        if c < 0:
            continue
        word, bit = column >> 6, ONE << np.uint64(column & 63)
        for other in pool[start[c] : start[c] + size[c]]:
            if other >= row:
                continue
            if seen_by[other] != row:
                seen_by[other] = row
                shared[other] = ZERO
                touched[count] = other
                count += 1
            shared[other, word] |= bit
    return count


@compiled
def _write_known(words: Words, everything: Words, null: Words, others_null: Words) -> None:
    """Write, below where two rows agree, where they are known to differ."""
    for w in range(everything.size):
        words[everything.size + w, 0] = everything[w] & ~(words[w, 0] | null[w] | others_null[w])


@compiled
def _first_untouched(rows: Int32s, row: int, seen_by: Int32s) -> int:
    for other in rows:
        if other < row and seen_by[other] != row:
            return int(other)
    return -1


@compiled
def count_pairs(
    cluster: Int32s,
    start: Int64s,
    size: Int64s,
    pool: Int32s,
    row: int,
    rows: int,
    everything: Words,
    patterns: Words,
    pattern_clusters: Int64s,
    pattern_of: Int64s,
    earlier: Int64s,
    shared: Words,
    seen_by: Int32s,
    table: Words,
    shift: int,
    witnesses: Int32s,
    vectors: int,
) -> tuple[int, int, int]:
    """Count the pairs of the rows from `row` to `rows` - 1 with earlier ones, until one might not fit into the table.

    `pattern_of[c]` is the null pattern of pattern cluster c, and `earlier[p]` counts the rows before `row` with pattern
    p. Pairs that share nothing are never looked at: they are the rows of each pattern that were not touched.
    Returns the row to go on with, how many vectors there are, and how many more the next row may need.
    """
    columns = cluster.shape[0] - 1
    touched = np.empty(rows, np.int32)
    touched_of = np.zeros(patterns.shape[0], np.int64)
    words = np.zeros((table.shape[1] - 1, 1), np.uint64)
    has_known = table.shape[1] - 1 > everything.size
    while row < rows:
        most = patterns.shape[0]
        for column in range(columns):
            if cluster[column, row] >= 0:
                most += size[cluster[column, row]]
        most = min(most, patterns.shape[0] + row)
        if 2 * (vectors + most) > table.shape[0]:
            return row, vectors, most
        own = pattern_of[cluster[columns, row]]
        count = _touch(cluster, start, size, pool, row, shared, seen_by, touched)
        touched_of[:] = 0
        for other in touched[:count]:
            pattern = pattern_of[cluster[columns, other]]
            touched_of[pattern] += 1
            words[: everything.size, 0] = shared[other]
            if has_known:
                _write_known(words, everything, patterns[own], patterns[pattern])
            slot, vectors = _count(words, 1, table, shift, witnesses, vectors)
            if slot < 0:
                witnesses[-1 - slot, 0], witnesses[-1 - slot, 1] = row, other
        words[: everything.size, 0] = ZERO
        for pattern in range(patterns.shape[0]):
            untouched = earlier[pattern] - touched_of[pattern]
            if untouched == 0:
                continue
            if has_known:
                _write_known(words, everything, patterns[own], patterns[pattern])
            slot, vectors = _count(words, untouched, table, shift, witnesses, vectors)
            if slot < 0:
                c = pattern_clusters[pattern]
                members = pool[start[c] : start[c] + size[c]]
                witnesses[-1 - slot, 0] = row
                witnesses[-1 - slot, 1] = _first_untouched(members, row, seen_by)
        earlier[own] += 1
        row += 1
    return row, vectors, 0
