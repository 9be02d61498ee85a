"""Laws that compare no column by `=`, kept by how many partners each row has: what Spark does for them.

The lines of such a law lie in the index beside those of others, in buckets by range (`cuts`). Beside the index there
are *degrees*: lines that say of a row how many more or fewer rows break the law with it than before. They add up. So a
batch is held against those buckets alone that may have partners of its rows (`boxes`), and what it writes is what it
changes: a row is in a violation if its sum is above 0, and the pairs are half of all sums.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.meanings import NullPolicy
from lawful.engines.spread.boxes import Box, Meeting, Ranking, joined_boxes
from lawful.engines.spread.cuts import Ranges, Tree
from lawful.engines.spread.lines import LINES, LINES_BY, live_rows
from lawful.engines.spread.range_tasks import (
    BOXES,
    CELLS,
    DEGREE_LINES,
    DEGREES,
    PARTNERS,
    WITHIN,
    RowsOfLaw,
    batch_runner,
    box_runner,
    cells_in,
    degrees_within,
    line_runner,
    partner_runner,
    tile_runner,
)
from lawful.engines.spread.tallies import MOST_SHOWN, ShownRow
from lawful.tables.shuffled.data import functions_of
from lawful.tables.spark_errors import translated
from lawful.tables.spread.segments import Segment, Segments, texts_of, to_join
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WRITTEN = "key array<string>, rest array<string>, n bigint, rows array<bigint>, t int, bucket int"
_WITNESS = "array<struct<row bigint, cells array<string>>>"
_SAMPLED_A_LEAF, _MOST_SAMPLED = 200, 200_000
_MOST_IN_A_PIECE = 1_000_000
_TILES_AT_ONCE = 2_000
"""Tiles of a job: Spark has a copy of a bucket on its disks for each of its tiles."""
_NUMBER = "decimal(38, 0)"


@dataclass(frozen=True)
class Degrees:
    """What the degrees of a bucket say: rows that have partners, the sum of these, two rows, and some of a batch."""

    rows: int
    partners: int
    witness: tuple[ShownRow, ShownRow] | None
    fresh: tuple[int, ...]


class RangeIndex:
    """Reads lines of the index, and writes and reads degrees.

    Parameters
    ----------
    spark, location
        The session, and the folder of the state.
    null
        What null means.
    """

    def __init__(self, spark: SparkSession, location: str, null: NullPolicy) -> None:
        self._spark, self._null = spark, null
        self.lines = Segments(spark, f"{location}/index", LINES, LINES_BY)
        self.degrees = Segments(spark, f"{location}/degrees", f"row bigint, d bigint, witness {_WITNESS}", LINES_BY)

    def lines_of(self, rows: DataFrame, ranking: Ranking, tree: Tree) -> DataFrame:
        """The lines of all rows (`row`, `c0`, …) of a table."""
        columns = ranking.kept.columns
        judged = " and ".join(f"c{column} is not null" for column in columns)
        if self._null is NullPolicy.IGNORE and judged:
            rows = rows.where(judged)
        return rows.selectExpr("row", f"{texts_of(columns)} as cells").mapInArrow(line_runner(ranking, tree), _WRITTEN)

    def sample(self, rows: DataFrame, ranking: Ranking, count: int, leaves: int) -> pa.Array:
        """The cells of some of the rows of a table that has so many, enough to cut it into buckets."""
        wanted = min(_SAMPLED_A_LEAF * leaves, _MOST_SAMPLED)
        lines = self.lines_of(rows, ranking, 0)
        with translated():
            if count > wanted:
                lines = lines.sample(fraction=wanted / count, seed=0)
            return cells_in(lines.selectExpr("key as cells").limit(2 * wanted).toArrow())

    def boxes(self, live: DataFrame, ranking: Ranking) -> dict[int, Box]:
        """The boxes of all buckets of one law."""
        with translated():
            told = live.select("bucket", "row", "cells").mapInArrow(box_runner(ranking), BOXES).collect()
        return joined_boxes(ranking, [(row["bucket"], Box.from_list(json.loads(row["box"]))) for row in told])

    def counted(self, live: DataFrame, ranking: Ranking, boxes: Mapping[int, Box]) -> Iterator[DataFrame]:
        """The degrees of all rows of one law, job by job; those of a row in several jobs add up."""
        tiles = _tiles(ranking, boxes)
        for first in range(0, len(tiles), _TILES_AT_ONCE):
            table = _tile_table(tiles[first : first + _TILES_AT_ONCE])
            wanted = frame_of(self._spark, table).hint("broadcast")
            is_in = functions_of(self._spark).expr("b = bucket and pmod(row, pieces) = piece")
            rows = live.join(wanted, is_in).select("k0", "side", "bucket", "row", "cells")
            whole = rows.repartition("k0").sortWithinPartitions("k0")
            yield whole.mapInArrow(tile_runner(ranking), DEGREES)

    def changed(
        self,
        segments: Sequence[Segment],
        parts: Collection[str],
        batch: Sequence[RowsOfLaw],
        meeting: Sequence[RowsOfLaw],
        first_new: int,
    ) -> DataFrame | None:
        """The degrees that a batch changes, where it may change any.

        Its rows are held against each other, and those that may meet others there against some parts.
        """
        lines = [line for rows in batch for line in degrees_within(rows)]
        frames = [frame_of(self._spark, pa.Table.from_batches(lines, DEGREE_LINES))] if lines else []
        if parts:
            staying = live_rows(self.lines.read(segments, parts)).where(f"row < {first_new}")
            frames.append(staying.mapInArrow(batch_runner(meeting), DEGREES))
        return reduce(lambda one, other: one.unionByName(other), frames) if frames else None

    def write_degrees(self, degrees: DataFrame) -> Segment:
        """Write lines of degrees."""
        with translated():
            return self.degrees.write(_added(degrees).where("d <> 0"))

    def partners(
        self, segments: Sequence[Segment], parts: Collection[str], batch: Sequence[RowsOfLaw], gone: Sequence[int]
    ) -> dict[int, dict[int, ShownRow]]:
        """By law and place, a row that stays and breaks the law with a row; `gone` do not stay."""
        if not parts:
            return {}
        left = frame_of(self._spark, pa.table({"row": pa.array(gone, pa.int64())})).hint("broadcast")
        expr = functions_of(self._spark).expr
        with translated():
            staying = live_rows(self.lines.read(segments, parts)).join(left, "row", "left_anti")
            rows = staying.select("t", "bucket", "row", "cells").mapInArrow(partner_runner(batch), PARTNERS)
            told = rows.groupBy("t", "place").agg(expr("min(struct(row, cells)) as other")).collect()
        found: dict[int, dict[int, ShownRow]] = {}
        for line in told:
            other = ShownRow(line["other"]["row"], tuple(line["other"]["cells"]))
            found.setdefault(line["t"], {})[line["place"]] = other
        return found

    def tallies(
        self, segments: Sequence[Segment], parts: Collection[str], first_new: int, fresh: Collection[str] = ()
    ) -> dict[int, dict[int, Degrees]]:
        """What the degrees of some parts say; rows from an id on are a batch's, and it has written some segments."""
        if not parts:
            return {}
        names = ", ".join(f"'{name}'" for name in fresh)
        lines = self.degrees.read(segments, parts)
        if names:
            lines = lines.withColumn(
                "witness", functions_of(self._spark).expr(f"if(segment in ({names}), witness, null)")
            )
        return self.tallied(lines.drop("segment"), first_new)

    def tallied(self, degrees: DataFrame, first_new: int) -> dict[int, dict[int, Degrees]]:
        """What lines of degrees say."""
        sums = (
            "count(*) as rows",
            f"sum(cast(d as {_NUMBER})) as partners",
            "min(witness) as witness",
            f"slice(sort_array(collect_list(if(row >= {first_new}, row, null))), 1, {MOST_SHOWN}) as fresh",
        )
        found: dict[int, dict[int, Degrees]] = {}
        with translated():
            whole = _added(degrees).where("d > 0").groupBy("t", "bucket")
            for line in whole.agg(*map(functions_of(self._spark).expr, sums)).collect():
                shown = [ShownRow(row["row"], tuple(row["cells"])) for row in line["witness"] or ()]
                witness = (shown[0], shown[1]) if shown else None
                told = Degrees(line["rows"], int(line["partners"]), witness, tuple(line["fresh"]))
                found.setdefault(line["t"], {})[line["bucket"]] = told
        return found

    def violating_row(
        self, segments: Sequence[Segment], degrees: Sequence[Segment], part: str
    ) -> tuple[int, int, pa.Array]:
        """A row of a part that has partners: its id, its bucket, and its cells."""
        with translated():
            broken = _added(self.degrees.read(degrees, {part}).drop("segment")).where("d > 0").orderBy("row").limit(1)
            rows = live_rows(self.lines.read(segments, {part})).join(broken.select("row").hint("broadcast"), "row")
            (line,) = rows.collect()
        return line["row"], line["bucket"], pa.array([line["cells"]], CELLS)

    def joined(self, degrees: Sequence[Segment], is_read: str) -> list[Segment]:
        """Fewer segments of degrees that say the same of all parts that are still read."""
        if (start := to_join(degrees)) < 0:
            return list(degrees)
        with translated():
            lines = _added(self.degrees.read(degrees[start:]).where(is_read).drop("segment")).where("d <> 0")
            # Two rows are asked for only after the batch that has shown them.
            lines = lines.selectExpr("row", "d", f"cast(null as {_WITNESS}) as witness", "t", "bucket")
            return [*degrees[:start], self.degrees.write(lines)]


