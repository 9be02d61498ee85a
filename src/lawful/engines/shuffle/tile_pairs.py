"""Denial constraints within classes that no task takes: two tiles at a time.

The rows that may be t are cut into tiles, and so are those that may be s, each in the order of a column that the
constraint compares. A pair of rows that violates it lies in one tile of each kind, so each two tiles of a class meet in
a task, where the ordinary searches and counts run with the rows of the one as t and of the other as s. What is counted
of ordered pairs adds up. Two tiles that cannot hold such a pair do not meet: the rows with the least and the greatest
value of each compared column tell, a few rows of each tile, which the driver has. Where these tell that all pairs
of two tiles satisfy a constraint, sizes count them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.checks import Damage, Workspace
from lawful.checks.denials.counts import count_ordered_pairs
from lawful.checks.denials.denial import make_ready, violating_pair
from lawful.checks.denials.pairs import violating_pairs
from lawful.checks.denials.violations import violating_ts
from lawful.common.arrays import Flags, Int64s
from lawful.common.meanings import ColumnType, NullPolicy
from lawful.dependencies import DC, Cell, Constant, Predicate
from lawful.dependencies.denial_implication import swapped
from lawful.engines.shuffle.chunks import Runner, in_chunks
from lawful.engines.shuffle.classes import CACHE_BYTES, law_columns
from lawful.engines.shuffle.cutting import GROUP, ROW, Tiles, cut, schema_of, together
from lawful.engines.shuffle.meetings import Meeting, compared, cut_columns, meeting
from lawful.engines.shuffle.sequences import Damaged, GatheredTable
from lawful.engines.shuffle.values import ValuedChunk, valued_columns, with_values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.engines.shuffle.large import LargeClasses
    from lawful.tables.shuffled.data import ShuffledData

_NUMBER = "decimal(38, 0)"
_COUNTED = f"{GROUP} bigint, {ROW} bigint, ordered {_NUMBER}, mutual {_NUMBER}"
_WITNESS = "first bigint, second bigint"
_PAIRS = "t bigint, s bigint"
_LINES_AT_ONCE = 1 << 19

Work = Callable[[ValuedChunk, Workspace, int], Iterator[dict[str, pa.Array]]]
"""What is done with the rows of two tiles of a class; columns of the lines that come of it."""


class TilePairs:
    """One denial constraint within large classes.

    Parameters
    ----------
    data, law
        The dataset and the law.
    policy
        What null means.
    large
        The classes, and which rows of them are judged.
    tile_rows, chunk_rows
        How many rows a tile has at most, and how many rows a task looks at at once before they are cut.
    gathered
        Runs a job and gives its few lines.
    """

    def __init__(
        self,
        data: ShuffledData,
        law: DC,
        policy: NullPolicy,
        large: LargeClasses,
        tile_rows: int,
        chunk_rows: int,
        gathered: GatheredTable,
    ) -> None:
        self._data, self._law, self._policy, self._large = data, law, policy, large
        self._tile_rows, self._gathered = tile_rows, gathered
        self._types = tuple(data.types)
        columns = [*(f"c{column}" for column in law_columns(law)), *(f"v{column}" for column in valued_columns(law))]
        rows = with_values_of(data, [law])
        rows = (rows.where(large.judged) if large.judged else rows).selectExpr(
            f"{large.number} as {GROUP}", ROW, *columns
        )
        alone = tuple(predicate for predicate in law.predicates if compared(predicate) is None)
        self._fits = _Fitting(DC(alone) if alone else None, policy, self._types, chunk_rows)
        self._rows = rows.where(f"{GROUP} is not null")

    def witness(self) -> tuple[int, int] | None:
        """Two rows that violate the constraint."""
        law = _sided(self._law, self._types)

        def search(chunk: ValuedChunk, workspace: Workspace, _: int) -> Iterator[dict[str, pa.Array]]:
            found = violating_pair(law, workspace)
            if found is not None:
                first, second = sorted(int(chunk.ids()[place]) for place in found)
                yield {"first": pa.array([first]), "second": pa.array([second])}

        if not self._meeting.can_meet.any():
            return None
        least = self._data.expr("min(struct(first, second)) as found")
        (line,) = self._gathered(self._met(search, _WITNESS).agg(least)).to_pylist()
        return None if line["found"] is None else (line["found"]["first"], line["found"]["second"])

    def damage(self) -> Damaged:
        """How badly the constraint is broken."""
        if not self._meeting.can_meet.any():
            return Damage(0, 0, 0, None), None
        lines = self._met(_counting(self._law, self._types), _COUNTED).groupBy(GROUP, ROW)
        expr = self._data.expr
        once = lines.agg(expr("sum(ordered) as ordered"), expr("sum(mutual) as mutual"))
        sums = (
            f"count({ROW}) as rows",
            f"min({ROW}) as first",
            f"count(distinct if({ROW} is null, null, {GROUP})) as groups",
            "sum(ordered) as ordered",
            "sum(mutual) as mutual",
        )
        (line,) = self._gathered(once.agg(*map(expr, sums))).to_pylist()
        pairs = int(line["ordered"] or 0) - int(line["mutual"] or 0) // 2
        return Damage(line["rows"], line["groups"], pairs, None), line["first"]

    def ordered_pairs(self) -> int:
        """How many ordered pairs satisfy all predicates."""
        law = _sided(self._law, self._types)

        def count(_: ValuedChunk, workspace: Workspace, __: int) -> Iterator[dict[str, pa.Array]]:
            yield {"ordered": pa.array([count_ordered_pairs(law, workspace)]).cast(pa.decimal128(38, 0))}

        is_sure = self._meeting.is_sure
        total = self._pairs_by_size(is_sure)
        is_open = self._meeting.can_meet & ~is_sure
        if is_open.any():
            counted = self._met(count, f"ordered {_NUMBER}", is_open)
            (line,) = self._gathered(counted.agg(self._data.expr("sum(ordered) as ordered"))).to_pylist()
            total += int(line["ordered"] or 0)
        return total

    def violating(self) -> DataFrame:
        """The violating rows (`lawful_row`), each once, with the number of their class (`part`)."""
        rows = self._met(_counting(self._law, self._types, counts=False), _COUNTED).where(f"{ROW} is not null")
        return rows.selectExpr(f"{GROUP} as part", f"{ROW} as lawful_row").distinct()

    def violating_pairs(self) -> DataFrame:
        """The violating pairs, as `t` and `s`."""
        law, narrower = self._law, _sided(self._law, self._types)

        def listed(chunk: ValuedChunk, workspace: Workspace, _: int) -> Iterator[dict[str, pa.Array]]:
            ids = chunk.ids()
            for t, s in violating_pairs(law, workspace, narrower):
                yield {"t": pa.array(ids[t]), "s": pa.array(ids[s])}

        return self._met(listed, _PAIRS)

    @cached_property
    def _tiles(self) -> tuple[Tiles, Tiles]:
        """The tiles of the rows that may be t, and of those that may be s; the same ones where nothing tells them."""
        columns = cut_columns(self._law, [coding.highest for coding in self._data.codings])
        t_tiles = self._cut(0, columns)
        if self._fits.law is None and (columns is None or columns[0] == columns[1]):
            return t_tiles, t_tiles
        return t_tiles, self._cut(1, columns)

    def _cut(self, side: int, columns: tuple[int, int] | None) -> Tiles:
        rows = self._rows
        if self._fits.law is not None:
            rows = rows.mapInArrow(self._fits.kept(side), schema_of(rows))
        order = (GROUP, ROW) if columns is None else (GROUP, f"c{columns[side]}", ROW)
        pairs = filter(None, map(compared, self._law.predicates))
        extremes = [(f"c{column}",) for column in sorted({column for pair in pairs for column in pair})]
        return cut(rows, order, extremes, self._tile_rows, sum(self._large.sizes), self._gathered)

    @cached_property
    def _meeting(self) -> Meeting:
        t_tiles, s_tiles = self._tiles
        corners = pa.concat_tables([t_tiles.corners, s_tiles.corners])
        denial = make_ready(self._law, Workspace(ValuedChunk(corners, self._types), self._policy))
        return meeting(denial, t_tiles, s_tiles)

    def _pairs_by_size(self, is_sure: Flags) -> int:
        """The ordered pairs of different rows of tiles that are sure to satisfy everything."""
        if not is_sure.any():
            return 0
        t_tiles, s_tiles = self._tiles
        total = sum(
            int(size) * int(s_tiles.sizes[is_sure[tile]].sum()) for tile, size in enumerate(t_tiles.sizes.tolist())
        )
        runner = _place_runner(self._fits, t_tiles, s_tiles)
        places = self._rows.mapInArrow(runner, "i bigint, j bigint")
        alike = self._gathered(places.groupBy("i", "j").agg(self._data.expr("count(*) as n")))
        return total - sum(int(line["n"]) for line in alike.to_pylist() if is_sure[line["i"], line["j"]])

    def _met(self, work: Work, schema: str, which: Flags | None = None) -> DataFrame:
        """Let tiles meet, those that can or some of them, and do the work."""
        meets = np.argwhere(self._meeting.can_meet if which is None else which)
        names = schema_of(self._rows)
        runner = _explode_runner(self._fits, *self._tiles, meets)
        lines = self._rows.mapInArrow(runner, f"pair bigint, as_t boolean, {names}")
        in_order = lines.repartition("pair").sortWithinPartitions("pair")
        return in_order.mapInArrow(_meeting_runner(work, self._policy, self._types, schema), schema)


@dataclass(frozen=True)
class _Fitting:
    """Which rows may be t and which s, by the predicates that look at one row; all, if there are none."""

    law: DC | None
    policy: NullPolicy
    types: tuple[ColumnType, ...]
    chunk_rows: int

    def sides(self, rows: pa.Table) -> tuple[Flags, Flags]:
        """Say so of some rows."""
        every = np.ones(rows.num_rows, np.bool_)
        if self.law is None or not rows.num_rows:
            return every, every
        denial = make_ready(self.law, Workspace(ValuedChunk(rows, self.types), self.policy))
        assert denial is not None, "nothing compares two rows"
        t_fits, s_fits = (every if fits is None else fits for fits in (denial.t_fits, denial.s_fits))
        return t_fits, s_fits

    def kept(self, side: int) -> Runner:
        """A task that gives the rows that may be t (0) or s (1)."""

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for rows in in_chunks(batches, self.chunk_rows):
                yield from rows.filter(pa.array(self.sides(rows)[side])).to_batches()

        return run


def _place_runner(fits: _Fitting, t_tiles: Tiles, s_tiles: Tiles) -> Runner:
    """A task that tells of each row that may be both t and s its tile as each."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in in_chunks(batches, fits.chunk_rows):
            t_fits, s_fits = fits.sides(rows)
            both = rows.filter(pa.array(t_fits & s_fits))
            tiles = [pa.array(tiles.of(both)) for tiles in (t_tiles, s_tiles)]
            yield pa.RecordBatch.from_arrays(tiles, names=["i", "j"])

    return run


