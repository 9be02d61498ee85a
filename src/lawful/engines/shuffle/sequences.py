"""Orders within classes that no task takes: what breaks them are the inversions of a sequence.

The rows of a class, sorted by A and, within ties, by B, break `A ~ B` wherever an earlier row has a larger B. Sorted by
the left list and within ties *against* the right one, they break `X -> Y` in the same way. So the sequence is cut into
tiles, wherever that may be, and

- what a tile must know of the others to tell its violating rows is the greatest value before and the least behind it;
- it is cut into *blocks* where nothing before is larger than anything behind: a block of several rows has each of them
  out of order with another, and no other rows are;
- inversions are those within tiles, and those between: of the latter only the numbers of the tiles matter, so that one
  pass over the rows in the order of their values counts them, with one number for each tile;
- of the rows of each block, a longest sequence without inversions may stay, which a task finds as they stream by.

Each row goes to one task in each of these steps, whatever is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.checks import Damage
from lawful.checks.kernels.streams import count_larger_before, lengthen
from lawful.checks.kernels.violations import count_inversions
from lawful.common.arrays import Flags, Int32s, Int64s
from lawful.dependencies import CanonicalOD, ListOD
from lawful.engines.shuffle.chunks import Runner
from lawful.engines.shuffle.cutting import GROUP, ROW, Tiles, Words, cut, schema_of, together
from lawful.engines.shuffle.keys import PackedKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.engines.shuffle.large import LargeClasses
    from lawful.tables.shuffled.data import ShuffledData

MOST_TAILS = 64_000_000
"""How long a longest sequence may be that a task looks for: half a gigabyte for values of one word."""
_TILE = "tile"
_COUNTS = "tile bigint, rows bigint, pairs bigint, blocks bigint, starts bigint"
_REMOVALS = "removals bigint, is_too_long boolean"

GatheredTable = Callable[["DataFrame"], pa.Table]


@dataclass(frozen=True)
class Carried:
    """What a tile must know of the others of its class: the greatest value before it and the least behind it."""

    before: Words | None
    behind: Words | None


def too_long() -> str:
    """What is wrong with a sequence that no task holds."""
    return (
        f"the fewest rows whose removal mends an order are not counted where more than {MOST_TAILS:,} rows of a class "
        "that are in conflict may stay; measure by pairs (g1), or use --placement replicate"
    )


class SequencedOrder:
    """One order within large classes.

    Parameters
    ----------
    data, law
        The dataset and the law.
    large
        The classes, and which rows of them are judged.
    tile_rows
        How many rows a task takes.
    gathered
        Runs a job and gives its few lines.
    against
        Whether ties of the left side count as inversions: of a list-based order dependency they do.
    """

    def __init__(
        self,
        data: ShuffledData,
        law: CanonicalOD | ListOD,
        large: LargeClasses,
        tile_rows: int,
        gathered: GatheredTable,
        *,
        against: bool,
    ) -> None:
        self._data, self._large, self._tile_rows, self._gathered = data, large, tile_rows, gathered
        self._has_blocks = isinstance(law, ListOD)
        self._sign = -1 if against else 1
        left, right = _sides(law)
        before = _words(left, data)
        values = [f"({self._sign}L) * ({text})" for text in _words(right, data)]
        self._values = tuple(f"z{number}" for number in range(len(values)))
        names = [f"x{number}" for number in range(len(before))]
        texts = [f"{text} as {name}" for text, name in zip((*before, *values), (*names, *self._values), strict=True)]
        rows = data.ranks.where(large.judged) if large.judged else data.ranks
        self._rows = rows.selectExpr(f"{large.number} as {GROUP}", *texts, ROW).where(f"{GROUP} is not null")
        self._order = (GROUP, *names, *self._values, ROW)

    @cached_property
    def _tiles(self) -> Tiles:
        count = sum(self._large.sizes)
        return cut(self._rows, self._order, [self._values], self._tile_rows, count, self._gathered)

    @cached_property
    def _carried(self) -> list[Carried]:
        tiles = self._tiles
        words = np.stack([tiles.corners.column(name).to_numpy() for name in self._values], axis=1) * self._sign
        found: list[list[Words]] = [[] for _ in range(tiles.count)]
        for tile, values in zip(tiles.places.tolist(), map(tuple, words.tolist()), strict=True):
            found[tile].append(values)
        return carried([(min(values), max(values)) for values in found], tiles.groups.tolist())

    @cached_property
    def _counts(self) -> list[dict[str, Any]]:
        """What is counted in each tile by itself."""
        if not self._values:
            return []
        runner = _count_runner(self._carried, self._values, self._sign)
        lines: list[dict[str, Any]] = self._gathered(self._in_tiles().mapInArrow(runner, _COUNTS)).to_pylist()
        return lines

    def damage(self, *, with_removals: bool = True) -> Damage:
        """How badly the order is broken; removals are None where a sequence is too long for a task."""
        rows = sum(line["rows"] for line in self._counts)
        if not rows:
            return Damage(0, 0, 0, 0)
        blocks = sum(line["blocks"] for line in self._counts)
        classes = {int(self._tiles.groups[line["tile"]]) for line in self._counts if line["rows"]}
        removals = self._removals() if with_removals else None
        return Damage(rows, blocks if self._has_blocks else len(classes), self.pairs(), removals)

    def pairs(self) -> int:
        """The pairs that break the order."""
        within = sum(int(line["pairs"]) for line in self._counts)
        return within + (self._pairs_between() if any(line["rows"] for line in self._counts) else 0)

    def violating(self) -> DataFrame:
        """The violating rows (`lawful_row`) with the number of the class or block that each belongs to (`part`)."""
        part = "block" if self._has_blocks else GROUP
        return self._violating().selectExpr(f"{part} as part", f"{ROW} as lawful_row")

    def _in_tiles(self) -> DataFrame:
        """All rows, tile by tile and in order."""
        return self._with_tiles().repartition(_TILE).sortWithinPartitions(_TILE, *self._order[1:])

    def _with_tiles(self) -> DataFrame:
        return self._rows.mapInArrow(_tile_runner(self._tiles), f"{schema_of(self._rows)}, {_TILE} bigint")

    def _violating(self) -> DataFrame:
        if not self._values:
            return self._rows.where("false").selectExpr(GROUP, ROW, "0L as block", "0L as tile", "0L as place")
        starts = np.zeros(self._tiles.count, np.int64)
        for line in self._counts:
            starts[line["tile"]] = line["starts"]
        before = np.concatenate([[0], np.cumsum(starts)[:-1]])
        runner = _row_runner(self._carried, self._values, self._sign, before)
        words = ", ".join(f"{name} bigint" for name in self._values)
        schema = f"{GROUP} bigint, {ROW} bigint, block bigint, tile bigint, place bigint, {words}"
        return self._in_tiles().mapInArrow(runner, schema)

    def _pairs_between(self) -> int:
        values = [f"({self._sign}L) * {name} as {name}" for name in self._values]
        lines = self._with_tiles().selectExpr(GROUP, *values, _TILE)
        keys = (GROUP, *self._values, _TILE)
        points = lines.groupBy(*keys).agg(self._data.expr("count(*) as n"))
        in_order = points.repartitionByRange(*keys).sortWithinPartitions(*keys).select(*keys, "n")
        first, sizes = np.unique(self._tiles.groups, return_index=True, return_counts=True)[1:]
        words = ", ".join(f"{name} bigint" for name in self._values)
        schema = f"{GROUP} bigint, {words}, tile bigint, pairs bigint, sizes array<bigint>"
        runner = _between_runner(self._values, first.astype(np.int64), sizes.astype(np.int64))
        return pairs_between(self._gathered(in_order.mapInArrow(runner, schema)).to_pylist(), self._values)

    def _removals(self) -> int | None:
        rows = self._violating().repartition("block").sortWithinPartitions("block", "tile", "place")
        removed = rows.mapInArrow(_removal_runner(self._values, self._sign, MOST_TAILS), _REMOVALS)
        sums = ("sum(removals) as removals", "bool_or(is_too_long) as is_too_long")
        (line,) = self._gathered(removed.agg(*map(self._data.expr, sums))).to_pylist()
        return None if line["is_too_long"] else int(line["removals"] or 0)


Marked = Sequence[tuple[int, str]]


def _sides(law: CanonicalOD | ListOD) -> tuple[Marked, Marked]:
    if isinstance(law, ListOD):
        return law.lhs, law.rhs
    return ((law.left, "asc"),), ((law.right, law.direction),)


def _words(marked: Marked, data: ShuffledData) -> list[str]:
    key = PackedKey.of([column for column, _ in marked], data.codings)
    return key.falling_texts([column for column, direction in marked if direction == "desc"])


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


def _tile_runner(tiles: Tiles) -> Runner:
    """A task that gives its rows with their tiles."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [*batch.columns, pa.array(tiles.of(batch))]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, _TILE])

    return run


