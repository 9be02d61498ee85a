"""What a search asks about the values of a shuffled table: those of some rows, and counts over all of them.

A rank orders the values of its own column. Which columns are like enough to be compared, and with which constants,
depends on values: tasks make keys of them that are equal where the values are, and sums without rounding. What comes
back is a few numbers for each column or two of them, and the values of ranks that somebody has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int64s
from lawful.common.errors import UsageError
from lawful.common.meanings import ColumnType
from lawful.dependencies import Constant
from lawful.tables.encoded_table import Column
from lawful.tables.exact_sums import finite_sum
from lawful.tables.ranking import typed_to_text
from lawful.tables.sample import Frequent
from lawful.tables.shared_ranks import (
    NUMBERS,
    TEXTS,
    common_type,
    constant_array,
    iso_constant,
    rank_together,
    whole_keys,
)
from lawful.tables.shuffled.data import functions_of
from lawful.tables.shuffled.order_keys import number_keys
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.tables.shuffled.table import ShuffledTable

Runner = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_KEYS = "place int, key binary"
_SUMS = "numbers bigint, added string"
_SUMS_SCHEMA = pa.schema([("numbers", pa.int64()), ("added", pa.string())])
_WIDEST_SUM = "decimal(38, 0)"
_EACH_TWO = "transform(places, a -> transform(filter(places, b -> b >= a), b -> named_struct('a', a, 'b', b)))"


class ColumnValues:
    """The values of one table, asked for by jobs.

    Parameters
    ----------
    table
        The table.
    gathered
        Runs a job and gives its lines.
    """

    def __init__(self, table: ShuffledTable, gathered: Callable[[DataFrame], pa.Table]) -> None:
        self._table, self._data, self._gathered = table, table.dataset, gathered
        self._known: dict[int, tuple[Int64s, pa.Array]] = {}

    def of_ranks(self, column: int, ranks: Int64s) -> pa.Array:
        """The values of some ranks of a column, which rise and are not null; dates from texts as dates."""
        if self._data.codings[column].low is not None:
            return self._data.direct_values(column, ranks)
        if not ranks.size:
            return pa.nulls(0)
        known, values = self._known.get(column, (np.zeros(0, np.int64), None))
        missing = np.setdiff1d(ranks, known, assume_unique=True)
        if missing.size or values is None:
            fetched, found = self._fetched(column, missing)
            known = np.concatenate([known, fetched])
            order = np.argsort(known)
            joined = found if values is None else pa.concat_arrays([values, found])
            known, values = self._known[column] = known[order], joined.take(pa.array(order))
        return values.take(pa.array(np.searchsorted(known, ranks)))

    def _fetched(self, column: int, ranks: Int64s) -> tuple[Int64s, pa.Array]:
        wanted = frame_of(self._data.spark, pa.table({"rank": pa.array(ranks, pa.int64())}))
        lines = self._gathered(self._data.distinct_values(column).join(wanted.hint("broadcast"), "rank"))
        return lines.column("rank").to_numpy(), lines.column("value").combine_chunks()

    def shared(self, columns: Sequence[int]) -> Int64s | None:
        """How many values each two of some columns share, and on the diagonal how many each has.

        None if some have no order between them.
        """
        try:
            type_ = require_order([self._table.columns[column] for column in columns])
        except UsageError:
            return None
        keyed = [
            self._data.distinct_values(column).select("value").mapInArrow(key_maker(place, type_), _KEYS)
            for place, column in enumerate(columns)
        ]
        expr = self._data.expr
        places = (
            reduce(lambda one, other: one.union(other), keyed).groupBy("key").agg(expr("collect_set(place) as places"))
        )
        each_two = places.selectExpr(f"explode(flatten({_EACH_TWO})) as two").groupBy("two.a", "two.b")
        counts = np.zeros((len(columns), len(columns)), np.int64)
        for line in self._gathered(each_two.agg(expr("count(*) as n"))).to_pylist():
            counts[line["a"], line["b"]] = counts[line["b"], line["a"]] = line["n"]
        return counts

    def mean(self, column: int) -> Fraction:
        """The mean of a column's numbers over all rows, exactly; 0 if there is none."""
        low, ranks = self._data.codings[column].low, self._data.ranks.where(f"c{column} <> 0")
        if low is not None:
            sums = [f"coalesce(sum(cast(c{column} as {_WIDEST_SUM})), 0) as added", "count(*) as numbers"]
            (line,) = self._gathered(ranks.agg(*map(self._data.expr, sums))).to_pylist()
            return Fraction(int(line["added"]), line["numbers"]) + low - 1 if line["numbers"] else Fraction()
        counted = ranks.groupBy(f"c{column}").agg(self._data.expr("count(*) as rows"))
        valued = self._data.valued(counted, column).selectExpr(f"v{column} as value", "rows")
        lines = self._gathered(valued.mapInArrow(sum_maker(), _SUMS)).to_pylist()
        added = sum((Fraction(Decimal(line["added"])) for line in lines), Fraction())
        numbers: int = sum(line["numbers"] for line in lines)
        return added / max(1, numbers)

    def frequent(self, column: int, most: int) -> list[Frequent]:
        """The values that most rows have, so many at most; of those that as many rows have, the least first."""
        name, functions = f"c{column}", functions_of(self._data.spark)
        counted = self._data.ranks.where(f"{name} <> 0").groupBy(name).agg(functions.expr("count(*) as rows"))
        lines = self._gathered(counted.sort(functions.desc("rows"), name).limit(most)).to_pylist()
        texts = self._data.texts_of(column, [line[name] for line in lines])
        found = (Frequent(texts[line[name]], line[name], line["rows"]) for line in lines)
        return sorted(found, key=lambda value: (-value.rows, value.rank))

    def read(self, column: int, constant: Constant) -> pa.Array:
        """A constant as a value of a column."""
        return read_constant(self._table, column, constant)


