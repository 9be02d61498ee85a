"""Which rows of a batch come and which leave: appends, `_op`, and the change feeds of Delta and Spark.

A micro-batch may hold several commits, in which a row comes and leaves again. What counts is the effect of all of them:
a row that comes and one with equal values that leaves cancel each other, in whatever order they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lawful.common.arrays import Flags, Int64s
from lawful.common.errors import SourceError, UsageError
from lawful.runs.batch_reading import DELETE, INSERT, OPERATION, KeptTable
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.incoming import Incoming, fit

CHANGE_TYPE = "_change_type"
OF_FEEDS = (CHANGE_TYPE, "_commit_version", "_commit_timestamp")
"""The columns that a change feed has beside those of its table."""
BESIDE = (OPERATION, *OF_FEEDS)

_COMES = {CHANGE_TYPE: ("insert", "update_postimage"), OPERATION: (INSERT,)}
_LEAVES = {CHANGE_TYPE: ("delete", "update_preimage"), OPERATION: (DELETE,)}


def columns_beside(names: Sequence[str], own: Sequence[str] | None) -> tuple[str, ...]:
    """The columns of a batch that tell changes; `own` are those of the state, if it is there.

    Raises
    ------
    UsageError
        If it could be either.
    """
    found = tuple(name for name in BESIDE if name in names)
    for name in found:
        if own is not None and name in own:
            raise UsageError(
                f"the state has a column {name!r} of its own, so what a stream changes would be unclear",
                "Rename it before the state is made.",
            )
    if OPERATION in found and CHANGE_TYPE in found:
        raise UsageError(f"both {OPERATION} and {CHANGE_TYPE} would say what comes and leaves", "Drop one of them.")
    return found


def split_changes(batch: EncodedTable, beside: Sequence[str]) -> tuple[Int64s, Int64s]:
    """The rows of a batch that come and those that leave, without those that cancel each other."""
    told = next((name for name in (CHANGE_TYPE, OPERATION) if name in beside), None)
    if told is None:
        return np.arange(batch.rows), np.empty(0, np.int64)
    comes = _told(batch, told)
    come, gone = np.flatnonzero(comes), np.flatnonzero(~comes)
    if not len(come) or not len(gone):
        return come, gone
    own = [position for position, name in enumerate(batch.names) if name not in beside]
    ranks = np.stack([np.asarray(batch.column(position)) for position in own], axis=1)
    of_come, of_gone = ([row.tobytes() for row in ranks[rows]] for rows in (come, gone))
    both = Counter(of_come) & Counter(of_gone)
    return _without(come, of_come, both), _without(gone, of_gone, both)


def cancelled_by_key(state: KeptTable, come: Incoming, gone: Incoming) -> tuple[Int64s, Int64s]:
    """The rows that come and leave, without those that leave by a key which only came with this batch.

    Of several rows with one key the last one stays.
    """
    if not state.key or not len(come.rows) or not len(gone.rows):
        return come.rows, gone.rows
    fitted = fit(state.table, gone, "quarantine")
    is_there = dict(zip(fitted.rows.tolist(), state.are_there(fitted), strict=True))
    ranks = np.stack([np.asarray(gone.batch.column(gone.positions[column])) for column in state.key], axis=1)
    leaving = Counter[bytes]()
    taken: set[bytes] = set()
    kept = []
    for row in gone.rows.tolist():
        own = ranks[row].tobytes()
        if is_there.get(row) and own not in taken:
            taken.add(own)
            kept.append(row)
        else:
            leaving[own] += 1
    came = Counter(ranks[row].tobytes() for row in come.rows.tolist())
    unknown = leaving - came  # these name nothing at all, and are refused or skipped like others
    kept += [row for row in gone.rows.tolist() if row not in set(kept) and _one_of(unknown, ranks[row].tobytes())]
    cancelled = leaving & came
    return _without(come.rows, [ranks[row].tobytes() for row in come.rows.tolist()], cancelled), np.sort(
        np.array(kept, np.int64)
    )


def _one_of(left: Counter[bytes], value: bytes) -> bool:
    if not left[value]:
        return False
    left[value] -= 1
    return True


def _without(rows: Int64s, values: Sequence[bytes], cancelled: Counter[bytes]) -> Int64s:
    left = Counter(cancelled)
    kept = []
    for row, value in zip(rows.tolist(), values, strict=True):
        if left[value]:
            left[value] -= 1
        else:
            kept.append(row)
    return np.array(kept, np.int64)


def _told(batch: EncodedTable, column: str) -> Flags:
    """Which rows come; the others leave."""
    texts = batch.texts(np.arange(batch.rows), batch.names.index(column)).to_pylist()
    comes = np.array([text in _COMES[column] for text in texts], np.bool_)
    row = next((row for row, text in enumerate(texts) if not comes[row] and text not in _LEAVES[column]), None)
    if row is not None:
        known = ", ".join((*_COMES[column], *_LEAVES[column]))
        raise SourceError(
            f"{batch.place(row)}: {texts[row]!r} in column {column!r} is not one of {known}", "Nothing was changed."
        )
    return comes
