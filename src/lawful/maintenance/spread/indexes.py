"""The indexes of a spread state: what breaks its laws, counted for all rows, and anew where a batch touches.

Laws that compare columns by `=` have classes; all others are in buckets by range. Which laws there are, and what was
counted of them, is said by a document; nothing of it is kept here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
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
from lawful.maintenance.spread.fares import Again, Recount, known_tallies, stale_parts, with_tallies
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
        names, null = [column.name for column in document.columns], document.settings.null
        return LawIndex(self._spark, f"{self._location}/index", laws, names, null, document.buckets)

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
            document, _ = self._counted_anew(document, laws, segment.parts, document.next_id)
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
        fresh: Fresh = {}
        watch.look()
        if in_classes(laws) or others is not None:
            index = in_buckets.write(lines, laws, is_small=True, others=others)
            document = replace(document, index_segments=(*document.index_segments, index))
            watch.look()
            stale = stale_parts(before, document, laws)
            document, of_stale = self._counted_anew(document, laws, stale, before.next_id)
            parts = {part for part in index.parts if part not in stale}
            document, of_batch = self._touched(
                document, laws, parts, before.next_id, frozenset(gone.column("row").to_pylist())
            )
            fresh = {kept.number: _of(kept, of_stale, of_batch) for kept in in_classes(laws)}
        rows = self._rows.live(document.row_segments)
        document, found = in_ranges.followed(document, ranged, rows, before.next_id, watch)
        return document, {**fresh, **found}

    def _counted_anew(
        self, document: SpreadDocument, laws: Sequence[KeptLaw], parts: Collection[str], first_new: int
    ) -> tuple[SpreadDocument, Fresh]:
        """Add up all lines of some parts; tells the rows from an id on that break laws."""
        again = self._adding(document, laws, first_new)
        parts = _with_classes(parts, laws)
        recount = Recount(known_tallies(document, laws, parts), again(parts), whole=parts)
        return with_tallies(document, in_classes(laws), recount, again), _fresh_rows(recount.found)

    def _touched(
        self,
        document: SpreadDocument,
        laws: Sequence[KeptLaw],
        parts: Collection[str],
        first_new: int,
        gone: Set[int],
    ) -> tuple[SpreadDocument, Fresh]:
        """Add up the lines of the classes that the last batch touches; where laws were broken, those of before too."""
        index, again = self._in_classes(document, laws), self._adding(document, laws, first_new)
        *earlier, batch = segments = document.index_segments
        parts = _with_classes(parts, laws)
        were_broken = {kept.part(bucket) for kept in laws for bucket in document.tallies.get(kept.number, ())}
        recount = Recount(
            index.tallies(earlier, were_broken & parts, document.types, first_new, batch),
            index.tallies(segments, parts, document.types, first_new, batch),
            left=gone,
        )
        return with_tallies(document, in_classes(laws), recount, again), _fresh_rows(recount.found)

    def _adding(self, document: SpreadDocument, laws: Sequence[KeptLaw], first_new: int) -> Again:
        index = self._in_classes(document, laws)
        return lambda parts: index.tallies(document.index_segments, parts, document.types, first_new)

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
        numbers = ", ".join(str(number) for number in sorted({kept.written.number for kept in laws})) or "-1"
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


def _with_classes(parts: Collection[str], laws: Sequence[KeptLaw]) -> set[str]:
    """Those of some parts that are of laws with classes."""
    numbers = {kept.written.number for kept in in_classes(laws)}
    return {part for part in parts if of_part(part)[0] in numbers}


def _of(kept: KeptLaw, *fresh: Fresh) -> list[ShownRow]:
    return [row for each in fresh for row in each.get(kept.number, ())][:MOST_SHOWN]


def _fresh_rows(found: Tallies) -> Fresh:
    """The rows of a batch that break laws."""
    return {
        number: [row for tally in buckets.values() for row in tally.fresh][:MOST_SHOWN]
        for number, buckets in found.items()
    }
