"""A state is made of a table; what will be dear to keep is said before."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from lawful.common.errors import UsageError
from lawful.common.sizes import size_in_bytes
from lawful.discovery.questions import Watch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.probing import probe
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles
from lawful.runs.laws_input import GivenLaws
from lawful.runs.maintain import OpenState, laws_of, stops
from lawful.runs.opened import open_source
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_costs import PROBE_SECONDS, StateCosts, is_cheap
from lawful.runs.state_engines import StateEngines
from lawful.runs.stopping import UserWatch
from lawful.tables.living.living_table import LivingTable
from lawful.tables.options import ReadOptions


def make_state(
    folder: Path,
    source: Any,
    options: ReadOptions,
    settings: StateSettings,
    where: Where,
    *,
    pins: GivenLaws | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    progress: Progress = silent,
    notes: Progress = silent,
) -> OpenState:
    """Make a state of a table and its laws in a new folder."""
    StateFiles(folder).refuse_occupied()
    watch = UserWatch(time_limit, size_in_bytes(memory_limit))
    with ExitStack() as stack:
        opened = stack.enter_context(open_source(source, options, where, reuse=False, progress=progress))
        table = opened.table
        pinned = [] if pins is None else laws_of(pins, table.names)
        if settings.only_pinned and not pinned:
            raise UsageError("only pinned laws are to be kept, and none is pinned", "Name some with --pin.")
        progress("counting what breaks the pinned laws" if settings.only_pinned else "finding the laws")
        settled = replace(settings, dialect=options.dialect, columns=options.columns)
        engine = StateEngines(where, stack).for_sources(source)
        costs = StateCosts(notes)
        stack.callback(costs.stop)
        with stops(watch, "No state was made. Give it more time or memory, fewer columns, or --max-size."):
            foresee = None if notes is silent else _foreseen(costs, watch)
            state = LivingState.create(folder, table, settled, pinned, engine, watch, costs.begin, foresee)
        costs.end()
    return OpenState(state, where)


def _foreseen(costs: StateCosts, watch: Watch) -> Callable[[LivingTable, StateSettings], None]:
    """What says before the search which kinds of laws will be dear to keep."""
    from lawful.engines.local import LocalEngine

    def foresee(table: LivingTable, settings: StateSettings) -> None:
        costs.foresee(probe(table, settings, LocalEngine, PROBE_SECONDS, is_cheap, watch))

    return foresee
