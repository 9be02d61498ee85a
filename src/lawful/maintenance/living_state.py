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

from lawful.checks import CheckTask
from lawful.common.arrays import Int32s, Int64s
from lawful.common.errors import DamagedStateError, SourceError, UsageError
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import Law, format_law
from lawful.dependencies.documents import from_document, to_document
from lawful.discovery.findings import Findings
from lawful.discovery.questions import Watch
from lawful.engines import Engine
from lawful.evidence import equal_rows
from lawful.maintenance.all_laws import AllLaws
from lawful.maintenance.applied import Applied, PinnedLaw
from lawful.maintenance.batches import Batch, origins_of, refuse_repeated_keys, rows_to_delete
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import Checker, LawBlock, LawsChange
from lawful.maintenance.restoring import discovered_laws, restored_laws
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import Arrays, LoggedBatch, StateFiles
from lawful.maintenance.storing import (
    add_texts,
    as_bytes,
    columns_document,
    from_bytes,
    laws_arrays,
    prefixed,
    read_laws,
    read_table,
    table_arrays,
    texts_arrays,
    unprefixed,
)
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.incoming import FittedRows, fit
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.origins import Origins

MakeEngine = Callable[[], Engine]

_MOST_LOGGED = 64
"""Batches after which a new base is written, so that opening a state stays quick."""
_MOST_LOGGED_SHARE = 0.25
"""Rows in the log, as a share of those in the base, that make a new base due even for fewer batches."""


