"""What Ctrl-C, and the SIGTERM of service managers and batch systems, do to a command."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from lawful.runs.stopping import interrupt, is_work_left_behind

_USUAL: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


@contextmanager
def interrupts_wait_for_compilers() -> Iterator[None]:
    """Let a SIGTERM end the work as Ctrl-C does, and let both wait until a kernel is compiled or loaded."""
    ours = [number for number, usual in _USUAL.items() if signal.getsignal(number) == usual]  # or somebody else's
    for number in ours:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _USUAL[number])


def leave(code: int) -> NoReturn:
    """End the process, and do not wait for work that was left behind.

    Taking Python apart object by object takes as long as the laws of a small table. So what has asked to be called at
    the end is called, and the rest is left to the system; unless threads are about that Python would wait for.
    """
    if not is_work_left_behind():
        others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
        if any(not thread.daemon for thread in others):
            sys.exit(code)
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code)