def _count_runner(known: Sequence[Carried], names: Sequence[str], sign: int) -> Runner:
    """A task that counts what is out of order in each of its tiles."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines = []
        for number, rows in together(batches, _TILE):
            tile = TileOfSequence.of(_values_of(rows, names, sign), known[number])
            violating = int(np.count_nonzero(tile.violating))
            pairs = tile.inversions if violating else 0
            lines.append((number, violating, pairs, tile.broken_blocks, int(np.count_nonzero(tile.starts[:-1]))))
        told = np.array(lines, np.int64).reshape(-1, 5)
        yield pa.RecordBatch.from_arrays(
            [pa.array(told[:, place]) for place in range(5)], names=[part.split()[0] for part in _COUNTS.split(", ")]
        )

    return run


def _row_runner(known: Sequence[Carried], names: Sequence[str], sign: int, before: Int64s) -> Runner:
    """A task that gives the violating rows of its tiles with their blocks, of which so many begin in tiles before."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in together(batches, _TILE):
            tile = TileOfSequence.of(_values_of(rows, names, sign), known[number])
            places = np.flatnonzero(tile.violating)
            kept = rows.take(pa.array(places)).combine_chunks()
            told = {
                GROUP: kept.column(GROUP),
                ROW: kept.column(ROW),
                "block": pa.array((before[number] + np.cumsum(tile.starts[:-1]))[places]),
                _TILE: kept.column(_TILE),
                "place": pa.array(places),
            } | {name: kept.column(name) for name in names}
            yield from pa.table(told).to_batches(max_chunksize=1 << 16)

    return run


