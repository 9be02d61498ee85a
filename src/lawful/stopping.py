"""What ends a discovery before its end: its limits, and Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lawful.discovery.questions import Watch

if TYPE_CHECKING:
    from lawful.engines import Engine


class UserWatch(Watch):
    """A watch that also ends when the user says so."""

    def __init__(self, seconds: float | None, memory: int | None) -> None:
        super().__init__(seconds, memory)
        self._is_told = False

    def end(self) -> None:
        """Reach the limit now."""
        self._is_told = True

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        return "the user stopped it" if self._is_told else super().reason()


@contextlib.contextmanager
def ctrl_c_ends(watch: UserWatch, engine: Engine) -> Iterator[None]:
    """Let the first Ctrl-C end the search as a limit does, so that nothing found is lost; the next one breaks off.

    An exception out of nowhere would have to wait for every thread that is thinking; all of these look at the watch.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before in (None, signal.SIG_IGN):  # Ctrl-C does not come here, or is not wanted
        yield
        return

    def end(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        watch.end()
        # Not here: a cluster may take its time to answer, and this thread may be in the middle of asking it.
        threading.Thread(target=engine.cancel, daemon=True).start()

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
