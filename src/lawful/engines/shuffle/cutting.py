"""Cutting the rows of large classes into tiles that a task takes, in an order of the rows.

Rows are partitioned by range and sorted; each task goes through its own and cuts them, wherever a class ends and after
so many rows. What comes back of a tile is its size and a few of its rows, the *corners*: the first one, by which the
tile is known, and those with the least and the greatest value in some columns. From then on the tile of a row is found
by comparing it with the first rows. No two rows have the same place in the order, because it ends with the row id: so
a tile has no more rows than asked for, however many of them are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int64s
from lawful.engines.shuffle.chunks import Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GROUP, ROW = "g", "row"
"""The number of the class, by which an order begins, and the row id, by which it ends."""
_FIRST, _ROWS = "first", "n"
_MOST_PARTITIONS = 10_000

Words = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tiles:
    """Tiles in their order.

    Attributes
    ----------
    order
        The names of the columns that rows are ordered by.
    starts
        The first row of each tile in these columns, `int64[tiles, columns]`.
    sizes
        How many rows each has.
    corners, places
        The corners of all tiles, and the tile of each.
    """

    order: tuple[str, ...]
    starts: Int64s
    sizes: Int64s
    corners: pa.Table
    places: Int64s

    @staticmethod
    def read(lines: pa.Table, order: tuple[str, ...]) -> Tiles:
        """Read what `cutter` tells of all partitions."""
        keys = np.stack([_whole(lines.column(name)) for name in order], axis=1)
        rows, firsts = keys[:, -1], _whole(lines.column(_FIRST))
        begins = np.flatnonzero(rows == firsts)
        begins = begins[np.lexsort(keys[begins][:, ::-1].T)]
        numbers = {int(rows[place]): number for number, place in enumerate(begins)}
        places = np.array([numbers[first] for first in firsts.tolist()], np.int64)
        sizes = _whole(lines.column(_ROWS))[begins]
        return Tiles(order, keys[begins], sizes, lines.drop_columns([_FIRST, _ROWS]), places)

    @property
    def count(self) -> int:
        """How many tiles there are."""
        return int(self.sizes.size)

    @property
    def groups(self) -> Int64s:
        """The class of each tile."""
        groups: Int64s = self.starts[:, 0]
        return groups

    def of(self, rows: pa.RecordBatch | pa.Table) -> Int64s:
        """The tile of each row: the last one that does not begin behind it."""
        keys = [_whole(rows.column(name)) for name in self.order]
        low = np.zeros(rows.num_rows, np.int64)
        high = np.full(rows.num_rows, self.count, np.int64)
        for _ in range(self.count.bit_length()):
            middle = np.minimum((low + high) // 2, self.count - 1)
            begins_behind = _is_before(keys, [self.starts[middle, word] for word in range(len(keys))])
            is_open = low < high
            high = np.where(is_open & begins_behind, middle, high)
            low = np.where(is_open & ~begins_behind, middle + 1, low)
        found: Int64s = low - 1
        return found


def _is_before(one: Sequence[Int64s], other: Sequence[Int64s]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether a list of words comes before another."""
    is_before = np.zeros(one[0].size, np.bool_)
    for left, right in zip(reversed(one), reversed(other), strict=True):
        is_before = (left < right) | ((left == right) & is_before)
    return is_before


def cut(
    rows: DataFrame,
    order: tuple[str, ...],
    extremes: Sequence[tuple[str, ...]],
    size: int,
    count: int,
    gathered: Callable[[DataFrame], pa.Table],
) -> Tiles:
    """Cut about so many rows, of which `count` is the number; `extremes` are the columns of which corners tell."""
    partitions = max(1, min(_MOST_PARTITIONS, -(-count // size)))
    in_order = rows.repartitionByRange(partitions, *order).sortWithinPartitions(*order)
    schema = ", ".join([schema_of(rows), f"{_FIRST} bigint, {_ROWS} bigint"])
    return Tiles.read(gathered(in_order.mapInArrow(cutter(extremes, size), schema)), order)


def schema_of(rows: DataFrame) -> str:
    """The columns of a frame with their types, as tasks declare them."""
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)


def cutter(extremes: Sequence[tuple[str, ...]], size: int) -> Runner:
    """A task that cuts rows that come in order, and gives the corners of each tile with its first row and its size."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for tile in tiles_in_order(batches, size):
            rows = tile.num_rows
            corners = tile.take(pa.array(_corners(tile, extremes))).combine_chunks()
            first = tile.column(ROW)[0].as_py()
            told = {_FIRST: first, _ROWS: rows}
            for name, number in told.items():
                corners = corners.append_column(name, pa.array([number] * corners.num_rows, pa.int64()))
            yield from corners.to_batches()

    return run


def tiles_in_order(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Cut rows that come in order wherever a class ends, and after so many rows."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for given in batches:
        batch = given
        while batch.num_rows:
            groups = _whole(batch.column(GROUP))
            if waiting and (held == size or groups[0] != waiting[0].column(GROUP)[0].as_py()):
                yield pa.Table.from_batches(waiting)
                waiting, held = [], 0
            taken = min(size - held, int(np.searchsorted(groups, groups[0], side="right")))
            waiting.append(batch.slice(0, taken))
            held += taken
            batch = batch.slice(taken)
    if waiting:
        yield pa.Table.from_batches(waiting)


def _corners(tile: pa.Table, extremes: Sequence[tuple[str, ...]]) -> list[int]:
    chosen = {0}
    for names in extremes:
        words = [_whole(tile.column(name)) for name in names]
        in_order = np.lexsort(words[::-1]) if len(words) > 1 else [np.argmin(words[0]), np.argmax(words[0])]
        chosen |= {int(in_order[0]), int(in_order[-1])}
    return sorted(chosen)


def together(batches: Iterator[pa.RecordBatch], name: str) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each number in a column, given in the order of these."""
    waiting: list[pa.RecordBatch] = []
    current = -1
    for batch in batches:
        numbers = _whole(batch.column(name))
        starts = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, [numbers.size]])
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if start == end:
                continue
            if waiting and int(numbers[start]) != current:
                yield current, pa.Table.from_batches(waiting)
                waiting = []
            current = int(numbers[start])
            waiting.append(batch.slice(start, end - start))
    if waiting:
        yield current, pa.Table.from_batches(waiting)


def _whole(column: pa.Array | pa.ChunkedArray) -> Int64s:
    whole: Int64s = column.to_numpy().astype(np.int64, copy=False)
    return whole
