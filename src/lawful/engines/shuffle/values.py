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
from lawful.tables.shared_ranks import Coded, constant_array, place_among, rank_coded
from lawful.tables.shuffled.column_values import read_constant, require_order

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
        require_order([column, table.columns[right.column]])
        return predicate
    if column.type is ColumnType.NULL:
        return predicate
    single = read_constant(table, predicate.left.column, right)
    return replace(predicate, right=Constant(single[0].as_py())) if column.type is ColumnType.DATE else predicate


class ValuedChunk(Chunk):
    """Some rows of a table that has columns of some types, with the values of the columns that laws compare."""

    def __init__(self, rows: pa.Table, types: Sequence[ColumnType]) -> None:
        super().__init__(rows, len(types))
        self._types = types
        self._values: dict[int, Coded] = {}

    def shared_ranks(self, columns: Sequence[int]) -> list[Int32s]:
        """Rank the rows of several columns together: equal ranks are equal values, and null is 0."""
        return rank_coded([self._coded(column) for column in columns], [self._types[column] for column in columns])

    def constant_place(self, column: int, constant: Constant) -> int:
        """Say where a constant stands among the values of a column that are here."""
        coded = self._coded(column)
        if not len(coded[0]):
            return 2 * NULL_RANK + 1
        type_ = self._types[column]
        return place_among(coded, self.column(column), constant_array(constant, type_, ""), type_)

    def _coded(self, column: int) -> Coded:
        if column not in self._values:
            encoded = self._table.column(f"v{column}").combine_chunks().dictionary_encode()
            codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int32) + np.int32(1)
            self._values[column] = encoded.dictionary, codes
        return self._values[column]