class LivingState:
    """A state that is open; made by `create` or `open`.

    Attributes
    ----------
    table, laws, settings, pins
        The table, its laws, what is kept, and the laws to watch.
    history
        One entry for each batch: id, version, time, rows, and how many rows and laws came and went.
    """

    def __init__(
        self,
        files: StateFiles,
        table: LivingTable,
        laws: AllLaws,
        settings: StateSettings,
        pins: list[Law],
        history: list[dict[str, Any]],
    ) -> None:
        self.table, self.laws, self.settings = table, laws, settings
        self.pins, self.history = pins, history
        self._files = files
        self._known_batches = {entry["batch"]: entry["version"] for entry in history}
        self._rows_in_base = table.end
        self._is_broken_off = False

    @staticmethod
    def create(
        folder: Path,
        source: EncodedTable,
        settings: StateSettings,
        pins: Sequence[Law],
        engine: MakeEngine,
        watch: Watch,
    ) -> LivingState:
        """Find the laws of a table, and make a state of both in a new folder; this process is its writer."""
        files = StateFiles(folder)
        files.refuse_occupied()
        table = LivingTable.of(source)
        _refuse_repeated_rows(table, settings.row_key)
        counted = settings.is_counted(table.rows, table.width)
        settings = replace(settings, way="counted" if counted else "witnesses")
        checker = _checker(table, settings, engine, watch)
        try:
            laws = discovered_laws(table, settings, checker, watch)
        finally:
            checker.close()
        state = LivingState(files, table, laws, settings, list(pins), [])
        files.create(state._document(), state._arrays())
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
    def batches_in_log(self) -> int:
        """How many batches are in the log."""
        return self._files.batches_in_log

    @property
    def key(self) -> tuple[int, ...]:
        """The columns by which rows are told apart, if the state has such."""
        return self.table.positions(self.settings.row_key)

    def close(self) -> None:
        """Let others write."""
        self._files.close()

    def version_of(self, batch: str) -> int | None:
        """The version that a batch made, if it was applied."""
        return self._known_batches.get(batch)

    def pin(self, laws: Sequence[Law]) -> None:
        """Watch more laws from now on."""
        self._require_writer()
        before, self.pins = self.pins, list(dict.fromkeys([*self.pins, *laws]))
        if self.pins != before:
            try:
                self.compact()
            except BaseException:
                self.pins = before
                raise

    def apply(self, batch: Batch, engine: MakeEngine, watch: Watch) -> Applied:
        """Apply a batch: all of it, or nothing if it is refused or stopped. When this returns, it is on disk."""
        begin = time.perf_counter()
        self._require_writer()
        if (version := self.version_of(batch.id)) is not None:
            return Applied(batch.id, version, self.table.rows, was_known=True, pins=self.judged(engine, watch))
        gone = rows_to_delete(self.table, batch, self.key)
        fitted = None if batch.inserts is None else fit(self.table, batch.inserts, batch.misfits)
        known = [len(column.dictionary) for column in self.table.columns]
        try:
            come = np.empty((self.table.width, 0), np.int32) if fitted is None else fitted.add(self.table)
            if fitted is not None:
                refuse_repeated_keys(self.table, self.key, come, gone.rows, fitted)
        except BaseException:
            for column, before in zip(self.table.columns, known, strict=True):
                column.dictionary.truncate(before)
            raise
        try:
            applied = self._take_in(batch, gone.rows, come, fitted, known, engine, watch)
        except BaseException:
            self._go_back()
            raise
        if self._is_compaction_due():
            with contextlib.suppress(SourceError):  # the batch is on disk; on a full one the next batch tries again
                self.compact()
        return replace(
            applied,
            missing=gone.missing,
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
        pins = self.judged(engine, watch)
        entry = self._entry(batch, gone, new, changes)
        meta = {
            "entry": entry,
            "types": [[column, type_.value, settled] for column, (type_, settled) in types.items()],
            "origins": None if origins is None else {"files": list(origins.files), "unit": origins.unit},
        }
        logged: Arrays = {"meta": as_bytes(meta), "gone": self.table.ids_of(gone), "codes": come}
        if origins is not None:
            logged["runs"] = origins.runs
        logged |= texts_arrays(self.table, known)
        logged |= laws_arrays(changes.removed, "removed") | laws_arrays(changes.added, "added")
        self._files.append(logged | prefixed(self.laws.logged(), "evidence"))
        self.note(entry)
        witnesses = dict(self._witnesses(changes.removed))
        rows, version = self.table.rows, self.table.version
        return Applied(batch.id, version, rows, len(new), len(gone), changes=changes, witnesses=witnesses, pins=pins)

    def _go_back(self) -> None:
        """Read the state as it is on disk: a batch was broken off, and the objects in memory are half way."""
        self._is_broken_off = True
        there = _read(self._files)
        self.table, self.laws, self.pins, self.history = there.table, there.laws, there.pins, there.history
        self._known_batches, self._rows_in_base = there._known_batches, there._rows_in_base
        self._is_broken_off = False

    def _require_writer(self) -> None:
        if not self._files.is_writer:
            raise UsageError(f"{self.folder} is not open for writing", "Open the state again, with writes=True.")
        if self._is_broken_off:
            raise UsageError(f"a batch on {self.folder} was broken off", "Open the state again.")

    def findings(self, engine: MakeEngine) -> Findings:
        """All laws as a discovery gives them."""
        checker = _checker(self.table, self.settings, engine, Watch())
        try:
            return self.laws.findings(checker)
        finally:
            checker.close()

    def note(self, entry: dict[str, Any]) -> None:
        """Add a batch to the history."""
        self.history.append(entry)
        self._known_batches[entry["batch"]] = entry["version"]

    def compact(self) -> None:
        """Write a new base: without the log, and without the rows that have left."""
        self._require_writer()
        self._files.compact(self._document(), self._arrays())
        self._rows_in_base = self.table.end

    def _is_compaction_due(self) -> bool:
        logged = self.table.end - self._rows_in_base
        is_long = logged > _MOST_LOGGED and logged > _MOST_LOGGED_SHARE * self._rows_in_base
        return self._files.batches_in_log >= _MOST_LOGGED or is_long

    def _entry(self, batch: Batch, gone: Int64s, new: range, changes: LawsChange) -> dict[str, Any]:
        return {
            "batch": batch.id,
            "version": self.table.version,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "rows": self.table.rows,
            "inserted": len(new),
            "deleted": len(gone),
            "added": sum(len(block.sets) for block in changes.added),
            "removed": sum(len(block.sets) for block in changes.removed),
        }

    def _witnesses(self, removed: Sequence[LawBlock]) -> Iterator[tuple[Law, Pair]]:
        """Two rows that broke each of the first laws that went."""
        for law in islice((law for block in removed for law in block.laws()), _MOST_WITNESSED):
            pair = self.laws.refuting(law)
            if pair is not None:
                yield law, pair

    def judged(self, engine: MakeEngine, watch: Watch) -> list[PinnedLaw]:
        """Whether each pinned law holds, and how many rows break it."""
        names = self.table.names
        # A law within an error may be broken all the same.
        known = [] if self.settings.error else [law for law in self.pins if self.laws.implies(law)]
        judged = {law: PinnedLaw(format_law(law, names), True, 0) for law in known}
        unknown = [law for law in self.pins if law not in judged]
        if unknown:
            view = LiveView.of(self.table)
            opened = engine()
            opened.open(view, self.settings.null)
            try:
                for verdict in opened.check([CheckTask(n, law, damage=True) for n, law in enumerate(unknown)]):
                    watch.look()
                    law, rows = unknown[verdict.id], 0 if verdict.damage is None else verdict.damage.rows
                    pair = None if verdict.witness is None else _numbers(view, verdict.witness)
                    judged[law] = PinnedLaw(format_law(law, names), verdict.holds, rows, pair)
            finally:
                opened.close()
        return [judged[law] for law in self.pins]

    def _document(self) -> dict[str, Any]:
        return {
            "name": self.table.name,
            "columns": columns_document(self.table),
            "settings": self.settings.to_dict(),
            "pins": [to_document(law, self.table.names) for law in self.pins],
            "next_id": self.table.next_id,
        }

    def _arrays(self) -> Arrays:
        return (
            table_arrays(self.table)
            | laws_arrays(list(self.laws.blocks()), "laws")
            | prefixed(self.laws.arrays(), "evidence")
            | {"history": as_bytes(self.history)}
        )


_MOST_WITNESSED = 100
"""So many of the laws that a batch broke are told with the rows that broke them."""


def _checker(table: LivingTable, settings: StateSettings, engine: MakeEngine, watch: Watch) -> Checker:
    return Checker(table, settings.null, engine, watch, ordered=settings.has_pods)


def _read(files: StateFiles) -> LivingState:
    arrays, batches = files.open()
    document = files.document
    try:
        settings = StateSettings.from_dict(document["settings"])
        table = read_table(document, arrays, files.version - len(batches))
        laws = restored_laws(table, settings, unprefixed(arrays, "evidence"), read_laws(arrays, "laws"))
        pins = [from_document(entry, table.names) for entry in document["pins"]]
        state = LivingState(files, table, laws, settings, pins, from_bytes(arrays["history"]))
        for batch in batches:
            _replay(state, batch)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, AssertionError) as error:
        raise DamagedStateError(
            f"the state {files.folder} is damaged: its content does not fit together ({error!r})",
            "Nothing was changed. Restore it from a copy, or make a new one.",
        ) from None
    return state


