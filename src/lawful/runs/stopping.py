"""What stops a run early: limits of time and memory, and Ctrl-C."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from lawful.common.compiling import working_seconds
from lawful.discovery.questions import Watch

_TOLD = "the user stopped it"
_SHARE_TO_RANK, _LEAST_TO_RANK = 0.1, 1.0
"""The share of the time of a search, and the least seconds, that may be taken to rank what it found."""
_SOON = 0.02
_CANCEL_SECONDS = 10.0
_COMPILERS = ("numba", "llvmlite")


class UserWatch(Watch):
    """A watch that also ends when the user says so."""

    def __init__(self, seconds: float | None, memory: int | None) -> None:
        super().__init__(seconds, memory)
        self.is_told = False
        """Whether the user said so."""
        self.reached: str | None = None
        """The limit that somebody was told of. Memory may be free again by the time that people are."""

    def end(self) -> None:
        """Reach the limit now."""
        self.is_told = True

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        found = _TOLD if self.is_told else super().reason()
        self.reached = found or self.reached
        return found


class RankingWatch(UserWatch):
    """A watch over what is done after a search: it may take a little longer than the search was given.

    Parameters
    ----------
    search
        The watch over the search.
    time_limit
        The seconds that the search was given, if it was.
    spent
        The seconds that it took.
    """

    def __init__(self, search: UserWatch, time_limit: float | None, spent: float) -> None:
        super().__init__(None, None)
        least = max(_LEAST_TO_RANK, _SHARE_TO_RANK * spent)
        self._limit = None if search.is_told or time_limit is None else f"the time limit of {time_limit:g} s"
        if search.is_told:
            self._ends = working_seconds() + least
        else:
            self._ends = math.inf if time_limit is None else working_seconds() + max(least, time_limit - spent)

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        return self.reason_soon(0.0)

    def reason_soon(self, seconds: float) -> str | None:
        """Why to stop within so many seconds, if so."""
        now = working_seconds()
        if self.is_told or (self._limit is None and now + seconds > self._ends):
            return _TOLD
        if now > self._ends:
            return f"{self._limit} is reached"
        return f"{self._limit} leaves no time to rank so many" if now + seconds > self._ends else None


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`; while a kernel is compiled or loaded, try again a little later.

    An exception in there is lost where C code calls back into Python, or leaves the compiler in a state in which it
    takes the whole process down.
    """
    if not _is_compiling(frame):
        raise KeyboardInterrupt
    main = threading.main_thread().ident
    assert main is not None
    again = threading.Timer(_SOON, signal.pthread_kill, (main, number))
    again.daemon = True
    again.start()


def _is_compiling(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _COMPILERS:
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def ctrl_c_ends(watch: UserWatch, cancel: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C end the search as a limit does, so that nothing found is lost; the next one breaks off.

    An exception out of nowhere would have to wait for every thread that is thinking; all of these look at the watch.
    So does a SIGTERM where it interrupts as Ctrl-C does; it is left alone in programs that have another use for it.
    """
    before: dict[int, Any] = {}
    cancelling: list[threading.Thread] = []
    if threading.current_thread() is threading.main_thread():  # signals come to no other
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        if before[signal.SIGINT] in (None, signal.SIG_IGN):
            del before[signal.SIGINT]
        if before[signal.SIGTERM] is not interrupt:
            del before[signal.SIGTERM]

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def end(number: int, frame: object) -> None:
        restore()
        watch.end()
        # Not here: a cluster may take its time to answer, and this thread may be in the middle of asking it.
        cancelling.append(threading.Thread(target=cancel, daemon=True))
        cancelling[0].start()

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        restore()
        for thread in cancelling:  # else it could cancel what is asked next
            thread.join(_CANCEL_SECONDS)