def _between_runner(names: Sequence[str], first: Int64s, sizes: Int64s) -> Runner:
    """A task that counts pairs of rows in different tiles, the larger value in the earlier one, among lines in order.

    Of each class it tells where it begins, and how many rows of each tile it has seen, for what lies in other tasks.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines: list[dict[str, Any]] = []
        tree = counted = np.zeros(0, np.int64)
        for batch in batches:
            for group, rows in together(iter([batch]), GROUP):
                labels = rows.column(_TILE).to_numpy() - first[group]
                counts = np.ascontiguousarray(rows.column("n").to_numpy())
                if not lines or lines[-1][GROUP] != group:
                    tree, counted = np.zeros(sizes[group] + 1, np.int64), np.zeros(sizes[group], np.int64)
                    begin = {name: rows.column(name)[0].as_py() for name in (*names, _TILE)}
                    lines.append({GROUP: group, **begin, "pairs": 0, "sizes": counted})
                lines[-1]["pairs"] += int(count_larger_before(np.ascontiguousarray(labels), counts, tree))
                np.add.at(counted, labels, counts)
        whole = [GROUP, *names, _TILE, "pairs"]
        arrays = [pa.array([line[name] for line in lines], pa.int64()) for name in whole]
        told = pa.array([line["sizes"].tolist() for line in lines], pa.list_(pa.int64()))
        yield pa.RecordBatch.from_arrays([*arrays, told], names=[*whole, "sizes"])

    return run


def pairs_between(lines: Sequence[dict[str, Any]], names: Sequence[str]) -> int:
    """Sum up what partitions tell, and what lies between partitions, in the order of their values."""
    pairs = sum(int(line["pairs"]) for line in lines)
    group, before = -1, np.zeros(0, np.int64)
    for line in sorted(lines, key=lambda line: (line[GROUP], *(line[name] for name in names), line[_TILE])):
        own = np.array(line["sizes"], np.int64)
        if line[GROUP] != group:
            group, before = line[GROUP], np.zeros(own.size, np.int64)
        larger = before.sum() - np.cumsum(before)
        pairs += sum(one * other for one, other in zip(own.tolist(), larger.tolist(), strict=True))
        before += own
    return pairs


def _removal_runner(names: Sequence[str], sign: int, most: int) -> Runner:
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
