"""What is asked of a discovery, and what stops it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lawful.common.compiling import working_seconds
from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import MEASURES, Measure, NullPolicy
from lawful.common.memory import most_without_limit, resident_bytes


@dataclass(frozen=True)
class Question:
    """Which laws are wanted.

    `max_size` limits the columns of a key and of a left side. `error` is the share of pairs (g1) or of rows
    (g3) that may break a law; 0 asks for laws that hold.
    """

    keys: bool
    fds: bool
    null_policy: NullPolicy = NullPolicy.EQUAL
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g1"
    seed: int = 0
    strategy: Literal["auto", "full", "hybrid"] = "auto"

    @property
    def finds_all_fds(self) -> bool:
        """Whether the answer has every minimal FD that holds."""
        return self.fds and self.max_size is None and not self.error

    def __post_init__(self) -> None:
        if not 0.0 <= self.error < 1.0:
            raise UsageError(f"the error must lie in [0, 1), and is {self.error}", "0.01 allows one in a hundred.")
        if self.max_size is not None and self.max_size < 0:
            raise UsageError(f"the largest size must not be negative, and is {self.max_size}")
        if self.measure not in MEASURES:
            raise UsageError(f"unknown measure {self.measure!r}", "Use g1 (share of pairs) or g3 (share of rows).")
        if self.strategy not in ("auto", "full", "hybrid"):
            raise UsageError(f"unknown strategy {self.strategy!r}", "Use auto, full or hybrid.")


class Watch:
    """Ends a discovery at its limits: `look` raises `StoppedError` once time or memory is used up.

    Time spent on compiling kernels, which happens once on a machine, does not count.

    Without a limit of memory, one follows from the machine: a process that takes all of it is killed, and what it has
    found is lost.
    """

    def __init__(self, seconds: float | None = None, memory: int | None = None) -> None:
        if seconds is not None and not seconds > 0:
            raise UsageError(f"the time limit must be positive, and is {seconds:g}", "Leave it out for none.")
        self._deadline = None if seconds is None else working_seconds() + seconds
        self._seconds = seconds
        self._memory = memory
        self.reached: str | None = None
        """The limit that somebody was told of, where that is noted: memory may be free again by the time people are."""
        self.most_memory = most_without_limit() if memory is None else memory
        """The bytes that this process may use, limited or not."""

    @property
    def memory(self) -> int | None:
        """The memory limit in bytes, if there is one."""
        return self._memory

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self._deadline is not None or self._memory is not None

    @property
    def seconds_left(self) -> float:
        """The seconds until the limit of time."""
        return math.inf if self._deadline is None else self._deadline - working_seconds()

    def look(self) -> None:
        """Raise if a limit is reached."""
        if reason := self.reason():
            raise StoppedError(reason, "What was found so far is kept and marked incomplete.")

    def last_look(self) -> None:
        """Look once more before something is done that cannot be taken back; what comes after is not stopped."""
        self.look()

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        if self._deadline is not None and working_seconds() > self._deadline:
            return f"the time limit of {self._seconds:g} s is reached"
        if resident_bytes() <= self.most_memory:
            return None
        if self._memory is None:
            return f"{self.most_memory >> 20} MB of memory are in use, the most without --memory-limit on this machine"
        return f"the memory limit of {self._memory >> 20} MB is reached"

    def is_over(self) -> bool:
        """Whether a limit is reached, for code that stops by itself."""
        return self.reason() is not None


Progress = Callable[[str], None]
