"""A state as it is on disk: its base, and the batches since, which are followed without looking for anything again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lawful.common.arrays import Int32s, Int64s
from lawful.common.errors import DamagedStateError
from lawful.common.meanings import ColumnType
from lawful.dependencies import Law
from lawful.dependencies.documents import from_document
from lawful.maintenance.all_laws import AllLaws
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.law_events import LoggedChange
from lawful.maintenance.restoring import restored_laws
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import LoggedBatch, StateFiles
from lawful.maintenance.storing import add_texts, as_bytes, from_bytes, read_table, texts_arrays
from lawful.maintenance.stream_place import StreamPlace
from lawful.tables.living.living_table import LivingTable
from lawful.tables.origins import Origins

_MOST_LOGGED = 64
"""Batches after which a new base is written, so that opening a state stays quick."""
_ROWS_PER_BATCH, _MOST_LOGGED_OF_ALL = 10_000, 1024
"""In a large state so many more as it has rows; and the most."""
_MOST_LOGGED_SHARE = 0.25
"""Rows in the log, as a share of those in the base, that make a new base due even for fewer batches."""


def is_base_due(in_base: int, logged: int, batches: int) -> bool:
    """Whether a new base is to be written: by the rows in the last one, and the rows and batches in the log."""
    is_long = logged > _MOST_LOGGED and logged > _MOST_LOGGED_SHARE * in_base
    # A base of ten million rows takes seconds to write, and a batch of the log a millisecond to follow.
    most = min(max(_MOST_LOGGED, in_base // _ROWS_PER_BATCH), _MOST_LOGGED_OF_ALL)
    return batches >= most or is_long


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


def logged_arrays(
    table: LivingTable,
    change: LoggedChange,
    types: Mapping[int, tuple[ColumnType, bool | None]],
    origins: Origins | None,
    gone: Int64s,
    come: Int32s,
    known: Sequence[int],
) -> Arrays:
    """What is logged of a batch that a table has taken in, but for its laws.

    Parameters
    ----------
    change
        What is noted of it.
    types
        The columns whose types it has changed.
    origins
        Where its rows came from.
    gone, come
        The rows that left, and the codes of those that came.
    known
        How many codes each column had before.
    """
    meta = {
        "entry": change.entry,
        "notes": change.notes,
        "types": [[column, type_.value, settled] for column, (type_, settled) in types.items()],
        "origins": None if origins is None else {"files": list(origins.files), "unit": origins.unit},
    }
    logged: Arrays = {"meta": as_bytes(meta), "gone": table.ids_of(gone), "codes": come}
    if origins is not None:
        logged["runs"] = origins.runs
    return logged | texts_arrays(table, known)


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
