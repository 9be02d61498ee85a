"""The rows of a Spark DataFrame under the ids that they were encoded with, so that they can be found again.

Rows are numbered as Spark hands them out: partition by partition, and within a partition in its order. Spark's
`monotonically_increasing_id` numbers them in the same way, with the partition in its upper bits; so an id leads back to
a row as long as Spark hands the rows out as it did when they were encoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lawful.common.arrays import Int64s

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PARTITION_BITS = 33
"""Below these, Spark counts the rows of a partition."""
_COMPARED = re.compile(
    r"tinyint|smallint|int|bigint|float|double|decimal\(.*\)|string|boolean|binary|date|timestamp|timestamp_ntz"
)
"""The types whose values come back from Python as they went there."""


@dataclass(frozen=True, eq=False)
class RowPlaces:
    """Where the rows of a table are in its partitions; small enough to travel with a task.

    `first_rows` has the id of the first row of each partition that has any, `partitions` the number of that partition.
    """

    first_rows: Int64s
    partitions: Int64s

    @staticmethod
    def of(sizes: Iterable[tuple[int, int]]) -> RowPlaces:
        """Number rows by the sizes of partitions, given as (partition, rows) in the order of the partitions."""
        listed = [(partition, rows) for partition, rows in sizes if rows]
        counts = np.array([rows for _, rows in listed], np.int64)
        return RowPlaces(np.cumsum(counts) - counts, np.array([partition for partition, _ in listed], np.int64))

    def sparks_ids(self, rows: Int64s) -> Int64s:
        """The number that Spark gives to each of some rows."""
        place = np.searchsorted(self.first_rows, rows, side="right") - 1
        ids: Int64s = (self.partitions[place] << _PARTITION_BITS) + rows - self.first_rows[place]
        return ids


@dataclass(frozen=True, eq=False)
class SourceRows:
    """A DataFrame whose rows were encoded.

    Attributes
    ----------
    frame
        The DataFrame, with all of its columns.
    kept
        The places of the encoded columns among its columns.
    retyped
        The encoded columns for which the user chose a type: their values are no longer those of the DataFrame.
    places
        Where its rows were.
    """

    frame: DataFrame
    kept: Sequence[int]
    retyped: frozenset[int]
    places: RowPlaces

    def comparable(self, columns: Iterable[int]) -> dict[int, str]:
        """Those of some encoded columns whose values can be held against the DataFrame's, with their Spark types."""
        fields = self.frame.schema.fields
        types = {column: fields[self.kept[column]].dataType.simpleString() for column in columns}
        return {c: type_ for c, type_ in types.items() if c not in self.retyped and _COMPARED.fullmatch(type_)}
