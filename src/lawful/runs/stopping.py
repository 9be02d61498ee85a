"""What stops a run early: limits of time and memory, and Ctrl-C.

Searches look at their watch often. What does not look in time, whatever it is at, is left behind (`kept_to`): so a
limit holds even where a sort of a hundred million sets is under way.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from lawful.common.compiling import working_seconds
from lawful.common.errors import StoppedError, UsageError
from lawful.discovery.questions import Watch

if TYPE_CHECKING:
    from lawful.runs.run import Run

_WORKING_MEMORY = 64 << 20
"""What working on the smallest table takes, beside the table."""
_TOLD = "the user stopped it"
_SHARE_TO_RANK, _LEAST_TO_RANK = 0.1, 1.0
"""The share of the time of a search, and the least seconds, that may be taken to rank what it found."""
_SOON = 0.02
_CANCEL_SECONDS = 10.0
_COMPILERS = ("numba", "llvmlite")
_SECONDS_BETWEEN_LOOKS = 0.05
_GRACE, _SHARE_OF_GRACE = 0.6, 0.05
"""The seconds, or the share of the time so far, after which work that has not looked at its limit is left behind."""

Result = TypeVar("Result")


class UserWatch(Watch):
    """A watch that also ends when the user says so."""

    def __init__(self, seconds: float | None, memory: int | None) -> None:
        super().__init__(seconds, memory)
        self.is_told = False
        """Whether the user said so."""
        self._left_behind: str | None = None
        self._is_past = False
        self._settling = threading.Lock()

    def again(self) -> UserWatch:
        """A watch over the next piece of work, with the same limits since the same moment."""
        fresh = UserWatch(self._seconds, self._memory)
        fresh._deadline = self._deadline
        return fresh

    def end(self) -> None:
        """Reach the limit now."""
        self.is_told = True

    def last_look(self) -> None:
        """Look once more before something is done that cannot be taken back: from then on work is not left behind."""
        with self._settling:
            self.look()
            self._is_past = True

    def leave_behind(self, reason: str) -> bool:
        """Let whoever still works under this watch stop at the next look, for a reason that stays.

        Returns
        -------
        bool
            Whether it will; not if it has looked for the last time. Then it is soon done.
        """
        with self._settling:
            if not self._is_past:
                self._left_behind = reason
            return not self._is_past

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        if self._is_past:
            return None
        found = _TOLD if self.is_told else self._left_behind or super().reason()
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
        return self._left_behind or self.reason_soon(0.0)

    def reason_soon(self, seconds: float) -> str | None:
        """Why to stop within so many seconds, if so."""
        now = working_seconds()
        if self.is_told or (self._limit is None and now + seconds > self._ends):
            return _TOLD
        if now > self._ends:
            return f"{self._limit} is reached"
        return f"{self._limit} leaves no time to rank so many" if now + seconds > self._ends else None


class LeftBehindError(StoppedError):
    """Work that had not come back a while after its limit; it ends by itself at its next look."""


_working: list[threading.Thread] = []


def kept_to(watch: UserWatch, work: Callable[[], Result], share: float = _SHARE_OF_GRACE) -> Result:
    """Do some work in a thread of its own, and come back when it is done, or soon after the watch is over.

    Python handles signals in the main thread alone, and only between two steps of it: here it does nothing but wait, so
    that Ctrl-C is seen at once, whatever a kernel is at. Work that has had its last look (`last_look`) is waited for.

    Parameters
    ----------
    watch, work
        What to look at, and what to do.
    share
        The share of the time so far that work has to come back, where that is more than the usual grace: what it has
        found by then may be worth it.

    Raises
    ------
    LeftBehindError
        If the work did not end although the watch is over; whatever it does later is lost.
    """
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # whatever it is, it is raised where somebody waits
            failed.append(error)

    thread = threading.Thread(target=run, name="lawful-work", daemon=True)
    _working.append(thread)
    began, over_since = time.monotonic(), math.inf
    thread.start()
    while thread.is_alive():
        thread.join(_SECONDS_BETWEEN_LOOKS)
        reason, now = watch.reason(), time.monotonic()
        over_since = math.inf if reason is None else min(over_since, now)
        is_late = now - over_since > max(_GRACE, share * (now - began))
        if reason is not None and is_late and watch.leave_behind(reason):
            raise LeftBehindError(reason, "What was found so far is kept and marked incomplete.")
    _working.remove(thread)
    if failed:
        raise failed[0]
    return done[0]


def read_within(watch: UserWatch, read: Callable[[], Result]) -> Result:
    """Read a table as long as there is time; there is nothing to show without it."""
    try:
        return kept_to(watch, read)
    except LeftBehindError as stop:
        raise StoppedError(
            f"{stop.message} while the table was read: nothing was found", "Give more time, or read less with --limit."
        ) from None


def is_work_left_behind() -> bool:
    """Whether work that was left behind is still going on, so that the end of the process would wait for it."""
    return any(thread.is_alive() for thread in _working)


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


def refuse_too_little_memory(run: Run, limit: int | None) -> None:
    """Refuse a limit that the table alone would reach."""
    if limit is not None and limit < run.table.nbytes + _WORKING_MEMORY:
        raise UsageError(
            f"the memory limit of {limit >> 20} MB is too small: the encoded table alone takes "
            f"{run.table.nbytes >> 20} MB, and working on it some more",
            f"Give at least that and {_WORKING_MEMORY >> 20} MB, or leave columns out with --columns.",
        )
