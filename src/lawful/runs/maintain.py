"""A state from Python and from the command line: made, opened, changed batch by batch, shown and verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lawful.dependencies import Law
from lawful.discovery.questions import Watch
from lawful.maintenance.applied import Applied, PinnedLaw
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.verifying import differences_of
from lawful.maintenance.witness_views import Views, views_of_pair
from lawful.results.batch_report import BatchReport
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.state_report import StateReport
from lawful.runs.any_state import AnyOpenState
from lawful.runs.kept_reports import counts_of, laws_report, with_changed_laws
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import Result, stops, within
from lawful.runs.stopping import LeftBehindError, UserWatch
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.incoming import Incoming
from lawful.tables.living.live_view import LiveView


class OpenState(AnyOpenState[LivingState]):
    """A state that is open: a table that changes, and its laws.

    Use it in a `with` block, or close it: as long as it is open for writing, no other process can write to it.
    """

    def __init__(self, state: LivingState, where: Where, limits: UserWatch | None = None) -> None:
        self._is_left_behind = False
        stack = ExitStack()
        stack.callback(self._release)
        super().__init__(state, StateEngines(where, stack), stack, limits)

    def _release(self) -> None:
        """Let others write as long as nobody takes the lock again."""
        self._held.close()

    @property
    def _state(self) -> LivingState:
        """The state; if a batch was left behind that may still be at work on it in memory, as it is on disk."""
        if self._is_left_behind:
            self._held, self._is_left_behind = self._held.read_anew(), False
        return self._held

    @property
    def folder(self) -> Path:
        """Where the state is."""
        return self._state.folder

    @property
    def table(self) -> EncodedTable:
        """The rows as they are now, as an encoded table."""
        return LiveView.of(self._state.table)

    @property
    def laws(self) -> DiscoveryReport:
        """The laws as `discover` would give them."""
        state, view = self._state, LiveView.of(self._state.table)
        asked = state.settings
        if asked.only_pinned:
            raise self._keeps_no_others()
        found = state.findings(self._engines.for_sources())
        return laws_report(asked, found, view, view, {"engine": "local"})

    def described(self, progress: Progress = silent, *, verify: bool = False) -> StateReport:
        """What is in the state; with `verify`, everything is computed anew from the rows and compared."""
        state, differences = self._state, None
        pins, index_bytes = self.as_it_is().pins, self._state.index_bytes  # verifying builds indexes of its own
        if verify:
            progress("finding the laws anew")
            differences = differences_of(state, self._engines.for_sources(), Watch())
        return StateReport(
            str(self.folder),
            state.bytes_on_disk,
            LiveView.of(state.table),
            state.table.version,
            state.settings.to_dict(),
            self._counts(),
            state.laws.agree_sets,
            state.laws.sign_vectors,
            pins,
            index_bytes,
            state.history,
            differences,
        )

    def _counts(self) -> dict[str, int]:
        """How many laws of each kind are kept."""
        kept = ((block.kind, len(block.sets)) for block in self._state.laws.blocks())
        return counts_of(self._state.settings, kept)

    def _kept(self) -> Iterator[Law]:
        return (law for block in self._state.laws.blocks() for law in block.laws())

    def compact(self) -> None:
        """Write the state anew, without the log and without rows that have left."""
        self._state.compact()

    def _applied(self, batch: Batch, sources: Sequence[Any], watch: UserWatch) -> Applied:
        state, engine = self._state, self._engines.for_sources(*sources)
        return self._within(watch, lambda: state.apply(batch, engine, watch), *sources)

    def _pin(self, laws: Sequence[Law], watch: UserWatch) -> None:
        state, engine = self._state, self._engines.for_sources()
        self._within(watch, lambda: state.pin(laws, engine, watch))

    def _judged(self, watch: UserWatch) -> list[PinnedLaw]:
        state, engine = self._state, self._engines.for_sources()
        return self._within(watch, lambda: state.judged(engine, watch))

    def _within(self, watch: UserWatch, work: Callable[[], Result], *sources: Any) -> Result:
        """Do some work until the watch is over; what is left behind may still be at work on the state in memory."""
        try:
            return within(watch, work, is_here=self._engines.is_here(*sources))
        except (LeftBehindError, KeyboardInterrupt):
            self._is_left_behind = True
            raise

    def _witnesses(self, pins: Sequence[PinnedLaw]) -> list[Views | None]:
        table, laws = self._state.table, self._state.pins
        return [views_of_pair(table, law, pinned.witness) for law, pinned in zip(laws, pins, strict=True)]

    def _report(self, applied: Applied, come: Incoming | None) -> BatchReport:
        table = self._state.table

        def shown(law: Law) -> Views | None:
            return views_of_pair(table, law, applied.witnesses.get(law))

        return with_changed_laws(super()._report(applied, come), applied, table.names, self._counts(), shown)


def open_one_process_state(folder: Path, where: Where, watch: UserWatch, *, writes: bool = True) -> OpenState:
    """Open a state of one process; what is done with it keeps to the limits of the watch."""

    def read() -> LivingState:
        state = LivingState.open(folder, writes=writes)
        try:
            watch.last_look()
        except BaseException:
            state.close()  # nobody waits for it any more
            raise
        return state

    with stops(watch, "Nothing was changed."):
        state = within(watch, read, is_here=True)
    return OpenState(state, where, watch)
