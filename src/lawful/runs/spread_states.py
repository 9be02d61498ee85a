"""A state that is spread over a cluster, from Python and from the command line; it is used like any other state."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.dependencies import Law
from lawful.maintenance.applied import Applied, PinnedLaw
from lawful.maintenance.batches import Batch
from lawful.maintenance.spread.state import SpreadState, refuse_occupied
from lawful.maintenance.state_files import StateFiles
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.state_report import StateReport
from lawful.runs.any_state import AnyOpenState, Views
from lawful.runs.new_states import NewState
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops
from lawful.runs.stopping import UserWatch
from lawful.tables.encoded_table import Column, EncodedTable
from lawful.tables.shuffled.storage import local_path
from lawful.tables.spread.manifests import MANIFESTS, Manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OpenSpreadState(AnyOpenState[SpreadState]):
    """A spread state that is open: its methods are those of `OpenState`, as far as pinned laws are concerned.

    Any number of processes may have it open. Of two that apply a batch at the same time one is refused. A batch has to
    fit this process. Ids of rows to delete are looked for in the whole table.
    """

    @property
    def folder(self) -> str:
        """Where the state is, as Spark names it."""
        return self._state.location

    @property
    def laws(self) -> DiscoveryReport:
        """Refuse: only pinned laws are kept."""
        raise self._keeps_no_others()

    def described(self, progress: Progress = silent, *, verify: bool = False) -> StateReport:
        """What is in the state; with `verify`, everything is counted anew from the rows and compared."""
        differences = None
        if verify:
            progress("counting anew what breaks the pinned laws")
            differences = self._state.differences()
        table = self._state.table
        columns = tuple(_NamedColumn(each.name, each.type, 0, 0, None, None) for each in table.columns)
        return StateReport(
            self.folder,
            self._state.bytes_on_disk,
            EncodedTable(table.name, table.rows, table.names, _columns=columns),
            self.version,
            self.settings,
            {},
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
        return ()

    def _pin(self, laws: Sequence[Law], watch: UserWatch) -> None:
        self._state.pin(laws, watch)

    def _judged(self, watch: UserWatch) -> list[PinnedLaw]:
        return self._state.judged()

    def _witnesses(self, pins: Sequence[PinnedLaw]) -> list[Views | None]:
        return self._state.witnesses()


@dataclass(frozen=True)
class _NamedColumn(Column):
    """A column of which nobody counts the values."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: what is not known is left out."""
        return {"name": self.name, "type": self.type.value}


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
    """Make a state of a table that no node holds, for the laws that are pinned."""
    if not new.settings.only_pinned:
        raise UsageError(
            "a state that is spread over a cluster keeps pinned laws and looks for no others",
            "Add --only-pinned and --pin LAW, or use --placement replicate.",
        )
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
    new.progress("counting what breaks the pinned laws")
    state = SpreadState.create(spark, location, texts, new.settled(), laws, watch)
    forget_copies(spark, texts)
    return state


def open_spread_state(path: str | os.PathLike[str], where: Where, limits: UserWatch | None = None) -> OpenSpreadState:
    """Open a spread state; what is done with it keeps to some limits."""
    with ExitStack() as stack:
        engines = StateEngines(_replicated(where), stack)
        state = SpreadState.open(engines.spark(), location_of(path))
        return OpenSpreadState(state, engines, stack.pop_all(), limits)
