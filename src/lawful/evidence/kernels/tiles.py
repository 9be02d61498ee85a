"""Comparing one row with a run of rows, byte plane by byte plane, and counting the vectors that come out.

Accumulators are bytes, eight columns each, for a run of rows that stays in the nearest cache, and the loops
over a run become vector instructions on 32 rows at once. So the comparison costs less than the counting. A run is
compared in whole blocks of 32 rows; what comes out beyond its end is never looked at.

Pairs are walked in the order of (i, j), i < j. A walk can stop anywhere between two runs and is taken up again
at the pair where it stopped.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lawful.common.arrays import Bytes, Int32s, Int64s, Words
from lawful.common.compiled import compiled, inlined
from lawful.evidence.kernels.count_table import count_run
from lawful.evidence.kernels.layout import in_blocks, rows_of
from lawful.evidence.kernels.words import ZERO

Indices = npt.NDArray[np.uint32] | npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64] | npt.NDArray[np.uint32] | npt.NDArray[np.uint8]
"""How often indices occur, in two tables, or only whether they do, in one of bytes."""

RUN = 4096
_NONE = np.uint8(0)
_ALL = np.uint8(255)
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@compiled
def _differences(
    own: Bytes, planes: Bytes, ordered: int, group: Int64s, bit: Bytes, i: int, first: int, size: int, found: Bytes
) -> None:
    """Set the bits of the columns in which row i differs from `size` rows from `first` on.

    `own` are the planes of row i, the same as `planes` unless different columns are compared. The first `ordered`
    planes are passed over.
    """
    # Unsigned, because a negative index would count from the end, and asking for one costs as much as a comparison.
    row, start, pairs, end = np.uint64(i), np.uint64(first), np.uint64(size), np.uint64(planes.shape[0])
    p = np.uint64(ordered)
    while p < end:
        g = np.uint64(group[p])
        if p + _FOUR <= end and group[p + _THREE] == group[p]:
            # Four planes at once: the accumulator is read and written once for all of them.
            p_b, p_c, p_d = p + _ONE, p + _TWO, p + _THREE
            a, b, c, d = own[p, row], own[p_b, row], own[p_c, row], own[p_d, row]
            bit_a, bit_b, bit_c, bit_d = bit[p], bit[p_b], bit[p_c], bit[p_d]
            for k in range(pairs):
                found[g, k] |= (
                    (bit_a if planes[p, start + k] != a else _NONE)
                    | (bit_b if planes[p_b, start + k] != b else _NONE)
                    | (bit_c if planes[p_c, start + k] != c else _NONE)
                    | (bit_d if planes[p_d, start + k] != d else _NONE)
                )
            p += _FOUR
        else:
            a, bit_a = own[p, row], bit[p]
            for k in range(pairs):
                found[g, k] |= bit_a if planes[p, start + k] != a else _NONE
            p += _ONE


@compiled
def _orders(
    own: Bytes,
    planes: Bytes,
    ordered: int,
    group: Int64s,
    bit: Bytes,
    groups: int,
    i: int,
    first: int,
    size: int,
    found: Bytes,
) -> None:
    """Set the bits of the columns in which row i is less than a row of the run and, below, greater.

    Where a higher byte of a column differs, it overrules what the lower bytes said. Only the first `ordered` planes
    are looked at.
    """
    for p in range(ordered):
        less = found[group[p], :size]
        greater = found[groups + group[p], :size]
        run = planes[p, first : first + size]
        value = own[p, i]
        column = bit[p]
        others = np.uint8(_ALL ^ column)
        for k in range(size):
            kept = _ALL if run[k] == value else others
            less[k] = (less[k] & kept) | (column if value < run[k] else _NONE)
            greater[k] = (greater[k] & kept) | (column if value > run[k] else _NONE)


@compiled
def _unknowns(nulls: Bytes, groups: int, i: int, first: int, size: int, found: Bytes) -> None:
    """Set both bits of the columns in which row i or the row of the run is null."""
    for g in range(nulls.shape[0]):
        run = nulls[g, first : first + size]
        null = nulls[g, i]
        one = found[g, :size]
        other = found[groups + g, :size]
        for k in range(size):
            one[k] |= run[k] | null
            other[k] |= run[k] | null


@inlined
def compare_run(
    own: Bytes,
    planes: Bytes,
    ordered: int,
    group: Int64s,
    bit: Bytes,
    nulls: Bytes,
    groups: int,
    i: int,
    first: int,
    size: int,
    found: Bytes,
) -> None:
    """Write the vectors of row i with a run of rows to `found[byte, row of the run]`."""
    for g in range(found.shape[0]):
        found[g, :size] = 0
    if ordered > 0:
        _orders(own, planes, ordered, group, bit, groups, i, first, size, found)
    _differences(own, planes, ordered, group, bit, i, first, size, found)
    if nulls.shape[0] > 0:
        _unknowns(nulls, groups, i, first, size, found)


@compiled
def spread_bits(keys: Words, start: int, lanes: Int64s, words: int, turned: bool) -> Words:
    """Move bit `start + lane` of every key to the bit `lanes[lane]`, for every lane; other bits are dropped.

    If turned, the bits that are not set are moved instead.
    """
    turn = ~ZERO if turned else ZERO
    spread = np.zeros((keys.shape[0], words), np.uint64)
    lane = 0
    while lane < lanes.size:
        # Lanes side by side that go to bits side by side, without leaving a word, go together: mostly nearly all.
        place, target, bits = start + lane, lanes[lane], 1
        while (
            lane + bits < lanes.size
            and lanes[lane + bits] == target + bits
            and (place + bits) & 63 != 0
            and (target + bits) & 63 != 0
        ):
            bits += 1
        mask = ~ZERO >> np.uint64(64 - bits)
        for v in range(keys.shape[0]):
            moved = ((keys[v, place >> 6] ^ turn) >> np.uint64(place & 63)) & mask
            spread[v, target >> 6] |= moved << np.uint64(target & 63)
        lane += bits
    return spread


@compiled
def _as_indices(found: Bytes, group_start: Int64s, size: int, indices: Indices) -> None:
    """Join the bytes of every vector to an index."""
    indices[:size] = 0
    for g in range(found.shape[0]):
        bytes_ = found[g, :size]
        shift = np.uint32(group_start[g])
        for k in range(size):
            indices[k] |= np.uint32(bytes_[k]) << shift


@compiled
def as_words(found: Bytes, group_start: Int64s, size: int, words: Words) -> None:
    """Join the bytes of every vector to words; a byte lies within one word."""
    words[:, :size] = 0
    for g in range(found.shape[0]):
        bytes_ = found[g, :size]
        out = words[group_start[g] // 64, :size]
        shift = np.uint64(group_start[g] % 64)
        for k in range(size):
            out[k] |= np.uint64(bytes_[k]) << shift


@compiled
def _count_indices(indices: Indices, size: int, i: int, first: int, counts: Counts, witnesses: Int32s) -> None:
    """Count indices, the even and the odd in a table each: equal neighbours need not wait for each other."""
    even, odd = counts[0], counts[1]
    for k in range(0, size - 1, 2):
        one = indices[k]
        other = indices[k + 1]
        seen = even[one]
        even[one] = seen + 1
        if seen == 0 and odd[one] == 0:
            witnesses[one, 0] = i
            witnesses[one, 1] = first + k
        seen = odd[other]
        odd[other] = seen + 1
        if seen == 0 and even[other] == 0:
            witnesses[other, 0] = i
            witnesses[other, 1] = first + k + 1
    if size & 1:
        one = indices[size - 1]
        if even[one] == 0 and odd[one] == 0:
            witnesses[one, 0] = i
            witnesses[one, 1] = first + size - 1
        even[one] += 1


@compiled
def _note_indices(indices: Indices, size: int, i: int, first: int, counts: Counts, witnesses: Int32s) -> None:
    """Note which indices occur."""
    seen = counts[0]
    for k in range(size):
        index = indices[k]
        if seen[index] == 0:
            seen[index] = 1
            witnesses[index, 0] = i
            witnesses[index, 1] = first + k


@inlined
def _tally(indices: Indices, size: int, i: int, first: int, counts: Counts, witnesses: Int32s) -> None:
    if counts.shape[0] > 1:
        _count_indices(indices, size, i, first, counts, witnesses)
    else:
        _note_indices(indices, size, i, first, counts, witnesses)


@compiled
def entries(counts: Counts, witnesses: Int32s, largest_first: bool) -> tuple[Words, Int64s, Int32s]:
    """The indices that occur, in their order, as vectors of one word; how often, and their witnesses."""
    indices = np.empty(counts.shape[1] + 1, np.int64)
    occurring = 0
    for index in range(counts.shape[1]):  # without a jump, which the processor could not guess
        indices[occurring] = index
        occurring += (counts[0, index] | counts[1, index]) != 0
    keys = np.empty((occurring, 1), np.uint64)
    totals = np.empty(occurring, np.int64)
    pairs = np.empty((occurring, 2), np.int32)
    for k in range(occurring):
        index = indices[occurring - 1 - k if largest_first else k]
        keys[k, 0] = index
        totals[k] = counts[0, index] + counts[1, index]
        pairs[k, 0], pairs[k, 1] = witnesses[index]
    return keys, totals, pairs


@compiled
def noted_entries(seen: Bytes, witnesses: Int32s, largest_first: bool) -> tuple[Words, Int32s]:
    """The same without counts, of a table of bytes that are 0 or 1."""
    indices = np.empty(seen.size + 1, np.int32)
    occurring = 0
    for index in range(seen.size):
        indices[occurring] = index
        occurring += seen[index] != 0
    keys = np.empty((occurring, 1), np.uint64)
    pairs = np.empty((occurring, 2), np.int32)
    for k in range(occurring):
        index = indices[occurring - 1 - k if largest_first else k]
        keys[k, 0] = index
        pairs[k, 0], pairs[k, 1] = witnesses[index]
    return keys, pairs


@compiled
def _next_run(i: int, j: int, rows: int) -> tuple[int, int]:
    """The pair at which the run after that of (i, j) begins."""
    return (i, j + RUN) if j + RUN < rows else (i + 1, i + 2)


@compiled
def walk_direct(
    own: Bytes,
    planes: Bytes,
    ordered: int,
    group: Int64s,
    bit: Bytes,
    nulls: Bytes,
    groups: int,
    group_start: Int64s,
    i: int,
    j: int,
    last: int,
    budget: int,
    counts: Counts,
    witnesses: Int32s,
) -> tuple[int, int]:
    """Walk from pair (i, j) up to row `last`, or for about `budget` pairs; return where to go on."""
    rows = rows_of(planes)
    found = np.empty((group_start.size, RUN), np.uint8)
    indices = np.empty(RUN, np.uint32)
    while i < last and budget > 0:
        size = min(RUN, rows - j)
        if size > 0:
            compare_run(own, planes, ordered, group, bit, nulls, groups, i, j, in_blocks(size), found)
            if found.shape[0] == 1:  # a vector of one byte is its own index
                _tally(found[0], size, i, j, counts, witnesses)
            else:
                _as_indices(found, group_start, in_blocks(size), indices)
                _tally(indices, size, i, j, counts, witnesses)
        budget -= size
        i, j = _next_run(i, j, rows)
    return i, j


@compiled
def walk_hashed(
    own: Bytes,
    planes: Bytes,
    ordered: int,
    group: Int64s,
    bit: Bytes,
    nulls: Bytes,
    groups: int,
    group_start: Int64s,
    i: int,
    j: int,
    last: int,
    budget: int,
    table: Words,
    shift: int,
    witnesses: Int32s,
    vectors: int,
) -> tuple[int, int, int]:
    """Walk as `walk_direct` does, or until a run might not fit; return also how many vectors there are."""
    rows = rows_of(planes)
    found = np.empty((group_start.size, RUN), np.uint8)
    words = np.empty((table.shape[1] - 1, RUN), np.uint64)
    missed = np.empty(RUN + 1, np.int32)
    while i < last and budget > 0 and 2 * (vectors + RUN) <= table.shape[0]:
        size = min(RUN, rows - j)
        if size > 0:
            compare_run(own, planes, ordered, group, bit, nulls, groups, i, j, in_blocks(size), found)
            as_words(found, group_start, in_blocks(size), words)
            vectors = count_run(words, i, j, size, table, shift, witnesses, vectors, missed)
        budget -= size
        i, j = _next_run(i, j, rows)
    return i, j, vectors
