"""Keeping a search within its memory: partitions go first, because they can be made again."""

from __future__ import annotations

import time

from lawful.checks import DEFAULT_CACHE_BYTES
from lawful.discovery.questions import Watch, resident_bytes
from lawful.engines import Engine

_PRESSURE = 0.85
_SECONDS_BETWEEN_DROPS = 0.1


class MemoryKeeper:
    """Lets an engine drop partitions before a memory limit is reached; what was found cannot be made again so easily.

    With a limit, partitions may take a part of what is left of it from the start, so that the search has room to grow
    beside them.
    """

    def __init__(self, engine: Engine, watch: Watch, longest_chain: int | None = None) -> None:
        self.drops = 0
        """How often the partitions were dropped."""
        self._engine, self._watch = engine, watch
        self._dropped = time.monotonic()
        limit = watch.memory
        room = None if limit is None else min(DEFAULT_CACHE_BYTES, max(0, limit - resident_bytes()) // 4)
        engine.tune(cache_bytes=room, longest_chain=longest_chain)

    def look(self) -> None:
        """Drop partitions if memory runs short; raise if a limit is reached."""
        limit = self._watch.memory
        if limit is not None and time.monotonic() - self._dropped > _SECONDS_BETWEEN_DROPS:
            if resident_bytes() > _PRESSURE * limit:
                self._engine.relieve()
                self.drops += 1
            self._dropped = time.monotonic()
        self._watch.look()
