"""What a batch is: rows to delete, which are found first, and rows to insert, which are fitted to the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.evidence import equal_rows
from lawful.maintenance.pins.key_rows import KeyRows
from lawful.maintenance.pins.outcomes import OFFENDERS, Offenders
from lawful.maintenance.stream_place import StreamPlace
from lawful.tables.living.incoming import MISFITS, FittedRows, Incoming, Misfits, fit
from lawful.tables.living.live_view import LiveView
from lawful.tables.living.living_table import LivingTable
from lawful.tables.origins import Origins, join_runs, runs_of_lines

Missing = Literal["refuse", "skip"]
MISSING: tuple[Missing, ...] = ("refuse", "skip")

NO_ROWS: Int64s = np.empty(0, np.int64)


@dataclass(frozen=True)
class Batch:
    """Changes that are made together: deletions first, then insertions.

    Parameters
    ----------
    id
        What tells it apart from others: a batch whose id was seen changes nothing.
    inserts, deletes
        Rows to insert; rows to delete, by the key of the state or, without one, by all of their values.
    delete_ids
        Ids of rows to delete.
    misfits
        What to do with values that do not fit the types of the state.
    missing
        What to do if a row to delete is not there.
    offenders
        What to do with rows that break a pinned law: `keep` them, or `quarantine` them. Then rows are looked at in
        their order once the deletions are done, and one that breaks a pinned law together with a row of the table, or
        with one of the batch that was let through before it, is left out.
    stream
        The micro-batch of a streaming query that this is, if it is one.
    new_query
        Whether it may be the first of a query that the state does not know.
    """

    id: str
    inserts: Incoming | None = None
    deletes: Incoming | None = None
    delete_ids: Sequence[int] = field(default_factory=tuple)
    misfits: Misfits = "refuse"
    missing: Missing = "refuse"
    offenders: Offenders = "keep"
    stream: StreamPlace | None = None
    new_query: bool = False

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise UsageError(f"unknown outcome {self.missing!r} for rows that are not there", "Use refuse or skip.")
        if self.offenders not in OFFENDERS:
            raise UsageError(
                f"unknown outcome {self.offenders!r} for rows that break a pinned law", f"Use {', '.join(OFFENDERS)}."
            )
        if self.misfits not in MISFITS:
            raise UsageError(
                f"unknown outcome {self.misfits!r} for values that do not fit", f"Use {', '.join(MISFITS)}."
            )


@dataclass(frozen=True)
class FoundRows:
    """The rows that a batch deletes, and how many of those it names are not there."""

    rows: Int64s
    missing: int


def rows_to_delete(table: LivingTable, batch: Batch, key: tuple[int, ...], keys: KeyRows) -> FoundRows:
    """Find the rows that leave. Of equal rows, each deletion by value takes another one.

    Raises
    ------
    SourceError
        If one is not there, and missing rows are refused.
    """
    by_value, missing = _rows_by_value(table, batch, key, keys)
    # Any number may be asked for, and those beyond both ends are of no row.
    rows = table.rows_of(np.array([min(max(row_id, -1), table.next_id) for row_id in batch.delete_ids], np.int64))
    for place in np.flatnonzero(rows < 0).tolist():
        if batch.missing == "refuse":
            raise SourceError(f"there is no row with the id {batch.delete_ids[place]}", HOW_TO_SKIP)
        missing += 1
    found = np.concatenate([by_value, rows[rows >= 0]])
    if len(np.unique(found)) < len(found):
        raise SourceError("the batch deletes a row twice, once by its id", "Nothing was changed. Name it once.")
    return FoundRows(np.sort(found), missing)


HOW_TO_SKIP = "Nothing was changed. With --missing skip such rows are passed over."


def _rows_by_value(table: LivingTable, batch: Batch, key: tuple[int, ...], keys: KeyRows) -> tuple[Int64s, int]:
    deletes = batch.deletes
    if deletes is None or not len(deletes.rows):
        return NO_ROWS, 0
    # A value that does not fit its column's type is in no row: what it names is not there.
    fitted = fit(table, deletes, "quarantine")
    missing = len(deletes.rows) - len(fitted.rows)
    if fitted.misfits and batch.missing == "refuse":
        raise not_there(table, deletes, fitted.misfits[0].row, key)
    columns = list(deletes.positions)
    taken: Counter[int] = Counter()
    found: list[int] = []
    if len(fitted.rows):
        for place, rows in enumerate(keys.find(columns, fitted.find(table))):
            if not rows or taken[rows[0]] == len(rows):
                if batch.missing == "refuse":
                    raise not_there(table, deletes, int(fitted.rows[place]), key)
                missing += 1
                continue
            found.append(rows[taken[rows[0]]])
            taken[rows[0]] += 1
    return np.array(found, np.int64), missing


def not_there(table: LivingTable, deletes: Incoming, row: int, key: tuple[int, ...]) -> SourceError:
    """The error for a row to delete that is not there."""
    shown = ", ".join(
        f"{table.columns[column].name} = {deletes.batch.value(row, position)}"
        for column, position in list(deletes.positions.items())[:8]
    )
    what = "key" if key else "values"
    return SourceError(f"{deletes.batch.place(row)}: no row has the {what} {shown}", HOW_TO_SKIP)


def refuse_repeated_keys(
    table: LivingTable, key: tuple[int, ...], come: Int32s, gone: Int64s, inserts: FittedRows, keys: KeyRows
) -> None:
    """Refuse new rows whose key another row has: one that stays, or a new one.

    Raises
    ------
    SourceError
        Names the file and line, and the key.
    """
    if not key or not come.shape[1]:
        return
    wanted = come[list(key)]
    if keys.are_new(key, wanted):
        return
    leaving = set(gone.tolist())
    seen: set[bytes] = set()
    for place, (rows, codes) in enumerate(zip(keys.find(key, wanted), wanted.T, strict=True)):
        staying = [row for row in rows if row not in leaving]
        combination = codes.tobytes()
        if staying or combination in seen:
            where = f"{table.place(staying[0])} has it" if staying else "another row of the batch has it"
            raise key_is_there(table, key, inserts, place, where)
        seen.add(combination)


def refuse_repeated_rows(table: LivingTable, row_key: Sequence[str]) -> None:
    """Refuse a row key that is none."""
    key = table.positions(row_key)
    if key and equal_rows(LiveView.of(table, ordered=False), key, NullPolicy.EQUAL):
        raise UsageError(
            f"two rows share the row key {', '.join(row_key)}",
            "Name columns that tell all rows apart, or leave --row-key out.",
        )


def key_is_there(table: LivingTable, key: tuple[int, ...], inserts: FittedRows, place: int, where: str) -> SourceError:
    """The error for a new row whose key another row has."""
    row, incoming = int(inserts.rows[place]), inserts.incoming
    shown = ", ".join(
        f"{table.columns[column].name} = {incoming.batch.value(row, incoming.positions[column])}" for column in key
    )
    return SourceError(
        f"{incoming.batch.place(row)}: the key {shown} is there already: {where}",
        "Nothing was changed. To change a row, delete it and insert it anew in one batch.",
    )


def origins_of(fitted: FittedRows) -> Origins:
    """Where the rows that were kept of a batch came from."""
    origins = fitted.incoming.batch.origins
    of_file, numbers = origins.places(fitted.rows)
    cuts = np.flatnonzero(np.diff(of_file)) + 1
    parts = [part for part in np.split(np.arange(len(fitted.rows)), cuts) if len(part)]
    runs = join_runs([(int(of_file[part[0]]), len(part), runs_of_lines(numbers[part])) for part in parts])
    return Origins(origins.files, origins.unit, runs)
