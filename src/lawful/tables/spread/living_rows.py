"""The rows of a spread table: lines of rows that came and of rows that left, in buckets by what tells rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from lawful.tables.shuffled.data import functions_of
from lawful.tables.spark_errors import translated
from lawful.tables.spread.segments import Segment, Segments, bucket_text, parts_of, texts_of, to_join
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class LivingRows:
    """Rows by their texts.

    Parameters
    ----------
    spark, location
        The session, and the folder of the rows.
    width
        How many columns there are.
    identity
        The columns that tell rows apart: the row key, or all.
    buckets
        How many buckets there are.
    """

    def __init__(self, spark: SparkSession, location: str, width: int, identity: Sequence[int], buckets: int) -> None:
        self._spark, self._identity, self._buckets = spark, tuple(identity), buckets
        self.columns = [f"c{column}" for column in range(width)]
        schema = ", ".join(["row bigint", "n int", *(f"{name} string" for name in self.columns)])
        self.segments = Segments(spark, location, schema, ["bucket"])

    def changed(self, gone: pa.Table, come: pa.Table) -> DataFrame:
        """Rows that leave and rows that come, each with its id (`row`) and its texts, as lines."""
        signs = [pa.array([sign] * table.num_rows, pa.int32()) for sign, table in ((-1, gone), (1, come))]
        parts = [table.append_column("n", sign) for sign, table in zip(signs, (gone, come), strict=True)]
        table = pa.concat_tables(parts).select(["row", "n", *self.columns])
        return frame_of(self._spark, table)

    def write(self, lines: DataFrame, *, is_small: bool) -> Segment:
        """Write lines as a new segment."""
        bucket = bucket_text(texts_of(self._identity), self._buckets)
        return self.segments.write(lines.selectExpr("*", f"{bucket} as bucket"), is_small=is_small)

    def live(self, segments: Sequence[Segment], parts: set[str] | None = None) -> DataFrame:
        """The rows that are there, all or those of some parts."""
        lines = self.segments.read(segments, parts)
        came, left = lines.where("n > 0").select("row", *self.columns), lines.where("n < 0").select("row")
        return came.join(left, "row", "left_anti")

    def joined(self, segments: Sequence[Segment]) -> list[Segment]:
        """Fewer segments with the same rows."""
        if (start := to_join(segments)) < 0:
            return list(segments)
        some = segments[start:]
        whole = self.live(some).selectExpr("row", "1 as n", *self.columns)
        lines = self.segments.read(some).select("row", "n", *self.columns) if start else whole
        return [*segments[:start], self.write(lines, is_small=False)]

    def find(self, segments: Sequence[Segment], wanted: pa.Table) -> pa.Table:
        """The rows that have some texts in the columns that tell rows apart; of each as many as are wanted at most.

        Parameters
        ----------
        wanted
            Columns `want` (a number), `most`, and the texts as `w0`, `w1`, …

        Returns
        -------
        pa.Table
            Columns `want`, `row`, and the texts of the row.
        """
        names = [f"w{place}" for place in range(len(self._identity))]
        text = bucket_text(f"cast(array({', '.join(names)}) as array<string>)", self._buckets)
        with translated():
            frame = frame_of(self._spark, wanted)
            buckets = {row[0] for row in frame.selectExpr(text).distinct().collect()}
            parts = {f"bucket={bucket}" for bucket in buckets} & parts_of(segments)
            is_it = " and ".join(f"c{column} <=> {name}" for column, name in zip(self._identity, names, strict=True))
            met = self.live(segments, parts).join(
                frame.hint("broadcast"), functions_of(self._spark).expr(is_it or "true")
            )
            placed = met.selectExpr("*", "row_number() over (partition by want order by row) as place")
            return placed.where("place <= most").select("want", "row", *self.columns).orderBy("want", "row").toArrow()

    def find_ids(self, segments: Sequence[Segment], ids: Sequence[int]) -> pa.Table:
        """The rows with some ids, with their texts; this reads all rows."""
        with translated():
            wanted = frame_of(self._spark, pa.table({"row": pa.array(ids, pa.int64())}))
            return self.live(segments).join(wanted.hint("broadcast"), "row", "left_semi").orderBy("row").toArrow()

    def count(self, segments: Sequence[Segment]) -> int:
        """How many rows are there."""
        with translated():
            return self.live(segments).count()

    def has_repeated(self, segments: Sequence[Segment]) -> bool:
        """Whether two rows are the same in the columns that tell rows apart."""
        names = [f"c{column}" for column in self._identity]
        with translated():
            return bool(self.live(segments).groupBy(*names).count().where("count > 1").limit(1).count())
