"""Ctrl-C at any moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SOON = 0.02
_COMPILERS = ("numba", "llvmlite")


@contextmanager
def interrupts_wait_for_compilers() -> Iterator[None]:
    """Let a Ctrl-C that comes while a kernel is compiled or loaded wait until that is done.

    An exception in there is lost where C code calls back into Python, or leaves the compiler in a state in which it
    takes the whole process down.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, or somebody else's matter
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
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
