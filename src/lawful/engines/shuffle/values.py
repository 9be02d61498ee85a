"""Laws that compare columns with others or with constants: rows bring the values of these columns along.

Ranks order the values of one column only. So the rows get the values of the columns that a law compares, direct ones
by arithmetic and others from their dictionaries, and a task ranks those of the rows at hand together, as
`shared_ranks` does for a whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int32s
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.dependencies import DC, Cell, Constant, Law, Predicate
from lawful.engines.shuffle.chunks import Chunk
from lawful.tables.shared_ranks import common_type, constant_array, iso_constant, rank_together

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.data import ShuffledData
    from lawful.tables.shuffled.table import ShuffledTable


def valued_columns(law: Law) -> tuple[int, ...]:
    """The columns that a law compares with others or with constants, for which ranks are not enough."""
    found: set[int] = set()
    for predicate in law.predicates if isinstance(law, DC) else ():
        if isinstance(predicate.right, Constant):
            found.add(predicate.left.column)
        elif predicate.left.column != predicate.right.column:
            found |= {predicate.left.column, predicate.right.column}
    return tuple(sorted(found))


def with_values_of(data: ShuffledData, laws: Iterable[Law]) -> DataFrame:
    """The ranks of all rows, with the values (`v0`, …) that some laws compare."""
    frame = data.ranks
    for column in sorted({column for law in laws for column in valued_columns(law)}):
        frame = data.valued(frame, column, as_dates=True)
    return frame


def rows_with_values(
    data: ShuffledData, law: Law, ids: Sequence[int], gathered: Callable[[DataFrame], pa.Table]
) -> pa.Table:
    """Few rows in the order of their ids given, with their ranks and the values that a law compares."""
    ranks = data.ranks_of(np.array(ids, np.int64))
    columns = {"row": pa.array(ids, pa.int64())}
    columns |= {f"c{column}": pa.array(ranks[:, column]) for column in range(data.width)}
    if valued := [f"v{column}" for column in valued_columns(law)]:
        wanted = with_values_of(data, [law]).where(f"row in ({', '.join(map(str, ids))})")
        found = gathered(wanted.select("row", *valued))
        places = {row: place for place, row in enumerate(found.column("row").to_pylist())}
        taken = found.take([places[id_] for id_ in ids])
        columns |= {name: taken.column(name) for name in valued}
    return pa.table(columns)


def prepared(law: Law, table: ShuffledTable) -> Law:
    """The law with its constants as tasks read them, once it is certain that all comparisons have a meaning.

    Raises
    ------
    UsageError
        If values of two columns, or a column's and a constant, have no order between them.
    """
    if not isinstance(law, DC):
        return law
    return DC(tuple(_prepared(predicate, table) for predicate in law.predicates))


def _prepared(predicate: Predicate, table: ShuffledTable) -> Predicate:
    column, right = table.columns[predicate.left.column], predicate.right
    if isinstance(right, Cell):
        other = table.columns[right.column]
        if common_type([column, other]) is ColumnType.TIMESTAMP:  # all of a column have a zone, or none
            rank_together([_text(column.minimum), _text(other.minimum)], ColumnType.TIMESTAMP)
        return predicate
    if column.type is ColumnType.NULL:
        return predicate
    single = constant_array(right, column.type, column.name)
    if column.type is ColumnType.TIMESTAMP:
        rank_together([_text(column.minimum), single], ColumnType.TIMESTAMP)
    if column.type is ColumnType.DATE:
        has_slashes = "/" in (column.minimum or "")
        day_first = table.dataset.codings[predicate.left.column].day_first if has_slashes else None
        single = iso_constant(single, right, column.name, day_first=day_first)
        return replace(predicate, right=Constant(single[0].as_py()))
    return predicate


def _text(text: str | None) -> pa.Array:
    return pa.array([] if text is None else [text], pa.string())


class ValuedChunk(Chunk):
    """Some rows of a table that has columns of some types, with the values of the columns that laws compare."""

    def __init__(self, rows: pa.Table, types: Sequence[ColumnType]) -> None:
        super().__init__(rows, len(types))
        self._types = types
        self._values: dict[int, tuple[pa.Array, Int32s]] = {}

    def shared_ranks(self, columns: Sequence[int]) -> list[Int32s]:
        """Rank the rows of several columns together: equal ranks are equal values, and null is 0."""
        filled = [self._types[column] for column in columns if self._types[column] is not ColumnType.NULL]
        coded = [self._coded(column) for column in columns]
        ranks = rank_together([values for values, _ in coded], filled[0] if filled else ColumnType.NULL)
        return [
            np.append(np.int32(NULL_RANK), own)[codes].astype(np.int32)
            for own, (_, codes) in zip(ranks, coded, strict=True)
        ]

    def constant_place(self, column: int, constant: Constant) -> int:
        """Say where a constant stands among the values of a column that are here."""
        type_ = self._types[column]
        values, codes = self._coded(column)
        if not len(values):
            return 2 * NULL_RANK + 1
        own, (place,) = rank_together([values, constant_array(constant, type_, "")], type_)
        shared = np.append(np.int32(NULL_RANK), own)[codes]
        ranks = self.column(column)
        if (equal := ranks[shared == place]).size:
            return 2 * int(equal[0])
        return 2 * int(ranks[shared < place].max(initial=NULL_RANK)) + 1

    def _coded(self, column: int) -> tuple[pa.Array, Int32s]:
        """The distinct values of a column, and for each row the number of its own, from 1 on; 0 for null."""
        if column not in self._values:
            encoded = self._table.column(f"v{column}").combine_chunks().dictionary_encode()
            codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int32) + np.int32(1)
            self._values[column] = encoded.dictionary, codes
        return self._values[column]
