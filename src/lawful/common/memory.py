"""How much memory this process has and may have: looked at before arrays grow, and not only after.

A limit is the process's, as its memory is. Whoever is about to take much asks `make_room` first, wherever that is: a
table of pairs that doubles can pass a limit by twice its size between two looks of a search.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lawful.common.errors import StoppedError
from lawful.common.machine import memory_bytes

SHARE_OF_MACHINE = 0.75
"""The share of the machine's memory, or of the container's, that a run without a limit keeps below."""

_WORTH_A_LOOK = 4 << 20
"""Less than this is taken without a look."""

_LINE = 256
_limits: list[int] = []


def resident_bytes() -> int:
    """The memory that this process has in use, without what it only maps from files."""
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:  # not on Linux: no limit can be kept
        return 0
    try:
        fields = os.read(statm, _LINE).split()
    finally:
        os.close(statm)
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def most_without_limit() -> int:
    """What a run without a limit keeps below; half of what is left, in a process that has more than that already."""
    machine = memory_bytes()
    return max(int(SHARE_OF_MACHINE * machine), (machine + resident_bytes()) // 2)


@contextmanager
def memory_kept_below(limit: int) -> Iterator[None]:
    """While this lasts, whoever asks for room beyond the limit is refused."""
    _limits.append(limit)
    try:
        yield
    finally:
        _limits.remove(limit)


def make_room(more: int) -> None:
    """Raise `StoppedError` if so many bytes more would pass the limit that is kept, if any is."""
    if more >= _WORTH_A_LOOK and _limits and resident_bytes() + more > min(_limits):
        raise StoppedError(
            f"the memory limit of {min(_limits) >> 20} MB is reached",
            "What was found so far is kept and marked incomplete.",
        )
