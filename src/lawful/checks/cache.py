"""A cache of partitions that keeps to a budget of bytes.

DISTOD cleans its partitions by disuse and throws all of them away under memory pressure (section 7.4), since it
does not know their sizes beforehand. Here sizes are counted as partitions arrive, so the least recently used go
first and only as many as the budget asks for. Who asks for a partition uses its prefixes too: the next chain
mostly grows from one of them. Partitions of no or one column, from which every other grows, go last. Disuse
counts too: a search that moves on to larger sets leaves partitions behind that nobody will ask for again, and
these need not wait until the budget is full.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Chain = tuple[int, ...]
"""Columns in the order in which their partition is built."""

DISUSE_SECONDS = 60.0
"""A partition that nobody asks for in this time is dropped as others arrive (DISTOD's interval is of this order)."""


class Sized(Protocol):
    """Something that knows how much memory it takes."""

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""


Kept = TypeVar("Kept", bound=Sized)


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds and what it was good for."""

    hits: int
    misses: int
    evictions: int
    entries: int
    bytes: int


class PartitionCache(Generic[Kept]):
    """Partitions by chain of columns, for any number of threads."""

    def __init__(self, budget: int, disuse_seconds: float = DISUSE_SECONDS) -> None:
        self.budget = budget
        """How many bytes may be kept."""
        self._disuse_seconds = disuse_seconds
        self._last_used: dict[Chain, float] = {}
        self._lock = threading.Lock()
        self._grown: OrderedDict[Chain, Kept] = OrderedDict()
        self._roots: OrderedDict[Chain, Kept] = OrderedDict()
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

    def longest_prefix(self, chain: Chain) -> tuple[int, Kept | None]:
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
                    self._use(chain[:length])
                    if length == len(chain):
                        self._hits += 1
                    else:
                        self._misses += 1
                    return length, found
            self._misses += 1
            return 0, None

    def get(self, chain: Chain) -> Kept | None:
        """Return what is kept under a key, if it is; asking for it uses it, but is no hit or miss."""
        with self._lock:
            found = self._tier(chain).get(chain)
            if found is not None:
                self._use(chain)
            return found

    def put(self, chain: Chain, partition: Kept) -> None:
        """Keep a partition, at the cost of others; one that is larger than the budget is not kept."""
        needed = partition.nbytes
        with self._lock:
            tier = self._tier(chain)
            if needed > self.budget or chain in tier:
                return
            self._shrink_to(self.budget - needed)
            tier[chain] = partition
            self._bytes += needed
            self._last_used[chain] = time.monotonic()
            self._drop_disused(self._last_used[chain] - self._disuse_seconds)

    def resize(self, budget: int) -> None:
        """Keep to another budget from now on, and give back at once what is over it."""
        with self._lock:
            self.budget = budget
            self._shrink_to(budget)

    def _use(self, chain: Chain) -> None:
        """Note that a partition is used, and its prefixes after it, so that they stay longer."""
        now = time.monotonic()
        for length in range(len(chain), min(1, len(chain)) - 1, -1):
            prefix = chain[:length]
            tier = self._tier(prefix)
            if prefix in tier:
                tier.move_to_end(prefix)
                self._last_used[prefix] = now

    def _drop_disused(self, since: float) -> None:
        """Drop what was grown and not asked for since a moment; the least recently used comes first."""
        while self._grown and self._last_used[next(iter(self._grown))] < since:
            self._drop_first(self._grown)

    def _tier(self, chain: Chain) -> OrderedDict[Chain, Kept]:
        return self._roots if len(chain) <= 1 else self._grown

    def _shrink_to(self, target: int) -> None:
        while self._bytes > target and (self._grown or self._roots):
            self._drop_first(self._grown or self._roots)

    def _drop_first(self, tier: OrderedDict[Chain, Kept]) -> None:
        chain, evicted = tier.popitem(last=False)
        del self._last_used[chain]
        self._bytes -= evicted.nbytes
        self._evictions += 1