def _replay(state: LivingState, batch: LoggedBatch) -> None:
    """Follow a logged batch without looking for anything again."""
    arrays, table = batch.arrays, state.table
    meta = from_bytes(arrays["meta"])
    for column, type_, settled in meta["types"]:
        table.columns[column].type, table.columns[column].settled = ColumnType(type_), settled
    add_texts(table, arrays)
    gone = table.rows_of(arrays["gone"])
    origins = meta["origins"]
    of_rows = None if origins is None else Origins(tuple(origins["files"]), origins["unit"], arrays["runs"])
    new = table.change(gone, arrays["codes"], of_rows)
    state.laws.replay(
        gone, new, unprefixed(arrays, "evidence"), read_laws(arrays, "removed"), read_laws(arrays, "added")
    )
    state.note(meta["entry"])


def _refuse_repeated_rows(table: LivingTable, row_key: Sequence[str]) -> None:
    """Refuse a row key that is none."""
    key = table.positions(row_key)
    if key and equal_rows(LiveView.of(table, ordered=False), key, NullPolicy.EQUAL):
        raise UsageError(
            f"two rows share the row key {', '.join(row_key)}",
            "Name columns that tell all rows apart, or leave --row-key out.",
        )


def _numbers(view: LiveView, pair: tuple[int, int]) -> Pair:
    return int(view.numbers[pair[0]]), int(view.numbers[pair[1]])
