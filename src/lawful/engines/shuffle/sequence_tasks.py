"""What tasks do with the tiles of a sequence, and what the driver makes of what they tell; see `sequences`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lawful.checks.kernels.streams import count_larger_before, lengthen
from lawful.checks.kernels.violations import count_inversions
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.cutting import GROUP, ROW, Tiles, Words, together

TILE = "tile"
COUNTS = "tile bigint, rows bigint, pairs bigint, blocks bigint, starts bigint, first bigint"
REMOVALS = "removals bigint, is_too_long boolean"


@dataclass(frozen=True)
class Carried:
    """What a tile must know of the others of its class: the greatest value before it and the least behind it."""

    before: Words | None
    behind: Words | None


def carried(extremes: Sequence[tuple[Words, Words]], groups: Sequence[int]) -> list[Carried]:
    """What each tile must know, given the least and the greatest value of each and their classes, in order."""
    before = _best_before([high for _, high in extremes], groups, max)
    behind = _best_before([low for low, _ in extremes][::-1], groups[::-1], min)[::-1]
    return [Carried(*both) for both in zip(before, behind, strict=True)]


def _best_before(
    values: Sequence[Words], groups: Sequence[int], best_of: Callable[[Words, Words], Words]
) -> list[Words | None]:
    found: list[Words | None] = []
    best: Words | None = None
    for place, (value, group) in enumerate(zip(values, groups, strict=True)):
        if place and group != groups[place - 1]:
            best = None
        found.append(best)
        best = value if best is None else best_of(best, value)
    return found


@dataclass(frozen=True, eq=False)
class TileOfSequence:
    """The values of a tile as ranks, and where blocks begin in it.

    `starts[i]` says whether row i begins a block; the last entry is that of the row behind the tile.
    """

    ranks: Int32s
    starts: Flags

    @staticmethod
    def of(words: Sequence[Int64s], known: Carried) -> TileOfSequence:
        """Rank the values of a tile together with what it knows of the others."""
        others = [values for values in (known.before, known.behind) if values is not None]
        columns = [np.append(word, [values[i] for values in others]) for i, word in enumerate(words)]
        ranks = _ranked(columns)
        size = words[0].size
        own = ranks[:size]
        before = -1 if known.before is None else ranks[size]
        behind = np.iinfo(np.int32).max if known.behind is None else ranks[-1]
        greatest = np.maximum.accumulate(np.concatenate([[before], own]))
        least = np.minimum.accumulate(np.concatenate([own, [behind]])[::-1])[::-1]
        return TileOfSequence(own, greatest <= least)

    @property
    def violating(self) -> Flags:
        """The rows that are out of order with another: all that are not alone in their block."""
        alone: Flags = self.starts[:-1] & self.starts[1:]
        return ~alone

    @property
    def broken_blocks(self) -> int:
        """How many blocks of several rows begin here."""
        return int(np.count_nonzero(self.starts[:-1] & ~self.starts[1:]))

    @property
    def inversions(self) -> int:
        """The pairs within the tile that are out of order."""
        values = np.ascontiguousarray(self.ranks).copy()
        return int(count_inversions(values, 0, values.size, np.empty(values.size, np.int32)))


def _ranked(words: Sequence[Int64s]) -> Int32s:
    """Numbers that order lists of words as these do."""
    if len(words) == 1:
        return np.unique(words[0], return_inverse=True)[1].astype(np.int32)
    order = np.lexsort(words[::-1])
    differs = np.zeros(order.size, np.bool_)
    for word in words:
        differs[1:] |= word[order][1:] != word[order][:-1]
    ranks = np.empty(order.size, np.int32)
    ranks[order] = np.cumsum(differs)
    return ranks


def _values_of(rows: pa.Table | pa.RecordBatch, names: Sequence[str], sign: int) -> list[Int64s]:
    return [sign * rows.column(name).to_numpy() for name in names]


def tile_runner(tiles: Tiles) -> Runner:
    """A task that gives its rows with their tiles."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [*batch.columns, pa.array(tiles.of(batch))]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, TILE])

    return run


