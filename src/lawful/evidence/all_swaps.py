"""The swaps of all pairs of rows: tile by tile, in threads here and in tasks elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

from lawful.common.errors import StoppedError
from lawful.common.machine import cores
from lawful.common.meanings import NullPolicy
from lawful.evidence.exact import ShouldStop, Tile, tiles
from lawful.evidence.pool import Pool
from lawful.evidence.swap_sets import SwapSets, merge_swaps
from lawful.tables.ranked_table import RankedTable

_TILES_A_THREAD = 8


def all_swaps(
    table: RankedTable,
    policy: NullPolicy,
    columns: Sequence[int] | None = None,
    threads: int | None = None,
    should_stop: ShouldStop | None = None,
) -> SwapSets:
    """The agree sets of all pairs of rows and what is swapped under each; see `all_agree_sets` for the parameters."""
    pool = Pool(table, policy, columns, swaps=True)
    cut = tiles(table.rows, (threads or cores()) * _TILES_A_THREAD)
    waiting, lock, failed = iter(cut), Lock(), Event()
    asked = should_stop or _never

    def walk_some() -> SwapSets:
        part = pool.empty_copy(swaps=True)
        while True:
            with lock:
                tile = next(waiting, None)
            if tile is None:
                return part.seen()
            if not part.add_tile(tile, lambda: failed.is_set() or asked()):
                raise StoppedError("comparing all pairs of rows was stopped")

    if threads == 1:
        return merge_swaps([walk_some()])
    with ThreadPoolExecutor(threads or cores(), thread_name_prefix="lawful-swaps") as workers:
        futures = [workers.submit(walk_some) for _ in range(threads or cores())]
        try:
            return merge_swaps([future.result() for future in futures])
        except BaseException:  # an interrupt reaches this thread alone: the others must not walk on to the end
            failed.set()
            raise


def swaps_of_tile(
    table: RankedTable,
    policy: NullPolicy,
    tile: Tile,
    columns: Sequence[int] | None = None,
    should_stop: ShouldStop | None = None,
) -> SwapSets:
    """The same of the pairs of one tile, in this thread; see `merge_swaps`."""
    pool = Pool(table, policy, columns, swaps=True)
    if not pool.add_tile(tile, should_stop or _never):
        raise StoppedError("comparing all pairs of rows was stopped")
    return pool.seen()


def _never() -> bool:
    return False
