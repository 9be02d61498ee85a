"""A batch of rows becomes codes: its columns are matched by name, its values fitted to the types that are pinned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s, Int64s
from lawful.common.column_names import short_text
from lawful.common.errors import SourceError
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.living.canonical import CanonicalTexts, canonical_texts, canonical_values
from lawful.tables.living.living_table import LivingColumn, LivingTable
from lawful.tables.text_values import sort_texts

Misfits = Literal["refuse", "quarantine", "widen"]
MISFITS: tuple[Misfits, ...] = ("refuse", "quarantine", "widen")


class Misfit(NamedTuple):
    """A value that does not fit the type of its column: the row of the batch, the column of the table, the value."""

    row: int
    column: int
    value: str


@dataclass(frozen=True)
class Incoming:
    """Rows of a batch: the encoded table that they are in, which of its rows they are, and where its columns stand."""

    batch: EncodedTable
    rows: Int64s
    positions: Mapping[int, int]
    """For columns of the living table, the column of the batch."""
    is_text: bool = False
    """Whether its strings are texts of values whose types are still to be found, as in CSV."""


@dataclass(frozen=True)
class FittedRows:
    """Rows whose values all fit, ready to be coded.

    Attributes
    ----------
    rows
        The rows of the batch that these are.
    misfits
        Values that did not fit, whose rows were left out.
    widened
        The columns that have to become text.
    """

    incoming: Incoming
    rows: Int64s
    misfits: list[Misfit]
    types: dict[int, tuple[ColumnType, bool | None]]
    _columns: dict[int, tuple[Int64s, pa.Array]]

    def find(self, table: LivingTable) -> Int32s:
        """The codes of the rows, -1 for values that never came, `int32[columns, rows]`."""
        return np.stack([self._codes(column, table, add=False) for column in self._columns])

    def add(self, table: LivingTable) -> Int32s:
        """The codes of the rows, with new ones for values that never came."""
        return np.stack([self._codes(column, table, add=True) for column in self._columns])

    def texts(self) -> dict[int, pa.Array]:
        """The canonical texts of the rows, by the column of the table."""
        return {column: texts.take(pa.array(ranks)) for column, (ranks, texts) in self._columns.items()}

    def _codes(self, column: int, table: LivingTable, *, add: bool) -> Int32s:
        ranks, texts = self._columns[column]
        dictionary = table.columns[column].dictionary
        codes = dictionary.add(texts) if add else dictionary.find(texts)
        return np.asarray(codes[ranks])


def match_columns(
    table: LivingTable, batch: EncodedTable, needed: Sequence[int] | None = None, beside: Sequence[str] = ()
) -> dict[int, int]:
    """Where the columns of a table stand in a batch; all of them and no others but `beside`, unless some are needed.

    Raises
    ------
    SourceError
        With the names that are missing or new.
    """
    known = {name: position for position, name in enumerate(batch.names)}
    wanted = range(table.width) if needed is None else needed
    missing = [table.columns[column].name for column in wanted if table.columns[column].name not in known]
    known_names = {*table.names, *beside}
    new = [name for name in batch.names if name not in known_names] if needed is None else []
    if missing or new:
        what = [
            f"{'lacks' if names is missing else 'has new'} {'column' if len(names) == 1 else 'columns'} "
            + ", ".join(map(repr, names))
            for names in (missing, new)
            if names
        ]
        raise SourceError(f"{batch.name} {' and '.join(what)}", f"The state has the columns {', '.join(table.names)}.")
    return {column: known[table.columns[column].name] for column in wanted}


def fit(table: LivingTable, incoming: Incoming, misfits: Misfits) -> FittedRows:
    """Fit the values of rows to the types of a table; nothing is changed yet.

    Raises
    ------
    SourceError
        If a value does not fit and misfits are refused: names the file, the line, the column and the value.
    """
    found: list[Misfit] = []
    types: dict[int, tuple[ColumnType, bool | None]] = {}
    columns: dict[int, tuple[Int64s, pa.Array]] = {}
    is_out = np.zeros(len(incoming.rows), np.bool_)
    for column, position in incoming.positions.items():
        pinned = table.columns[column]
        ranks, values = _distinct(incoming.batch, incoming.rows, position)
        type_ = _type_of_first_values(incoming, values, position) if _has_no_type(pinned, values) else pinned.type
        canonical = _canonical(values, type_, pinned.settled)
        if not canonical.fits.all():
            if misfits == "widen":
                type_, canonical = ColumnType.STRING, _canonical(values, ColumnType.STRING, None)
            else:
                rows = np.flatnonzero(~canonical.fits[ranks])
                found += [_misfit(incoming, int(row), column, values[int(ranks[row])]) for row in rows]
                is_out[rows] = True
        if (type_, canonical.settled) != (pinned.type, pinned.settled):
            types[column] = type_, canonical.settled if canonical.settled is not None else pinned.settled
        columns[column] = ranks, canonical.texts
    if found and misfits == "refuse":
        raise _refused(table, incoming.batch, min(found))
    kept = {column: (ranks[~is_out], texts) for column, (ranks, texts) in columns.items()}
    return FittedRows(incoming, incoming.rows[~is_out], sorted(found), types, kept)


def _has_no_type(pinned: LivingColumn, values: pa.Array) -> bool:
    """Whether a column gets its type only now, with the first values that come."""
    return pinned.type is ColumnType.NULL and values.null_count < len(values)


def _type_of_first_values(incoming: Incoming, values: pa.Array, position: int) -> ColumnType:
    return sort_texts(values.drop_null()).type if incoming.is_text else incoming.batch.type(position)


def _canonical(values: pa.Array, type_: ColumnType, settled: bool | None) -> CanonicalTexts:
    if pa.types.is_string(values.type):
        return canonical_texts(values, type_, settled=settled)
    return canonical_values(values, type_, settled=settled)


def _distinct(batch: EncodedTable, rows: Int64s, position: int) -> tuple[Int64s, pa.Array]:
    """The distinct values of some rows of a column, null included, and for each row the place of its own."""
    ranks, places = np.unique(np.asarray(batch.column(position))[rows], return_inverse=True)
    values = batch.values(position).take(pa.array(ranks.astype(np.int64) - 1, mask=ranks == NULL_RANK))
    return places.ravel(), values


def _misfit(incoming: Incoming, place: int, column: int, value: pa.Scalar) -> Misfit:
    return Misfit(int(incoming.rows[place]), column, str(value.as_py()))


def _refused(table: LivingTable, batch: EncodedTable, misfit: Misfit) -> SourceError:
    column, where = table.columns[misfit.column], batch.place(misfit.row)
    return SourceError(
        f"{where}: {short_text(misfit.value)!r} in column {column.name!r} is not of its type, {column.type.value}",
        "Nothing was changed. Mend the value, or use --misfits quarantine or --misfits widen.",
    )
