"""Keeping a search within its memory: partitions go first, because they can be made again."""

from __future__ import annotations

import time

from lawful.checks import RankedTable
from lawful.common.memory import resident_bytes
from lawful.discovery.questions import Watch
from lawful.engines import Engine

_RANK_BYTES = 4
_TIMES_THE_TABLE = 4
_MUCH = 1 << 30
"""Up to so much memory, more partitions spare work: nycflights13 was refined over 1,479 million rows with a quarter of
it, and over 647 million with all of it. On 3 million rows x 16, 1.3, 3 and 6 times the ranks led to 1,568, 706 and 454
million."""
_PRESSURE = 0.85
_SECONDS_BETWEEN_DROPS = 0.1


class MemoryKeeper:
    """Lets an engine drop partitions before a memory limit is reached; what was found cannot be made again so easily.

    Partitions may take more memory than is usual: where few of them are kept, most are made again and again. With a
    limit, they may take a part of what is left of it from the start, so that the search has room to grow beside them.
    """

    def __init__(self, engine: Engine, table: RankedTable, watch: Watch, longest_chain: int | None = None) -> None:
        self.drops = 0
        """How often the partitions were dropped."""
        self._engine, self._watch = engine, watch
        self._dropped = time.monotonic()
        room = engine.most_cache_bytes
        if watch.memory is not None:
            room = min(room, max(0, watch.memory - resident_bytes()) // 4)
        wanted = max(_MUCH, _TIMES_THE_TABLE * _RANK_BYTES * table.rows * table.width)
        engine.tune(cache_bytes=min(wanted, room), longest_chain=longest_chain)

    def look(self) -> None:
        """Drop partitions if memory runs short; raise if a limit is reached."""
        if time.monotonic() - self._dropped > _SECONDS_BETWEEN_DROPS:
            if resident_bytes() > _PRESSURE * self._watch.most_memory:
                self._engine.relieve()
                self.drops += 1
            self._dropped = time.monotonic()
        self._watch.look()