def _explode_runner(fits: _Fitting, t_tiles: Tiles, s_tiles: Tiles, meets: Int64s) -> Runner:
    """A task that gives each row once for each two tiles that meet and that it is in, as t or as s."""
    sides = [(tiles, *_pairs_of(meets[:, side], tiles.count)) for side, tiles in enumerate((t_tiles, s_tiles))]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in in_chunks(batches, fits.chunk_rows):
            for side, (flags, (tiles, offsets, pairs)) in enumerate(zip(fits.sides(rows), sides, strict=True)):
                own = np.flatnonzero(flags)
                of = tiles.of(rows.take(pa.array(own)))
                for places, numbers in repeated(own, offsets[of], offsets[of + 1], _LINES_AT_ONCE):
                    lines = rows.take(pa.array(places)).combine_chunks()
                    lines = lines.add_column(0, "as_t", pa.array(np.full(places.size, side == 0)))
                    yield from lines.add_column(0, "pair", pa.array(pairs[numbers])).to_batches()

    return run


def _pairs_of(tiles: Int64s, count: int) -> tuple[Int64s, Int64s]:
    """The numbers of the pairs that each tile is in, tile by tile, and where those of each begin."""
    order = np.argsort(tiles, kind="stable").astype(np.int64)
    return np.concatenate([[0], np.cumsum(np.bincount(tiles, minlength=count))]).astype(np.int64), order


