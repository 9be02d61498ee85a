"""A state that is spread over a cluster, from Python and from the command line; it is used like any other state."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lawful.common.errors import UsageError
from lawful.common.sizes import size_in_bytes
from lawful.dependencies import NamedLaw
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch, Missing
from lawful.maintenance.law_events import Event
from lawful.maintenance.pins.outcomes import Offenders
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread.state import SpreadState, refuse_occupied
from lawful.maintenance.state_files import StateFiles
from lawful.results.batch_report import BatchReport, PinOutcome
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.history_report import HistoryReport
from lawful.results.state_report import StateReport
from lawful.runs.batch_reading import BatchReader, Sources
from lawful.runs.handed_on import OnEvent, Tellers
from lawful.runs.laws_input import GivenLaws
from lawful.runs.maintain import laws_of, quarantined_rows
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops
from lawful.runs.stopping import UserWatch
from lawful.tables.encoded_table import Column, EncodedTable
from lawful.tables.living.incoming import Incoming, Misfits
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.shuffled.storage import local_path
from lawful.tables.spread.manifests import MANIFESTS, Manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OpenSpreadState:
    """A spread state that is open: its methods are those of `OpenState`.

    Any number of processes may have it open. Of two that apply a batch at the same time one is refused.
    """

    def __init__(self, state: SpreadState, engines: StateEngines, stack: ExitStack) -> None:
        self._state, self._engines, self._stack = state, engines, stack

    def __enter__(self) -> OpenSpreadState:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of Spark, if it was started for this."""
        self._stack.close()

    def __repr__(self) -> str:
        return f"<lawful state {self.folder!r}: {self.rows:,} rows, version {self.version}>"

    @property
    def folder(self) -> str:
        """Where the state is, as Spark names it."""
        return self._state.location

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._state.table.rows

    @property
    def version(self) -> int:
        """How many batches were applied since the state was made."""
        return self._state.table.version

    @property
    def settings(self) -> dict[str, Any]:
        """What was settled when the state was made."""
        return self._state.settings.to_dict()

    @property
    def dialect(self) -> CsvDialect:
        """How CSV files of batches are written, unless it is said otherwise."""
        return self._state.settings.dialect

    @property
    def changes(self) -> list[dict[str, Any]]:
        """One entry for each of the last 100 batches: its id, version and time, and how many rows came and went."""
        return [dict(entry) for entry in self._state.history]

    @property
    def laws(self) -> DiscoveryReport:
        """Refuse: only pinned laws are kept."""
        raise UsageError(f"{self.folder} keeps only pinned laws", "Its reports tell how those fare.")

    def history(self, **_: Any) -> HistoryReport:
        """Refuse: the lives of laws are those of minimal ones, and none is looked for."""
        raise UsageError(f"{self.folder} keeps only pinned laws", "Its events tell what happened to those.")

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`, of the last 100 batches, as plain JSON values."""
        return self._state.events(since)

    def pin(self, laws: GivenLaws) -> None:
        """Watch laws from now on; their index is made of the whole table."""
        self._state.pin(laws_of(laws, self._state.table.names))

    def apply(
        self,
        inserts: Any = None,
        deletes: Any = None,
        *,
        changes: Any = None,
        delete_ids: Iterable[int] = (),
        batch_id: str | None = None,
        misfits: Misfits = "refuse",
        missing: Missing = "refuse",
        quarantine: str | os.PathLike[str] | None = None,
        events: str | os.PathLike[str] | None = None,
        on_event: OnEvent | None = None,
        format: str | None = None,  # noqa: A002  # the name that the command line has for it
        dialect: CsvDialect | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        progress: Progress = silent,
    ) -> BatchReport:
        """Apply a batch: deletions first, then insertions; all of it or, if it is refused or stopped, nothing.

        The parameters are those of `OpenState.apply`; rows cannot be put aside (`quarantine`). The batch has to fit
        this process. Ids of rows to delete are looked for in the whole table.
        """
        sources, ids = Sources(inserts, deletes, changes), list(delete_ids)
        sources.refuse_both()
        watch, tellers = UserWatch(time_limit, size_in_bytes(memory_limit)), Tellers(events, None, on_event)
        offenders: Offenders = "keep" if quarantine is None else "quarantine"
        batch = Batch(batch_id or "", None, None, ids, misfits, missing, offenders)
        pinned = self._state.settings.dialect
        options = ReadOptions(format, replace(dialect or pinned, null_tokens=pinned.null_tokens))
        with ExitStack() as stack:
            with stops(watch, "Nothing was changed."):
                progress("reading the batch")
                batch = BatchReader(self._state, self._engines, options, stack).read(batch, sources, watch)
                progress("applying the batch")
                applied = self._state.apply(batch, watch)
            tellers.tell(self._state, applied.version - 1)
            return self._report(applied, batch.inserts)

    def as_it_is(self) -> BatchReport:
        """A report without a batch: how many rows there are, and how the pinned laws fare."""
        as_now = Applied("", self.version, self.rows, pins=self._state.judged())
        return replace(self._report(as_now, None), batch=None)

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

    def _report(self, applied: Applied, come: Incoming | None) -> BatchReport:
        table, names = self._state.table, tuple(self._state.table.names)
        fares = zip(self._state.pins, applied.pins, self._state.witnesses(), strict=True)
        pins = [
            PinOutcome(NamedLaw(law, names), pinned.holds, pinned.violating, witness, pinned.pairs)
            for law, pinned, witness in fares
        ]
        return BatchReport(
            table.name,
            applied.batch,
            applied.version,
            applied.rows,
            applied.inserted,
            applied.deleted,
            applied.missing,
            applied.was_known,
            pins=pins,
            quarantined=quarantined_rows(table, applied, come),
            seconds={"total": round(applied.seconds, 4)},
            folder=self.folder,
        )


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


def refuse_spread(path: str | os.PathLike[str], where: Where) -> None:
    """Refuse a spread state where a stream or a table is to be followed in one call."""
    if is_spread(path) or where.placement == "shuffle":
        raise UsageError(
            "a state that is spread over a cluster takes batches one by one",
            "Use lawful.open_state(path).apply(rows, batch_id=...); for a stream, call that for every micro-batch from "
            "foreachBatch, with the number of the micro-batch in its id.",
        )


def _replicated(where: Where) -> Where:
    """Where batches are read: they fit a process."""
    return replace(where, placement="auto")


def make_spread_state(
    path: str | os.PathLike[str],
    source: Any,
    options: ReadOptions,
    settings: StateSettings,
    where: Where,
    *,
    pins: GivenLaws | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    progress: Progress = silent,
) -> OpenSpreadState:
    """Make a state of a table that no node holds, for the laws that are pinned."""
    if not settings.only_pinned:
        raise UsageError(
            "a state that is spread over a cluster keeps pinned laws and looks for no others",
            "Add --only-pinned and --pin LAW, or use --placement replicate.",
        )
    location = location_of(path)
    if (folder := local_path(location)) is not None and not is_spread(path):
        StateFiles(folder).refuse_occupied()
    watch = UserWatch(time_limit, size_in_bytes(memory_limit))
    with ExitStack() as stack:
        engines = StateEngines(_replicated(where), stack)
        engines.for_sources(source)
        progress("starting Spark")
        spark = engines.spark()
        refuse_occupied(spark, location)
        try:
            with stops(watch, "No state was made. Give it more time or memory."):
                state = _made(spark, location, source, options, settings, pins or [], watch, progress)
        except BaseException:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return OpenSpreadState(state, engines, stack.pop_all())


def _made(
    spark: SparkSession,
    location: str,
    source: Any,
    options: ReadOptions,
    settings: StateSettings,
    pins: GivenLaws,
    watch: UserWatch,
    progress: Progress,
) -> SpreadState:
    from lawful.tables.spread.source_rows import read_texts

    progress("reading the table")
    given = os.fspath(source) if isinstance(source, os.PathLike) else source
    texts = read_texts(spark, given, options, f"{location}/source")
    laws = laws_of(pins, texts.names)
    if not laws:
        raise UsageError("only pinned laws are to be kept, and none is pinned", "Name some with --pin.")
    settled = replace(settings, dialect=options.dialect, columns=options.columns)
    progress("counting what breaks the pinned laws")
    state = SpreadState.create(spark, location, texts, settled, laws, watch)
    if (copy := local_path(f"{location}/source")) is not None:
        shutil.rmtree(copy, ignore_errors=True)
    return state


def open_spread_state(path: str | os.PathLike[str], where: Where) -> OpenSpreadState:
    """Open a spread state."""
    with ExitStack() as stack:
        engines = StateEngines(_replicated(where), stack)
        state = SpreadState.open(engines.spark(), location_of(path))
        return OpenSpreadState(state, engines, stack.pop_all())
