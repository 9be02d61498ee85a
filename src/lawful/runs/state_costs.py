"""What it costs to keep the laws of each family, told before a state is made and while it is.

Before, samples of the table tell what all of it will take (`maintenance.probing`). While laws are searched, that is
the measure: a batch that takes much of the evidence away searches anew, and one that breaks laws thinks again, which is
most of a search. So a family that takes long to find is dear to keep. Both are said when the user can still stop and
bound it: no state is made then.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from lawful.common.compiling import working_seconds
from lawful.maintenance.probing import CHANGES, Cost, Estimate
from lawful.runs.run import Progress, silent

SLOW = 10.0
"""Seconds after which a search is said to be slow, without those of compiling."""
_HELP = (
    "--max-size bounds its laws and --columns its columns, or leave it out of --find and pin laws with --pin, "
    "alone with --only-pinned"
)
PROBE_SECONDS = 5.0
"""Seconds that samples may take for each kind of laws."""
_SLOW_SEARCH, _SLOW_BATCH, _MANY_BYTES = 120.0, 2.0, 1 << 30
_SOME_SECONDS = 0.5


def is_cheap(cost: Cost) -> bool:
    """Whether a cost need not be said: batches are quick, and quicker than finding the laws anew."""
    is_worth_it = cost.batch <= max(cost.find, _SOME_SECONDS)
    return is_worth_it and cost.find <= _SLOW_SEARCH and cost.batch <= _SLOW_BATCH and cost.bytes <= _MANY_BYTES


class StateCosts:
    """Notes which families are dear to keep.

    Parameters
    ----------
    notes
        Is told.
    slow
        From how many seconds on.
    """

    def __init__(self, notes: Progress, slow: float = SLOW) -> None:
        self._notes, self._slow = notes, slow
        self._kind = ""
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def foresee(self, estimates: Iterable[Estimate]) -> None:
        """Say what keeping some kinds of laws will cost."""
        for kind, rows, cost, is_stopped in estimates:
            if is_stopped:
                told = f"at least {_time(cost.find)} to find, since {rows:,} rows alone took too long"
            else:
                told = (
                    f"about {_time(cost.find)} to find, {_time(cost.batch)} for a batch of {2 * CHANGES} changes and "
                    f"{cost.bytes / _MEGABYTE:,.0f} MB to keep, by samples of up to {rows:,} rows"
                )
                if cost.batch > cost.find:
                    told += "; so it costs less to run lawful discover after each batch"
            self._notes(f"{kind}: {told}; {_HELP}")

    def begin(self, kind: str) -> None:
        """A family is searched from now on."""
        self.end()
        self._kind, self._began = kind, working_seconds()
        self._wait(self._slow)

    def end(self) -> None:
        """The family is found; say what that took, if it was much."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        seconds = working_seconds() - self._began
        if seconds >= self._slow:
            self._notes(
                f"{self._kind}: found in {seconds:.0f} s; a batch that takes much of the evidence takes as long"
            )

    def stop(self) -> None:
        """Tell nothing more: the search was stopped, or even left behind."""
        self._notes = silent
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._tell_at_once)
        self._timer.daemon = True
        self._timer.start()

    def _tell_at_once(self) -> None:
        left = self._slow - (working_seconds() - self._began)
        if left > 0:  # kernels were compiled, which says nothing about the family
            if self._timer is threading.current_thread():  # else it has ended meanwhile
                self._wait(left)
            return
        self._notes(f"{self._kind}: not found after {self._slow:g} s, so batches may take long too; {_HELP}")


_MEGABYTE, _MINUTE, _HOUR, _DAY = 1_000_000, 60, 3600, 86_400


def _time(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:,.0f} minutes"
    return f"{seconds / _HOUR:,.0f} hours" if seconds < 2 * _DAY else f"{seconds / _DAY:,.0f} days"
