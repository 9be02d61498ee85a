"""Agree sets as Dep-Miner finds them, as one JSON line: the baseline that DynASt is measured against.

python -m bench.depminer_program FILE SEPARATOR HEADER COLUMNS ROWS REPETITIONS

S. Lopes, J.-M. Petit, L. Lakhal: Efficient discovery of functional dependencies and Armstrong relations, EDBT 2000,
section 3: stripped partitions, their maximal classes, and the agree sets of all couples within these, each by the
identifiers of the classes that both rows are in. Compiled by Numba, one thread, which is fair to it: the baseline of
the paper was Java. It gives sets without counts, and none for couples that agree nowhere.
ROWS takes the first rows only, 0 for all. Reading the file is not measured, and codes stand for identifiers of classes.
"""

from __future__ import annotations

import json
import sys
import time

import numba as nb
import numpy as np

from bench.living_tables import TableFile
from lawful.common.arrays import Flags, Int32s, Int64s, Words

_FIRST_ROOM = 1 << 12
_WARM_UP_ROWS = 50


def agree_sets(codes: Int32s) -> Words:
    """The distinct agree sets of all couples of rows that agree somewhere, `uint64[sets, words]`."""
    members, starts, columns = stripped_classes(codes)
    by_row = np.ascontiguousarray(codes.T)
    is_maximal = _maximal(by_row, members, starts, columns)
    found = np.zeros((_FIRST_ROOM, -(-len(codes) // 64)), np.uint64)
    is_used = np.zeros(_FIRST_ROOM, np.bool_)
    place, size = (0, 0), 0
    for each in np.flatnonzero(is_maximal):
        rows = members[starts[each] : starts[each + 1]]
        place = (0, 0)
        while place[0] < len(rows):
            place, size = _couples(by_row, rows, *place, found, is_used, size)
            if 2 * size >= len(found):
                found, is_used = _doubled(found, is_used)
    return found[is_used]


def stripped_classes(codes: Int32s) -> tuple[Int32s, Int64s, Int32s]:
    """The rows of all classes of two and more, where each class begins, and the column that it is of."""
    members, sizes, columns = [], [], []
    for column, values in enumerate(codes):
        order = np.argsort(values, kind="stable").astype(np.int32)
        _, counts = np.unique(values, return_counts=True)
        members.append(order[np.repeat(counts > 1, counts)])
        sizes.append(counts[counts > 1])
        columns.append(np.full(len(sizes[-1]), column, np.int32))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return np.concatenate(members), starts.astype(np.int64), np.concatenate(columns)


@nb.njit(cache=True)
def _maximal(by_row: Int32s, members: Int32s, starts: Int64s, columns: Int32s) -> Flags:
    """Which classes are within no other one; of equal ones the first column's is."""
    count, width = len(columns), by_row.shape[1]
    size_of = np.zeros((by_row.shape[0], width), np.int32)
    for each in range(count):
        for k in range(starts[each], starts[each + 1]):
            size_of[members[k], columns[each]] = starts[each + 1] - starts[each]
    is_maximal = np.ones(count, np.bool_)
    for each in range(count):
        first, size = members[starts[each]], starts[each + 1] - starts[each]
        for other in range(width):
            larger = size_of[first, other]
            if other == columns[each] or larger < size or (larger == size and other > columns[each]):
                continue
            k = starts[each] + 1
            while k < starts[each + 1] and by_row[members[k], other] == by_row[first, other]:
                k += 1
            if k == starts[each + 1]:
                is_maximal[each] = False
                break
    return is_maximal


@nb.njit(cache=True)
def _couples(
    by_row: Int32s, rows: Int32s, i: int, j: int, found: Words, is_used: Flags, size: int
) -> tuple[tuple[int, int], int]:
    """Add the agree sets of the couples of a class from couple (i, j) on, until there is no room."""
    width, mask = by_row.shape[1], len(found) - 1
    agree = np.zeros(found.shape[1], np.uint64)
    while i < len(rows):
        j = max(j, i + 1)
        while j < len(rows):
            if 2 * size >= len(found):
                return (i, j), size
            agree[:] = 0
            for column in range(width):
                same = np.uint64(by_row[rows[i], column] == by_row[rows[j], column])
                agree[column >> 6] |= same << np.uint64(column & 63)
            if _added(agree, found, is_used, mask):
                size += 1
            j += 1
        i, j = i + 1, 0
    return (i, j), size


@nb.njit(cache=True)
def _added(agree: Words, found: Words, is_used: Flags, mask: int) -> bool:
    """Put a set into an open hash table; whether it was not there."""
    mixed = np.uint64(0)
    for word in agree:
        mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    slot = np.int64(mixed & np.uint64(mask))
    while is_used[slot]:
        same = True
        for k in range(len(agree)):
            same &= found[slot, k] == agree[k]
        if same:
            return False
        slot = (slot + 1) & mask
    is_used[slot] = True
    found[slot] = agree
    return True


def _doubled(found: Words, is_used: Flags) -> tuple[Words, Flags]:
    more, used = np.zeros((2 * len(found), found.shape[1]), np.uint64), np.zeros(2 * len(found), np.bool_)
    for agree in found[is_used]:
        _added(agree, more, used, len(more) - 1)
    return more, used


def main(file: str, separator: str, header: str, columns: str, rows: str, runs: str) -> None:
    codes = TableFile(file, separator, header, columns).codes()
    codes = codes[:, : int(rows) or None]
    agree_sets(codes[:, :_WARM_UP_ROWS])
    seconds = []
    for _ in range(int(runs)):
        begin = time.perf_counter()
        found = agree_sets(codes)
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": seconds, "agree_sets": len(found)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