def repeated(rows: Int64s, starts: Int64s, ends: Int64s, most: int) -> Iterator[tuple[Int64s, Int64s]]:
    """Each row with all numbers from its start to before its end, about so many at once."""
    before = np.concatenate([[0], np.cumsum(ends - starts)])
    first = 0
    while first < rows.size:
        last = max(first + 1, int(np.searchsorted(before, before[first] + most, side="right")) - 1)
        counts = (ends - starts)[first:last]
        within = np.arange(counts.sum()) - np.repeat(before[first:last] - before[first], counts)
        if within.size:
            yield np.repeat(rows[first:last], counts), np.repeat(starts[first:last], counts) + within
        first = last


def _meeting_runner(work: Work, policy: NullPolicy, types: tuple[ColumnType, ...], schema: str) -> Runner:
    """A task that does the work for each two tiles that it has."""
    names = [part.split()[0] for part in schema.replace(_NUMBER, "decimal").split(", ")]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, lines in together(batches, "pair"):
            rows = met_rows(lines, len(types))
            chunk = ValuedChunk(rows, (*types, ColumnType.INTEGER, ColumnType.INTEGER))
            workspace = Workspace(chunk, policy, CACHE_BYTES)
            for told in work(chunk, workspace, rows.column(GROUP)[0].as_py()):
                yield pa.RecordBatch.from_arrays([told[name] for name in names], names=names)

    return run


