"""A clock that stands still while kernels are compiled.

Strategies are weighed against each other by the time that they take. What is compiled on the way, once on a machine,
says nothing about them and can take longer than either.
"""

from __future__ import annotations

import time

from numba.core import event


class _CompileTimer(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Adds up how long this process compiles; one kernel at a time, with those that it calls inside."""

    def __init__(self) -> None:
        self._depth, self._began, self._total = 0, 0.0, 0.0

    def on_start(self, event: object) -> None:
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._total += time.monotonic() - self._began

    def seconds(self, now: float) -> float:
        """The time so far, a compilation that another thread is at included."""
        return self._total + (now - self._began if self._depth else 0.0)


_compile_timer = _CompileTimer()
event.register("numba:compile", _compile_timer)


def working_seconds() -> float:
    """Seconds since some moment, without those spent on compiling."""
    now = time.monotonic()
    return now - _compile_timer.seconds(now)
