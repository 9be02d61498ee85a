"""A state is made of a table; what will be dear to keep is said before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from lawful.discovery.questions import Watch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.probing import probe
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles
from lawful.runs.maintain import OpenState
from lawful.runs.new_states import NewState
from lawful.runs.opened import open_source
from lawful.runs.run import silent
from lawful.runs.state_costs import PROBE_SECONDS, StateCosts, is_cheap
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops, within
from lawful.tables.living.living_table import LivingTable


def make_one_process_state(folder: Path, new: NewState) -> OpenState:
    """Make a state of a table and its laws in a new folder."""
    StateFiles(folder).refuse_occupied()
    watch = new.watch()
    hint = "No state was made. Give it more time or memory, fewer columns, or --max-size."
    with ExitStack() as stack, stops(watch, hint):
        read = functools.partial(open_source, new.source, new.options, new.where, reuse=False, progress=new.progress)
        opened = stack.enter_context(within(watch, read, is_here=new.where.reads_here(new.source)))
        table = opened.table
        pinned = new.laws(table.names)
        only_pinned = new.settings.only_pinned
        new.progress("counting what breaks the pinned laws" if only_pinned else "finding the laws")
        engines = StateEngines(new.where, stack)
        engine = engines.for_sources(new.source)
        costs = StateCosts(new.notes)
        stack.callback(costs.stop)
        foresee = None if new.notes is silent else _foreseen(costs, watch)
        create = functools.partial(LivingState.create, folder, table, new.settled(), pinned, engine, watch)
        state = within(watch, lambda: create(costs.begin, foresee), is_here=engines.is_here(new.source))
        costs.end()
    return OpenState(state, new.where)


def _foreseen(costs: StateCosts, watch: Watch) -> Callable[[LivingTable, StateSettings], None]:
    """What says before the search which kinds of laws will be dear to keep."""
    from lawful.engines.local import LocalEngine

    def foresee(table: LivingTable, settings: StateSettings) -> None:
        costs.foresee(probe(table, settings, LocalEngine, PROBE_SECONDS, is_cheap, watch))

    return foresee
