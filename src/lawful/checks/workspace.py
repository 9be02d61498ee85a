"""What the checks on one table share: its columns, its partitions, and working memory for each thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lawful.checks import partitions
from lawful.checks.arrangements import Arrangements, Kept
from lawful.checks.cache import Chain, PartitionCache
from lawful.checks.partitions import Partition, Scratch
from lawful.common.arrays import Int32s, Int64s, Ranks
from lawful.common.errors import EngineError
from lawful.common.meanings import NULL_RANK, Direction, NullPolicy
from lawful.dependencies import Constant
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.ranked_table import RankedTable
from lawful.tables.shared_ranks import ComparesValues, constant_place, shared_ranks

DEFAULT_CACHE_BYTES = 256 * 2**20
_REMEMBERED_SWAPS = 4096
_REMEMBERED_SHARED = 6

_FIRST_ROWS = 512
_GROWTH = 8
"""Beginnings grow by this factor, so all of them together cost a seventh of the whole."""

_LARGE_TABLE = 1 << 17
"""From here on a column of ranks does not fit into a core's own cache."""

Pair = tuple[int, int]
SwapKey = tuple[tuple[int, ...], int, int]


@dataclass(frozen=True, slots=True)
class Swaps:
    """What one search for swaps saw: a witness against each direction, and whether it searched everything."""

    asc: Pair | None
    desc: Pair | None
    complete: bool

    def against(self, direction: Direction) -> Pair | None:
        """Return the witness against one direction."""
        return self.asc if direction == "asc" else self.desc

    def settles(self, direction: Direction) -> bool:
        """Say whether the search decides one direction."""
        return self.complete or self.against(direction) is not None

    def joined(self, later: Swaps) -> Swaps:
        """Return what this search and a later one saw together; both find the same witnesses, if any."""
        return Swaps(self.asc or later.asc, self.desc or later.desc, self.complete or later.complete)


_NOTHING_SEEN = Swaps(None, None, complete=False)


