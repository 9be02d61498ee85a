"""The encoded table: integers that stand for a table, in memory or in a folder that workers memory-map.

Everything after this room works on these ranks alone. A folder holds `table.json` (format version, columns,
statistics, checksums), `ranks/N.npy` (int32, one file per column), `values/N.arrow` (the value that each rank
stands for, read only when something is shown to a person) and `origins.npy` (rows to files and lines).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.column_names import ColumnNames
from lawful.common.errors import DamagedTableError, LawfulError
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.common.npy_files import map_npy
from lawful.tables.arrow_functions import as_arrow
from lawful.tables.options import ReadOptions
from lawful.tables.origins import NO_ORIGINS, Origins, Place
from lawful.tables.ranking import RankedColumn, typed_to_text

FORMAT = "lawful-table/1"
METADATA = "table.json"
ORIGINS = "origins.npy"
MOST_ROWS = 2**31 - 2
_ORIGIN_FIELDS = 3


@dataclass(frozen=True)
class Column:
    """What is known of a column: its name, type and statistics (`distinct` does not count null)."""

    name: str
    type: ColumnType
    distinct: int
    nulls: int
    minimum: str | None
    maximum: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "name": self.name,
            "type": self.type.value,
            "distinct": self.distinct,
            "nulls": self.nulls,
            "min": self.minimum,
            "max": self.maximum,
        }

    @staticmethod
    def from_dict(document: dict[str, Any]) -> Column:
        """Read what `to_dict` wrote."""
        return Column(
            str(document["name"]),
            ColumnType(document["type"]),
            int(document["distinct"]),
            int(document["nulls"]),
            document["min"],
            document["max"],
        )


class RankedColumns(NamedTuple):
    """The columns of a source, ranked in this process; with all ranks in a matrix if they stand so in memory."""

    names: ColumnNames
    columns: Sequence[RankedColumn]
    origins: Origins = NO_ORIGINS
    matrix: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True)
class EncodedTable:
    """A table as dense ranks: 0 is null, values are 1 to `distinct` in their order. Read-only.

    Attributes
    ----------
    names
        The names of the columns, which also tell what was left out of the source.
    settings
        How the source was read, as plain JSON values.
    matrix
        All ranks, one line per column, if they stand so in memory.
    """

    name: str
    rows: int
    names: ColumnNames
    folder: Path | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    _columns: tuple[RankedColumn | Column, ...] = ()
    _origins: Origins | None = None
    matrix: npt.NDArray[np.int32] | None = None
    is_here: ClassVar[bool] = True
    """Whether this process can read the rows."""

    @property
    def width(self) -> int:
        """How many columns the table has."""
        return len(self.names)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What is known of each column; the extremes of one in memory are looked up only here."""
        return tuple(describe(*named) for named in zip(self.names, self._columns, strict=True))

    @property
    def nbytes(self) -> int:
        """The size of all ranks."""
        return 4 * self.rows * self.width

    @cached_property
    def _mapped(self) -> dict[int, npt.NDArray[np.int32]]:
        return {}

    def column(self, position: int) -> npt.NDArray[np.int32]:
        """The ranks of a column; memory-mapped where the table is a folder."""
        known = self._columns[position]
        if isinstance(known, RankedColumn):
            return known.ranks
        if position not in self._mapped:
            assert self.folder is not None
            self._mapped[position] = map_ranks(self.folder, position, self.rows)
        return self._mapped[position]

    def distinct(self, position: int) -> int:
        """How many distinct values a column has, null not counted."""
        return self._columns[position].distinct

    def type(self, position: int) -> ColumnType:
        """The type of a column's values."""
        return self._columns[position].type

    def nulls(self, position: int) -> int:
        """How many rows have no value in a column."""
        return self._columns[position].nulls

    def value(self, row: int, position: int) -> str | None:
        """The value of a cell as text, None for null."""
        rank = int(self.column(position)[row])
        if rank == NULL_RANK:
            return None
        text: str = typed_to_text(self.values(position).slice(rank - 1, 1))[0].as_py()
        return text

    def texts(self, rows: Sequence[int] | npt.NDArray[np.int64], position: int) -> pa.Array:
        """The values of a column in some rows as texts, null where they are null."""
        ranks = np.asarray(self.column(position))[np.asarray(rows, np.int64)].astype(np.int64)
        is_null = ranks == NULL_RANK
        places = pa.array(ranks - 1, mask=is_null) if is_null.any() else as_arrow(ranks - 1)
        return typed_to_text(self.values(position).take(places))

    def values(self, position: int) -> pa.Array:
        """The values that the ranks of a column stand for, from rank 1 on: texts of a text source, else typed."""
        known = self._columns[position]
        if isinstance(known, RankedColumn):
            return known.values
        assert self.folder is not None
        return read_values(self.folder / values_file(position))

    def place(self, row: int) -> Place:
        """The file and line that a row came from."""
        return self.origins.place(row)

    @cached_property
    def origins(self) -> Origins:
        """Where all rows came from."""
        if self._origins is not None:
            return self._origins
        assert self.folder is not None
        origins = read_metadata(self.folder)["origins"]
        runs = np.array(map_npy(self.folder / ORIGINS))  # few: nothing stays mapped
        if runs.dtype != np.int64 or runs.ndim != 2 or runs.shape[1] != _ORIGIN_FIELDS:
            raise _damaged(self.folder, f"{ORIGINS} does not hold runs of rows")
        return Origins(tuple(origins["files"]), origins["unit"], runs)

    @staticmethod
    def in_memory(name: str, ranked: RankedColumns, options: ReadOptions) -> EncodedTable:
        """Make a table of columns that were ranked in this process."""
        rows = len(ranked.columns[0].ranks) if ranked.columns else 0
        check_row_count(rows)
        return EncodedTable(
            name, rows, ranked.names, None, options.to_dict(), tuple(ranked.columns), ranked.origins, ranked.matrix
        )

    @staticmethod
    def open(folder: Path, *, verify: bool = True) -> EncodedTable:
        """Open a folder.

        Raises
        ------
        DamagedTableError
            Where a file is missing, has another size or checksum than was written, or is of another format.
        """
        document = read_metadata(folder)
        try:
            columns = tuple(Column.from_dict(entry) for entry in document["columns"])
            names = ColumnNames((column.name for column in columns), _read_left_out(document))
            table = EncodedTable(
                str(document["name"]), int(document["rows"]), names, folder, dict(document["settings"]), columns
            )
            if verify:
                _verify_files(folder, document["files"], table.width)
                table._verify_ranks()
                table.origins.place(0)
            return table
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise _damaged(folder, f"its metadata lack or garble {error}") from None

    def _verify_ranks(self) -> None:
        """Compiled loops index by rank without looking: one out of range would reach into foreign memory."""
        assert self.folder is not None
        for position in range(self.width):
            # A map of its own, which goes at once: what is only looked through must not stay in this process.
            ranks, distinct = map_ranks(self.folder, position, self.rows), self.distinct(position)
            largest = int(ranks.max(initial=NULL_RANK))
            if int(ranks.min(initial=NULL_RANK)) < NULL_RANK or largest != distinct:
                raise _damaged(self.folder, f"{ranks_file(position)} does not have {distinct} distinct ranks")