def _added(degrees: DataFrame) -> DataFrame:
    expr = functions_of(degrees.sparkSession).expr
    sums = expr("sum(d) as d"), expr("min(witness) as witness")
    return degrees.groupBy("t", "bucket", "row").agg(*sums).select("row", "d", "witness", "t", "bucket")


@dataclass(frozen=True)
class _Piece:
    """A share of the rows of a bucket, or all of them."""

    bucket: int
    pieces: int
    piece: int


def _tiles(ranking: Ranking, boxes: Mapping[int, Box]) -> list[tuple[_Piece, _Piece]]:
    """The pieces of buckets that may have rows which break the law with each other."""
    numbers = list(boxes)
    meeting = Meeting(ranking, pa.array([], CELLS), [boxes[bucket] for bucket in numbers])
    pieces = {}
    for bucket in numbers:
        count = -(-boxes[bucket].rows // _MOST_IN_A_PIECE)
        pieces[bucket] = [_Piece(bucket, count, piece) for piece in range(count)]
    found = []
    for one, bucket in enumerate(numbers):
        for other in np.flatnonzero(meeting.meets(one, slice(one, None))).tolist():
            for first in pieces[bucket]:
                partners = pieces[bucket][first.piece :] if other == 0 else pieces[numbers[one + other]]
                found += [(first, second) for second in partners]
    return found


def _tile_table(tiles: Sequence[tuple[_Piece, _Piece]]) -> pa.Table:
    lines = []
    for number, (one, other) in enumerate(tiles):
        sides = [(one, WITHIN)] if one == other else [(one, 0), (other, 1)]
        lines += [(number, side, piece.bucket, piece.pieces, piece.piece) for piece, side in sides]
    columns = zip(*lines, strict=True)
    names = ("k0", "side", "b", "pieces", "piece")
    return pa.table({name: pa.array(values, pa.int64()) for name, values in zip(names, columns, strict=True)})


def touched(ranges: Ranges, rows: RowsOfLaw) -> tuple[RowsOfLaw, list[int]]:
    """The buckets that may have partners of some rows, and those of the rows that may have partners there."""
    if not len(rows.ids):
        return rows, []
    meeting = Meeting(rows.ranking, rows.cells, list(ranges.boxes.values()))
    ours = slice(0, len(rows.ids))
    meets = np.zeros(len(rows.ids), np.bool_)
    found = []
    for place, bucket in enumerate(ranges.boxes):
        own = meeting.meets(len(rows.ids) + place, ours)
        if own.any():
            found.append(bucket)
            meets |= own
    return rows.taken(meets), found
