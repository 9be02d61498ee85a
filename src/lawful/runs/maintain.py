"""A state from Python and from the command line: made, opened, changed batch by batch, shown and verified."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from lawful.common.errors import StoppedError, UsageError
from lawful.common.sizes import size_in_bytes
from lawful.dependencies import Law, NamedLaw
from lawful.discovery.questions import Watch
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch, Missing
from lawful.maintenance.law_events import Event
from lawful.maintenance.lives import LawFilter, history_of
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.pins.outcomes import Offenders
from lawful.maintenance.state_files import StateFiles
from lawful.maintenance.verifying import differences_of
from lawful.maintenance.witness_views import views_of_pair
from lawful.results.batch_report import BatchReport, ChangedLaw, PinOutcome, QuarantinedRow
from lawful.results.discovery_report import DiscoveryReport, FoundFamily
from lawful.results.history_report import HistoryReport
from lawful.results.state_report import StateReport
from lawful.runs.batch_reading import BatchReader, Sources
from lawful.runs.handed_on import OnEvent, Tellers
from lawful.runs.laws_input import GivenLaws, given_laws
from lawful.runs.ranking import Ranker
from lawful.runs.request import request_of
from lawful.runs.run import Progress, Where, silent
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops, within
from lawful.runs.stopping import LeftBehindError, RankingWatch, UserWatch
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.incoming import Incoming, Misfits
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.options import CsvDialect, ReadOptions


class OpenState:
    """A state that is open: a table that changes, and its laws.

    Use it in a `with` block, or close it: as long as it is open for writing, no other process can write to it.
    """

    def __init__(self, state: LivingState, where: Where) -> None:
        self._living, self._is_left_behind = state, False
        self._stack = ExitStack()
        self._stack.callback(self._release)
        self._engines = StateEngines(where, self._stack)

    def __enter__(self) -> OpenState:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others write to the state."""
        self._stack.close()

    def _release(self) -> None:
        """Let others write as long as nobody takes the lock again."""
        self._living.close()

    @property
    def _state(self) -> LivingState:
        """The state; if a batch was left behind that may still be at work on it in memory, as it is on disk."""
        if self._is_left_behind:
            self._living, self._is_left_behind = self._living.read_anew(), False
        return self._living

    def __repr__(self) -> str:
        table = self._state.table
        return f"<lawful state {str(self.folder)!r}: {table.rows:,} rows, version {table.version}>"

    @property
    def folder(self) -> Path:
        """Where the state is."""
        return self._state.folder

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
    def table(self) -> EncodedTable:
        """The rows as they are now, as an encoded table."""
        return LiveView.of(self._state.table)

    @property
    def changes(self) -> list[dict[str, Any]]:
        """One entry for each batch: its id, version and time, and how many rows and laws came and went."""
        return [dict(entry) for entry in self._state.history]

    @property
    def laws(self) -> DiscoveryReport:
        """The laws as `discover` would give them."""
        state, view = self._state, LiveView.of(self._state.table)
        asked = state.settings
        if asked.only_pinned:
            raise UsageError(f"{self.folder} keeps only pinned laws", "Its reports tell how those fare.")
        request = request_of(
            {"find": asked.find, "max_size": asked.max_size, "error": asked.error, "measure": asked.measure}
        )
        begin, found = time.perf_counter(), state.findings(self._engines.for_sources())
        # Ranking takes over what was found: it is counted before.
        families: dict[str, FoundFamily] = {
            kind: FoundFamily(found.count(kind == "key"), True)
            for kind, is_shown in (("key", asked.shown.keys), ("fd", asked.shown.fds))
            if is_shown
        }
        listed = {listing.kind: FoundFamily(len(listing), True) for listing in found.listings}
        families |= {kind: listed.get(kind, FoundFamily(0, True)) for kind in asked.find if kind not in families}
        ranking = Ranker(view, asked.null, request, RankingWatch(UserWatch(None, None), None, 0.0)).ranking(found)
        settings = {**request.settings(), "null": asked.null.value, "engine": "local"}
        seconds = {"total": round(time.perf_counter() - begin, 4)}
        return DiscoveryReport(view, settings, ranking, True, None, seconds, {}, families)

    def history(
        self,
        *,
        kind: str | None = None,
        column: str | None = None,
        text: str | None = None,
        broke_since: int | None = None,
        min_age: int | None = None,
    ) -> HistoryReport:
        """The lives of laws: from which batch to which each was valid, and what ended it.

        Parameters
        ----------
        kind, column, text
            Only laws of a kind, about a column, with a text in them.
        broke_since
            Only laws that rows have broken in this version or a later one.
        min_age
            Only laws that have been valid for at least so many batches.
        """
        return history_of(self._state, LawFilter(kind, column, text, broke_since, min_age))

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`, as plain JSON values."""
        return self._state.events(since)

    def pin(self, laws: GivenLaws) -> None:
        """Watch laws from now on: every batch tells whether they hold."""
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

        Parameters
        ----------
        inserts, deletes
            Rows: a path, or a Spark, pandas, polars or Arrow table. Rows are deleted by the row key of the state or,
            without one, by all of their values, one for each.
        changes
            Both in one table, whose column `_op` says `+` or `-`.
        delete_ids
            Ids of rows to delete.
        batch_id
            What tells the batch apart: one that was applied before changes nothing. If left out, files are told
            apart by their content, and other tables not at all.
        misfits
            What becomes of values that do not fit the pinned types: `refuse` the batch, `quarantine` their rows, or
            `widen` the column to text.
        missing
            What becomes of rows to delete that are not there: `refuse` the batch, or `skip` them.
        quarantine
            A folder for rows that would break a pinned law, have a key that is there already or do not fit: they are
            put aside, and the rest is let through.
        events, on_event
            A file that what happened to laws is appended to as JSON lines, and a function that each event is given to.
        format, dialect
            How files are written, if not as the state's first table was. Which texts mean null is pinned.
        time_limit, memory_limit
            Seconds after which to give up, reading included, and the memory of this process beyond which to; nothing is
            changed then.
        """
        sources, ids = Sources(inserts, deletes, changes), list(delete_ids)
        sources.refuse_both()
        watch, tellers = UserWatch(time_limit, size_in_bytes(memory_limit)), Tellers(events, quarantine, on_event)
        if quarantine is not None and misfits == "refuse":
            misfits = "quarantine"
        offenders: Offenders = "keep" if quarantine is None else "quarantine"
        batch = Batch(batch_id or "", None, None, ids, misfits, missing, offenders)
        pinned = self._state.settings.dialect
        options = ReadOptions(format, replace(dialect or pinned, null_tokens=pinned.null_tokens))
        with ExitStack() as stack:
            with stops(watch, "Nothing was changed."):
                progress("reading the batch")
                batch = BatchReader(self._state, self._engines, options, stack).read(batch, sources, watch)
                progress("applying the batch")
                applied = self._applied(batch, watch, sources)
            tellers.tell(self._state, applied.version - 1)
            return self._report(applied, batch.inserts)

    def _applied(self, batch: Batch, watch: UserWatch, sources: Sequence[Any] = ()) -> Applied:
        state, engine = self._state, self._engines.for_sources(*sources)
        is_here = self._engines.is_here(*sources)
        try:
            return within(watch, lambda: state.apply(batch, engine, watch), is_here=is_here)
        except (LeftBehindError, KeyboardInterrupt):
            self._is_left_behind = True
            raise

    def apply_batch(
        self, batch: Batch, come: Incoming | None, watch: UserWatch, sources: Sequence[Any] = ()
    ) -> BatchReport:
        """Apply a batch whose rows were read, of which `come` are those to insert; see `apply`."""
        try:
            applied = self._applied(batch, watch, sources)
        except StoppedError as stop:
            raise StoppedError(watch.reached or stop.typed_message, "Nothing was changed.") from None
        return self._report(applied, come)

    def as_it_is(self) -> BatchReport:
        """A report without a batch: how many rows there are, and how the pinned laws fare."""
        state = self._state
        pins = state.judged(self._engines.for_sources(), Watch())
        as_now = Applied("", state.table.version, state.table.rows, pins=pins)
        return replace(self._report(as_now, None), batch=None)

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
        settings = self._state.settings
        laws = dict.fromkeys([*settings.find, *(("fd",) if settings.shown.fds else ())], 0)
        for block in self._state.laws.blocks():
            if block.kind in laws:
                laws[block.kind] += len(block.sets)
        return laws

    def compact(self) -> None:
        """Write the state anew, without the log and without rows that have left."""
        self._state.compact()

    def _report(self, applied: Applied, come: Incoming | None) -> BatchReport:
        names, table = tuple(self._state.table.names), self._state.table
        added = [ChangedLaw(NamedLaw(law, names)) for block in applied.changes.added for law in block.laws()]
        removed = [
            ChangedLaw(
                NamedLaw(law, names), views_of_pair(table, law, applied.witnesses.get(law)), is_implied=is_implied
            )
            for block, implied in zip(applied.changes.removed, applied.changes.implied, strict=True)
            for law, is_implied in zip(block.laws(), implied.tolist(), strict=True)
        ]
        pins = [
            PinOutcome(
                NamedLaw(law, names),
                pinned.holds,
                pinned.violating,
                views_of_pair(table, law, pinned.witness),
                pinned.pairs,
            )
            for law, pinned in zip(self._state.pins, applied.pins, strict=True)
        ]
        left_out = quarantined_rows(table, applied, come)
        return BatchReport(
            table.name,
            applied.batch,
            applied.version,
            applied.rows,
            applied.inserted,
            applied.deleted,
            applied.missing,
            applied.was_known,
            added,
            removed,
            pins,
            left_out,
            {"total": round(applied.seconds, 4)},
            self._counts(),
            str(self.folder),
        )


def quarantined_rows(table: LivingTable, applied: Applied, come: Incoming | None) -> list[QuarantinedRow]:
    """The rows of a batch that were left out because a value did not fit."""
    if come is None:
        return []
    return [
        QuarantinedRow(
            str(come.batch.place(misfit.row)),
            table.names[misfit.column],
            misfit.value,
            table.columns[misfit.column].type.value,
        )
        for misfit in applied.misfits
    ]


def is_state(folder: Path) -> bool:
    """Whether a folder holds a state."""
    return StateFiles.exist(folder)


def open_state(folder: Path, where: Where, *, writes: bool = True) -> OpenState:
    """Open a state."""
    return OpenState(LivingState.open(folder, writes=writes), where)


def laws_of(given: GivenLaws, names: Sequence[str]) -> list[Law]:
    """Laws as they are given, over the positions of some columns."""
    return given_laws(given).laws(names)
