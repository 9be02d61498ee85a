"""A state is made of a table; what will be dear to keep is said before."""

from __future__ import annotations

import functools
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
from lawful.runs.maintain import OpenState, laws_of
from lawful.runs.opened import open_source
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_costs import PROBE_SECONDS, StateCosts, is_cheap
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops, within
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
    hint = "No state was made. Give it more time or memory, fewer columns, or --max-size."
    with ExitStack() as stack, stops(watch, hint):
        read = functools.partial(open_source, source, options, where, reuse=False, progress=progress)
        opened = stack.enter_context(within(watch, read, is_here=where.reads_here(source)))
        table = opened.table
        pinned = [] if pins is None else laws_of(pins, table.names)
        if settings.only_pinned and not pinned:
            raise UsageError("only pinned laws are to be kept, and none is pinned", "Name some with --pin.")
        progress("counting what breaks the pinned laws" if settings.only_pinned else "finding the laws")
        settled = replace(settings, dialect=options.dialect, columns=options.columns)
        engines = StateEngines(where, stack)
        engine = engines.for_sources(source)
        costs = StateCosts(notes)
        stack.callback(costs.stop)
        foresee = None if notes is silent else _foreseen(costs, watch)
        create = functools.partial(LivingState.create, folder, table, settled, pinned, engine, watch)
        state = within(watch, lambda: create(costs.begin, foresee), is_here=engines.is_here(source))
        costs.end()
    return OpenState(state, where)


def _foreseen(costs: StateCosts, watch: Watch) -> Callable[[LivingTable, StateSettings], None]:
    """What says before the search which kinds of laws will be dear to keep."""
    from lawful.engines.local import LocalEngine

    def foresee(table: LivingTable, settings: StateSettings) -> None:
        costs.foresee(probe(table, settings, LocalEngine, PROBE_SECONDS, is_cheap, watch))

    return foresee
