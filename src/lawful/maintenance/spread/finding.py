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

As long as a table is no larger than a sample, all of its rows are deciding ones, and no law needs an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Words
from lawful.common.errors import EngineError, UsageError
from lawful.dependencies import Law, LawKind, columns_of, kind_of
from lawful.discovery.questions import Progress, Watch
from lawful.engines.spread.kept_laws import KeptLaw
from lawful.maintenance.kept_laws import LawsChange
from lawful.maintenance.restoring import untold
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.spread.batch_rows import BatchRows
from lawful.maintenance.spread.deciding_rows import DecidingRows, sample_size
from lawful.maintenance.spread.document import SpreadDocument
from lawful.maintenance.spread.found_laws import by_index
from lawful.maintenance.spread.indexes import Indexes
from lawful.maintenance.spread.keeping import found_laws
from lawful.maintenance.witness_views import Views
from lawful.results.check_report import RowView
from lawful.tables.spark_errors import translated
from lawful.tables.spread.living_rows import LivingRows
from lawful.tables.spread.past import RowPlaces
from lawful.tables.spread.segments import Segments
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_INDEXES = 200
"""Indexes that a state has beside those of pinned laws: every batch adds lines to each."""
MOST_CANDIDATES = 1_000
"""Indexes that are made of what a sample obeys: some of these laws are broken on all rows."""
MOST_TOLD = 10_000
"""Laws of a table that is no larger than a sample: they are all in the manifest."""
_MOST_SHOWN = 100
"""So many of the laws that a batch broke are told with two rows that break them."""


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
        rows = DecidingRows(self._sample(document), tuple(document.types))
        return self._settled(document, rows, watch, progress)

    def _sample(self, document: SpreadDocument) -> pa.Table:
        """Some rows of the table, always the same; all, if it is no larger than a sample."""
        placed = self._rows.live(document.row_segments).selectExpr("*", "xxhash64(row) as place").orderBy("place")
        with translated():
            return placed.limit(sample_size(len(document.columns))).drop("place").orderBy("row").toArrow()

    def followed(
        self, before: SpreadDocument, document: SpreadDocument, changed: BatchRows, watch: Watch
    ) -> SpreadDocument:
        """Follow a batch that indexes have counted."""
        gone, known = changed.gone.column("row").to_pylist(), self.deciding(before)
        broken = [kept for kept in found_laws(document) if document.tallies.get(kept.number)]
        is_missed = not known.ids.isdisjoint(gone)
        is_whole = len(known.ids) == before.rows
        if not (broken or is_missed or is_whole) and document.types == before.types:
            return document
        rows = replace(known, types=tuple(document.types)).without(gone)
        if broken or is_whole:
            rows = rows.plus(changed.come.slice(0, rows.room()))
        rows = self._with_witnesses(document, rows, broken)
        if len(rows.ids) < document.rows and (rows.is_small or not _is_large(document)):
            rows = rows.plus(self._sample(document))
        return self._settled(_without(document, broken), rows, watch)

    def _with_witnesses(self, document: SpreadDocument, rows: DecidingRows, broken: Sequence[KeptLaw]) -> DecidingRows:
        """The rows with two that break each of some laws, where such are known; where not, the law is counted anew."""
        known = (document.witnesses.get(kept.number) for kept in broken)
        ids = {row.id for witness in known if witness is not None for row in witness.rows} - rows.ids
        return rows.plus(self._rows.find_ids(document.row_segments, sorted(ids))) if ids else rows

    def _settled(
        self, document: SpreadDocument, rows: DecidingRows, watch: Watch, progress: Progress = untold
    ) -> SpreadDocument:
        """Find out which laws hold on all rows, until these are the laws of the deciding ones."""
        sought = rows.laws(document.settings, watch)
        _refuse_too_many(len(sought.told), MOST_TOLD, "laws")
        while len(rows.ids) < document.rows:
            _refuse_too_many(len(by_index(sought.checked)), MOST_CANDIDATES, "indexes")
            known = set(document.found.checked.values())
            unknown = by_index(law for law in sought.checked if law not in known)
            if not (new := [law for own in unknown[:MOST_INDEXES] for law in own]):
                break
            progress(f"counting what breaks {len(new):,} laws that {len(rows.ids):,} rows obey")
            document = replace(document, found=document.found.with_more(new))
            kept = found_laws(document)[-len(new) :]
            document = self._indexes.counted(document, kept, watch)
            if broken := [each for each in kept if document.tallies.get(each.number)]:
                grown = self._with_witnesses(document, rows, broken)
                document, rows = _without(document, broken), _larger(grown, rows)
                sought = rows.laws(document.settings, watch)
            kept_on = {*document.found.checked.values()} & {*sought.checked}
            _refuse_too_many(len(by_index(kept_on)), MOST_INDEXES, "indexes")
        wanted = set(sought.checked) if len(rows.ids) < document.rows else set()
        document = _without(document, [kept for kept in found_laws(document) if kept.law not in wanted])
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
        ids = rows.table.column("row").to_pylist()
        shown = [(law, pair) for law, pair in refuting.items() if pair is not None][:_MOST_SHOWN]
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
        found, is_whole = document.found, len(rows.ids) == document.rows
        checked = set() if is_whole else set(sought.checked)
        if set(sought.told) != set(found.told) or checked != set(found.checked.values()):
            told.append(f"{len(found.told):,} laws are kept, and there are {len(sought.told):,}, not the same")
        return told


