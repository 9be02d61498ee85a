"""A state as it is on disk: its base, and the batches since, which are followed without looking for anything again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from lawful.common.errors import DamagedStateError
from lawful.common.meanings import ColumnType
from lawful.dependencies import Law
from lawful.dependencies.documents import from_document
from lawful.maintenance.all_laws import AllLaws
from lawful.maintenance.law_events import LoggedChange
from lawful.maintenance.restoring import restored_laws
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import LoggedBatch, StateFiles
from lawful.maintenance.storing import add_texts, from_bytes, read_table
from lawful.maintenance.stream_place import StreamPlace
from lawful.tables.living.living_table import LivingTable
from lawful.tables.origins import Origins


class StoredState(NamedTuple):
    """What a folder holds: table and laws as they are now; the rest as the base has it, and what was logged since."""

    table: LivingTable
    laws: AllLaws
    settings: StateSettings
    pins: list[Law]
    known: dict[str, int]
    stream: StreamPlace | None
    broken: dict[str, int]
    rows_in_base: int
    changes: list[LoggedChange]


@contextlib.contextmanager
def telling_damage(files: StateFiles) -> Iterator[None]:
    """Turn what happens where files do not fit together into an error that says so."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, AssertionError) as error:
        raise DamagedStateError(
            f"the state {files.folder} is damaged: its content does not fit together ({error!r})",
            "Nothing was changed. Restore it from a copy, or make a new one.",
        ) from None


def read_state(files: StateFiles) -> StoredState:
    """Read a state, whose files may not fit together."""
    arrays, batches = files.open()
    document = files.document
    settings = StateSettings.from_dict(document["settings"])
    table = read_table(document, arrays, files.version - len(batches))
    laws = restored_laws(table, settings, arrays)
    return StoredState(
        table,
        laws,
        settings,
        [from_document(entry, table.names) for entry in document["pins"]],
        {str(batch): int(version) for batch, version in from_bytes(arrays["known"]).items()},
        StreamPlace.of(document["stream"]),
        dict(document["broken"]),
        table.end,
        [_replayed(table, laws, batch) for batch in batches],
    )


def _replayed(table: LivingTable, laws: AllLaws, batch: LoggedBatch) -> LoggedChange:
    """Follow a logged batch; what it noted."""
    arrays, meta = batch.arrays, from_bytes(batch.arrays["meta"])
    for column, type_, settled in meta["types"]:
        table.columns[column].type, table.columns[column].settled = ColumnType(type_), settled
    add_texts(table, arrays)
    gone = table.rows_of(arrays["gone"])
    origins = meta["origins"]
    of_rows = None if origins is None else Origins(tuple(origins["files"]), origins["unit"], arrays["runs"])
    new = table.change(gone, arrays["codes"], of_rows)
    laws.replay(gone, new, arrays)
    return LoggedChange(meta["entry"], meta["notes"])