def count_runner(known: Sequence[Carried], names: Sequence[str], sign: int) -> Runner:
    """A task that counts what is out of order in each of its tiles."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines = []
        for number, rows in together(batches, TILE):
            tile = TileOfSequence.of(_values_of(rows, names, sign), known[number])
            violating = int(np.count_nonzero(tile.violating))
            pairs = tile.inversions if violating else 0
            starts = int(np.count_nonzero(tile.starts[:-1]))
            first = int(rows.column(ROW).to_numpy()[tile.violating].min()) if violating else -1
            lines.append((number, violating, pairs, tile.broken_blocks, starts, first))
        names_told = [part.split()[0] for part in COUNTS.split(", ")]
        told = np.array(lines, np.int64).reshape(-1, len(names_told))
        yield pa.RecordBatch.from_arrays(
            [pa.array(told[:, place]) for place in range(len(names_told))], names=names_told
        )

    return run


def row_runner(known: Sequence[Carried], names: Sequence[str], sign: int, before: Int64s) -> Runner:
    """A task that gives the violating rows of its tiles with their blocks, of which so many begin in tiles before."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in together(batches, TILE):
            tile = TileOfSequence.of(_values_of(rows, names, sign), known[number])
            places = np.flatnonzero(tile.violating)
            kept = rows.take(pa.array(places)).combine_chunks()
            told = {
                GROUP: kept.column(GROUP),
                ROW: kept.column(ROW),
                "block": pa.array((before[number] + np.cumsum(tile.starts[:-1]))[places]),
                TILE: kept.column(TILE),
                "place": pa.array(places),
            } | {name: kept.column(name) for name in names}
            yield from pa.table(told).to_batches(max_chunksize=1 << 16)

    return run


def between_runner(names: Sequence[str], first: Int64s, sizes: Int64s) -> Runner:
    """A task that counts pairs of rows in different tiles, the larger value in the earlier one, among lines in order.

    Of each class it tells where it begins, and how many rows of each tile it has seen, for what lies in other tasks.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines: list[dict[str, Any]] = []
        tree = counted = np.zeros(0, np.int64)
        for batch in batches:
            for group, rows in together(iter([batch]), GROUP):
                labels = rows.column(TILE).to_numpy() - first[group]
                counts = np.ascontiguousarray(rows.column("n").to_numpy())
                if not lines or lines[-1][GROUP] != group:
                    tree, counted = np.zeros(sizes[group] + 1, np.int64), np.zeros(sizes[group], np.int64)
                    begin = {name: rows.column(name)[0].as_py() for name in (*names, TILE)}
                    lines.append({GROUP: group, **begin, "pairs": 0, "sizes": counted})
                lines[-1]["pairs"] += int(count_larger_before(np.ascontiguousarray(labels), counts, tree))
                np.add.at(counted, labels, counts)
        whole = [GROUP, *names, TILE, "pairs"]
        arrays = [pa.array([line[name] for line in lines], pa.int64()) for name in whole]
        told = pa.array([line["sizes"].tolist() for line in lines], pa.list_(pa.int64()))
        yield pa.RecordBatch.from_arrays([*arrays, told], names=[*whole, "sizes"])

    return run


def pairs_between(lines: Sequence[dict[str, Any]], names: Sequence[str]) -> int:
    """Sum up what partitions tell, and what lies between partitions, in the order of their values."""
    pairs = sum(int(line["pairs"]) for line in lines)
    group, before = -1, np.zeros(0, np.int64)
    for line in sorted(lines, key=lambda line: (line[GROUP], *(line[name] for name in names), line[TILE])):
        own = np.array(line["sizes"], np.int64)
        if line[GROUP] != group:
            group, before = line[GROUP], np.zeros(own.size, np.int64)
        larger = before.sum() - np.cumsum(before)
        pairs += sum(one * other for one, other in zip(own.tolist(), larger.tolist(), strict=True))
        before += own
    return pairs


def removal_runner(names: Sequence[str], sign: int, most: int) -> Runner:
    """A task that tells how few rows of its blocks must go, as they come in order."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        removals, length, is_too_long, block = 0, 0, False, -1
        tails = np.empty((len(names), 0), np.int64)
        room = most // max(1, len(names))
        for batch in batches:
            for number, rows in together(iter([batch]), "block"):
                if number != block:
                    removals, length, block = removals - length, 0, number
                values = np.stack(_values_of(rows, names, sign))
                if length + rows.num_rows > tails.shape[1] and tails.shape[1] < room:
                    wider = np.empty((len(names), min(room, 2 * (length + rows.num_rows))), np.int64)
                    wider[:, :length] = tails[:, :length]
                    tails = wider
                length = int(lengthen(values, tails, length))
                removals += rows.num_rows
                if length < 0:
                    is_too_long, length = True, 0
            if is_too_long:
                break
        told = pa.array([removals - length]), pa.array([is_too_long])
        yield pa.RecordBatch.from_arrays(list(told), names=["removals", "is_too_long"])

    return run
