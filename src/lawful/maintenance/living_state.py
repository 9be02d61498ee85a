"""A state: a living table and its laws on disk, kept up to date batch by batch."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.errors import SourceError, UsageError
from lawful.dependencies import Key, Law
from lawful.dependencies.documents import to_document
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.engines import Engine
from lawful.maintenance.all_laws import AllLaws
from lawful.maintenance.applied import Applied, PinnedLaw, PutAside
from lawful.maintenance.batches import Batch, origins_of, refuse_repeated_keys, refuse_repeated_rows, rows_to_delete
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.evidence import Pair
from lawful.maintenance.history import History
from lawful.maintenance.kept_laws import Checker, LawBlock
from lawful.maintenance.law_events import Event, LoggedChange
from lawful.maintenance.logged_notes import aside_of, entry_of, notes_of
from lawful.maintenance.pins.key_rows import KeyRows
from lawful.maintenance.pins.letting_through import without_offenders
from lawful.maintenance.pins.pinned_laws import PinnedLaws
from lawful.maintenance.restoring import Begin, discovered_laws, untold
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles
from lawful.maintenance.stored_state import is_base_due, logged_arrays, read_state, telling_damage
from lawful.maintenance.storing import as_bytes, columns_document, table_arrays
from lawful.maintenance.stream_place import StreamPlace, is_replay
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.incoming import FittedRows, fit
from lawful.tables.living.living_table import LivingTable

MakeEngine = Callable[[], Engine]


class LivingState:
    """A state that is open; made by `create` or `open`.

    Attributes
    ----------
    table, laws, settings, pins
        The table, its laws, what is kept, and the laws to watch.
    stream
        The micro-batch that was applied last, if a streaming query feeds the state.
    broken
        The pinned laws that are broken, with how many rows break each.
    """

    def __init__(
        self,
        files: StateFiles,
        table: LivingTable,
        laws: AllLaws,
        settings: StateSettings,
        pins: list[Law],
        known_batches: dict[str, int] | None = None,
        stream: StreamPlace | None = None,
        broken: dict[str, int] | None = None,
    ) -> None:
        self.table, self.laws, self.settings = table, laws, settings
        self.pins, self.stream, self.broken = pins, stream, broken or {}
        self._files = files
        self._history = History(files)
        self._known_batches = known_batches or {}
        self._rows_in_base = table.end
        self._is_broken_off = False
        self._pinned = PinnedLaws(table, settings.null)
        self._keys = KeyRows(table, self.key)

    @staticmethod
    def create(
        folder: Path,
        source: EncodedTable,
        settings: StateSettings,
        pins: Sequence[Law],
        engine: MakeEngine,
        watch: Watch,
        begin: Begin = untold,
        foresee: Callable[[LivingTable, StateSettings], None] | None = None,
    ) -> LivingState:
        """Find the laws of a table, and make a state of both in a new folder; this process is its writer.

        `foresee` may look at the table before it is searched; `begin` is told which kind of laws is searched for.
        """
        files = StateFiles(folder)
        files.refuse_occupied()
        table = LivingTable.of(source)
        refuse_repeated_rows(table, settings.row_key)
        counted = settings.is_counted(table.rows, table.width)
        if not settings.only_pinned:
            settings = replace(settings, way="counted" if counted else "witnesses")
            if foresee is not None:
                foresee(table, settings)
        checker = _checker(table, settings, engine, watch)
        try:
            laws = discovered_laws(table, settings, checker, watch, begin)
        finally:
            checker.close()
        state = LivingState(files, table, laws, settings, list(pins))
        state.broken = {pin.text: pin.violating for pin in state.judged(engine, watch) if not pin.holds}
        document, arrays = state._document(), state._arrays()
        watch.last_look()
        files.create(document, arrays)
        return state

    @staticmethod
    def open(folder: Path, *, writes: bool = False) -> LivingState:
        """Open a state to read it, or to change it too."""
        files = StateFiles(folder)
        if not StateFiles.exist(folder):
            files.open()  # which says what is wrong
        if writes:
            files.take_lock()
        try:
            state = _read(files)
            if writes:
                files.clean_up()
            return state
        except BaseException:
            files.close()
            raise

    @property
    def folder(self) -> Path:
        """Where the state is."""
        return self._files.folder

    @property
    def bytes_on_disk(self) -> int:
        """How large the state is."""
        return self._files.size()

    @property
    def index_bytes(self) -> int:
        """The memory of the indexes of pinned laws, as far as they are built."""
        return self._pinned.memory

    @property
    def batches_in_log(self) -> int:
        """How many batches are in the log."""
        return self._files.batches_in_log

    @property
    def key(self) -> tuple[int, ...]:
        """The columns by which rows are told apart, if the state has such."""
        return self.table.positions(self.settings.row_key)

    def are_there(self, rows: FittedRows) -> list[bool]:
        """Whether each of some rows, by the columns that they are given with, is in the table."""
        if not len(rows.rows):
            return []
        return [bool(found) for found in self._keys.find(list(rows.incoming.positions), rows.find(self.table))]

    def close(self) -> None:
        """Let others write."""
        self._files.close()

    def take_lock(self, patience: float) -> None:
        """Become the writer again, and follow what others have written; while one writes, wait so many seconds."""
        self._files.take_lock(patience)
        try:
            if self._is_broken_off or not self._files.is_current():
                self._go_back()
        except BaseException:
            self.close()
            raise

    def forget_rows_that_left(self) -> None:
        """Let go of the memory of rows that have left, where that is much of it; only when the log is empty."""
        if not self.batches_in_log and self.table.end > 2 * self.table.rows + _FEW_ROWS:
            self._go_back()

    @property
    def history(self) -> list[dict[str, Any]]:
        """One entry for each batch: id, version, time, rows, and how many rows and laws came and went."""
        return self._history.entries()

    def events(self, since: int = 0) -> Iterator[Event]:
        """What happened to laws in the versions after `since`."""
        return self._history.events(since)

    def version_of(self, batch: str) -> int | None:
        """The version that a batch made, if it was applied."""
        return self._known_batches.get(batch)

    def _version_of(self, batch: Batch) -> int | None:
        """The same; a micro-batch of a stream that is neither known nor the next one is refused."""
        if batch.stream is None:
            return self.version_of(batch.id)
        if is_replay(self.stream, batch.stream, self._history.place_of, new_query=batch.new_query):
            return self.table.version
        return None

    def pin(self, laws: Sequence[Law], engine: MakeEngine, watch: Watch) -> None:
        """Watch more laws from now on; those that are broken already are noted, so that no batch is said to do it."""
        self._require_writer()
        before, broken = self.pins, self.broken
        self.pins = list(dict.fromkeys([*before, *laws]))
        if self.pins != before:
            try:
                new = self.judged(engine, watch)[len(before) :]
                self.broken = {**broken, **{pin.text: pin.violating for pin in new if not pin.holds}}
                watch.last_look()
                self.compact()
            except BaseException:
                self.pins, self.broken = before, broken
                raise

    def apply(self, batch: Batch, engine: MakeEngine, watch: Watch) -> Applied:
        """Apply a batch: all of it, or nothing if it is refused or stopped. When this returns, it is on disk."""
        begin = time.perf_counter()
        self._require_writer()
        if (version := self._version_of(batch)) is not None:
            return Applied(batch.id, version, self.table.rows, was_known=True, pins=self.judged(engine, watch))
        if not self._pinned.knows(self.pins):
            self.judged(engine, watch)
        gone = rows_to_delete(self.table, batch, self.key, self._keys)
        fitted = None if batch.inserts is None else fit(self.table, batch.inserts, batch.misfits)
        watch.look()
        known = [len(column.dictionary) for column in self.table.columns]
        put_aside: list[PutAside] = []
        try:
            come = np.empty((self.table.width, 0), np.int32) if fitted is None else fitted.add(self.table)
            if fitted is not None:
                if batch.offenders == "quarantine":
                    laws = [*self.pins, *([Key(self.key)] if self.key else [])]
                    fitted, come, put_aside = without_offenders(self._pinned, laws, fitted, come, gone.rows, watch)
                refuse_repeated_keys(self.table, self.key, come, gone.rows, fitted, self._keys)
        except BaseException:
            for column, before in zip(self.table.columns, known, strict=True):
                column.dictionary.truncate(before)
            self._pinned.forget_new_values()
            raise
        try:
            aside = [] if fitted is None else aside_of(self.table, fitted, put_aside, self.pins, self.table.place)
            applied = self._take_in(batch, gone.rows, come, fitted, known, aside, engine, watch)
        except BaseException:
            self._go_back()
            raise
        if self._is_compaction_due():
            with contextlib.suppress(SourceError):  # the batch is on disk; on a full one the next batch tries again
                self.compact()
        return replace(
            applied,
            missing=gone.missing,
            put_aside=put_aside,
            misfits=[] if fitted is None else fitted.misfits,
            seconds=time.perf_counter() - begin,
        )

    def _take_in(
        self,
        batch: Batch,
        gone: Int64s,
        come: Int32s,
        fitted: FittedRows | None,
        known: list[int],
        aside: list[dict[str, Any]],
        engine: MakeEngine,
        watch: Watch,
    ) -> Applied:
        types = {} if fitted is None else fitted.types
        for column, (type_, settled) in types.items():
            self.table.columns[column].type, self.table.columns[column].settled = type_, settled
        origins = None if fitted is None else origins_of(fitted)
        new = self.table.change(gone, come, origins)
        checker = _checker(self.table, self.settings, engine, watch)
        try:
            changes = self.laws.apply(gone, new, checker, watch)
        finally:
            checker.close()
        self._pinned.apply(gone, new, watch)
        self._keys.change(gone, new)
        pins = self.judged(engine, watch, new)
        witnesses = dict(self._witnesses(changes.removed))
        fares = list(zip(self.pins, pins, strict=True))
        entry = entry_of(self.table, batch, len(new), len(gone), changes, pins)
        notes = notes_of(self.table, changes, witnesses, fares, self.broken) | {"aside": aside}
        noted = LoggedChange(entry, notes)
        logged = logged_arrays(self.table, noted, types, origins, gone, come, known) | self.laws.logged(changes)
        watch.last_look()
        self._files.append(logged)
        self.note(noted)
        rows, version = self.table.rows, self.table.version
        return Applied(batch.id, version, rows, len(new), len(gone), changes=changes, witnesses=witnesses, pins=pins)

    def read_anew(self) -> LivingState:
        """The state as it is on disk, for whoever goes on where a thread may still be at work on this object."""
        return _read(self._files.handed_over())

    def _go_back(self) -> None:
        """Read the state as it is on disk: a batch was broken off, and the objects in memory are half way."""
        self._is_broken_off = True
        there = _read(self._files)
        self.table, self.laws, self.pins, self.broken = there.table, there.laws, there.pins, there.broken
        self.stream, self._history = there.stream, there._history
        self._known_batches, self._rows_in_base = there._known_batches, there._rows_in_base
        self._pinned, self._keys = there._pinned, there._keys
        self._is_broken_off = False

    def _require_writer(self) -> None:
        self._files.require_writer()
        if self._is_broken_off:
            raise UsageError(f"a batch on {self.folder} was broken off", "Open the state again.")

    def findings(self, engine: MakeEngine) -> Findings:
        """All laws as a discovery gives them."""
        checker = _checker(self.table, self.settings, engine, Watch())
        try:
            return self.laws.findings(checker)
        finally:
            checker.close()

    def note(self, change: LoggedChange) -> None:
        """Add a batch to the history."""
        entry = change.entry
        self._history.add(change)
        self.broken = dict(entry.get("broken", {}))
        place = StreamPlace.of(entry.get("stream"))
        if place is None:
            self._known_batches[entry["batch"]] = entry["version"]
        else:  # of a stream the last one says all, and there may be millions
            self.stream = place

    def compact(self) -> None:
        """Write a new base: without the log, and without the rows that have left."""
        self._require_writer()
        self._files.compact(self._document() | {"history": self._history.write()}, self._arrays())
        self._history.is_in_base()
        self._rows_in_base = self.table.end

    def _is_compaction_due(self) -> bool:
        logged = self.table.end - self._rows_in_base
        return is_base_due(self._rows_in_base, logged, self._files.batches_in_log)

    def _witnesses(self, removed: Sequence[LawBlock]) -> Iterator[tuple[Law, Pair]]:
        """Two rows that broke each of the first laws that went."""
        for law in islice((law for block in removed for law in block.laws()), _MOST_WITNESSED):
            pair = self.laws.refuting(law)
            if pair is not None:
                yield law, pair

    def judged(self, engine: MakeEngine, watch: Watch, new: range | None = None) -> list[PinnedLaw]:
        """Whether each pinned law holds, and how many rows break it; of a batch, which of its rows do."""
        # A law within an error may be broken all the same.
        implied = [] if self.settings.error else [law for law in self.pins if self.laws.implies(law)]
        return self._pinned.judged(self.pins, implied, engine, watch, new)

    def pin_differences(self, engine: MakeEngine, watch: Watch) -> list[str]:
        """Check all pinned laws on the whole table, and say in words what is not as it was counted."""
        return self._pinned.differences(self.pins, engine, watch)

    def _document(self) -> dict[str, Any]:
        return {
            "name": self.table.name,
            "columns": columns_document(self.table),
            "settings": self.settings.to_dict(),
            "pins": [to_document(law, self.table.names) for law in self.pins],
            "next_id": self.table.next_id,
            "stream": None if self.stream is None else self.stream.to_dict(),
            "broken": self.broken,
        }

    def _arrays(self) -> Arrays:
        return table_arrays(self.table) | self.laws.arrays() | {"known": as_bytes(self._known_batches)}


_FEW_ROWS = 10_000
_MOST_WITNESSED = 100
"""So many of the laws that a batch broke are told with the rows that broke them."""


def _checker(table: LivingTable, settings: StateSettings, engine: MakeEngine, watch: Watch) -> Checker:
    return Checker(table, settings.null, engine, watch, ordered=settings.has_orders)


def _read(files: StateFiles) -> LivingState:
    with telling_damage(files):
        table, laws, settings, pins, known, stream, broken, rows_in_base, changes = read_state(files)
        state = LivingState(files, table, laws, settings, pins, known, stream, broken)
        for change in changes:
            state.note(change)
    state._rows_in_base = rows_in_base
    return state
