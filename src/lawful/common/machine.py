"""What this process may use of the machine, and who else runs on it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@cache
def cores() -> int:
    """How many cores this process may run on, which in a container can be fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells
        return os.cpu_count() or 1


@cache
def memory_bytes() -> int:
    """How much memory this process may use, which in a container can be less than the machine has."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in map(Path, _CGROUP_LIMITS):
        try:
            memory = min(memory, int(limit.read_text()))
        except (OSError, ValueError):  # no such file, or the word "max"
            continue
    return memory


def is_running(pid: int) -> bool:
    """Whether there is a process of this id on this machine, ours or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # somebody else's; or no id at all, of which nobody knows
        return True
    return True