def require_order(columns: Sequence[Column]) -> ColumnType:
    """The type that some columns are compared as.

    Raises
    ------
    UsageError
        If values of two of them have no order between them.
    """
    type_ = common_type(columns)
    if type_ is ColumnType.TIMESTAMP:  # all of a column have a zone, or none
        rank_together([_text(column.minimum) for column in columns], type_)
    return type_


def read_constant(table: ShuffledTable, column: int, constant: Constant) -> pa.Array:
    """A constant as a value of a column, dates as ISO 8601 writes them.

    Raises
    ------
    UsageError
        If it is not of the column's type.
    """
    described = table.columns[column]
    single = constant_array(constant, described.type, described.name)
    if described.type is ColumnType.TIMESTAMP:
        rank_together([_text(described.minimum), single], ColumnType.TIMESTAMP)
    if described.type is ColumnType.DATE:
        has_slashes = "/" in (described.minimum or "")
        day_first = table.dataset.codings[column].day_first if has_slashes else None
        return iso_constant(single, constant, described.name, day_first=day_first)
    return single


def _text(text: str | None) -> pa.Array:
    return pa.array([] if text is None else [text], pa.string())


def key_maker(place: int, type_: ColumnType) -> Runner:
    """A task that gives the keys of values of a column, which is named by a place."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = equal_keys(batch.column(0), type_)
            places = pa.array(np.full(len(keys), place, np.int32))
            yield pa.RecordBatch.from_arrays([places, keys], names=["place", "key"])

    return run


def equal_keys(values: pa.Array, type_: ColumnType) -> pa.Array:
    """Bytes that are equal where the values are, whichever columns of comparable types these are of."""
    if type_ in TEXTS:
        return values.cast(pa.binary())
    if type_ in NUMBERS:
        return number_keys(typed_to_text(values)).cast(pa.binary())
    numbers = np.stack([np.asarray(key, np.int64) for key in whole_keys(values, type_)], axis=1)
    size = 8 * numbers.shape[1]
    packed = pa.py_buffer(np.ascontiguousarray(numbers).tobytes())
    return pa.Array.from_buffers(pa.binary(size), len(values), [None, packed]).cast(pa.binary())


def sum_maker() -> Runner:
    """A task that adds up numbers (`value`), each times its rows (`rows`), and tells how many rows count."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers, added = 0, Decimal(0)
        for batch in batches:
            counted, added = finite_sum(batch.column("value"), batch.column("rows").to_numpy(), added)
            numbers += counted
        yield pa.RecordBatch.from_arrays([pa.array([numbers]), pa.array([str(added)])], schema=_SUMS_SCHEMA)

    return run
