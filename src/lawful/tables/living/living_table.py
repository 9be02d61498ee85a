"""A table whose rows come and go.

What stays the same is what can be built on. A value gets a code when it first comes, and the code never changes; a row
gets a number when it comes, and no other row ever gets that one. So a batch touches what it brings and what it takes,
and nothing else is renumbered. Ranks, which a new value shifts, are a view of the codes that is made when somebody asks
for it (`LiveView`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.common.column_names import ColumnNames
from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import EncodedTable, check_row_count
from lawful.tables.living.canonical import canonical_values
from lawful.tables.living.codes import Codes
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.origins import Origins, Place


@dataclass
class LivingColumn:
    """A column: its name, the type that is pinned, and the values that it ever had.

    `settled` says whether timestamps have a zone, or the day comes first in dates; None as long as none has come.
    """

    name: str
    type: ColumnType
    dictionary: Dictionary
    settled: bool | None = None


@dataclass(frozen=True)
class Version:
    """One version of a table: how many rows had ever come, and which rows left with the batch that made it."""

    end: int
    gone: Int64s


@dataclass
class RowOrigins:
    """Where rows came from: the origins of each batch, by the id of its first row."""

    starts: list[int] = field(default_factory=list)
    batches: list[Origins] = field(default_factory=list)

    def add(self, first: int, origins: Origins) -> None:
        """Note where the rows with ids from `first` on came from."""
        self.starts.append(first)
        self.batches.append(origins)

    def place(self, row_id: int) -> Place:
        """The file and line of a row, by its id."""
        batch = bisect_right(self.starts, row_id) - 1
        return self.batches[batch].place(row_id - self.starts[batch])


class LivingTable:
    """Rows as codes, which of them are live, and the columns' dictionaries.

    Parameters
    ----------
    name
        What people call it.
    columns
        The columns, with the values of the rows in `codes`.
    codes
        All rows that ever came.
    is_live
        Which of them are still there; all if not given.
    version
        The number of this version; every batch makes the next.
    ids
        The ids of the rows in `codes`, if some that had left were cleared away; else a row's number is its id.
    next_id
        The id of the next row that comes.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[LivingColumn],
        codes: Codes,
        is_live: Flags | None = None,
        origins: RowOrigins | None = None,
        version: int = 0,
        ids: Int64s | None = None,
        next_id: int | None = None,
    ) -> None:
        self.name = name
        self.columns = list(columns)
        self.names = ColumnNames(column.name for column in columns)
        self.codes = codes
        self.origins = origins or RowOrigins()
        self.version = version
        self._is_live = np.ones(len(codes), np.bool_) if is_live is None else is_live
        self.rows = int(np.count_nonzero(self._is_live))
        self._ids = ids
        self._shift = (len(codes) if next_id is None else next_id) - len(codes)
        self._first_version = version
        self._versions: list[Version] = []
        self._end_at_first = len(codes)
        self._live_at_first: Flags | None = None

    @staticmethod
    def of(table: EncodedTable) -> LivingTable:
        """The table as it is now becomes the first version: ranks are as good codes as any."""
        columns = []
        codes = np.empty((table.width, table.rows), np.int32)
        for position, name in enumerate(table.names):
            type_ = table.type(position)
            values = canonical_values(table.values(position), type_)
            assert values.fits.all(), f"column {name!r} has values that its own type does not take"
            columns.append(LivingColumn(name, type_, Dictionary.of(values.texts), values.settled))
            codes[position] = table.column(position)
        origins = RowOrigins()
        origins.add(0, table.origins)
        return LivingTable(table.name, columns, Codes(codes), origins=origins)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def end(self) -> int:
        """The number that the next row gets."""
        return len(self.codes)

    @property
    def is_live(self) -> Flags:
        """For every row that ever came, whether it is there."""
        return self._is_live[: self.end]

    def positions(self, names: Sequence[str]) -> tuple[int, ...]:
        """The positions of some columns, which tell rows apart.

        Raises
        ------
        UsageError
            If a column is not there.
        """
        for name in names:
            if name not in self.names:
                raise UsageError(
                    f"{self.name} has no column {name!r} for a row key", f"Columns: {', '.join(self.names)}."
                )
        return tuple(self.names.index(name) for name in names)

    def live_rows(self) -> Int64s:
        """The numbers of the rows that are there, in their order."""
        return np.flatnonzero(self.is_live)

    def change(self, gone: Int64s, come: Int32s, origins: Origins | None = None) -> range:
        """Let rows leave, then others come; return the numbers of the new ones.

        Parameters
        ----------
        gone
            The numbers of live rows, each once.
        come
            New rows as codes that the dictionaries have given out, `int32[columns, rows]`.
        origins
            Where the new rows came from.
        """
        if len(gone) and (not self._is_live[gone].all() or len(np.unique(gone)) < len(gone)):
            raise UsageError("a row can leave only once, and only if it is there")
        check_row_count(self.end + come.shape[1])
        if self._live_at_first is None:
            self._live_at_first = self.is_live.copy()
        first = self.end
        self._is_live[gone] = False
        self.codes.append(come)
        self._grow_live(self.end)
        self._is_live[first : self.end] = True
        self.rows += come.shape[1] - len(gone)
        if origins is not None and come.shape[1]:
            self.origins.add(first + self._shift, origins)
        self._versions.append(Version(self.end, gone))
        self.version += 1
        return range(first, self.end)

    def rows_at(self, version: int) -> Int64s:
        """The numbers of the rows of a version.

        Raises
        ------
        UsageError
            If that version is not known: it is still to come, or older than the last compaction.
        """
        if not self._first_version <= version <= self.version:
            raise UsageError(
                f"version {version} of {self.name} is not known",
                f"Known are the versions {self._first_version} to {self.version}.",
            )
        if version == self.version:
            return self.live_rows()
        passed = self._versions[: version - self._first_version]
        live = np.zeros(passed[-1].end if passed else self._end_at_first, np.bool_)
        assert self._live_at_first is not None
        live[: self._end_at_first] = self._live_at_first
        live[self._end_at_first :] = True
        for each in passed:
            live[each.gone] = False
        return np.flatnonzero(live)

    def texts(self, rows: Int64s, column: int) -> pa.Array:
        """The values of some rows in a column, as texts; null where they are null."""
        return self.columns[column].dictionary.texts(self.codes.column_of_rows(column, rows))

    def place(self, row: int) -> Place:
        """The file and line that a row came from."""
        return self.origins.place(int(self.ids_of(np.array([row]))[0]))

    @property
    def next_id(self) -> int:
        """The id of the next row that comes."""
        return self.end + self._shift

    def ids_of(self, rows: Int64s) -> Int64s:
        """The ids of rows: they never change, and no two rows ever have the same."""
        ids = rows + self._shift
        if self._ids is not None:
            is_first = rows < len(self._ids)
            ids[is_first] = self._ids[rows[is_first]]
        return ids

    def rows_of(self, ids: Int64s) -> Int64s:
        """The numbers of the rows with some ids; -1 where there is no such live row."""
        rows = ids - self._shift
        if self._ids is not None:
            is_first = rows < len(self._ids)
            places = np.searchsorted(self._ids, ids[is_first])
            found = np.append(self._ids, -1)[places] == ids[is_first]
            rows[is_first] = np.where(found, places, -1)
        inside = (rows >= 0) & (rows < self.end)
        rows[~inside] = -1
        rows[inside] = np.where(self.is_live[rows[inside]], rows[inside], -1)
        return rows

    def _grow_live(self, needed: int) -> None:
        if needed > len(self._is_live):
            grown = np.zeros(max(needed, 2 * len(self._is_live)), np.bool_)
            grown[: len(self._is_live)] = self._is_live
            self._is_live = grown
