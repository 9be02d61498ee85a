"""Every pair of rows compared and counted: the exact multiset of agree sets, and vectors of denial constraints.

The pairs (i, j), i < j, are cut in tiles: ranges of i. Threads here and tasks elsewhere each walk
some tiles, and what they find is put together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import NamedTuple

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.common.errors import StoppedError
from lawful.common.machine import cores
from lawful.common.meanings import NullPolicy
from lawful.evidence.byte_columns import DIRECT_BITS, ByteColumns
from lawful.evidence.count_table import CountTable
from lawful.evidence.kernels import tiles as tile_kernels
from lawful.evidence.multisets import AgreeSets, grouped_vectors
from lawful.evidence.signs import words_for
from lawful.tables.ranked_table import RankedTable

_PAIRS_A_CALL = 1 << 24
"""Pairs between two looks at whether to stop: a few hundredths of a second."""

_HASHED_PAIRS_A_CALL = 1 << 19
"""The same for long vectors, each of which is looked for in a table that is larger than any cache."""

_TILES_A_THREAD = 8
_FIRST_VECTORS = 1 << 13
"""Room for so many distinct vectors at first, which costs next to nothing."""

_PAIRS_OF_SMALL_COUNTS = 1 << 32
"""Fewer pairs than this are counted in 32 bits, which took a quarter less time on a table of 15 columns."""

ShouldStop = Callable[[], bool]


class Tile(NamedTuple):
    """The pairs (i, j) of a table of `rows` rows with `first` <= i < `last` and i < j < `rows`.

    Rows are counted in the order of the walk, which for denial constraints is not the order of the table.
    """

    rows: int
    first: int
    last: int

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return math.comb(self.rows - self.first, 2) - math.comb(self.rows - self.last, 2)

    def cut(self, parts: int) -> list[Tile]:
        """Cut the tile in at most `parts` tiles of about the same number of pairs, none empty."""
        total, beyond = self.pairs, math.comb(self.rows - self.last, 2)
        cut: list[Tile] = []
        first = self.first
        for part in range(1, parts + 1):
            # The rows from `last` on have what is left for the later parts: m rows have m (m - 1) / 2 pairs.
            left = total * (parts - part) // parts + beyond
            last = self.last if part == parts else self.rows - (1 + math.isqrt(1 + 8 * left)) // 2
            if last > first:
                cut.append(Tile(self.rows, first, last))
                first = last
        return cut


def tiles(rows: int, parts: int) -> list[Tile]:
    """Cut all pairs of a table in at most `parts` tiles of about the same number of pairs, none empty."""
    return _whole(rows).cut(parts)


def _whole(rows: int) -> Tile:
    return Tile(rows, 0, max(0, rows - 1))


def all_agree_sets(
    table: RankedTable,
    policy: NullPolicy,
    columns: Sequence[int] | None = None,
    threads: int | None = None,
    should_stop: ShouldStop | None = None,
    *,
    counted: bool = True,
) -> AgreeSets:
    """The agree sets of all unordered pairs of rows.

    Parameters
    ----------
    columns
        The columns to compare, all unless some are named. Bit c of every set is `columns[c]`.
    threads
        How many threads share the work; None takes one per core. The result does not depend on it.
    should_stop
        Asked often; once it says yes, the walk ends with `StoppedError`.
    counted
        Whether pairs are counted, or only noted.
    """
    compared = ByteColumns.of(table, policy, columns)
    return _agree_sets(_walk_all(compared, threads, should_stop, counted))


def agree_sets_of_tile(
    table: RankedTable,
    policy: NullPolicy,
    tile: Tile,
    columns: Sequence[int] | None = None,
    should_stop: ShouldStop | None = None,
    *,
    threads: int | None = 1,
    counted: bool = True,
) -> AgreeSets:
    """The agree sets of the pairs of one tile, in this thread unless more are asked for; see `merge`."""
    compared = ByteColumns.of(table, policy, columns)
    return _agree_sets(_walk_in_threads(compared, tile, threads, _PAIRS_A_CALL, should_stop, counted))


def compared_vectors(
    compared: ByteColumns,
    tile: Tile | None = None,
    threads: int | None = None,
    should_stop: ShouldStop | None = None,
    *,
    counted: bool = True,
) -> tuple[Words, Int64s | None, Int32s]:
    """The distinct vectors of all pairs or of one tile, as `ByteColumns.decode` reads them.

    With them how many pairs have each, and the positions of the rows of the first such pair; in no useful order.
    """
    whole = _whole(compared.rows) if tile is None else tile
    return _walk_in_threads(compared, whole, threads, _PAIRS_A_CALL, should_stop, counted).vectors()


def vectors_of_tile(
    compared: ByteColumns,
    tile: Tile,
    threads: int | None,
    pairs_a_thread: int,
    should_stop: ShouldStop | None = None,
) -> tuple[Words, Int64s, Int32s]:
    """The same of one tile, counted, in as many threads as have so many pairs each."""
    keys, counts, witnesses = _walk_in_threads(compared, tile, threads, pairs_a_thread, should_stop, True).vectors()
    assert counts is not None
    return keys, counts, witnesses


class _Walk:
    """What one thread has seen of so many pairs: a direct table for short vectors, a hash table for longer ones."""

    def __init__(self, compared: ByteColumns, counted: bool, pairs: int) -> None:
        self.compared = compared
        self.counted = counted
        bits = compared.layout.bits
        self.is_direct = bits <= DIRECT_BITS
        if self.is_direct:
            # A byte is enough to note a vector. The smaller counts are, the more of them are in the nearest caches.
            counts = np.uint32 if pairs < _PAIRS_OF_SMALL_COUNTS else np.int64
            self._counts = np.zeros((2, 1 << bits), counts) if counted else np.zeros((1, 1 << bits), np.uint8)
            self._witnesses: Int32s = np.empty((1 << bits, 2), np.int32)
        else:
            self._table = CountTable(compared.layout.key_words, min(pairs, _FIRST_VECTORS))

    def walk(self, tile: Tile, should_stop: ShouldStop) -> None:
        """See all pairs of a tile. Tiles must come in their order, so that first witnesses are first."""
        columns = self.compared.for_walks
        i, j = tile.first, tile.first + 1
        while i < tile.last:
            if should_stop():
                raise StoppedError("comparing all pairs of rows was stopped")
            if self.is_direct:
                place = (i, j, tile.last, _PAIRS_A_CALL)
                i, j = tile_kernels.walk_direct(*columns, *place, self._counts, self._witnesses)
            else:
                self._table.reserve(tile_kernels.RUN, should_stop)
                place, arrays = (i, j, tile.last, _HASHED_PAIRS_A_CALL), self._table.arrays
                i, j, self._table.size = tile_kernels.walk_hashed(*columns, *place, *arrays, self._table.size)

    def absorb(self, other: _Walk, should_stop: ShouldStop) -> None:
        """Add what another walk over other tiles has seen."""
        if not self.is_direct:
            self._table.absorb(other._table, should_stop)
            return
        mine, others = self._counts.any(axis=0), other._counts.any(axis=0)
        earlier = others & (~mine | (_walk_order(other._witnesses) < _walk_order(self._witnesses)))
        self._witnesses[earlier] = other._witnesses[earlier]
        if self.counted:
            self._counts += other._counts
        else:
            self._counts |= other._counts

    def vectors(self, *, largest_first: bool = False) -> tuple[Words, Int64s | None, Int32s]:
        """Distinct vectors, their counts, and the positions of their first pairs; in their order if direct."""
        if self.is_direct and not self.counted:
            keys, witnesses = tile_kernels.noted_entries(self._counts[0], self._witnesses, largest_first)
            return keys, None, witnesses
        if self.is_direct:
            return tile_kernels.entries(self._counts, self._witnesses, largest_first)
        keys, counts, witnesses = self._table.entries()
        return keys, counts if self.counted else None, witnesses


def _walk_order(pairs: Int32s) -> Int64s:
    ordered: Int64s = (pairs[:, 0].astype(np.int64) << 32) + pairs[:, 1]
    return ordered


def _walk_tile(compared: ByteColumns, tile: Tile, should_stop: ShouldStop | None, counted: bool) -> _Walk:
    walk = _Walk(compared, counted, tile.pairs)
    walk.walk(tile, should_stop or _never)
    return walk


def _walk_all(compared: ByteColumns, threads: int | None, should_stop: ShouldStop | None, counted: bool) -> _Walk:
    return _walk_in_threads(compared, _whole(compared.rows), threads, _PAIRS_A_CALL, should_stop, counted)


def _walk_in_threads(
    compared: ByteColumns,
    whole: Tile,
    threads: int | None,
    pairs_a_thread: int,
    should_stop: ShouldStop | None,
    counted: bool,
) -> _Walk:
    worth = whole.pairs // pairs_a_thread
    threads = 1 if worth < 2 else min(threads or cores(), worth)
    if threads == 1:
        return _walk_tile(compared, whole, should_stop, counted)
    waiting, lock, failed = iter(whole.cut(threads * _TILES_A_THREAD)), Lock(), Event()
    asked = should_stop or _never

    def walk_some() -> _Walk:
        walk = _Walk(compared, counted, whole.pairs)
        while True:
            with lock:
                tile = next(waiting, None)
            if tile is None:
                return walk
            try:
                walk.walk(tile, lambda: failed.is_set() or asked())
            except BaseException:
                failed.set()
                raise

    with ThreadPoolExecutor(threads, thread_name_prefix="lawful-evidence") as pool:
        futures = [pool.submit(walk_some) for _ in range(threads)]
        try:
            first, *others = [future.result() for future in futures]
        except BaseException:  # an interrupt reaches this thread alone: the others must not walk on to the end
            failed.set()
            raise
    for other in others:
        first.absorb(other, asked)
    return first


def _agree_sets(walk: _Walk) -> AgreeSets:
    compared = walk.compared
    keys, counts, witnesses = walk.vectors(largest_first=True)
    agree, width = compared.agree(keys), len(compared.columns)
    if compared.policy is NullPolicy.IGNORE:
        differs, unknown = compared.decode(keys)
        known = (differs | _columns(compared.always_differ, width)) & ~unknown
        (agree, known), counts, witnesses = grouped_vectors([agree, known], counts, witnesses)
        return AgreeSets(compared.columns, agree, known, counts, witnesses)
    # No two vectors agree alike where nothing is unknown: sorting them is all that is left to do. Of a direct table the
    # largest differences come first, in lanes that are in the order of the columns, and so the smallest agree sets.
    if not walk.is_direct:
        order = _order_of(agree)
        agree, witnesses, counts = agree[order], witnesses[order], None if counts is None else counts[order]
    return AgreeSets(compared.columns, agree, None, counts, witnesses)


def _order_of(agree: Words) -> Int64s:
    return np.argsort(agree[:, 0]) if agree.shape[1] == 1 else np.lexsort(agree.T)


def _columns(bits: Iterable[int], width: int) -> Words:
    packed = sum(1 << bit for bit in bits)
    return np.frombuffer(packed.to_bytes(8 * words_for(width), "little"), np.uint64)


def _never() -> bool:
    return False
