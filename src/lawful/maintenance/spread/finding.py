"""Finds the laws of a spread table, and follows them from batch to batch.

    rows = a sample of the table
    repeat
        laws = the minimal laws of the rows                     in this process
        count what breaks each that was not counted yet         by indexes, on Spark
        rows += two rows that break each that is broken
    until all hold

Then the laws of the rows are those of the table (`DecidingRows`), and each has an index. A batch is first counted by
these indexes. If nothing is broken and no deciding row has left, the laws are as they were, and only the parts of the
indexes were read that the batch touches. Otherwise the same loop goes on with what is left of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Words
from lawful.common.errors import UsageError
from lawful.dependencies import Law, LawKind, columns_of, kind_of
from lawful.discovery.questions import Progress, Watch
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.maintenance.kept_laws import LawsChange
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread.batch_rows import BatchRows
from lawful.maintenance.spread.deciding_rows import DecidingRows, Sought, sample_size
from lawful.maintenance.spread.document import SpreadDocument
from lawful.maintenance.spread.indexes import Indexes
from lawful.maintenance.spread.keeping import kept_law
from lawful.results.check_report import RowView
from lawful.tables.spark_errors import translated
from lawful.tables.spread.living_rows import LivingRows
from lawful.tables.spread.past import RowPlaces
from lawful.tables.spread.segments import Segments
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_LAWS = 200
"""Laws that a state keeps beside the pinned ones: each has an index of its own, which every batch adds lines to."""
_MOST_SHOWN = 100
"""So many of the laws that a batch broke are told with two rows that break them."""

Views = tuple[RowView, RowView]


def _untold(_: str) -> None:
    """Show no progress."""


def refuse_settings(settings: StateSettings) -> None:
    """Refuse what cannot be kept of a spread table."""
    if "dc" in settings.find:
        raise UsageError(
            "denial constraints of a state that is spread over a cluster are kept only if they are pinned",
            "Leave dc out of --find, and name the constraints with --pin.",
        )
    if settings.error:
        raise UsageError(
            "laws within an error cannot be kept in a state that is spread over a cluster", "Leave out --error."
        )
    if settings.way != "auto":
        raise UsageError("a state that is spread over a cluster has its own evidence", "Leave out --evidence.")


@dataclass(frozen=True)
class ToldLaws:
    """Laws of one kind that came or went."""

    kind: LawKind
    values: tuple[Law, ...]

    @property
    def sets(self) -> Words:
        """A line for each law; there is nothing packed to be in it."""
        return np.empty((len(self.values), 0), np.uint64)

    def laws(self) -> Iterator[Law]:
        """The laws as values."""
        return iter(self.values)


class LawFinder:
    """Keeps the laws of a spread table that were found.

    Parameters
    ----------
    spark, location
        The session, and the folder of the state.
    rows, indexes
        The rows of the table, and what counts what breaks laws.
    """

    def __init__(self, spark: SparkSession, location: str, rows: LivingRows, indexes: Indexes) -> None:
        schema = ", ".join(["row bigint", *(f"{name} string" for name in rows.columns)])
        self._segments = Segments(spark, f"{location}/deciding", schema, ())
        self._spark, self._rows, self._indexes = spark, rows, indexes
        self._known: tuple[str, pa.Table] | None = None

    def deciding(self, document: SpreadDocument) -> DecidingRows:
        """The rows that decide the laws of a document."""
        segment = document.found.rows
        assert segment is not None
        if self._known is None or self._known[0] != segment.name:
            with translated():
                rows = self._segments.read([segment]).select("row", *self._rows.columns)
                self._known = segment.name, rows.orderBy("row").toArrow()
        return DecidingRows(self._known[1], tuple(document.types))

    def begun(self, document: SpreadDocument, watch: Watch, progress: Progress) -> SpreadDocument:
        """Find the laws of a table whose rows are in a document."""
        placed = self._rows.live(document.row_segments).selectExpr("*", "xxhash64(row) as place").orderBy("place")
        with translated():
            sample = placed.limit(sample_size(len(document.columns))).drop("place").orderBy("row").toArrow()
        return self._settled(document, DecidingRows(sample, tuple(document.types)), watch, progress)

    def followed(
        self, before: SpreadDocument, document: SpreadDocument, changed: BatchRows, watch: Watch
    ) -> SpreadDocument:
        """Follow a batch that indexes have counted."""
        gone = changed.gone.column("row").to_pylist()
        broken = [kept for kept in self._kept(document) if document.tallies.get(kept.number)]
        is_missed = bool(gone) and not self.deciding(before).ids.isdisjoint(gone)
        if not broken and not is_missed and document.types == before.types:
            return document
        rows = replace(self.deciding(before), types=tuple(document.types)).without(gone)
        if broken:
            rows = rows.plus(changed.come.slice(0, rows.room()))
            rows = self._with_witnesses(document, rows, broken)
        return self._settled(_without(document, broken), rows, watch)

    @staticmethod
    def _kept(document: SpreadDocument) -> list[KeptLaw]:
        return [kept_law(number, law) for number, law in document.found.checked.items()]

    def _with_witnesses(self, document: SpreadDocument, rows: DecidingRows, broken: Sequence[KeptLaw]) -> DecidingRows:
        """The rows with two that break each of some laws, where such are known; where not, the law is counted anew."""
        known = (document.witnesses.get(kept.number) for kept in broken)
        ids = {row.id for witness in known if witness is not None for row in witness.rows} - rows.ids
        return rows.plus(self._rows.find_ids(document.row_segments, sorted(ids))) if ids else rows

    def _settled(
        self, document: SpreadDocument, rows: DecidingRows, watch: Watch, progress: Progress = _untold
    ) -> SpreadDocument:
        """Find out which laws hold on all rows, until these are the laws of the deciding ones."""
        while True:
            sought = rows.laws(document.settings, watch)
            _refuse_too_many(sought)
            known = set(document.found.checked.values())
            if not (new := [law for law in sought.checked if law not in known]):
                break
            progress(f"counting what breaks {len(new):,} laws that {rows.table.num_rows:,} rows obey")
            document, kept = _with_candidates(document, new)
            document = self._indexes.counted(document, kept, watch)
            broken = [each for each in kept if document.tallies.get(each.number)]
            rows = self._with_witnesses(document, rows, broken)
            document = _without(document, broken)
            if not broken:
                break
        wanted = set(sought.checked)
        document = _without(document, [kept for kept in self._kept(document) if kept.law not in wanted])
        return self._with_rows(replace(document, found=replace(document.found, told=sought.told)), rows)

    def _with_rows(self, document: SpreadDocument, rows: DecidingRows) -> SpreadDocument:
        """Write the deciding rows; those of before stay until segments are joined, since somebody may be reading."""
        table, old = rows.table.sort_by("row"), document.found.rows
        segment = self._segments.write(frame_of(self._spark, table))
        self._known = segment.name, table
        replaced = document.replaced if old is None else (*document.replaced, old.name)
        return replace(document, found=replace(document.found, rows=segment), replaced=replaced)

    def discard(self, names: Iterable[str]) -> None:
        """Remove segments of deciding rows, where that can be done."""
        self._segments.discard(names)

    def changes(
        self, before: SpreadDocument, after: SpreadDocument, places: RowPlaces
    ) -> tuple[LawsChange, dict[Law, Views]]:
        """The laws that went and came, and for some that are broken two rows that break each."""
        if before.found.told == after.found.told:
            return LawsChange([], [], 0), {}
        went, came = (
            sorted(set(one.found.told) - set(other.found.told), key=_reading_order)
            for one, other in ((before, after), (after, before))
        )
        rows = self.deciding(after)
        refuting = rows.refuting(went, after.settings)
        removed = _in_blocks(went)
        implied = [np.array([refuting[law] is None for law in block.values], np.bool_) for block in removed]
        shown = [(law, pair) for law, pair in refuting.items() if pair is not None][:_MOST_SHOWN]
        ids = rows.table.column("row").to_pylist()
        places.learn(ids[place] for _, pair in shown for place in pair)
        views = {law: _views(after, rows.table, law, pair, places) for law, pair in shown}
        return LawsChange(removed, _in_blocks(came), 0, implied), views

    def differences(self, document: SpreadDocument) -> list[str]:
        """Say in words what of the deciding rows, and the laws that they decide, is not as it should be."""
        rows, told = self.deciding(document), []
        there = self._rows.find_ids(document.row_segments, sorted(rows.ids))
        if there.select(rows.table.column_names).sort_by("row") != rows.table.sort_by("row"):
            told.append("some of the rows that decide the laws are not in the table")
        sought = rows.laws(document.settings, Watch())
        found = document.found
        if set(sought.told) != set(found.told) or set(sought.checked) != set(found.checked.values()):
            told.append(f"{len(found.told):,} laws are kept, and there are {len(sought.told):,}, not the same")
        return told


def _with_candidates(document: SpreadDocument, laws: Sequence[Law]) -> tuple[SpreadDocument, list[KeptLaw]]:
    """A document with more laws to be counted."""
    found = document.found
    kept = [kept_law(number, law) for number, law in enumerate(laws, found.next)]
    checked = {**found.checked, **{each.number: each.law for each in kept}}
    return replace(document, found=replace(found, checked=checked, next=found.next + len(kept))), kept


def _without(document: SpreadDocument, laws: Iterable[KeptLaw]) -> SpreadDocument:
    """A document without some of the laws that were found, and without what was counted of them."""
    gone = {kept.number for kept in laws}

    def left(known: Mapping[int, Any]) -> dict[int, Any]:
        return {number: value for number, value in known.items() if number not in gone}

    if not gone:
        return document
    return replace(
        document,
        found=replace(document.found, checked=left(document.found.checked)),
        tallies=left(document.tallies),
        witnesses=left(document.witnesses),
        ranges=left(document.ranges),
    )


def _refuse_too_many(sought: Sought) -> None:
    if len(sought.checked) > MOST_LAWS:
        raise UsageError(
            f"{len(sought.checked):,} laws would have to be kept, and a state that is spread over a cluster keeps "
            f"{MOST_LAWS} at most: each has an index of its own",
            "Bound them with --max-size, --columns or fewer kinds in --find, or pin some and say --only-pinned.",
        )


def _reading_order(law: Law) -> tuple[str, int, str]:
    return kind_of(law), len(columns_of(law)), repr(law)


def _in_blocks(laws: Sequence[Law]) -> list[ToldLaws]:
    """Laws that are sorted by kind, kind by kind."""
    return [ToldLaws(kind, tuple(own)) for kind, own in groupby(laws, kind_of)]


def _views(document: SpreadDocument, rows: pa.Table, law: Law, pair: tuple[int, int], places: RowPlaces) -> Views:
    """Two rows as people want to see them, with their values in the columns of a law."""
    names = {column: document.columns[column].name for column in columns_of(law)}
    ids = [rows.column("row")[place].as_py() for place in pair]
    first, second = (
        RowView(
            id_, places.place(id_), {name: rows.column(f"c{column}")[place].as_py() for column, name in names.items()}
        )
        for id_, place in zip(ids, pair, strict=True)
    )
    return first, second
