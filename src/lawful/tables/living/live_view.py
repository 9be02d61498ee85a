"""One version of a living table as an encoded table: what checks, evidence and engines take.

Ranks are made from the codes of the live rows, column by column, when somebody asks for one. They are dense, so whoever
sizes an array by the number of distinct values needs no other bound. Where only equality matters, ranks may be in the
order of the codes instead of that of the values, which saves sorting all values after a batch that brought a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.arrays import Int32s, Int64s
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.tables.encoded_table import Column, EncodedTable
from lawful.tables.living.living_table import LivingTable
from lawful.tables.origins import Origins, Place, join_runs, runs_of_lines
from lawful.tables.ranking import RankedColumn


@dataclass(frozen=True)
class LiveView(EncodedTable):
    """The rows of one version; what happens to the living table later does not show here.

    Attributes
    ----------
    numbers
        The number in the living table of each row.
    ordered
        Whether ranks are in the order of the values.
    """

    living: LivingTable | None = None
    numbers: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    ordered: bool = True

    @staticmethod
    def of(living: LivingTable, version: int | None = None, *, ordered: bool = True) -> LiveView:
        """The rows of a version, the present one if none is named."""
        numbers = living.rows_at(living.version if version is None else version)
        return LiveView(living.name, len(numbers), living.names, living=living, numbers=numbers, ordered=ordered)

    @cached_property
    def _ranked(self) -> dict[int, RankedColumn]:
        return {}

    def _rank(self, position: int) -> RankedColumn:
        if position not in self._ranked:
            assert self.living is not None
            column = self.living.columns[position]
            codes = self._codes(position)
            known = len(column.dictionary)
            live = np.zeros(known + 1, np.bool_)
            live[codes] = True
            live[NULL_RANK] = False
            if self.ordered:
                rank_of_code = column.dictionary.ranks(column.type, live)
            else:
                rank_of_code = np.where(live, np.cumsum(live, dtype=np.int32), np.int32(NULL_RANK))
            ranks = rank_of_code[codes]
            ranks.setflags(write=False)
            distinct = int(np.count_nonzero(live))
            in_order = np.empty(distinct, np.int32)
            used = np.flatnonzero(live)
            in_order[rank_of_code[used] - 1] = used
            values = column.dictionary.texts(in_order)
            nulls = int(np.count_nonzero(ranks == NULL_RANK))
            self._ranked[position] = RankedColumn(column.type, ranks, distinct, nulls, values)
        return self._ranked[position]

    def _codes(self, position: int) -> Int32s:
        assert self.living is not None
        return self.living.codes.column_of_rows(position, self.numbers)

    def column(self, position: int) -> npt.NDArray[np.int32]:
        """The ranks of a column."""
        return self._rank(position).ranks

    def distinct(self, position: int) -> int:
        """How many distinct values the live rows have in a column, null not counted."""
        return self._rank(position).distinct

    def type(self, position: int) -> ColumnType:
        """The type that is pinned for a column."""
        assert self.living is not None
        return self.living.columns[position].type

    def nulls(self, position: int) -> int:
        """How many rows have no value in a column."""
        return self._rank(position).nulls

    def values(self, position: int) -> pa.Array:
        """The values that the ranks of a column stand for, as canonical texts."""
        return self._rank(position).values

    def place(self, row: int) -> Place:
        """The file and line that a row came from."""
        assert self.living is not None
        return self.living.place(int(self.numbers[row]))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What is known of each column."""
        return tuple(self.described(position) for position in range(self.width))

    def described(self, position: int) -> Column:
        """What is known of a column."""
        ranked = self._rank(position)
        least = greatest = None
        if ranked.distinct and self.ordered:
            least, greatest = ranked.values[0].as_py(), ranked.values[-1].as_py()
        return Column(self.names[position], ranked.type, ranked.distinct, ranked.nulls, least, greatest)

    @cached_property
    def origins(self) -> Origins:
        """Where all rows came from, in one piece, as others want it."""
        assert self.living is not None
        starts = np.array([*self.living.origins.starts, self.living.next_id], np.int64)
        own_ids = self.living.ids_of(self.numbers)
        cuts = np.searchsorted(own_ids, starts)
        files: list[str] = []
        pieces, units = [], set()
        for batch, origins in enumerate(self.living.origins.batches):
            ids = own_ids[cuts[batch] : cuts[batch + 1]] - starts[batch]
            of_file, numbers = origins.places(ids)
            shifted = np.where(of_file < 0, -1, of_file + len(files))
            changes = np.flatnonzero(np.diff(shifted)) + 1
            for part in np.split(np.arange(len(ids)), changes):
                if len(part):
                    pieces.append((int(shifted[part[0]]), len(part), runs_of_lines(numbers[part])))
                    units.add(origins.unit if origins.files else "row")
            files += origins.files
        unit = units.pop() if len(units) == 1 else "row"
        return Origins(tuple(files), unit, join_runs(pieces))
