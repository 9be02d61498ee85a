"""Laws of three and more strict orders in classes that no task takes: range tiles, and their extremes exchanged.

Two rows break such a law if they agree on some columns and one is below the other in each of some others, v_1 to v_k
(turned around where the law says so). Each of v_1 to v_(k-1) is cut into strips at some of its values. Two rows that
break the law and lie in one strip of some v_i are found where that strip is checked by itself. All others lie in
different strips of each of v_1 to v_(k-1), so that every row of the one's cell is below every row of the other's in
these: then the least v_k of the one cell and the greatest of the other decide, and two rows stand for a cell. They are
rows of the table, and checked as such. A strip of a single value needs no check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Flags, Int64s
from lawful.common.meanings import NullPolicy
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.classes import law_columns
from lawful.engines.shuffle.keys import PackedKey, key_names, without_nulls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.dependencies import Law
    from lawful.tables.shuffled.data import ShuffledData

_MOST_STRIPS = 1_024
_HELD_ROWS = 1 << 20
"""Rows that a task holds before it keeps two of each cell."""


@dataclass(frozen=True)
class Strips:
    """The strips of a column: strip n has the ranks above `ends[n - 1]`, up to `ends[n]`."""

    column: int
    ends: Int64s

    def of(self, ranks: Int64s) -> Int64s:
        """The strip of each rank."""
        found: Int64s = np.searchsorted(self.ends, ranks, side="left").astype(np.int64)
        return found

    def is_single(self, strips: Int64s) -> Flags:
        """Whether strips have room for one rank only."""
        low = np.concatenate([[-1], self.ends])
        high = np.concatenate([self.ends, [np.iinfo(np.int64).max]])
        single: Flags = (high - low <= 1)[strips]
        return single


def strips_of(quantiles: Sequence[int], column: int) -> Strips:
    """Strips that end at some ranks; one that comes several times has a strip of its own."""
    values, times = np.unique(np.array(quantiles, np.int64), return_counts=True)
    return Strips(column, np.unique(np.concatenate([values, values[times > 1] - 1])))


class TiledCheck:
    """The rows to check for one law, as frames of whole classes.

    Parameters
    ----------
    data, law
        The dataset, and a law of equalities and strict orders.
    policy
        What null means.
    equal, ordered
        The columns that two rows which break it agree on, and those in which one is below the other.
    rows_at_once
        About how many rows a strip is to have.
    """

    def __init__(
        self,
        data: ShuffledData,
        law: Law,
        policy: NullPolicy,
        equal: tuple[int, ...],
        ordered: list[int],
        rows_at_once: int,
    ) -> None:
        self._data, self._equal = data, equal
        self._ignores = policy is NullPolicy.IGNORE
        self._columns = law_columns(law)
        # A column of few values has strips of one value, which need no check; so that of most values is the last.
        *self._first, self._last = sorted(ordered, key=lambda column: data.codings[column].highest)
        self._count = int(np.clip(-(-data.rows // rows_at_once), 2, _MOST_STRIPS))
        self._strips: list[Strips] = []

    def quantiles(self) -> DataFrame:
        """One line: some ranks of each column, in equal distances among the rows, about."""
        shares = ", ".join(f"{number / self._count:.6f}D" for number in range(1, self._count))
        precision = max(10_000, 20 * self._count)
        texts = [f"approx_percentile(c{column}, array({shares}), {precision}) as q{column}" for column in self._first]
        return self._data.ranks.agg(*(self._data.expr(text) for text in texts))

    def take_quantiles(self, line: dict[str, Sequence[int]]) -> None:
        """Cut the columns there."""
        self._strips = [strips_of(line[f"q{column}"], column) for column in self._first]

    def frames(self) -> Iterator[tuple[DataFrame, int]]:
        """Frames to be checked in whole classes, with the words of their keys: strips of each column, then cells."""
        key = PackedKey.of(self._equal, self._data.codings)
        words = len(key.words)
        keys = [f"{text} as {name}" for text, name in zip(key.texts(words), key_names(words), strict=True)]
        rows = self._data.ranks.selectExpr(*keys, "row", *(f"c{column}" for column in self._columns))
        if self._ignores:  # a row that is not judged must not stand for others
            rows = rows.where(without_nulls(self._columns))
        types = dict(rows.dtypes)
        for strips in self._strips:
            names = key_names(words + 1)
            schema = ", ".join(f"{name} {types.get(name, 'bigint')}" for name in [*names, *rows.columns[words:]])
            cut = rows.mapInArrow(strip_runner(strips, words), schema)
            yield cut.repartition(*names).sortWithinPartitions(*names), words + 1
        schema = ", ".join(f"{name} {type_}" for name, type_ in rows.dtypes)
        corners = rows.mapInArrow(cell_runner(self._strips, self._last, words), schema)
        names = key_names(words)
        yield (corners.repartition(*names).sortWithinPartitions(*names) if names else corners.coalesce(1)), words


def strip_runner(strips: Strips, words: int) -> Runner:
    """A task that gives rows with their strip as one more word of the key; those of a single value are left out."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            own = strips.of(_ranks(batch, strips.column))
            is_kept = ~strips.is_single(own)
            columns = [*batch.columns[:words], pa.array(own), *batch.columns[words:]]
            names = [*key_names(words + 1), *batch.schema.names[words:]]
            yield pa.RecordBatch.from_arrays(columns, names=names).filter(pa.array(is_kept))

    return run


def cell_runner(strips: Sequence[Strips], last: int, words: int) -> Runner:
    """A task that gives two rows for each cell of its rows: those with the least and the greatest rank in a column."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        rows, limit = 0, _HELD_ROWS
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if rows > limit:
                waiting = [_corners(_joined(waiting), strips, last, words)]
                rows = waiting[0].num_rows
                limit = max(_HELD_ROWS, 2 * rows)
        if rows:
            yield _corners(_joined(waiting), strips, last, words)

    return run


def _corners(rows: pa.RecordBatch, strips: Sequence[Strips], last: int, words: int) -> pa.RecordBatch:
    cells = [rows.column(place).to_numpy() for place in range(words)]
    cells += [one.of(_ranks(rows, one.column)) for one in strips]
    order = np.lexsort([_ranks(rows, last), *cells])
    differs = np.zeros(order.size + 1, np.bool_)
    differs[0] = differs[-1] = True
    for cell in cells:
        differs[1:-1] |= cell[order][1:] != cell[order][:-1]
    chosen = np.union1d(order[differs[:-1]], order[differs[1:]])
    return rows.take(pa.array(chosen))


def _ranks(rows: pa.RecordBatch, column: int) -> Int64s:
    ranks: Int64s = rows.column(rows.schema.get_field_index(f"c{column}")).to_numpy().astype(np.int64, copy=False)
    return ranks


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
