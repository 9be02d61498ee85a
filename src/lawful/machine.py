"""What this process may use of the machine."""

from __future__ import annotations

import os
from functools import cache


@cache
def cores() -> int:
    """How many cores this process may run on, which in a container can be fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells
        return os.cpu_count() or 1
