"""What all states that are open share, those of one process and those that are spread over a cluster."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from lawful.common.closing import Closing
from lawful.common.errors import StoppedError, UsageError
from lawful.common.sizes import size_in_bytes
from lawful.dependencies import Law, NamedLaw
from lawful.maintenance.applied import Applied, PinnedLaw
from lawful.maintenance.batches import Batch, Missing
from lawful.maintenance.law_events import Event
from lawful.maintenance.lives import LawFilter, Remembering, history_of
from lawful.maintenance.pins.outcomes import Offenders
from lawful.maintenance.witness_views import Views
from lawful.results.batch_report import BatchReport, PinOutcome, QuarantinedRow
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.history_report import HistoryReport
from lawful.results.state_report import StateReport
from lawful.runs.batch_reading import BatchReader, KeptTable, Sources
from lawful.runs.handed_on import OnEvent, Tellers, Telling
from lawful.runs.laws_input import GivenLaws, given_laws
from lawful.runs.run import Progress, silent
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import stops
from lawful.runs.stopping import UserWatch
from lawful.tables.living.incoming import Incoming, Misfits
from lawful.tables.living.living_table import LivingTable
from lawful.tables.options import CsvDialect, ReadOptions


class KeptState(KeptTable, Telling, Remembering, Protocol):
    """A state as far as those who have it open share what they do with it."""

    def version_of(self, batch: str) -> int | None:
        """The version that a batch made, if it was applied."""


State = TypeVar("State", bound=KeptState)


class AnyOpenState(Closing, Generic[State]):
    """A state that is open; what becomes of a batch is said by those who know where its rows are."""

    def __init__(self, state: State, engines: StateEngines, stack: ExitStack, limits: UserWatch | None = None) -> None:
        self._held, self._engines, self._stack = state, engines, stack
        self._limits = limits or UserWatch(None, None)

    @property
    def _state(self) -> State:
        """The state."""
        return self._held

    def close(self) -> None:
        """Let others write to the state, and let go of Spark if it was started for this."""
        self._stack.close()

    def __repr__(self) -> str:
        return f"<lawful state {str(self._state.folder)!r}: {self.rows:,} rows, version {self.version}>"

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._state.table.rows

    @property
    def version(self) -> int:
        """How many batches were applied since the state was made."""
        return self._state.table.version

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._state.table.names)

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
        """One entry for each batch: its id, version and time, and how many rows and laws came and went."""
        return [dict(entry) for entry in self._state.history]

    @property
    @abstractmethod
    def laws(self) -> DiscoveryReport:
        """The laws as `discover` would give them."""

    def _keeps_no_others(self) -> UsageError:
        return UsageError(
            f"{self._state.folder} keeps only pinned laws",
            "Its reports tell how those fare, and `document` has them as a document.",
        )

    @abstractmethod
    def described(self, progress: Progress = silent, *, verify: bool = False) -> StateReport:
        """What is in the state; with `verify`, everything is computed anew from the rows and compared."""

    def document(self) -> dict[str, Any]:
        """The laws as a document: as `discover` writes them; or the pinned ones, if the state keeps no others.

        Of the laws that `discover` would find, `dependencies` is to be iterated over.
        """
        return self.described().pinned_laws() if self._state.settings.only_pinned else self.laws.streamed()

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
        return history_of(self._state, self._kept(), LawFilter(kind, column, text, broke_since, min_age))

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`, as plain JSON values."""
        return self._state.events(since)

    def pin(self, laws: GivenLaws) -> None:
        """Watch laws from now on: every batch tells whether they hold."""
        given, watch = laws_of(laws, self._state.table.names), self._limits.again()
        with stops(watch, "Nothing was changed."):
            self._pin(given, watch)

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
            A folder, or a table of Spark's as `table:NAME`, for rows that would break a pinned law, have a key that is
            there already or do not fit: they are put aside, and the rest is let through.
        events, on_event
            A file that what happened to laws is appended to as JSON lines, and a function that each event is given to.
        format, dialect
            How files are written, if not as the state's first table was. Which texts mean null is pinned.
        time_limit, memory_limit
            Seconds after which to give up, reading included, and the memory of this process beyond which to; nothing is
            changed then. If both are left out, the limits count that the state was opened with.
        """
        sources, ids = Sources(inserts, deletes, changes), list(delete_ids)
        sources.refuse_both()
        has_own = time_limit is not None or memory_limit is not None
        watch = UserWatch(time_limit, size_in_bytes(memory_limit)) if has_own else self._limits.again()
        tellers = Tellers(events, quarantine, on_event, self._engines.spark)
        tellers.prepare(self._state)
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
                applied = self._applied(batch, sources, watch)
            tellers.tell(self._state, applied.version - 1)
            return self._report(applied, batch.inserts)

    def apply_batch(
        self, batch: Batch, come: Incoming | None, watch: UserWatch, sources: Sequence[Any] = ()
    ) -> BatchReport:
        """Apply a batch whose rows were read, of which `come` are those to insert; see `apply`."""
        try:
            applied = self._applied(batch, sources, watch)
        except StoppedError as stop:
            raise StoppedError(watch.reached or stop.typed_message, "Nothing was changed.") from None
        return self._report(applied, come)

    def as_it_is(self) -> BatchReport:
        """A report without a batch: how many rows there are, and how the pinned laws fare."""
        watch = self._limits.again()
        with stops(watch, "What is stored stays as it is."):
            as_now = Applied("", self.version, self.rows, pins=self._judged(watch))
        return replace(self._report(as_now, None), batch=None)

    @abstractmethod
    def _pin(self, laws: Sequence[Law], watch: UserWatch) -> None:
        """Watch more laws from now on."""

    @abstractmethod
    def _applied(self, batch: Batch, sources: Sequence[Any], watch: UserWatch) -> Applied:
        """Apply a batch that was read from some sources."""

    @abstractmethod
    def _kept(self) -> Iterable[Law]:
        """The laws that are kept beside the pinned ones."""

    @abstractmethod
    def _judged(self, watch: UserWatch) -> list[PinnedLaw]:
        """How the pinned laws fare."""

    @abstractmethod
    def _witnesses(self, pins: Sequence[PinnedLaw]) -> Sequence[Views | None]:
        """Two rows that break each pinned law, where it is broken and such are known."""

    def _report(self, applied: Applied, come: Incoming | None) -> BatchReport:
        names, table = tuple(self._state.table.names), self._state.table
        fares = zip(self._state.pins, applied.pins, self._witnesses(applied.pins), strict=True)
        return BatchReport(
            table.name,
            applied.batch,
            applied.version,
            applied.rows,
            applied.inserted,
            applied.deleted,
            applied.missing,
            applied.was_known,
            pins=[
                PinOutcome(NamedLaw(law, names), pinned.holds, pinned.violating, witness, pinned.pairs)
                for law, pinned, witness in fares
            ],
            quarantined=_quarantined(table, applied, come),
            seconds={"total": round(applied.seconds, 4)},
            folder=str(self._state.folder),
        )


def _quarantined(table: LivingTable, applied: Applied, come: Incoming | None) -> list[QuarantinedRow]:
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


def laws_of(given: GivenLaws, names: Sequence[str]) -> list[Law]:
    """Laws as they are given, over the positions of some columns."""
    return given_laws(given).laws(names)
