"""A cache of partitions that keeps to a budget of bytes.

DISTOD cleans its partitions by disuse and throws all of them away under memory pressure (section 7.4), since
it does not know their sizes beforehand. Here sizes are counted as partitions arrive, so the least recently
used go first and only as many as the budget asks for. Partitions of no or one column, from which every other
grows, go last.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from lawful.checks.partitions import Partition

Chain = tuple[int, ...]
"""Columns in the order in which their partition is built."""


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds and what it was good for."""

    hits: int
    misses: int
    evictions: int
    entries: int
    bytes: int


class PartitionCache:
    """Partitions by chain of columns, for any number of threads."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self._grown: OrderedDict[Chain, Partition] = OrderedDict()
        self._roots: OrderedDict[Chain, Partition] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._evictions = 0

    @property
    def stats(self) -> CacheStats:
        """The counters, all from one moment."""
        with self._lock:
            entries = len(self._grown) + len(self._roots)
            return CacheStats(self._hits, self._misses, self._evictions, entries, self._bytes)

    def longest_prefix(self, chain: Chain) -> tuple[int, Partition | None]:
        """Return the longest prefix of a chain that is here, as its length and partition.

        Counts a hit if that is the whole chain. The partition of no columns is no prefix of others, because
        single columns are grouped directly.
        """
        shortest = min(1, len(chain))
        with self._lock:
            for length in range(len(chain), shortest - 1, -1):
                tier = self._tier(chain[:length])
                found = tier.get(chain[:length])
                if found is not None:
                    tier.move_to_end(chain[:length])
                    if length == len(chain):
                        self._hits += 1
                    else:
                        self._misses += 1
                    return length, found
            self._misses += 1
            return 0, None

    def put(self, chain: Chain, partition: Partition) -> None:
        """Keep a partition, at the cost of others; one that is larger than the budget is not kept."""
        needed = partition.nbytes
        with self._lock:
            tier = self._tier(chain)
            if needed > self._budget or chain in tier:
                return
            self._shrink_to(self._budget - needed)
            tier[chain] = partition
            self._bytes += needed

    def trim(self, target_bytes: int) -> None:
        """Give memory back until at most `target_bytes` are held."""
        with self._lock:
            self._shrink_to(target_bytes)

    def _tier(self, chain: Chain) -> OrderedDict[Chain, Partition]:
        return self._roots if len(chain) <= 1 else self._grown

    def _shrink_to(self, target: int) -> None:
        while self._bytes > target and (self._grown or self._roots):
            _, evicted = (self._grown or self._roots).popitem(last=False)
            self._bytes -= evicted.nbytes
            self._evictions += 1
