"""What the log says of a batch beside its rows and laws: its entry in the history, and what events tell of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lawful.dependencies import Law, columns_of, format_law, kind_of
from lawful.maintenance.applied import PinnedLaw, PutAside
from lawful.maintenance.batches import Batch
from lawful.maintenance.evidence import Pair
from lawful.maintenance.kept_laws import LawsChange
from lawful.maintenance.law_events import implied_texts, law_texts, pinned_events
from lawful.maintenance.witness_views import row_views, views_of_pair
from lawful.results.check_report import RowView
from lawful.tables.living.incoming import FittedRows
from lawful.tables.living.living_table import LivingTable
from lawful.tables.origins import Place


def entry_of(
    table: LivingTable, batch: Batch, come: int, gone: int, changes: LawsChange, pins: Sequence[PinnedLaw]
) -> dict[str, Any]:
    """The entry of a batch in the history."""
    broken = {pin.text: pin.violating for pin in pins if not pin.holds}
    return {
        "batch": batch.id,
        "version": table.version,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "rows": table.rows,
        "inserted": come,
        "deleted": gone,
        "added": sum(len(block.sets) for block in changes.added),
        "removed": sum(len(block.sets) for block in changes.removed),
        **({"broken": broken} if broken else {}),
        **({} if batch.stream is None else {"stream": batch.stream.to_dict()}),
    }


def notes_of(
    table: LivingTable,
    changes: LawsChange,
    witnesses: Mapping[Law, Pair],
    pins: Sequence[tuple[Law, PinnedLaw]],
    broken: Mapping[str, int],
) -> dict[str, Any]:
    """What events tell of a batch beside the laws that went and came; `broken` pinned laws are those before it."""
    breaking = {pin.text: _offending(table, law, pin) for law, pin in pins if not pin.holds}
    shown = {law: views for law, pair in witnesses.items() if (views := views_of_pair(table, law, pair)) is not None}
    pinned = pinned_events(broken, pins, breaking, table.rows)
    return {"pinned": pinned, **law_notes(changes, table.names, shown)}


def law_notes(
    changes: LawsChange, names: Sequence[str], shown: Mapping[Law, tuple[RowView, RowView]]
) -> dict[str, Any]:
    """What events tell of the laws that went and came; of some that went, with two rows that break each."""
    return {
        "gone": law_texts(changes.removed, names),
        "new": law_texts(changes.added, names),
        "implied": implied_texts(changes, names),
        "shown": {format_law(law, names): [view.to_dict() for view in views] for law, views in shown.items()},
    }


def aside_of(
    table: LivingTable,
    fitted: FittedRows,
    put_aside: Sequence[PutAside],
    pins: Sequence[Law],
    place: Callable[[int], Place],
) -> list[dict[str, Any]]:
    """The rows of a batch that were put aside, whole, with the reason of each; `place` tells where others are from."""
    named = {misfit.row: misfit.column for misfit in reversed(fitted.misfits)}
    reasons = {
        row: (None, None, f"{table.names[column]} is not of the type {table.columns[column].type.value}")
        for row, column in named.items()
    } | {each.row: _broken_by(table, fitted, each, pins, place) for each in put_aside}
    incoming = fitted.incoming
    found = []
    for row, (law, kind, reason) in sorted(reasons.items()):
        values = {table.names[n]: incoming.batch.value(row, place) for n, place in incoming.positions.items()}
        view = RowView(-1, incoming.batch.place(row), values).to_dict() | {"row": None}
        found.append({"law": law, "kind": kind, "reason": reason, "row": view})
    return found


def _broken_by(
    table: LivingTable, fitted: FittedRows, aside: PutAside, pins: Sequence[Law], place: Callable[[int], Place]
) -> tuple[str | None, str | None, str]:
    other = "a row of the table"
    if aside.partner >= 0:
        other = str(place(aside.partner))
    elif aside.new_partner >= 0:
        other = str(fitted.incoming.batch.place(aside.new_partner))
    if aside.pin == len(pins):
        return None, None, f"its key is there already: {other}"
    law = pins[aside.pin]
    return format_law(law, table.names), kind_of(law), f"breaks it with {other}"


def _offending(table: LivingTable, law: Law, pin: PinnedLaw) -> list[Any]:
    """Rows that break a pinned law now: those of the batch with what each breaks it with, else any two."""
    pairs = pin.offenders[: _MOST_SHOWN // 2]
    if len(pairs):
        rows = np.array(list(dict.fromkeys(pairs[:, ::-1].ravel().tolist())), np.int64)
        return [view.to_dict() for view in row_views(table, rows, columns_of(law))]
    views = views_of_pair(table, law, pin.witness)
    return [view.to_dict() for view in views or ()]


_MOST_SHOWN = 20
"""So many of the rows that break a pinned law are told with an event."""
