"""Memory that a piece of code keeps, counted by the allocations of Python and NumPy.

What the system says about the process depends on what ran in it before, and on when freed pages are given back.
"""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Allocations:
    """Bytes that the block still holds at its end, and the most that it held at once."""

    kept: int = 0
    peak: int = 0


@contextmanager
def allocations() -> Iterator[Allocations]:
    """Count what the block allocates; the numbers are there at its end."""
    assert not tracemalloc.is_tracing()
    counted = Allocations()
    tracemalloc.start()
    try:
        yield counted
        counted.kept, counted.peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
