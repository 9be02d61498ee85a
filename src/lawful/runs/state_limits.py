"""Limits of work on a state: what is stopped, or left behind, has changed nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from lawful.common.errors import StoppedError
from lawful.common.memory import memory_kept_below
from lawful.runs.stopping import UserWatch, ctrl_c_ends, kept_to

Result = TypeVar("Result")


@contextmanager
def stops(watch: UserWatch, hint: str) -> Iterator[None]:
    """End at a limit or at Ctrl-C, and say which it was and what became of the work."""
    try:
        with ctrl_c_ends(watch, lambda: None), memory_kept_below(watch.most_memory):
            yield
    except StoppedError as stop:
        raise StoppedError(watch.reached or stop.typed_message, hint) from None


def within(watch: UserWatch, work: Callable[[], Result], *, is_here: bool) -> Result:
    """Do some work until the watch is over, whatever it is at if all of it is done by this process."""
    if not is_here:  # Spark's calls come back by themselves, and its settings are a thread's own
        return work()
    return kept_to(watch, work, share=0.0)  # nothing of it would be kept
