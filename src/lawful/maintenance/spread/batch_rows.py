"""The rows that a batch takes from a spread table and brings to it: found and fitted before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from lawful.common.errors import SourceError
from lawful.common.meanings import ColumnType
from lawful.engines.spread.met_rows import Cells, MetRow
from lawful.maintenance.batches import HOW_TO_SKIP, Batch, key_is_there, not_there
from lawful.maintenance.pins.outcomes import PutAside
from lawful.maintenance.spread.letting_through import Met
from lawful.tables.living.incoming import FittedRows, fit
from lawful.tables.living.living_table import LivingTable
from lawful.tables.spread.living_rows import LivingRows
from lawful.tables.spread.segments import Segment

FittedTypes = Mapping[int, tuple[ColumnType, bool | None]]
"""The types that columns get with a batch."""


@dataclass(frozen=True)
class BatchRows:
    """Rows that leave and rows that come, as tables of ids (`row`) and texts (`c0`, `c1`, …).

    `missing` were to leave and are not there; `fitted` are the rows that come, as they were read; `aside` are rows of
    the batch that would break a pinned law.
    """

    gone: pa.Table
    come: pa.Table
    missing: int
    fitted: FittedRows | None
    aside: list[PutAside]


class Offending(Protocol):
    """Finds the rows that would break a pinned law."""

    def __call__(self, gone: pa.Table, come: pa.Table, types: FittedTypes, keys: Met) -> list[PutAside]:
        """The places of rows that come, once others are gone; `keys` are the rows that stay by their row keys."""


@dataclass(frozen=True)
class _Wanted:
    """Rows that a batch names: where each stands in the batch, and its texts in the columns that tell rows apart."""

    rows: list[int]
    cells: list[Cells]

    @staticmethod
    def of(fitted: FittedRows | None, identity: Sequence[int]) -> _Wanted:
        if fitted is None or not len(fitted.rows):
            return _Wanted([], [])
        texts = fitted.texts()
        columns = [texts[column].to_pylist() for column in identity]
        return _Wanted(fitted.rows.tolist(), list(zip(*columns, strict=True)))


class BatchFinder:
    """Finds the rows of one batch.

    Parameters
    ----------
    table
        The columns of the table (`SpreadDocument.face`).
    rows, segments
        Its rows.
    key
        The columns of its row key, if it has one.
    """

    def __init__(
        self,
        table: LivingTable,
        rows: LivingRows,
        segments: Sequence[Segment],
        key: tuple[int, ...],
    ) -> None:
        self._table, self._rows, self._segments, self._key = table, rows, segments, key
        self._identity = key or tuple(range(table.width))

    def rows_of(self, batch: Batch, offending: Offending) -> BatchRows:
        """The rows that leave and come; `offending` finds those to put aside.

        Raises
        ------
        SourceError
            If a row to delete is not there and missing rows are refused, if a value does not fit and misfits are, or if
            a new row has a key that is there.
        """
        # A value that does not fit its column's type is in no row: what it names is not there.
        leaving = None if batch.deletes is None else fit(self._table, batch.deletes, "quarantine")
        if leaving is not None and leaving.misfits and batch.missing == "refuse":
            raise not_there(self._table, leaving.incoming, leaving.misfits[0].row, self._key)
        coming = None if batch.inserts is None else fit(self._table, batch.inserts, batch.misfits)
        wanted = _Wanted.of(leaving, self._identity)
        new = _Wanted.of(coming if self._key else None, self._identity)
        there = self._found(Counter(wanted.cells), new.cells)
        gone, missing = self._leaving(batch, wanted, there)
        if leaving is not None:
            missing += len(leaving.incoming.rows) - len(leaving.rows)
        by_id, unknown = self._by_id(batch)
        gone = pa.concat_tables([gone, by_id])
        ids = gone.column("row").to_pylist()
        if len(set(ids)) < len(ids):
            raise SourceError("the batch deletes a row twice, once by its id", "Nothing was changed. Name it once.")
        come = self._come(coming)
        aside: list[PutAside] = []
        if coming is not None:
            staying = {cells: self._staying(there, cells, set(ids)) for cells in new.cells}
            if batch.offenders == "quarantine":
                aside = offending(gone, come, coming.types, staying)
                coming, new, come, aside = self._without(aside, coming, new, come)
            self._refuse_repeated(coming, new, staying)
        return BatchRows(gone, come, missing + unknown, coming, aside)

    def are_there(self, rows: FittedRows) -> list[bool]:
        """Whether each of some rows is there, by the columns that tell rows apart."""
        cells = _Wanted.of(rows, self._identity).cells
        there = self._found(Counter(), cells)
        return [each in there and there[each].num_rows > 0 for each in cells]

    def _staying(self, there: dict[Cells, pa.Table], cells: Cells, leaving: set[int]) -> list[MetRow]:
        """The rows that have some texts and do not leave."""
        rows = there[cells].column("row").to_pylist() if cells in there else ()
        return [MetRow((), id_) for id_ in rows if id_ not in leaving]

    def _without(
        self, aside: list[PutAside], coming: FittedRows, new: _Wanted, come: pa.Table
    ) -> tuple[FittedRows, _Wanted, pa.Table, list[PutAside]]:
        """The batch without some rows, which are told by their rows in the batch."""
        rows = coming.rows
        kept = np.delete(np.arange(len(rows)), [each.row for each in aside])
        left = _Wanted(new.rows, [new.cells[place] for place in kept.tolist()] if new.cells else [])
        told = [
            each._replace(
                row=int(rows[each.row]),
                new_partner=int(rows[each.new_partner]) if each.new_partner >= 0 else -1,
            )
            for each in aside
        ]
        through = come.take(pa.array(kept)).set_column(0, "row", come.column("row").slice(0, len(kept)))
        return replace(coming, rows=rows[kept]), left, through, told

    def _found(self, wanted: Counter[Cells], new: Sequence[Cells]) -> dict[Cells, pa.Table]:
        """The rows that have some texts: as many as are to leave, and one where new rows have them."""
        most = dict(wanted)
        for cells in new:
            most.setdefault(cells, 1)
        if not most or not self._segments:
            return {}
        every = list(most)
        columns = {
            f"w{place}": pa.array([cells[place] for cells in every], pa.string())
            for place in range(len(self._identity))
        }
        table = pa.table({"want": pa.array(range(len(every)), pa.int32()), "most": pa.array(most.values()), **columns})
        found = self._rows.find(self._segments, table)
        starts = np.searchsorted(found.column("want").to_numpy(), np.arange(len(every) + 1))
        rows = found.drop_columns(["want"])
        return {cells: rows.slice(starts[n], starts[n + 1] - starts[n]) for n, cells in enumerate(every)}

    def _leaving(self, batch: Batch, wanted: _Wanted, there: dict[Cells, pa.Table]) -> tuple[pa.Table, int]:
        taken: Counter[Cells] = Counter()
        found, missing = [self._nothing()], 0
        for row, cells in zip(wanted.rows, wanted.cells, strict=True):
            rows = there.get(cells, self._nothing())
            if taken[cells] == rows.num_rows:
                if batch.missing == "refuse":
                    assert batch.deletes is not None
                    raise not_there(self._table, batch.deletes, row, self._key)
                missing += 1
                continue
            found.append(rows.slice(taken[cells], 1))
            taken[cells] += 1
        return pa.concat_tables(found), missing

    def _by_id(self, batch: Batch) -> tuple[pa.Table, int]:
        ids = [id_ for id_ in batch.delete_ids if 0 <= id_ < self._table.next_id]
        found = self._rows.find_ids(self._segments, ids) if ids else self._nothing()
        known = set(found.column("row").to_pylist())
        unknown = [id_ for id_ in batch.delete_ids if id_ not in known]
        if unknown and batch.missing == "refuse":
            raise SourceError(f"there is no row with the id {unknown[0]}", HOW_TO_SKIP)
        return found, len(unknown)

    def _refuse_repeated(self, coming: FittedRows, new: _Wanted, staying: Met) -> None:
        seen: set[Cells] = set()
        for place, cells in enumerate(new.cells):
            if staying[cells] or cells in seen:
                where = "another row of the batch has it"
                if staying[cells]:
                    where = f"{self._table.origins.place(staying[cells][0].id)} has it"
                raise key_is_there(self._table, self._key, coming, place, where)
            seen.add(cells)

    def _come(self, coming: FittedRows | None) -> pa.Table:
        if coming is None:
            return self._nothing()
        texts, first = coming.texts(), self._table.next_id
        ids = pa.array(np.arange(first, first + len(coming.rows)))
        return pa.table([ids, *(texts[column] for column in range(self._table.width))], schema=self._schema())

    def _nothing(self) -> pa.Table:
        return self._schema().empty_table()

    def _schema(self) -> pa.Schema:
        return pa.schema([("row", pa.int64()), *((name, pa.string()) for name in self._rows.columns)])