def _read_left_out(document: dict[str, Any]) -> dict[str, str]:
    """The columns that were left out; tables that were encoded before there were such have no word of them."""
    return {str(entry["name"]): str(entry["type"]) for entry in document.get("left_out", [])}


def left_out_document(names: ColumnNames) -> list[dict[str, str]]:
    """The columns that were left out, as plain JSON values."""
    return [{"name": name, "type": type_} for name, type_ in names.left_out.items()]


def describe(name: str, column: RankedColumn | Column) -> Column:
    """The statistics of a column, where they are not known yet."""
    if isinstance(column, Column):
        return column
    distinct = column.distinct
    least, greatest = (_text(column, 0), _text(column, distinct - 1)) if distinct else (None, None)
    return Column(name, column.type, distinct, column.nulls, least, greatest)


def _text(column: RankedColumn, place: int) -> str:
    text: str = typed_to_text(column.values.slice(place, 1))[0].as_py()
    return text


def check_row_count(rows: int) -> None:
    """Refuse a table whose row ids would not fit."""
    if rows > MOST_ROWS:
        raise LawfulError(
            f"the table has {rows:,} rows, and ranks are 32-bit: at most {MOST_ROWS:,} fit",
            "Limit the rows with --limit.",
        )


def ranks_file(position: int) -> str:
    """Where a folder keeps the ranks of a column."""
    return f"ranks/{position}.npy"


