"""The index of the laws of a table: one dataset, in parts by law and bucket."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from lawful.common.meanings import ColumnType, NullPolicy
from lawful.engines.spread.kept_laws import KeptLaw, in_classes
from lawful.engines.spread.lines import LINES, LINES_BY, added_up, lines_of, rows_left, shortened
from lawful.engines.spread.met_rows import MetRows, met_rows
from lawful.engines.spread.tallies import Tally, suspected, tallied
from lawful.tables.spark_errors import translated
from lawful.tables.spread.segments import Segment, Segments, to_join

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Tallies = Mapping[int, Mapping[int, Tally]]
"""Tallies by the number of the law and the bucket."""


class LawIndex:
    """Writes and reads the lines of laws.

    Parameters
    ----------
    spark, location
        The session, and the folder of the index.
    laws, names
        The laws, and the names of the table's columns.
    null
        What null means.
    buckets
        How many buckets the lines of each law are in.
    """

    def __init__(
        self,
        spark: SparkSession,
        location: str,
        laws: Sequence[KeptLaw],
        names: Sequence[str],
        null: NullPolicy,
        buckets: int,
    ) -> None:
        self._laws, self._names, self._null, self._buckets = in_classes(laws), names, null, buckets
        self.segments = Segments(spark, location, LINES, LINES_BY)

    def write(
        self, rows: DataFrame, laws: Sequence[KeptLaw], *, is_small: bool, others: DataFrame | None = None
    ) -> Segment:
        """Write the lines of rows (`row`, `n`, `c0`, …) for some laws with classes; and others.

        Rows came and left if they are a batch, which `is_small`; otherwise they all came.
        """
        with translated():
            own = in_classes(laws)
            frames = [lines_of(rows, own, self._null, self._buckets, all_came=not is_small)] if own else []
            if others is not None:
                frames.append(others.select("key", "rest", "n", "rows", "t", "bucket"))
            return self.segments.write(reduce(lambda one, other: one.unionAll(other), frames), is_small=is_small)

    def tallies(
        self,
        segments: Sequence[Segment],
        parts: Collection[str],
        types: Sequence[ColumnType],
        first_new: int,
        batch: Segment | None = None,
    ) -> Tallies:
        """What the lines of some parts say; or only those of the classes that a batch has lines of.

        Parameters
        ----------
        first_new, batch
            The first id of rows that came with a batch, and its segment.
        """
        if not parts:
            return {}
        with translated():
            lines = self.segments.read(segments, parts)
            if batch is None:
                lines = suspected(lines, self._laws)
            else:
                lines = self._of_classes(lines, self.segments.read([batch], parts))
        fresh = "" if batch is None else batch.name
        return tallied(lines, self._laws, self._names, types, self._null, first_new, fresh)

    @staticmethod
    def _of_classes(lines: DataFrame, classes: DataFrame) -> DataFrame:
        """The lines of some classes; where these are few, Spark sends them to all tasks, and no line is shuffled."""
        return lines.join(classes.select("t", "key"), ["t", "key"], "left_semi")

    def tallies_of_rows(self, rows: DataFrame, types: Sequence[ColumnType], first_new: int) -> Tallies:
        """What the lines of all rows (`row`, `c0`, …) would say if they were made now."""
        if not self._laws:
            return {}
        lines = lines_of(rows.selectExpr("*", "1 as n"), self._laws, self._null, self._buckets, all_came=True)
        return tallied(lines, self._laws, self._names, types, self._null, first_new)

    def met(self, segments: Sequence[Segment], gone: DataFrame, come: DataFrame) -> MetRows:
        """What stays of the classes that rows come to, once others have left (both as lines of rows)."""
        if not self._laws:
            return {}
        with translated():
            classes = lines_of(come, self._laws, self._null, self._buckets).select("t", "bucket", "key").distinct()
            touched = classes.select("t", "bucket").distinct().collect()
            by_number = {kept.written.number: kept for kept in self._laws}
            parts = {by_number[row["t"]].part(row["bucket"]) for row in touched}
            leaving = lines_of(gone, self._laws, self._null, self._buckets)
            lines = self.segments.read(segments, parts).drop("segment").unionByName(leaving)
            return met_rows(added_up(self._of_classes(lines, classes.hint("broadcast"))), self._laws)

    def joined(self, segments: Sequence[Segment], is_read: str, is_ranged: str) -> list[Segment]:
        """Fewer segments that say the same; conditions tell the parts that are read, and those without classes."""
        if (start := to_join(segments)) < 0:
            return list(segments)
        with translated():
            lines = self.segments.read(segments[start:]).where(is_read).drop("segment")
            if not start:
                lines = shortened(added_up(lines.where(f"not ({is_ranged})")), self._laws).unionByName(
                    rows_left(lines.where(is_ranged))
                )
            return [*segments[:start], self.segments.write(lines)]
