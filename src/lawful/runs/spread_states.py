"""A state that is spread over a cluster, from Python and from the command line; it is used like any other state."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.dependencies import Law, kind_of
from lawful.maintenance.applied import Applied, PinnedLaw
from lawful.maintenance.batches import Batch
from lawful.maintenance.spread.finding import refuse_settings
from lawful.maintenance.spread.state import SpreadState, refuse_occupied
from lawful.maintenance.state_files import StateFiles
from lawful.maintenance.witness_views import Views
from lawful.results.batch_report import BatchReport
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.state_report import StateReport
from lawful.runs.any_state import AnyOpenState
from lawful.runs.kept_reports import counts_of, laws_report, with_changed_laws
from lawful.runs.new_states import NewState
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops
from lawful.runs.stopping import UserWatch
from lawful.tables.living.incoming import Incoming
from lawful.tables.named_table import NamedTable
from lawful.tables.shuffled.storage import local_path
from lawful.tables.spread.manifests import MANIFESTS, Manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OpenSpreadState(AnyOpenState[SpreadState]):
    """A spread state that is open: its methods are those of `OpenState`.

    Any number of processes may have it open. Of two that apply a batch at the same time one is refused. A batch has to
    fit this process. Ids of rows to delete are looked for in the whole table.
    """

    @property
    def folder(self) -> str:
        """Where the state is, as Spark names it."""
        return self._state.location

    @property
    def laws(self) -> DiscoveryReport:
        """The laws as `discover` would give them; their interest is that of the rows that decide them."""
        state = self._state
        asked = state.settings
        if asked.only_pinned:
            raise self._keeps_no_others()
        deciding = state.deciding()
        found = deciding.findings(asked, self._limits.again())
        return laws_report(
            asked, found, self._named_table(), deciding.view, {"engine": "spark", "placement": "shuffle"}
        )

    def _counts(self) -> dict[str, int]:
        """How many laws of each kind are kept."""
        return counts_of(self._state.settings, ((kind_of(law), 1) for law in self._state.found))

    def _named_table(self) -> NamedTable:
        table = self._state.table
        return NamedTable.of(table.name, table.rows, ((each.name, each.type) for each in table.columns))

    def described(self, progress: Progress = silent, *, verify: bool = False) -> StateReport:
        """What is in the state; with `verify`, everything is counted anew from the rows and compared."""
        differences = None
        if verify:
            progress("counting anew what breaks the laws")
            differences = self._state.differences()
        return StateReport(
            self.folder,
            self._state.bytes_on_disk,
            self._named_table(),
            self.version,
            self.settings,
            self._counts(),
            0,
            0,
            self.as_it_is().pins,
            0,
            self._state.history,
            differences,
        )

    def _applied(self, batch: Batch, sources: Sequence[Any], watch: UserWatch) -> Applied:
        return self._state.apply(batch, watch)

    def _kept(self) -> Sequence[Law]:
        return self._state.found

    def _report(self, applied: Applied, come: Incoming | None) -> BatchReport:
        report, names = super()._report(applied, come), self._state.table.names
        return with_changed_laws(report, applied, names, self._counts(), applied.shown.get)

    def _pin(self, laws: Sequence[Law], watch: UserWatch) -> None:
        self._state.pin(laws, watch)

    def _judged(self, watch: UserWatch) -> list[PinnedLaw]:
        return self._state.judged()

    def _witnesses(self, pins: Sequence[PinnedLaw]) -> list[Views | None]:
        return self._state.witnesses()


def location_of(path: str | os.PathLike[str]) -> str:
    """A folder as Spark names it."""
    text = os.fspath(path)
    return text.rstrip("/") if "://" in text else Path(text).absolute().as_uri()


def is_spread(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is that of a spread state; on other file systems there are no others."""
    text = os.fspath(path)
    return "://" in text or (Path(text) / MANIFESTS).is_dir()


def is_spread_state(path: str | os.PathLike[str], where: Where) -> bool:
    """Whether a spread state is in a folder; other file systems are asked through Spark."""
    if "://" not in os.fspath(path):
        return is_spread(path)
    with ExitStack() as stack:
        return Manifests(StateEngines(_replicated(where), stack).spark(), location_of(path)).last_number() >= 0


def _replicated(where: Where) -> Where:
    """Where batches are read: they fit a process."""
    return replace(where, placement="auto")


def make_spread_state(path: str | os.PathLike[str], new: NewState) -> OpenSpreadState:
    """Make a state of a table that no node holds, and of its laws."""
    refuse_settings(new.settings)
    location = location_of(path)
    if (folder := local_path(location)) is not None and not is_spread(path):
        StateFiles(folder).refuse_occupied()
    watch = new.watch()
    with ExitStack() as stack:
        engines = StateEngines(_replicated(new.where), stack)
        engines.for_sources(new.source)
        new.progress("starting Spark")
        spark = engines.spark()
        refuse_occupied(spark, location)
        try:
            with stops(watch, "No state was made. Give it more time or memory."):
                state = _made(spark, location, new, watch)
        except BaseException:
            if folder is not None and not is_spread(path):  # nor has anybody else made one there meanwhile
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return OpenSpreadState(state, engines, stack.pop_all())


def _made(spark: SparkSession, location: str, new: NewState, watch: UserWatch) -> SpreadState:
    from lawful.tables.spread.source_rows import forget_copies, read_texts

    new.progress("reading the table")
    source = os.fspath(new.source) if isinstance(new.source, os.PathLike) else new.source
    texts = read_texts(spark, source, new.options, f"{location}/source")
    laws = new.laws(texts.names)
    new.progress("counting what breaks the pinned laws" if new.settings.only_pinned else "finding the laws")
    state = SpreadState.create(spark, location, texts, new.settled(), laws, watch, progress=new.progress)
    forget_copies(spark, texts)
    return state


def open_spread_state(path: str | os.PathLike[str], where: Where, limits: UserWatch | None = None) -> OpenSpreadState:
    """Open a spread state; what is done with it keeps to some limits."""
    with ExitStack() as stack:
        engines = StateEngines(_replicated(where), stack)
        state = SpreadState.open(engines.spark(), location_of(path))
        return OpenSpreadState(state, engines, stack.pop_all(), limits)