def values_file(position: int) -> str:
    """Where a folder keeps the values of a column."""
    return f"values/{position}.arrow"


def map_ranks(folder: Path, position: int, rows: int) -> npt.NDArray[np.int32]:
    """Memory-map the ranks of a column, read-only."""
    try:
        ranks = map_npy(folder / ranks_file(position))
    except (OSError, ValueError) as error:
        raise _damaged(folder, str(error)) from None
    if ranks.dtype != np.int32 or ranks.shape != (rows,):
        raise _damaged(folder, f"{ranks_file(position)} is not {rows} int32 ranks")
    return ranks


def read_values(path: Path) -> pa.Array:
    """Memory-map the values of a column."""
    with pa.memory_map(str(path)) as mapped:
        values = pa.ipc.open_file(mapped).read_all().column(0)
        # Combining would copy even a single chunk, and with it the whole file for the sake of one value.
        return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def write_metadata(folder: Path, document: dict[str, Any]) -> None:
    """Write the metadata of a folder, with a checksum of themselves."""
    document = document | {"crc32": _own_checksum(document)}
    (folder / METADATA).write_text(json.dumps(document, ensure_ascii=True, indent=1), "utf-8")


def _own_checksum(document: dict[str, Any]) -> str:
    members = {name: value for name, value in document.items() if name != "crc32"}
    return checksum(json.dumps(members, ensure_ascii=True, sort_keys=True).encode())


def read_metadata(folder: Path) -> dict[str, Any]:
    """The metadata of a folder, with its format version and checksum checked."""
    try:
        document = json.loads((folder / METADATA).read_text("utf-8"))
    except FileNotFoundError:
        raise _damaged(folder, f"it has no {METADATA}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder, f"{METADATA} cannot be read: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        raise _damaged(folder, f"its format is {found!r}, and this version of lawful reads {FORMAT!r}")
    if document.get("crc32") != _own_checksum(document):
        raise _damaged(folder, f"{METADATA} does not match its checksum")
    return document


def checksum(data: Any) -> str:
    """A checksum that finds damage (it is no protection against forgery)."""
    return f"{zlib.crc32(data):08x}"


def _verify_files(folder: Path, files: dict[str, Any], width: int) -> None:
    for position in range(width):
        if not {ranks_file(position), values_file(position), ORIGINS} <= files.keys():
            raise _damaged(folder, f"its metadata lack a file of column {position + 1}")
    for name, expected in files.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise _damaged(folder, f"its metadata name a file outside of it: {name!r}")
        path = folder / name
        try:
            size = path.stat().st_size
        except OSError:
            raise _damaged(folder, f"{name} is missing") from None
        if size != expected["bytes"]:
            raise _damaged(folder, f"{name} has {size} bytes instead of {expected['bytes']}")
        found = checksum(np.memmap(path, np.uint8, mode="r")) if size else checksum(b"")
        if found != expected["crc32"]:
            raise _damaged(folder, f"{name} does not match its checksum")


def _damaged(folder: Path, reason: str) -> DamagedTableError:
    return DamagedTableError(
        f"the encoded table {folder} is damaged: {reason}",
        "Delete the folder and encode the source again.",
    )
