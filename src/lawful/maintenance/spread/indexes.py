"""The indexes of a spread state: what breaks its laws, counted for all rows, and anew where a batch touches.

Laws that compare columns by `=` have classes; all others are in buckets by range. Which laws there are, and what was
counted of them, is said by a document; nothing of it is kept here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from lawful.dependencies import Key
from lawful.discovery.questions import Watch
from lawful.engines.spread.index import LawIndex, Tallies
from lawful.engines.spread.kept_laws import KeptLaw, in_classes, of_part
from lawful.engines.spread.tallies import MOST_SHOWN, ShownRow
from lawful.maintenance.pins.outcomes import PutAside
from lawful.maintenance.spread.batch_rows import BatchRows, FittedTypes
from lawful.maintenance.spread.document import SpreadDocument
from lawful.maintenance.spread.fares import stale_parts, with_tallies
from lawful.maintenance.spread.keeping import kept_laws, laws_of
from lawful.maintenance.spread.letting_through import Met, judge_of, put_aside, ranged_judge
from lawful.maintenance.spread.ranged_laws import RangedLaws
from lawful.tables.spread.living_rows import LivingRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Fresh = Mapping[int, Sequence[ShownRow]]
"""Rows of a batch that break laws, by the number of the law."""


class Indexes:
    """Writes and reads the lines of laws.

    Parameters
    ----------
    spark, location
        The session, and the folder of the state.
    rows
        The rows of the table.
    """

    def __init__(self, spark: SparkSession, location: str, rows: LivingRows) -> None:
        self._spark, self._location, self._rows = spark, location, rows

    def _in_classes(self, document: SpreadDocument, laws: Sequence[KeptLaw]) -> LawIndex:
        return LawIndex(self._spark, f"{self._location}/index", laws, document.settings.null, document.buckets)

    def _in_ranges(self, document: SpreadDocument, laws: Sequence[KeptLaw]) -> RangedLaws:
        return RangedLaws(self._spark, self._location, document.settings.null, laws)

    def counted(self, document: SpreadDocument, new: Sequence[KeptLaw], watch: Watch) -> SpreadDocument:
        """Write the lines of laws that are new in a document, and count what breaks them on all rows."""
        laws, live = laws_of(document), self._rows.live(document.row_segments)
        if in_classes(new):
            rows = live.selectExpr("row", "1 as n", *self._rows.columns)
            segment = self._in_classes(document, laws).write(rows, new, is_small=False)
            document = replace(document, index_segments=(*document.index_segments, segment))
            watch.look()
            document = self._tallied(document, laws, segment.parts)
        watch.look()
        ranged = [kept for kept in new if kept.shape == "ranges"]
        return self._in_ranges(document, laws).counted(document, ranged, live, document.next_id, watch)[0]

    def followed(
        self, before: SpreadDocument, document: SpreadDocument, changed: BatchRows, watch: Watch
    ) -> tuple[SpreadDocument, Fresh]:
        """Write the rows of a batch and their lines, and count what it touches; tells which of its rows break laws."""
        laws, gone, come = laws_of(document), changed.gone, changed.come
        in_ranges, in_buckets = self._in_ranges(document, laws), self._in_classes(document, laws)
        lines, ranged = self._rows.changed(gone, come), in_ranges.batch(before, document, gone, come)
        others = in_ranges.lines_frame(ranged)
        document = replace(document, row_segments=(*document.row_segments, self._rows.write(lines, is_small=True)))
        fresh: dict[int, Sequence[ShownRow]] = {}
        watch.look()
        if in_classes(laws) or others is not None:
            index = in_buckets.write(lines, laws, is_small=True, others=others)
            document = replace(document, index_segments=(*document.index_segments, index))
            watch.look()
            parts = {*index.parts, *stale_parts(before, document, laws)}
            document = self._tallied(document, laws, parts, before.next_id, index.name, fresh)
        rows = self._rows.live(document.row_segments)
        document, found = in_ranges.followed(document, ranged, rows, before.next_id, watch)
        return document, fresh | found

    def _tallied(
        self,
        document: SpreadDocument,
        laws: Sequence[KeptLaw],
        parts: Collection[str],
        first_new: int | None = None,
        fresh_segment: str = "",
        fresh: dict[int, Sequence[ShownRow]] | None = None,
    ) -> SpreadDocument:
        """Add up the lines of those of some parts that have classes; notes rows that break laws in `fresh`."""
        first = document.next_id if first_new is None else first_new
        index, laws = self._in_classes(document, laws), in_classes(laws)
        numbers = {kept.number for kept in laws}
        parts = {part for part in parts if of_part(part)[0] in numbers}

        def again(parts: Collection[str]) -> Tallies:
            return index.tallies(document.index_segments, parts, document.types, first, fresh_segment)

        found = again(parts)
        if fresh is not None:
            for number, buckets in found.items():
                fresh[number] = [row for tally in buckets.values() for row in tally.fresh][:MOST_SHOWN]
        return with_tallies(document, laws, parts, found, again)

    def offending(
        self,
        document: SpreadDocument,
        gone: pa.Table,
        come: pa.Table,
        types: FittedTypes,
        keys: tuple[Sequence[int], Met],
        watch: Watch,
    ) -> list[PutAside]:
        """The rows that would break a pinned law once others are gone; or the row key (its columns, and who has it)."""
        if not come.num_rows:
            return []
        laws, nothing, null = kept_laws(document.pins), gone.slice(0, 0), document.settings.null
        lines = self._rows.changed(gone, nothing), self._rows.changed(nothing, come)
        met = self._in_classes(document, laws).met(document.index_segments, *lines)
        now = [types[column][0] if column in types else type_ for column, type_ in enumerate(document.types)]
        partners = self._in_ranges(document, laws).partners(document, now, gone, come)
        judges = [
            ranged_judge(kept, come, partners.get(kept.number, {}), now, null)
            if kept.shape == "ranges"
            else judge_of(kept, come, met[kept.number], now, null)
            for kept in laws
        ]
        columns, rows = tuple(keys[0]), keys[1]
        if columns:
            as_law = KeptLaw(len(judges), Key(columns), "agree", columns, ())
            judges.append(judge_of(as_law, come, rows, now, null))
        return put_aside(judges, come.num_rows, watch)

    def joined(self, document: SpreadDocument) -> SpreadDocument:
        """The same with one segment in the place of many small ones; lines of laws that went are left out."""
        laws = laws_of(document)
        ranged = self._in_ranges(document, laws)
        numbers = ", ".join(str(kept.number) for kept in laws) or "-1"
        is_read = f"t in ({numbers}) and {ranged.is_read(document)}"
        index = self._in_classes(document, laws)
        return replace(
            document,
            index_segments=tuple(index.joined(document.index_segments, is_read, ranged.are_these)),
            degree_segments=tuple(ranged.index.joined(document.degree_segments, is_read)),
        )

    def discard(self, document: SpreadDocument, names: Collection[str]) -> None:
        """Remove segments, where that can be done."""
        self._in_classes(document, ()).segments.discard(names)
        self._in_ranges(document, ()).index.degrees.discard(names)

    def anew(self, document: SpreadDocument, rows: DataFrame) -> dict[int, tuple[int, int]]:
        """How many rows and pairs break each law, counted from all rows."""
        laws = laws_of(document)
        found = self._in_classes(document, laws).tallies_of_rows(rows, document.types, document.next_id)
        counts = {
            number: (sum(tally.rows for tally in buckets.values()), sum(tally.pairs for tally in buckets.values()))
            for number, buckets in found.items()
        }
        return counts | self._in_ranges(document, laws).sums(document, rows)
