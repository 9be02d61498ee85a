"""Which rows of a batch are let through where those that break a pinned law are put aside."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lawful.common.arrays import Int32s, Int64s
from lawful.dependencies import Law
from lawful.discovery.questions import Watch
from lawful.maintenance.pins.outcomes import PutAside
from lawful.maintenance.pins.pinned_laws import PinnedLaws
from lawful.tables.living.incoming import FittedRows
from lawful.tables.living.living_table import LivingTable


def without_offenders(
    pinned: PinnedLaws, laws: Sequence[Law], fitted: FittedRows, come: Int32s, gone: Int64s, watch: Watch
) -> tuple[FittedRows, Int32s, list[PutAside]]:
    """Leave out the rows that would break a law."""
    with _typed(pinned.table, fitted):
        aside = pinned.breaking(laws, gone, come, watch)
    kept = np.delete(np.arange(come.shape[1]), [each.row for each in aside])
    rows = fitted.rows

    def in_batch(place: int) -> int:
        return int(rows[place]) if place >= 0 else -1

    told = [each._replace(row=in_batch(each.row), new_partner=in_batch(each.new_partner)) for each in aside]
    return replace(fitted, rows=rows[kept]), come[:, kept], told


@contextlib.contextmanager
def _typed(table: LivingTable, fitted: FittedRows) -> Iterator[None]:
    """The types that the columns get with a batch, for a while."""
    columns = [table.columns[column] for column in fitted.types]
    before = [column.type for column in columns]
    try:
        for column, (type_, _) in zip(columns, fitted.types.values(), strict=True):
            column.type = type_
        yield
    finally:
        for column, type_ in zip(columns, before, strict=True):
            column.type = type_
