"""What tasks do with the rows of laws that are kept in buckets by range. Functions here import no Spark.

Rows come with the number of their law (`t`), their bucket, their id and their cells (`KeptLaw.columns`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Flags, Int64s
from lawful.engines.shuffle.chunks import Runner, in_chunks
from lawful.engines.shuffle.classes import whole_classes
from lawful.engines.spread.boxes import Box, RankedRows, Ranking, boxes_of, joined_boxes
from lawful.engines.spread.cuts import Tree, placed

SHOWN = pa.list_(pa.struct([("row", pa.int64()), ("cells", pa.list_(pa.string()))]))
CELLS = pa.list_(pa.string())
DEGREES = "t int, bucket int, row bigint, d bigint, witness array<struct<row bigint, cells array<string>>>"
DEGREE_LINES = pa.schema(
    [("t", pa.int32()), ("bucket", pa.int32()), ("row", pa.int64()), ("d", pa.int64()), ("witness", SHOWN)]
)
BOXES = "bucket int, box string"
_BOX_LINES = pa.schema([("bucket", pa.int32()), ("box", pa.string())])
PARTNERS = "t int, place int, row bigint, cells array<string>"
_PARTNER_LINES = pa.schema([("t", pa.int32()), ("place", pa.int32()), ("row", pa.int64()), ("cells", CELLS)])
_LINES = pa.schema(
    [
        ("key", CELLS),
        ("rest", CELLS),
        ("n", pa.int64()),
        ("rows", pa.list_(pa.int64())),
        ("t", pa.int32()),
        ("bucket", pa.int32()),
    ]
)
_ROWS_AT_ONCE = 500_000
WITHIN = -1
"""The side of rows in a tile that has only one."""


@dataclass(frozen=True)
class RowsOfLaw:
    """Rows of a batch that a law judges: ids, buckets and cells; `sign` is 1 for those that come, -1 for others."""

    ranking: Ranking
    ids: Int64s
    signs: Int64s
    buckets: Int64s
    cells: pa.Array

    def taken(self, places: Flags | Int64s) -> RowsOfLaw:
        """Some of them."""
        some = np.arange(len(self.ids))[places]
        return RowsOfLaw(
            self.ranking, self.ids[some], self.signs[some], self.buckets[some], self.cells.take(pa.array(some))
        )


def lines_of_rows(ranking: Ranking, ids: Int64s, signs: Int64s, tree: Tree, cells: pa.Array) -> pa.Table:
    """The lines of an index for rows that came and left; rows that can be neither t nor s have none."""
    t_fits, s_fits = ranking.ranked(cells).fits()
    kept = np.flatnonzero(t_fits | s_fits)
    cells = cells.take(pa.array(kept))
    number = np.full(len(kept), ranking.kept.number, np.int32)
    offsets = pa.array(np.arange(len(kept) + 1, dtype=np.int32))
    columns = [
        cells,
        pa.array([[]] * len(kept), CELLS),
        pa.array(signs[kept].astype(np.int64)),
        pa.ListArray.from_arrays(offsets, pa.array(ids[kept].astype(np.int64))),
        pa.array(number),
        pa.array(placed(ranking, tree, cells).astype(np.int32)),
    ]
    return pa.Table.from_arrays(columns, schema=_LINES)


def line_runner(ranking: Ranking, tree: Tree) -> Runner:
    """A task that makes lines of rows that came (`row`, `cells`)."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in in_chunks(batches, _ROWS_AT_ONCE):
            ids = rows.column("row").to_numpy()
            lines = lines_of_rows(ranking, ids, np.ones(len(ids), np.int64), tree, cells_in(rows))
            yield from lines.combine_chunks().to_batches()

    return run


def cells_in(rows: pa.Table) -> pa.Array:
    """The cells of rows as one array."""
    column = rows.column("cells").combine_chunks()
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return cells.cast(CELLS)


def box_runner(ranking: Ranking) -> Runner:
    """A task that tells the boxes of its rows, bucket by bucket."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: Mapping[int, Box] = {}
        for rows in in_chunks(batches, _ROWS_AT_ONCE):
            own = boxes_of(ranking, cells_in(rows), rows.column("bucket").to_numpy().astype(np.int64))
            found = joined_boxes(ranking, [*found.items(), *own.items()])
        lines = [{"bucket": bucket, "box": json.dumps(box.to_list())} for bucket, box in found.items()]
        yield pa.RecordBatch.from_pylist(lines, schema=_BOX_LINES)

    return run


def tile_runner(ranking: Ranking) -> Runner:
    """A task that counts partners in whole tiles (`k0`): of the rows of two sides, or of one (`WITHIN`)."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in whole_classes(batches, 1, _ROWS_AT_ONCE):
            tiles = rows.column("k0").to_numpy()
            starts = np.flatnonzero(np.diff(tiles, prepend=tiles[0] - 1))
            for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(tiles)], strict=True):
                yield from _tile(ranking, rows.slice(start, end - start))

    return run


def _tile(ranking: Ranking, rows: pa.Table) -> Iterator[pa.RecordBatch]:
    sides, cells = rows.column("side").to_numpy(), cells_in(rows)
    ranked = ranking.ranked(cells)
    one, other = sides <= 0, sides != 0
    degrees = ranked.judge.degrees(one, other)
    if sides[0] != WITHIN:
        degrees += ranked.judge.degrees(other, one)
    broken = np.flatnonzero(degrees)
    if len(broken):
        ids, buckets = (rows.column(name).to_numpy() for name in ("row", "bucket"))
        partners = other if one[broken[0]] else one
        witness = _witness(ranked, int(broken[0]), np.flatnonzero(partners), ids, cells)
        yield degree_lines(ranking.kept.number, buckets[broken], ids[broken], degrees[broken], witness)


