"""The laws of a spread state that compare no column by `=`: cut into buckets by range, counted, and followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.discovery.questions import Watch
from lawful.engines.spread.boxes import Ranking, boxes_of, joined_boxes
from lawful.engines.spread.cuts import Ranges, depth_of, leaves_of, placed, tree_of, with_leaf
from lawful.engines.spread.kept_laws import KeptLaw, of_part
from lawful.engines.spread.lines import live_rows
from lawful.engines.spread.range_index import Degrees, RangeIndex, touched
from lawful.engines.spread.range_tasks import CELLS, RowsOfLaw, lines_of_rows
from lawful.engines.spread.tallies import MOST_SHOWN, ShownRow
from lawful.maintenance.spread.document import SpreadDocument, Witness
from lawful.maintenance.spread.fares import oriented
from lawful.tables.spread.segments import parts_of
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_A_BUCKET = 1_000_000
MOST_BUCKETS = 4096
_TOO_FULL, _FAR_TOO_FULL = 2, 8
"""Times as many rows as a bucket should have: then it is cut above them, or all are cut anew if the table has grown."""
_DEEPEST = 200
"""Cuts above each other before all are made anew."""


@dataclass(frozen=True)
class BatchOfLaws:
    """The rows of a batch for each law that follows it, and their lines; `stale` are the laws to count anew."""

    come: pa.Table
    rows: tuple[RowsOfLaw, ...]
    stale: tuple[KeptLaw, ...]
    lines: pa.Table | None

    def shown(self, kept: KeptLaw, ids: Sequence[int], first_new: int) -> list[ShownRow]:
        """Rows that came, with what a law sees of them."""
        cells = cells_of(kept, self.come)
        return [ShownRow(id_, tuple(cells[id_ - first_new].as_py())) for id_ in ids]


class RangedLaws:
    """Keeps these laws.

    Parameters
    ----------
    spark, location
        The session, and the folder of the state.
    null
        What null means.
    laws
        All laws that indexes keep.
    """

    def __init__(self, spark: SparkSession, location: str, null: NullPolicy, laws: Sequence[KeptLaw]) -> None:
        self._spark, self._null = spark, null
        self.laws = [kept for kept in laws if kept.shape == "ranges"]
        self.index = RangeIndex(spark, location, null)

    def _ranking(self, kept: KeptLaw, types: Sequence[ColumnType]) -> Ranking:
        return Ranking(kept, tuple(types), self._null)

    def counted(
        self, document: SpreadDocument, laws: Iterable[KeptLaw], rows: DataFrame, first_new: int, watch: Watch
    ) -> tuple[SpreadDocument, dict[int, Sequence[int]]]:
        """Cut and count laws, the first time or anew, by all rows; tells which rows from an id on break them."""
        fresh: dict[int, Sequence[int]] = {}
        for kept in laws:
            ranking = self._ranking(kept, document.types)
            old = document.ranges.get(kept.number)
            leaves = max(document.buckets, min(document.rows // ROWS_A_BUCKET, MOST_BUCKETS))
            sample = self.index.sample(rows, ranking, document.rows, leaves)
            tree = tree_of(ranking, sample, leaves, 0 if old is None else old.next)
            lines = self.index.lines.write(self.index.lines_of(rows, ranking, tree))
            watch.look()
            live = live_rows(self.index.lines.read([lines]))
            boxes = self.index.boxes(live, ranking)
            degrees = []
            for frame in self.index.counted(live, ranking, boxes):
                watch.look()
                degrees.append(self.index.write_degrees(frame))
            degrees = [segment for segment in degrees if segment.parts]
            ranges = Ranges(tree, boxes, document.rows, len(leaves_of(tree)))
            document = replace(
                document,
                index_segments=(*document.index_segments, lines),
                degree_segments=(*document.degree_segments, *degrees),
                ranges={**document.ranges, kept.number: ranges},
                tallies={**document.tallies, kept.number: {}},
                witnesses={number: each for number, each in document.witnesses.items() if number != kept.number},
            )
            names = [segment.name for segment in degrees]
            found = self.index.tallies(document.degree_segments, parts_of(degrees), first_new, names)
            document = self._with(document, kept, found.get(kept.number, {}), set(), parts_of(degrees))
            fresh[kept.number] = _fresh(found.get(kept.number, {}))
        return document, fresh

    def batch(self, before: SpreadDocument, after: SpreadDocument, gone: pa.Table, come: pa.Table) -> BatchOfLaws:
        """What a batch has for these laws."""
        stale = tuple(kept for kept in self.laws if _is_stale(kept, before, after))
        rows = tuple(
            self._rows(kept, before.ranges[kept.number], after.types, gone, come)
            for kept in self.laws
            if kept not in stale
        )
        lines = [
            lines_of_rows(each.ranking, each.ids, each.signs, before.ranges[each.ranking.kept.number].tree, each.cells)
            for each in rows
        ]
        return BatchOfLaws(come, rows, stale, pa.concat_tables(lines) if lines else None)

    def lines_frame(self, batch: BatchOfLaws) -> DataFrame | None:
        """The lines of a batch."""
        return None if batch.lines is None or not batch.lines.num_rows else frame_of(self._spark, batch.lines)

    def _rows(
        self, kept: KeptLaw, ranges: Ranges, types: Sequence[ColumnType], gone: pa.Table, come: pa.Table
    ) -> RowsOfLaw:
        """Rows that leave and come, as far as a law judges them."""
        ranking = self._ranking(kept, types)
        every = pa.concat_tables([gone, come])
        signs = np.repeat([-1, 1], [gone.num_rows, come.num_rows])
        cells = cells_of(kept, every)
        rows = RowsOfLaw(ranking, every.column("row").to_numpy(), signs, np.zeros(len(signs), np.int64), cells)
        judged = np.ones(len(signs), np.bool_)
        if self._null is NullPolicy.IGNORE:
            judged &= [None not in texts for texts in cells.to_pylist()]
        t_fits, s_fits = ranking.ranked(cells).fits()
        rows = rows.taken(judged & (t_fits | s_fits))
        return replace(rows, buckets=placed(ranking, ranges.tree, rows.cells))

    def followed(
        self, document: SpreadDocument, batch: BatchOfLaws, rows: DataFrame, first_new: int, watch: Watch
    ) -> tuple[SpreadDocument, dict[int, list[ShownRow]]]:
        """What is known after a batch, whose rows and lines are in the document; tells which of its rows break laws.

        Parameters
        ----------
        rows
            All rows of the table, for laws that are counted anew.
        first_new
            The first id of the rows that came.
        """
        within, meeting = [], []
        parts: set[str] = set()
        gone: set[int] = set()
        for own in batch.rows:
            kept = own.ranking.kept
            gone.update(own.ids[own.signs < 0].tolist())
            # Where the law holds, nobody has a partner to lose.
            within.append(own if document.tallies.get(kept.number) else own.taken(own.signs > 0))
            met, buckets = touched(document.ranges[kept.number], within[-1])
            meeting.append(met)
            parts.update(kept.part(bucket) for bucket in buckets)
        frame = self.index.changed(document.index_segments, parts, within, meeting, first_new)
        written = None if frame is None else self.index.write_degrees(frame)
        watch.look()
        found: Mapping[int, Mapping[int, Degrees]] = {}
        changed: set[str] = set()
        if written is not None and written.parts:
            changed = set(written.parts)
            document = replace(document, degree_segments=(*document.degree_segments, written))
            found = self.index.tallies(document.degree_segments, changed, first_new, [written.name])
        document = replace(document, ranges={**document.ranges, **_grown(document, batch.rows)})
        for own in batch.rows:
            kept = own.ranking.kept
            document = self._with(document, kept, found.get(kept.number, {}), gone, changed)
        fresh: dict[int, Sequence[int]] = {number: _fresh(buckets) for number, buckets in found.items()}
        document, others = self.counted(document, batch.stale, rows, first_new, watch)
        told = fresh | others
        return document, {
            kept.number: batch.shown(kept, told[kept.number], first_new) for kept in self.laws if kept.number in told
        }

    def _with(
        self,
        document: SpreadDocument,
        kept: KeptLaw,
        found: Mapping[int, Degrees],
        gone: set[int],
        changed: Iterable[str],
    ) -> SpreadDocument:
        """A document after the degrees of some parts were added up, with two rows that break the law if any do."""
        touched_buckets = {bucket for number, bucket in map(of_part, changed) if number == kept.number}
        old = document.tallies.get(kept.number, {})
        counts = {bucket: counts for bucket, counts in old.items() if bucket not in touched_buckets}
        counts |= {bucket: (degrees.rows, degrees.partners) for bucket, degrees in found.items()}
        document = replace(document, tallies={**document.tallies, kept.number: counts})
        known = document.witnesses.get(kept.number)
        if known is not None and (not counts or gone & {row.id for row in known.rows}):
            known = None
        if known is None and counts:
            told = next((degrees.witness for degrees in found.values() if degrees.witness is not None), None)
            pair = told or self._searched(document, kept, min(counts))
            known = Witness(min(counts), oriented(document, kept, pair))
        witnesses = {number: each for number, each in document.witnesses.items() if number != kept.number}
        return replace(document, witnesses=witnesses if known is None else {**witnesses, kept.number: known})

    def _searched(self, document: SpreadDocument, kept: KeptLaw, bucket: int) -> tuple[ShownRow, ShownRow]:
        """Two rows that break a law, one of them in a bucket where some row has partners."""
        segments = document.index_segments
        id_, own, cells = self.index.violating_row(segments, document.degree_segments, kept.part(bucket))
        one = RowsOfLaw(
            self._ranking(kept, document.types), np.array([id_]), np.ones(1, np.int64), np.array([own]), cells
        )
        _, buckets = touched(document.ranges[kept.number], one)
        partners = self.index.partners(segments, {kept.part(each) for each in buckets}, [one], [id_])
        return ShownRow(id_, tuple(cells[0].as_py())), partners[kept.number][0]

    def partners(
        self, document: SpreadDocument, types: Sequence[ColumnType], gone: pa.Table, come: pa.Table
    ) -> dict[int, dict[int, int]]:
        """By law and place, the id of a row that stays and breaks the law with a row that would come."""
        batch, places = [], {}
        parts: set[str] = set()
        for kept in self.laws:
            ranges = document.ranges[kept.number]
            rows = self._rows(kept, ranges, types, gone.slice(0, 0), come)
            if any(types[column] != document.types[column] for column in kept.columns):
                buckets = list(ranges.boxes)  # they were cut in another order
            else:
                rows, buckets = touched(ranges, rows)
            if len(rows.ids):
                batch.append(rows)
                places[kept.number] = rows.ids - come.column("row")[0].as_py()
                parts.update(kept.part(bucket) for bucket in buckets)
        found = self.index.partners(document.index_segments, parts, batch, gone.column("row").to_pylist())
        return {
            number: {int(places[number][place]): row.id for place, row in own.items()} for number, own in found.items()
        }

    def sums(self, document: SpreadDocument, rows: DataFrame) -> dict[int, tuple[int, int]]:
        """How many rows and pairs break each law, counted anew from all rows."""
        found = {}
        for kept in self.laws:
            ranking = self._ranking(kept, document.types)
            lines = self.index.lines_of(rows, ranking, document.ranges[kept.number].tree)
            live = lines.selectExpr("t", "bucket", "rows[0] as row", "key as cells")
            frames = list(self.index.counted(live, ranking, self.index.boxes(live, ranking)))
            told: Iterable[Degrees] = ()
            if frames:
                degrees = reduce(lambda one, other: one.unionByName(other), frames)
                told = self.index.tallied(degrees, document.next_id).get(kept.number, {}).values()
            counts = [(each.rows, each.partners) for each in told]
            found[kept.number] = sum(count for count, _ in counts), sum(partners for _, partners in counts) // 2
        return found

    def is_read(self, document: SpreadDocument) -> str:
        """A condition for lines in buckets that are still read."""
        old = [f"(t = {number} and bucket < {ranges.first})" for number, ranges in document.ranges.items()]
        return f"not ({' or '.join(old)})" if old else "true"

    @property
    def are_these(self) -> str:
        """A condition for lines of these laws."""
        return f"t in ({', '.join(str(kept.number) for kept in self.laws)})" if self.laws else "false"


def cells_of(kept: KeptLaw, rows: pa.Table) -> pa.Array:
    """The cells of rows (`c0`, `c1`, …) in the columns of a law."""
    columns = [rows.column(f"c{column}").to_pylist() for column in kept.columns]
    return pa.array(zip(*columns, strict=True) if columns else [[]] * rows.num_rows, CELLS)


def _fresh(found: Mapping[int, Degrees]) -> list[int]:
    return sorted(id_ for degrees in found.values() for id_ in degrees.fresh)[:MOST_SHOWN]


def _is_stale(kept: KeptLaw, before: SpreadDocument, after: SpreadDocument) -> bool:
    """Whether a law has to be cut anew: a column has another order, or buckets are far from even."""
    if any(before.types[column] != after.types[column] for column in kept.columns):
        return True
    ranges = before.ranges[kept.number]
    if depth_of(ranges.tree) > _DEEPEST:
        return True
    fullest = max((box.rows for box in ranges.boxes.values()), default=0)
    return fullest > _FAR_TOO_FULL * ROWS_A_BUCKET and before.rows >= 2 * ranges.rows


def _grown(document: SpreadDocument, batch: Iterable[RowsOfLaw]) -> dict[int, Ranges]:
    """The buckets of laws with the rows of a batch in them."""
    found = {}
    for rows in batch:
        number, come = rows.ranking.kept.number, rows.taken(rows.signs > 0)
        ranges = document.ranges[number]
        new = boxes_of(rows.ranking, come.cells, come.buckets)
        boxes = joined_boxes(rows.ranking, [*ranges.boxes.items(), *new.items()])
        left, counts = np.unique(rows.buckets[rows.signs < 0], return_counts=True)
        for bucket, count in zip(left.tolist(), counts.tolist(), strict=True):
            boxes[bucket] = replace(boxes[bucket], rows=boxes[bucket].rows - count)
        tree, following = ranges.tree, ranges.next
        for bucket, box in boxes.items():
            if box.rows > _TOO_FULL * ROWS_A_BUCKET and box.t and box.t == box.s:
                key = rows.ranking.comparisons.cut_by[0]
                cut = with_leaf(tree, bucket, key, box.t[key][1], following)
                following += cut != tree
                tree = cut
        found[number] = replace(ranges, tree=tree, boxes=boxes)
    return found
