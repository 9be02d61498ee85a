"""What a state is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lawful.common.errors import UsageError
from lawful.common.sizes import size_in_bytes
from lawful.dependencies import Law
from lawful.maintenance.settings import StateSettings
from lawful.runs.any_state import laws_of
from lawful.runs.laws_input import GivenLaws
from lawful.runs.run import Progress, Where, silent
from lawful.runs.stopping import UserWatch
from lawful.tables.options import ReadOptions


@dataclass(frozen=True)
class NewState:
    """A state that is to be made.

    Parameters
    ----------
    source, options
        The table, and how it is read.
    settings, pins
        What is kept of it, and the laws to watch.
    where
        Where to run.
    time_limit, memory_limit
        When to give up.
    progress, notes
        Are told what is being done, and what will be dear to keep.
    """

    source: Any
    options: ReadOptions
    settings: StateSettings
    where: Where
    pins: GivenLaws | None = None
    time_limit: float | None = None
    memory_limit: int | str | None = None
    progress: Progress = silent
    notes: Progress = silent

    def watch(self) -> UserWatch:
        """What looks at the limits from now on."""
        return UserWatch(self.time_limit, size_in_bytes(self.memory_limit))

    def laws(self, names: Sequence[str]) -> list[Law]:
        """The laws that are pinned, over the positions of columns."""
        pinned = [] if self.pins is None else laws_of(self.pins, names)
        if self.settings.only_pinned and not pinned:
            raise UsageError("only pinned laws are to be kept, and none is pinned", "Name some with --pin.")
        return pinned

    def settled(self) -> StateSettings:
        """What is settled for good, how files are read among it."""
        return replace(self.settings, dialect=self.options.dialect, columns=self.options.columns)