def _is_large(document: SpreadDocument) -> bool:
    """Whether a table is larger than a sample."""
    return document.rows > sample_size(len(document.columns))


def _larger(grown: DecidingRows, rows: DecidingRows) -> DecidingRows:
    """Rows that have grown; if two that break a law of theirs were not found, nothing would ever be settled."""
    if len(grown.ids) == len(rows.ids):
        raise EngineError(
            "a law that some rows obey is broken, and no two rows were found that break it",
            "Nothing was changed. See what `lawful state --verify` says.",
        )
    return grown


def _without(document: SpreadDocument, laws: Iterable[KeptLaw]) -> SpreadDocument:
    """A document without some of the laws that were found, and without what was counted of them."""
    gone = {kept.number for kept in laws}

    def left(known: Mapping[int, Any]) -> dict[int, Any]:
        return {number: value for number, value in known.items() if number not in gone}

    if not gone:
        return document
    return replace(
        document,
        found=document.found.without(gone),
        tallies=left(document.tallies),
        witnesses=left(document.witnesses),
        ranges=left(document.ranges),
    )


def _refuse_too_many(count: int, most: int, what: str) -> None:
    if count > most:
        raise UsageError(
            f"{count:,} {what} would have to be kept, and a state that is spread over a cluster has room for {most:,}: "
            "functional dependencies of one left side share an index, each other law has its own",
            "Make the state with --max-size, --columns or fewer kinds in --find; or with --only-pinned and some --pin.",
        )


def _reading_order(law: Law) -> tuple[str, int, str]:
    return kind_of(law), len(columns_of(law)), repr(law)


def _in_blocks(laws: Sequence[Law]) -> list[ToldLaws]:
    """Laws that are sorted by kind, kind by kind."""
    return [ToldLaws(kind, tuple(own)) for kind, own in groupby(laws, kind_of)]


def _views(document: SpreadDocument, rows: pa.Table, law: Law, pair: Sequence[int], places: RowPlaces) -> Views:
    """Two rows as people want to see them, with their values in all columns of a law, also those no index needs."""
    names = {f"c{column}": document.columns[column].name for column in columns_of(law)}
    first, second = (
        RowView(line["row"], places.place(line["row"]), {name: line[cell] for cell, name in names.items()})
        for line in rows.take(pa.array(pair, pa.int64())).to_pylist()
    )
    return first, second
