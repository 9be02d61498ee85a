"""When kernels are compiled, once on a machine: a clock that stands still meanwhile, and a word to who waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_depth, _began, _total = 0, 0.0, 0.0
_tell: Callable[[bool], None] | None = None


def begin() -> None:
    """Note that a kernel is being compiled. Those that it calls are compiled inside, and kernels one after another."""
    global _depth, _began
    if _depth == 0:
        _began = time.monotonic()
        if _tell is not None:
            _tell(True)
    _depth += 1


def end() -> None:
    """Note that it is compiled."""
    global _depth, _total
    _depth -= 1
    if _depth == 0:
        _total += time.monotonic() - _began
        if _tell is not None:
            _tell(False)


def compiling_seconds() -> float:
    """Seconds that this process has spent on compiling, in whichever thread."""
    return _compiling_until(time.monotonic())


def _compiling_until(now: float) -> float:
    return _total + (now - _began if _depth else 0.0)


def working_seconds() -> float:
    """Seconds since some moment, without those spent on compiling, in whichever thread.

    Limits of time and strategies that are weighed against each other go by this clock: what is compiled on the way says
    nothing about the table and can take longer than the work.
    """
    now = time.monotonic()
    return now - _compiling_until(now)


@contextmanager
def told_of_compiling(tell: Callable[[bool], None]) -> Iterator[None]:
    """Tell somebody when compiling begins (True) and when it is over (False)."""
    global _tell
    before, _tell = _tell, tell
    try:
        yield
    finally:
        _tell = before