def _witness(ranked: RankedRows, row: int, among: Int64s, ids: Int64s, cells: pa.Array) -> list[dict[str, Any]]:
    """A row and one of others that breaks the law with it."""
    among = among[among != row]
    other = int(among[np.flatnonzero(ranked.judge.partners(row, among))[0]])
    return [{"row": int(ids[place]), "cells": cells[place].as_py()} for place in (row, other)]


def degree_lines(
    number: int, buckets: Int64s, ids: Int64s, degrees: Int64s, witness: list[dict[str, Any]] | None
) -> pa.RecordBatch:
    """Lines that say how many partners rows have gained or lost; the first has two rows that break the law."""
    columns = [
        pa.array(np.full(len(ids), number, np.int32)),
        pa.array(np.asarray(buckets).astype(np.int32)),
        pa.array(np.asarray(ids).astype(np.int64)),
        pa.array(degrees),
        pa.array([witness, *[None] * (len(ids) - 1)], SHOWN),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=DEGREE_LINES)


Work = Callable[[RowsOfLaw, RankedRows, pa.Table, pa.Array], Iterator[pa.RecordBatch]]
"""Does something with rows of a batch and rows of the table, which stand behind them in one ranking."""


def _of_laws(batch: Sequence[RowsOfLaw], work: Work) -> Runner:
    by_number = {rows.ranking.kept.number: rows for rows in batch}

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in in_chunks(batches, _ROWS_AT_ONCE):
            numbers = chunk.column("t").to_numpy()
            for number in np.unique(numbers).tolist():
                rows = chunk.filter(pa.array(numbers == number))
                ours, cells = by_number[number], cells_in(rows)
                ranked = ours.ranking.ranked(pa.concat_arrays([ours.cells, cells]))
                yield from work(ours, ranked, rows, cells)

    return run


def batch_runner(batch: Sequence[RowsOfLaw]) -> Runner:
    """A task that tells what rows that came and left change: of rows that stay, and of those with them."""

    def work(ours: RowsOfLaw, ranked: RankedRows, rows: pa.Table, cells: pa.Array) -> Iterator[pa.RecordBatch]:
        theirs = np.arange(ranked.rows) >= len(ours.ids)
        signs = np.concatenate([ours.signs, np.zeros(len(cells), np.int64)])
        changed = np.zeros(ranked.rows, np.int64)
        for sign in (1, -1):
            mine = signs == sign
            if mine.any():
                changed += sign * (ranked.judge.degrees(mine, theirs) + ranked.judge.degrees(theirs, mine))
        ids = np.concatenate([ours.ids, rows.column("row").to_numpy()])
        buckets = np.concatenate([ours.buckets, rows.column("bucket").to_numpy()])
        broken = np.flatnonzero((signs > 0) & (changed > 0))
        witness = None
        if len(broken):
            every = pa.concat_arrays([ours.cells, cells])
            witness = _witness(ranked, int(broken[0]), np.flatnonzero(theirs), ids, every)
        others = np.flatnonzero((changed != 0) & ~np.isin(np.arange(ranked.rows), broken[:1]))
        found = np.concatenate([broken[:1], others])
        if len(found):
            yield degree_lines(ours.ranking.kept.number, buckets[found], ids[found], changed[found], witness)

    return _of_laws(batch, work)


def partner_runner(batch: Sequence[RowsOfLaw]) -> Runner:
    """A task that gives for each row of a batch, by its place, the row with the least id that it breaks a law with."""

    def work(ours: RowsOfLaw, ranked: RankedRows, rows: pa.Table, cells: pa.Array) -> Iterator[pa.RecordBatch]:
        theirs = np.arange(ranked.rows) >= len(ours.ids)
        ids = rows.column("row").to_numpy()
        in_order = len(ours.ids) + np.argsort(ids, kind="stable")
        found = []
        for place in np.flatnonzero(ranked.judge.degrees(~theirs, theirs)).tolist():
            other = int(in_order[np.flatnonzero(ranked.judge.partners(place, in_order))[0]]) - len(ours.ids)
            found.append((ours.ranking.kept.number, place, int(ids[other]), cells[other].as_py()))
        lines = [dict(zip(_PARTNER_LINES.names, each, strict=True)) for each in found]
        yield pa.RecordBatch.from_pylist(lines, schema=_PARTNER_LINES)

    return _of_laws(batch, work)


def degrees_within(batch: RowsOfLaw) -> Iterator[pa.RecordBatch]:
    """What rows that came change among themselves, and rows that left."""
    ranked = batch.ranking.ranked(batch.cells)
    for sign in (1, -1):
        mine = batch.signs == sign
        changed = ranked.judge.degrees(mine, mine)
        found = np.flatnonzero(changed)
        if not len(found):
            continue
        witness = None
        if sign > 0:
            witness = _witness(ranked, int(found[0]), np.flatnonzero(mine), batch.ids, batch.cells)
        yield degree_lines(
            batch.ranking.kept.number, batch.buckets[found], batch.ids[found], sign * changed[found], witness
        )