class Workspace:
    """Everything that checks on one table reuse; may be shared by threads.

    Parameters
    ----------
    table
        The table to check laws on.
    null_policy
        What null means to every law that is checked here.
    cache_bytes
        How much memory the partitions kept between checks may take, those of sets and those of lists together.
        Verdicts do not depend on it.
    longest_chain
        How many products in a row may leave their intermediate partitions in the cache. A longer way to a partition is
        gone in one go, from the columns themselves, and only its end is kept (DISTOD's direct product, section 7.3.2).
        None keeps all.
    """

    def __init__(
        self,
        table: RankedTable,
        null_policy: NullPolicy,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        longest_chain: int | None = None,
    ) -> None:
        self.table = table
        self.null_policy = null_policy
        self.cache: PartitionCache[Kept] = PartitionCache(cache_bytes)
        """Partitions of sets by their columns, and of lists by negative numbers; see `list_ods.orders`, and
        `arrangements` for the columns beside them."""
        self._arrangements = Arrangements(table, self.cache, self.slim_column, self._grouped)
        self.longest_chain = longest_chain
        self.scratch = Scratch()
        self.lowest = NULL_RANK if null_policy is NullPolicy.EQUAL else NULL_RANK + 1
        """The lowest rank that takes part in a law."""
        self._columns: dict[int, Int32s] = {}
        self._slim_columns: dict[int, Ranks] = {}
        self._constant: dict[int, bool] = {}
        self._frequencies: dict[int, Int64s] = {}
        self._swaps: OrderedDict[SwapKey, Swaps] = OrderedDict()
        self._swaps_lock = threading.Lock()
        self._shared: OrderedDict[Pair, tuple[Int32s, Int32s]] = OrderedDict()
        self._places: dict[tuple[int, Constant], int] = {}
        self._shared_lock = threading.Lock()

    def resize(self, cache_bytes: int) -> None:
        """Keep to another budget for partitions from now on."""
        self.cache.resize(cache_bytes)

    def column(self, i: int) -> Int32s:
        """Return column `i` as kernels want it."""
        found = self._columns.get(i)
        if found is None:
            found = self._columns[i] = partitions.read_only(self.table.column(i))
        return found

    def slim_column(self, i: int) -> Ranks:
        """Return column `i` for kernels that read it all over the place: of a large table in 16 bits, if that will do.

        Half of the memory halves the reads that miss the caches. Small tables have nothing to gain, and need no
        kernels compiled for it.
        """
        found = self._slim_columns.get(i)
        if found is None:
            found = self.column(i)
            if self.table.rows >= _LARGE_TABLE and self.table.distinct(i) <= np.iinfo(np.uint16).max:
                found = partitions.read_only(found.astype(np.uint16))
            self._slim_columns[i] = found
        return found

    def shared(self, a: int, b: int) -> tuple[Int32s, Int32s]:
        """Return two columns by ranks that they share, so that their values can be compared."""
        if a == b:
            return self.column(a), self.column(a)
        if a > b:
            return self.shared(b, a)[::-1]
        with self._shared_lock:
            found = self._shared.pop((a, b), None)
            if found is None:
                left, right = shared_ranks(self._comparing_table, (a, b))
                found = partitions.read_only(left), partitions.read_only(right)
            self._shared[a, b] = found
            if len(self._shared) > _REMEMBERED_SHARED:
                self._shared.popitem(last=False)
            return found

    def place_of(self, i: int, constant: Constant) -> int:
        """Return where a constant stands among the values of column `i`; see `constant_place`."""
        found = self._places.get((i, constant))
        if found is None:
            found = self._places[i, constant] = constant_place(self._comparing_table, i, constant)
        return found

    @property
    def valued_table(self) -> EncodedTable:
        """The table, if it has its values."""
        if not isinstance(self.table, EncodedTable):
            raise EngineError("Only a table that has its values can compare columns or constants with each other.")
        return self.table

    @property
    def _comparing_table(self) -> EncodedTable | ComparesValues:
        """The table, if it can compare values."""
        return self.table if isinstance(self.table, ComparesValues) else self.valued_table

    def is_constant(self, i: int) -> bool:
        """Say whether all rows that count have the same value in column `i`."""
        found = self._constant.get(i)
        if found is None:
            values = self.table.distinct(i)
            alone = values == 1 and (self.lowest > NULL_RANK or bool(self.column(i).all()))
            found = self._constant[i] = values == 0 or alone
        return found

    def frequencies(self, i: int) -> Int64s:
        """Return how many rows have each rank of column `i`, nulls first."""
        found = self._frequencies.get(i)
        if found is None:
            counted = np.bincount(self.column(i), minlength=self.table.distinct(i) + 1)
            found = self._frequencies[i] = counted.astype(np.int64)
        return found

    def chain(self, columns: Iterable[int]) -> Chain:
        """Return the one order in which the partition of these columns is built: most values first.

        DISTOD multiplies whichever factors its cache holds (section 7.3.1). Here the order is fixed, so
        that a partition, the order of its classes included, is a function of the columns and the table
        alone, and witnesses do not depend on what was checked before.
        """
        return tuple(sorted(set(columns), key=lambda i: (-self.table.distinct(i), i)))

    def partition(self, columns: Iterable[int]) -> Partition:
        """Return the partition of a set of columns in rows of the table, grown from its longest prefix in the cache."""
        chain = self.chain(columns)
        if len(chain) == 1:
            return self._grouped(chain[0])
        return self.by_table_rows(self._grown(chain, *self._longest_prefix(chain)))

    def by_table_rows(self, partition: Partition) -> Partition:
        """Return a partition with its rows numbered as the table numbers them."""
        if partition.root is None:
            return partition
        return Partition(self.table_rows(partition, partition.rows), partition.offsets, partition.table_rows)

    def table_rows(self, partition: Partition, rows: Int32s) -> Int32s:
        """Return the rows of the table that some rows of a partition are; see `arrangements`."""
        return self._arrangements.table_rows(partition, rows)

    def ranks(self, partition: Partition, i: int) -> Ranks:
        """Return column `i` with its rows numbered as those of a partition."""
        return self._arrangements.ranks(partition, i)

    def growing(self, columns: Iterable[int]) -> Iterator[Partition]:
        """Yield the partition of a set of columns, before it ever longer beginnings of it, numbered in any way.

        A law that does not hold mostly breaks within the first classes. To split a class takes its own rows
        only, so the first classes of the known prefix lead to exactly the first classes of the partition.
        """
        chain = self.chain(columns)
        known, partition = self._longest_prefix(chain)
        if known < len(chain):
            target = _FIRST_ROWS
            while target * _GROWTH < partition.size:
                beginning = partition.beginning(target)
                if beginning.size * _GROWTH < partition.size:
                    for i in chain[known:]:
                        beginning = self.refine(beginning, i)
                    yield beginning
                target *= _GROWTH
        yield self._grown(chain, known, partition)

    def refine(self, partition: Partition, i: int, *, first_only: bool = False) -> Partition:
        """Return the product of a partition with column `i`; see `partitions.refine`."""
        distinct = self.table.distinct(i)
        column = self.ranks(partition, i)
        return partitions.refine(partition, column, distinct, self.lowest, self.scratch, first_only=first_only)

    def recall_swaps(self, key: SwapKey) -> Swaps:
        """Return what earlier searches for swaps saw, as far as it is still remembered."""
        with self._swaps_lock:
            return self._swaps.get(key, _NOTHING_SEEN)

    def remember_swaps(self, key: SwapKey, swaps: Swaps) -> None:
        """Keep what a search saw, because the other direction is mostly asked for next."""
        with self._swaps_lock:
            self._swaps[key] = swaps
            if len(self._swaps) > _REMEMBERED_SWAPS:
                self._swaps.popitem(last=False)

    def _longest_prefix(self, chain: Chain) -> tuple[int, Partition]:
        """Return the length and the partition of the longest prefix at hand, at least its first column."""
        known, found = self.cache.longest_prefix(chain)
        if (known > 1 or not chain) and isinstance(found, Partition):
            return known, found
        if not chain:
            everything = partitions.all_rows(self.table.rows)
            self.cache.put(chain, everything)
            return 0, everything
        return 1, self._arrangements.root(chain[0]) if self._arrangements.pay else self._grouped(chain[0])

    def _grown(self, chain: Chain, known: int, partition: Partition) -> Partition:
        is_long = self.longest_chain is not None and len(chain) - known > self.longest_chain
        for length in range(known + 1, len(chain) + 1):
            partition = self.refine(partition, chain[length - 1])
            if length == len(chain) or not is_long:
                self.cache.put(chain[:length], partition)
        return partition

    def _grouped(self, i: int) -> Partition:
        """Return the partition of column `i` in rows of the table."""
        found = self.cache.get((i,))
        if not isinstance(found, Partition):
            found = partitions.single(self.column(i), self.table.distinct(i), self.lowest, self.scratch)
            self.cache.put((i,), found)
        return found
