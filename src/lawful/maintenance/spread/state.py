"""A spread state: a table that no process holds, and its laws, pinned or found, kept batch by batch.

Rows and the lines of indexes are segments that Spark writes. A batch writes its own, adds up the lines of the parts
that it touches, and happens when the next manifest is there.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lawful.checks.fitting import require_fitting
from lawful.checks.workspace import Workspace
from lawful.common.errors import EngineError, SourceError, UsageError
from lawful.dependencies import Law, format_law
from lawful.discovery.questions import Progress, Watch
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.engines.spread.tallies import ShownRow
from lawful.maintenance.applied import Applied, PinnedLaw
from lawful.maintenance.batches import Batch, key_is_shared, origins_of
from lawful.maintenance.law_events import Event, LoggedChange, pinned_events
from lawful.maintenance.logged_notes import aside_of, entry_of, law_notes
from lawful.maintenance.pins.outcomes import PutAside
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread.batch_rows import BatchFinder, BatchRows, FittedTypes
from lawful.maintenance.spread.deciding_rows import DecidingRows
from lawful.maintenance.spread.document import ColumnFacts, SpreadDocument
from lawful.maintenance.spread.fares import pinned_laws, row_views, witness_views
from lawful.maintenance.spread.finding import LawFinder
from lawful.maintenance.spread.indexes import Fresh, Indexes
from lawful.maintenance.spread.keeping import kept_laws
from lawful.maintenance.spread.letting_through import Met
from lawful.maintenance.spread.memory import Memory
from lawful.maintenance.spread.ranged_laws import MOST_BUCKETS, ROWS_A_BUCKET
from lawful.maintenance.stream_place import StreamPlace, is_replay
from lawful.results.check_report import RowView
from lawful.tables.living.incoming import FittedRows
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable, RowOrigins
from lawful.tables.spread.living_rows import LivingRows
from lawful.tables.spread.manifests import Manifests
from lawful.tables.spread.past import Past, RowPlaces

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.tables.spread.source_rows import SourceTexts

_FEWEST_BUCKETS = 8


class SpreadState:
    """A state that is open; made by `create` or `open`.

    Attributes
    ----------
    location
        The folder, as Spark names it.
    table
        The columns of the table and how many rows it has; it holds none of them.
    """

    def __init__(self, spark: SparkSession, location: str, document: SpreadDocument, number: int) -> None:
        self.location, self._spark = location, spark
        self._manifests, self._past = Manifests(spark, location), Past(spark, location)
        self._take(document, number)
        identity = self.key or range(self.table.width)
        self._rows = LivingRows(spark, f"{location}/rows", self.table.width, tuple(identity), document.buckets)
        self._indexes = Indexes(spark, location, self._rows)
        self._laws = LawFinder(spark, location, self._rows, self._indexes)

    def _take(self, document: SpreadDocument, number: int) -> None:
        """Follow a manifest that is there."""
        self._document, self._number = document, number
        self._memory = Memory(self._past, document)
        self.table: LivingTable = document.face(self._memory.places)
        self._pinned = kept_laws(document.pins)

    @staticmethod
    def create(
        spark: SparkSession,
        location: str,
        source: SourceTexts,
        settings: StateSettings,
        pins: Sequence[Law],
        watch: Watch,
        buckets: int | None = None,
        progress: Progress = lambda _: None,
    ) -> SpreadState:
        """Make a state of a table in a new folder."""
        refuse_occupied(spark, location)
        buckets = buckets or min(max(_FEWEST_BUCKETS, -(-source.count // ROWS_A_BUCKET)), MOST_BUCKETS)
        facts = zip(source.names, source.types, source.settled, strict=True)
        document = SpreadDocument(source.name, tuple(ColumnFacts(*each) for each in facts), settings, (), buckets)
        state = SpreadState(spark, location, document, -1)
        lines = source.rows.selectExpr("row", "1 as n", *state._rows.columns)
        segment = state._rows.write(lines, is_small=False)
        if state._rows.count([segment]) != source.count:
            raise SourceError(f"{source.name} has changed while it was read", "Make the state again.")
        if state.key and state._rows.has_repeated([segment]):
            raise key_is_shared(settings.row_key)
        watch.look()
        past = state._memory.begun(RowOrigins([0], [source.origins]))
        document = replace(document, rows=source.count, next_id=source.count, row_segments=(segment,), past=past)
        state._take(document, -1)
        document, pinned = state._with_pins(document, pins)
        document = state._indexes.counted(document, pinned, watch)
        if state.finds:
            document = state._laws.begun(document, watch, progress)
        watch.last_look()
        state._commit(document)
        return state

    @staticmethod
    def open(spark: SparkSession, location: str) -> SpreadState:
        """Open the state in a folder."""
        document = Manifests(spark, location).latest()
        return SpreadState(spark, location, SpreadDocument.from_dict(document, location), document["number"])

    @property
    def settings(self) -> StateSettings:
        """What was settled when the state was made."""
        return self._document.settings

    @property
    def pins(self) -> tuple[Law, ...]:
        """The laws that are pinned."""
        return self._document.pins

    @property
    def finds(self) -> bool:
        """Whether laws are found and kept beside the pinned ones."""
        return not self.settings.only_pinned

    @property
    def found(self) -> tuple[Law, ...]:
        """The laws that were found."""
        return self._document.found.told

    def deciding(self) -> DecidingRows:
        """The rows that decide the laws that were found."""
        return self._laws.deciding(self._document)

    @property
    def key(self) -> tuple[int, ...]:
        """The columns by which rows are told apart, if the state has such."""
        return self.table.positions(self.settings.row_key)

    @property
    def folder(self) -> str:
        """Where the state is."""
        return self.location

    @property
    def bytes_on_disk(self) -> int:
        """How large rows and indexes are, and the rows that decide laws."""
        read = self._document
        deciding = () if read.found.rows is None else (read.found.rows,)
        segments = (*read.row_segments, *read.index_segments, *read.degree_segments, *deciding)
        return sum(segment.bytes for segment in segments)

    @property
    def history(self) -> list[dict[str, Any]]:
        """One entry for each batch."""
        return self._memory.entries()

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`."""
        return self._memory.events(since)

    @property
    def broken(self) -> dict[str, int]:
        """The pinned laws that are broken, with how many rows break each."""
        return {pin.text: pin.violating for pin in self.judged() if not pin.holds}

    @property
    def stream(self) -> StreamPlace | None:
        """The micro-batch that was applied last, if a streaming query feeds the state."""
        return self._document.stream

    def version_of(self, batch: str) -> int | None:
        """The version that a batch made, if it was applied."""
        return self._memory.version_of(batch)

    def _version_of(self, batch: Batch) -> int | None:
        """The same; a micro-batch of a stream that is neither known nor the next one is refused."""
        if batch.stream is None:
            return self.version_of(batch.id)
        is_known = is_replay(self.stream, batch.stream, self._memory.place_of, new_query=batch.new_query)
        return self.table.version if is_known else None

    def judged(self) -> list[PinnedLaw]:
        """How the pinned laws fare."""
        return pinned_laws(self._document)

    def witnesses(self) -> list[tuple[RowView, RowView] | None]:
        """For each pinned law two rows that break it, if it is broken and such are known."""
        places = self._memory.places
        places.learn(row.id for witness in self._document.witnesses.values() for row in witness.rows)
        return [witness_views(self._document, kept, places) for kept in self._pinned]

    def pin(self, laws: Sequence[Law], watch: Watch) -> None:
        """Watch more laws from now on; this reads the whole table once."""
        document, new = self._with_pins(self._document, laws)
        if new:
            document = self._indexes.counted(document, new, watch)
            watch.last_look()
            self._commit(document)

    def _with_pins(self, before: SpreadDocument, laws: Sequence[Law]) -> tuple[SpreadDocument, list[KeptLaw]]:
        """A document with more pinned laws, and those of them that are new; nothing is counted yet."""
        pins = tuple(dict.fromkeys([*before.pins, *laws]))
        view = LiveView.of(self.table)
        for law in laws:
            require_fitting(law, view, Workspace(view, self.settings.null))
        return replace(before, pins=pins), kept_laws(pins)[len(before.pins) :]

    def apply(self, batch: Batch, watch: Watch) -> Applied:
        """Apply a batch: all of it, or nothing if it is refused or stopped. When this returns, it is on disk."""
        begin = time.perf_counter()
        if (version := self._version_of(batch)) is not None:
            return Applied(batch.id, version, self.table.rows, was_known=True, pins=self.judged())
        if self._manifests.last_number() != self._number:
            raise SourceError(f"another process has changed {self.location}", "Open the state again.")

        def offending(gone: pa.Table, come: pa.Table, types: FittedTypes, keys: Met) -> list[PutAside]:
            return self._indexes.offending(self._document, gone, come, types, (self.key, keys), watch)

        changed = self._finder().rows_of(batch, offending)
        watch.look()
        replaced = self._document.replaced
        applied = self._take_in(batch, changed, watch)
        with contextlib.suppress(SourceError, EngineError):  # the batch is on disk; the next one tries again
            self._tidy_up(replaced)
        misfits = [] if changed.fitted is None else changed.fitted.misfits
        seconds = time.perf_counter() - begin
        return replace(applied, missing=changed.missing, misfits=misfits, put_aside=changed.aside, seconds=seconds)

    def _finder(self) -> BatchFinder:
        return BatchFinder(self.table, self._rows, self._document.row_segments, self.key)

    def are_there(self, rows: FittedRows) -> list[bool]:
        """Whether each of some rows, by the row key or all of its values, is in the table."""
        return self._finder().are_there(rows)

    def _take_in(self, batch: Batch, changed: BatchRows, watch: Watch) -> Applied:
        before, gone, come = self._document, changed.gone.num_rows, changed.come.num_rows
        document = self._after(changed)
        fresh: Fresh = {}
        if gone or come or document.types != before.types:
            document, fresh = self._indexes.followed(before, document, changed, watch)
            if self.finds:
                document = self._laws.followed(before, document, changed, watch)
        held = {pin.text: pin.holds for pin in self.judged()}
        pins = pinned_laws(document, held, fresh)
        places = Memory(self._past, document).places
        laws, shown = self._laws.changes(before, document, places)
        entry = entry_of(document.face(), batch, come, gone, laws, pins)
        notes = {
            "pinned": self._events(document, pins, fresh, places),
            "aside": self._aside(changed),
            **law_notes(laws, self.table.names, shown),
        }
        changes = (*document.changes, LoggedChange(entry, notes))
        watch.last_look()
        self._commit(replace(document, changes=changes, stream=batch.stream or document.stream))
        return Applied(batch.id, document.version, document.rows, come, gone, changes=laws, shown=shown, pins=pins)

    def _after(self, changed: BatchRows) -> SpreadDocument:
        """What is known of the table once a batch is in it, but for its segments and laws."""
        before, come = self._document, changed.come.num_rows
        columns, origins = list(before.columns), before.origins
        if changed.fitted is not None:
            for column, (type_, settled) in changed.fitted.types.items():
                columns[column] = ColumnFacts(columns[column].name, type_, settled)
            if come:
                origins = RowOrigins([*origins.starts, before.next_id], [*origins.batches, origins_of(changed.fitted)])
        return replace(
            before,
            columns=tuple(columns),
            version=before.version + 1,
            rows=before.rows + come - changed.gone.num_rows,
            next_id=before.next_id + come,
            origins=origins,
        )

    def _events(
        self, document: SpreadDocument, pins: Sequence[PinnedLaw], fresh: Fresh, places: RowPlaces
    ) -> list[Event]:
        rows: dict[int, list[ShownRow]] = {}
        for kept in self._pinned:
            witness = document.witnesses.get(kept.number)
            own = [*(() if witness is None else witness.rows), *fresh.get(kept.number, ())]
            rows[kept.number] = list(dict.fromkeys(own))
        places.learn(row.id for own in rows.values() for row in own)
        shown = {
            pin.text: [view.to_dict() for view in row_views(document, kept, rows[kept.number], places)]
            for kept, pin in zip(self._pinned, pins, strict=True)
        }
        return pinned_events(self.broken, list(zip(self.pins, pins, strict=True)), shown, document.rows)

    def _aside(self, changed: BatchRows) -> list[dict[str, Any]]:
        if changed.fitted is None:
            return []
        places = self._memory.places
        places.learn(each.partner for each in changed.aside if each.partner >= 0)
        return aside_of(self.table, changed.fitted, changed.aside, self.pins, places.place)

    def _commit(self, document: SpreadDocument) -> None:
        self._manifests.write(self._number + 1, document.to_dict())
        self._take(document, self._number + 1)

    def _tidy_up(self, replaced: Sequence[str]) -> None:
        """Make one of many small segments, and keep the manifest short; what was `replaced` before the batch goes."""
        before = self._document
        after = self._indexes.joined(replace(before, row_segments=tuple(self._rows.joined(before.row_segments))))
        if (past := self._memory.moved()) is not None:
            after = replace(after, past=past, changes=(), origins=RowOrigins())
        if after.segment_names() == before.segment_names():
            return
        lately = {*before.replaced, *before.segment_names()} - {*replaced, *after.segment_names()}
        self._commit(replace(after, replaced=tuple(sorted(lately))))
        self._rows.segments.discard(replaced)
        self._indexes.discard(before, replaced)
        self._laws.discard(replaced)
        self._past.discard(replaced)
        self._manifests.discard_old(self._number)

    def differences(self) -> list[str]:
        """Make all lines anew from the rows, and say in words what is not as it was counted."""
        document = self._document
        told = []
        if (count := self._rows.count(document.row_segments)) != document.rows:
            told.append(f"{document.rows:,} rows were counted, and there are {count:,}")
        found = self._indexes.anew(document, self._rows.live(document.row_segments))
        for kept, pin in zip(self._pinned, self.judged(), strict=True):
            there = found.get(kept.number, (0, 0))
            if there != (pin.violating, pin.pairs):
                told.append(
                    f"pinned {pin.text}: {pin.violating:,} rows in {pin.pairs:,} pairs were counted, and "
                    f"there are {there[0]:,} in {there[1]:,}"
                )
        for number, law in document.found.checked.items():
            if rows := found.get(number, (0, 0))[0]:
                told.append(f"{format_law(law, self.table.names)} is kept, and {rows:,} rows break it")
        return [*told, *(self._laws.differences(document) if self.finds else ())]


def refuse_occupied(spark: SparkSession, location: str) -> None:
    """Refuse a folder that holds a state."""
    if Manifests(spark, location).last_number() >= 0:
        raise UsageError(f"{location} holds a state already", "Name another folder.")