def met_rows(lines: pa.Table, width: int) -> pa.Table:
    """The rows of two tiles, each once and in the order of their ids, with two more columns: may it be t, may it be s.

    These are columns like others to a denial constraint, so that it can ask for them; see `_sided`.
    """
    _, firsts, places = np.unique(lines.column(ROW).to_numpy(), return_index=True, return_inverse=True)
    as_t = lines.column("as_t").to_numpy()
    rows = lines.take(pa.array(firsts)).drop_columns(["pair", "as_t"])
    for number, flags in enumerate((as_t, ~as_t)):
        fits = np.zeros(firsts.size, np.int64)
        fits[places[flags]] = 1
        rows = rows.append_column(f"v{width + number}", pa.array(fits))
        rows = rows.append_column(f"c{width + number}", pa.array((fits + 1).astype(np.int32)))
    return rows


def _sided(law: DC, types: Sequence[ColumnType]) -> DC:
    """The constraint for rows of two tiles: t is of the one, and s of the other."""
    width = len(types)
    t_fits, s_fits = (
        Predicate(Cell("t", width), "=", Constant(1)),
        Predicate(Cell("s", width + 1), "=", Constant(1)),
    )
    return DC((*law.predicates, t_fits, s_fits))


def _counting(law: DC, types: Sequence[ColumnType], *, counts: bool = True) -> Work:
    """Tell the violating rows of two tiles, and count their ordered pairs and those that violate the law both ways."""
    sided, other_way = _sided(law, types), swapped(law)
    both_ways = _sided(DC(law.predicates + other_way.predicates), types)

    def work(chunk: ValuedChunk, workspace: Workspace, group: int) -> Iterator[dict[str, pa.Array]]:
        violating = violating_ts(sided, workspace) | violating_ts(swapped(sided), workspace)
        rows = chunk.ids()[violating]
        if not rows.size:
            return
        ordered = count_ordered_pairs(sided, workspace) if counts else 0
        mutual = ordered if other_way == law or not counts else count_ordered_pairs(both_ways, workspace)
        told = {GROUP: pa.array(np.full(rows.size + 1, group, np.int64))}
        told[ROW] = pa.concat_arrays([pa.nulls(1, pa.int64()), pa.array(rows)])
        for name, number in (("ordered", ordered), ("mutual", mutual)):
            numbers = np.zeros(rows.size + 1, np.int64)
            numbers[0] = number
            told[name] = pa.array(numbers).cast(pa.decimal128(38, 0))
        yield told

    return work
