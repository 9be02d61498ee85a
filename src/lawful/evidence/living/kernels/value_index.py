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
def _count(words: Words, amount: int, row: int, other: int, table: Words, shift: int, witnesses: Int32s) -> int:
    """Add to the count of the only vector of `words[word, 0]`; return how many vectors there are more."""
    slot = slot_of(words, 0, table, shift)
    last = table.shape[1] - 1
    is_new = table[slot, last] == ZERO
    if is_new:
        for w in range(last):
            table[slot, w] = words[w, 0]
        witnesses[slot, 0] = row
        witnesses[slot, 1] = other
    table[slot, last] += np.uint64(amount)
    return int(is_new)


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
def _most_vectors(cluster: Int32s, size: Int64s, row: int, patterns: int) -> int:
    """How many vectors a row may add: one for each row it shares something with, and one for each pattern."""
    most = 0
    for column in range(cluster.shape[0] - 1):
        if cluster[column, row] >= 0:
            most += size[cluster[column, row]]
    return min(most, row) + patterns


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
    pattern_line, width = cluster[-1], everything.size
    touched = np.empty(rows, np.int32)
    untouched_of = np.empty_like(earlier)
    words = np.zeros((table.shape[1] - 1, 1), np.uint64)
    has_known = words.shape[0] > width
    while row < rows:
        most = _most_vectors(cluster, size, row, patterns.shape[0])
        if 2 * (vectors + most) > table.shape[0]:
            return row, vectors, most
        own = pattern_of[pattern_line[row]]
        untouched_of[:] = earlier
        for other in touched[: _touch(cluster, start, size, pool, row, shared, seen_by, touched)]:
            pattern = pattern_of[pattern_line[other]]
            untouched_of[pattern] -= 1
            words[:width, 0] = shared[other]
            if has_known:
                _write_known(words, everything, patterns[own], patterns[pattern])
            vectors += _count(words, 1, row, other, table, shift, witnesses)
        words[:width, 0] = ZERO
        for pattern in range(patterns.shape[0]):
            if untouched_of[pattern] > 0:
                if has_known:
                    _write_known(words, everything, patterns[own], patterns[pattern])
                c = pattern_clusters[pattern]
                other = _first_untouched(pool[start[c] : start[c] + size[c]], row, seen_by)
                vectors += _count(words, untouched_of[pattern], row, other, table, shift, witnesses)
        earlier[own] += 1
        row += 1
    return row, vectors, 0
