"""Reading a batch: where its rows come from, which leave and which come, and what tells it apart from other batches."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from lawful.common.arrays import Flags
from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.maintenance.batches import Batch
from lawful.maintenance.settings import StateSettings
from lawful.runs.opened import open_source
from lawful.runs.state_engines import StateEngines
from lawful.runs.state_limits import within
from lawful.runs.stopping import UserWatch
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.files import format_of, list_files
from lawful.tables.living.incoming import FittedRows, Incoming, match_columns
from lawful.tables.living.living_table import LivingTable
from lawful.tables.options import ReadOptions

OPERATION = "_op"
"""The column of a file of changes that says what becomes of a row."""
INSERT, DELETE = "+", "-"
_BLOCK = 1 << 20


class Sources(NamedTuple):
    """What a batch is read from: rows to insert, rows to delete, or both in one with a column that tells them apart."""

    inserts: Any = None
    deletes: Any = None
    changes: Any = None

    def refuse_both(self) -> None:
        """Refuse a table of changes beside others."""
        if self.changes is not None and (self.inserts is not None or self.deletes is not None):
            raise UsageError("a table of changes holds all of a batch", "Give it alone, or rows to insert and delete.")

    def batch_id(self, delete_ids: Sequence[int], look: Callable[[], None]) -> str:
        """What tells the batch apart if nobody says so: the content of its files; other tables are all different."""
        digest = hashlib.sha256(repr(sorted(delete_ids)).encode())
        for name, source in zip(self._fields, self, strict=True):
            if source is None:
                continue
            if not isinstance(source, str | os.PathLike) or _is_elsewhere(source):
                return uuid.uuid4().hex
            digest.update(name.encode())
            for file in list_files(Path(source)):
                with file.open("rb") as opened:
                    while block := opened.read(_BLOCK):
                        digest.update(block)
                        look()
        return digest.hexdigest()[:32]


def _is_elsewhere(source: str | os.PathLike[str]) -> bool:
    text = os.fspath(source)
    return text.startswith(("table:", "sql:")) or "://" in text


def is_text(source: Any, options: ReadOptions) -> bool:
    """Whether a source has texts, whose types are still to be found: a CSV or JSON lines file."""
    if not isinstance(source, str | os.PathLike) or _is_elsewhere(source):
        return False
    files = [str(file) for file in list_files(Path(source))]
    return format_of(files, options, os.fspath(source)) != "parquet"


class KeptTable(Protocol):
    """A state as far as batches are read for it: its columns, those of its row key, and how files are written."""

    @property
    def table(self) -> LivingTable:
        """The table."""

    @property
    def key(self) -> tuple[int, ...]:
        """The columns that tell rows apart."""

    @property
    def settings(self) -> StateSettings:
        """What was settled when it was made."""

    def are_there(self, rows: FittedRows) -> list[bool]:
        """Whether each of some rows, by its row key or all of its values, is in the table."""

    def version_of(self, batch: str) -> int | None:
        """The version that a batch made, if it was applied."""


class BatchReader:
    """Reads batches for a state; what was opened for them is let go with `stack`."""

    def __init__(self, state: KeptTable, engines: StateEngines, options: ReadOptions, stack: ExitStack) -> None:
        self._state, self._engines, self._options, self._stack = state, engines, options, stack

    def read(self, batch: Batch, sources: Sources, watch: UserWatch) -> Batch:
        """The batch with its id and its rows; the rows of one that was applied before are not read."""
        batch = replace(batch, id=batch.id or sources.batch_id(batch.delete_ids, watch.look))
        if self._state.version_of(batch.id) is not None:
            return batch
        is_here = self._engines.reads_here(*sources)
        come, gone = within(watch, lambda: self._rows_of(sources), is_here=is_here)
        return replace(batch, inserts=come, deletes=gone)

    def _rows_of(self, sources: Sources) -> tuple[Incoming | None, Incoming | None]:
        """The rows to insert and the rows to delete."""
        table, key = self._state.table, self._state.key
        if sources.changes is not None:
            batch = self._read(sources.changes, [*table.names, OPERATION])
            return changed_rows(self._state, batch, is_text=is_text(sources.changes, self._options))
        come = gone = None
        if sources.inserts is not None:
            batch = self._read(sources.inserts, table.names)
            is_text_ = is_text(sources.inserts, self._options)
            come = Incoming(batch, np.arange(batch.rows), match_columns(table, batch), is_text_)
        if sources.deletes is not None:
            needed = [table.names[column] for column in key or range(table.width)]
            batch = self._read(sources.deletes, needed)
            gone = Incoming(batch, np.arange(batch.rows), match_columns(table, batch, key or None))
        return come, gone

    def _read(self, source: Any, names: Sequence[str]) -> EncodedTable:
        """Read a table; of a file of texts every cell as it is written, since the types are pinned."""
        columns = None if self._state.settings.columns is None else tuple(names)
        types = dict.fromkeys(names, ColumnType.STRING) if is_text(source, self._options) else {}
        read = replace(self._options, columns=columns, types=types)
        where = self._engines.where_to_read(source)
        return self._stack.enter_context(open_source(source, read, where, reuse=False)).table


def changed_rows(state: KeptTable, batch: EncodedTable, *, is_text: bool) -> tuple[Incoming, Incoming]:
    """The rows to insert and the rows to delete of a table of changes."""
    if OPERATION in state.table.names:
        raise UsageError(
            f"{state.table.name} has a column {OPERATION!r} of its own, so a table of changes would be unclear",
            "Give the rows to insert and the rows to delete in two tables.",
        )
    is_insert = _operations(batch)
    positions = match_columns(state.table, batch, beside=(OPERATION,))
    come = Incoming(batch, np.flatnonzero(is_insert), positions, is_text)
    by_key = {column: positions[column] for column in state.key or positions}
    return come, Incoming(batch, np.flatnonzero(~is_insert), by_key, is_text)


def _operations(batch: EncodedTable) -> Flags:
    """Which rows of a table of changes are to be inserted; the others are to be deleted."""
    if OPERATION not in batch.names:
        raise SourceError(
            f"{batch.name} has no column {OPERATION!r}",
            f"It says {INSERT} for rows that come and {DELETE} for rows that leave.",
        )
    position = batch.names.index(OPERATION)
    texts = np.array(batch.texts(np.arange(batch.rows), position).to_pylist(), object)
    is_insert: Flags = texts == INSERT
    wrong = np.flatnonzero(~is_insert & (texts != DELETE))
    if len(wrong):
        row = int(wrong[0])
        raise SourceError(
            f"{batch.place(row)}: {texts[row]!r} in column {OPERATION!r} says neither {INSERT} nor {DELETE}",
            "Nothing was changed.",
        )
    return is_insert
