"""The dataset of a shuffled table: what lies where, and what is asked of it through Spark.

`ranks` is a Parquet dataset with a line per row: its id (`row`, 64 bits) and its ranks (`c0`, `c1`, …, 32 bits where
that is enough). A rank keeps the order of the values, and 0 is null. Whole numbers and dates are *direct*: the rank is
the distance from the least value. All others have a *dictionary*, `values/N`: the distinct values in their
order over all files, so that the rank of a value is its place. Values that were texts are texts there, beside the keys
(`key`) that they are ordered by, unless these tell them. Whatever is read here is a few rows.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lawful.common.arrays import Int64s
from lawful.common.meanings import NULL_RANK, ColumnType
from lawful.tables.ranking import typed_to_text
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import is_connect
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FEW_IDS = 500
"""So many ids are written into a query; more are joined."""
_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Coding:
    """How the values of a column became ranks.

    `low` is the least value of a direct column as a whole number, None for a dictionary. `files` are the files of the
    dictionary in their order, with how many values each has. No rank is above `highest`. `day_first` tells how dates
    with slashes were read.
    """

    highest: int
    low: int | None = None
    files: tuple[tuple[str, int], ...] = ()
    day_first: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether ranks need 64 bits."""
        return self.highest >= 2**31 - 1

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        files = [list(file) for file in self.files]
        return {"highest": self.highest, "low": self.low, "files": files, "day_first": self.day_first}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Coding:
        """Read what `to_dict` wrote."""
        low = document["low"]
        files = tuple((str(name), int(count)) for name, count in document["files"])
        return Coding(int(document["highest"]), None if low is None else int(low), files, document["day_first"])


def functions_of(spark: SparkSession) -> ModuleType:
    """Spark's functions for the kind of session that this is."""
    if is_connect(spark):
        from pyspark.sql.connect import functions as of_connect

        return of_connect
    from pyspark.sql import functions

    return functions


class ShuffledData:
    """The dataset of one table, read through a session.

    Parameters
    ----------
    spark
        The session.
    location
        Where the dataset is, as Spark names it.
    types, codings
        The type of each column's values, and how they became ranks.
    rows
        How many rows there are.
    """

    def __init__(
        self,
        spark: SparkSession,
        location: str,
        types: Sequence[ColumnType],
        codings: Sequence[Coding],
        rows: int,
    ) -> None:
        self.spark, self.location, self.types, self.codings, self.rows = spark, location, types, codings, rows
        self._known: dict[int, tuple[int, ...]] = {}
        self._texts: dict[int, dict[int, str]] = {}

    @property
    def width(self) -> int:
        """How many columns the table has."""
        return len(self.codings)

    @cached_property
    def ranks(self) -> DataFrame:
        """The ranks of all rows."""
        with translated():
            return self.spark.read.parquet(f"{self.location}/ranks")

    def expr(self, text: str) -> Any:
        """An expression of SQL as a column of this session's kind."""
        return functions_of(self.spark).expr(text)

    def dictionary(self, column: int) -> DataFrame:
        """The values of a column (`value`) with their ranks (`rank`)."""
        return numbered_values(self.spark, f"{self.location}/values/{column}", self.codings[column].files)

    def know(self, ids: Iterable[int], ranks: Iterable[Sequence[int]]) -> None:
        """Keep the ranks of rows that somebody has seen."""
        self._known.update(zip(ids, map(tuple, ranks), strict=True))

    def ranks_of(self, ids: Int64s) -> Int64s:
        """The ranks of some rows, `int64[rows, columns]`; those not seen before are fetched."""
        missing = [id_ for id_ in ids.tolist() if id_ not in self._known]
        fetched: dict[int, tuple[int, ...]] = {}
        if missing:
            found, ranks = as_arrays(self._rows_of(missing), self.width)
            fetched = dict(zip(found.tolist(), map(tuple, ranks.tolist()), strict=True))
            if len(missing) <= _FEW_IDS:
                self._known.update(fetched)
        rows = [self._known[id_] if id_ in self._known else fetched[id_] for id_ in ids.tolist()]
        return np.array(rows, np.int64).reshape(len(ids), self.width)

    def _rows_of(self, ids: Sequence[int]) -> pa.Table:
        with translated():
            if len(ids) <= _FEW_IDS:
                return self.ranks.where(f"row in ({', '.join(map(str, ids))})").toArrow()
            wanted = frame_of(self.spark, pa.table({"row": pa.array(ids, pa.int64())}))
            return self.ranks.join(wanted.hint("broadcast"), "row", "left_semi").toArrow()

    def text(self, row: int, column: int) -> str | None:
        """The value of a cell as text, None for null."""
        rank = int(self.ranks_of(np.array([row]))[0, column])
        if rank == NULL_RANK:
            return None
        known = self._texts.setdefault(column, {})
        if rank not in known:  # with it, those of all rows that were seen: they are likely to be shown too
            wanted = {rank} | {ranks[column] for ranks in list(self._known.values())[-_FEW_IDS:]} - {NULL_RANK}
            known.update(self.texts_of(column, sorted(wanted - known.keys())))
        return known[rank]

    def texts_of(self, column: int, ranks: Sequence[int]) -> dict[int, str]:
        """The values of some ranks of a column as texts."""
        low = self.codings[column].low
        if low is not None:
            return {rank: _direct_text(low + rank - 1, self.types[column]) for rank in ranks}
        if not ranks:
            return {}
        with translated():
            found = self.dictionary(column).where(f"rank in ({', '.join(map(str, ranks))})").toArrow()
        texts = typed_to_text(found.column("value").combine_chunks()).to_pylist()
        return dict(zip(found.column("rank").to_pylist(), texts, strict=True))

    def with_values(self, rows: DataFrame, columns: Sequence[int] | None = None) -> DataFrame:
        """Rows that are known by their ids (`lawful_row`), with the values of all or some columns (`v0`, …), lazily."""
        shown = range(self.width) if columns is None else columns
        frame = rows.join(self.ranks.selectExpr("row as lawful_row", *(f"c{column}" for column in shown)), "lawful_row")
        for column in shown:
            frame = self.valued(frame, column).drop(f"c{column}")
        return frame.select(*rows.columns, *(f"v{column}" for column in shown))

    def valued(self, frame: DataFrame, column: int, *, as_dates: bool = False) -> DataFrame:
        """Rows that have the ranks of a column, with its values (`v0`, …) beside them; dates from texts, if asked."""
        low, is_date = self.codings[column].low, self.types[column] is ColumnType.DATE
        if low is not None:
            number = f"nullif(c{column}, 0) + ({low}L) - 1"
            return frame.selectExpr("*", f"{_as_date(number) if is_date else number} as v{column}")
        values = self.distinct_values(column) if as_dates else self.dictionary(column)
        return frame.join(values.selectExpr(f"rank as c{column}", f"value as v{column}"), f"c{column}", "left")

    def distinct_values(self, column: int) -> DataFrame:
        """The values of a column (`value`), each once with its rank (`rank`); dates from texts as dates."""
        name = f"c{column}"
        if self.codings[column].low is not None:
            ranks = self.ranks.where(f"{name} <> 0").select(name).distinct()
            return self.valued(ranks, column).selectExpr(f"{name} as rank", f"v{column} as value")
        values = self.dictionary(column)
        is_key = self.types[column] is ColumnType.DATE and "key" in values.columns
        return values.selectExpr("rank", f"{_as_date('key') if is_key else 'value'} as value")

    def direct_values(self, column: int, ranks: Int64s) -> pa.Array:
        """The values of some ranks of a direct column."""
        values = pa.array(ranks + ((self.codings[column].low or 0) - 1))
        return values.cast(pa.int32()).cast(pa.date32()) if self.types[column] is ColumnType.DATE else values

    def are_twins(self, first: int, second: int, distinct: int) -> bool:
        """Whether two columns with so many values each, null counted, meet in as many pairs, and null meets null."""
        pairs = self.ranks.selectExpr(f"c{first} as a", f"c{second} as b").distinct()
        counts = [self.expr("count(*) as pairs"), self.expr("count_if((a = 0) <> (b = 0)) as mixed")]
        with translated():
            found = pairs.agg(*counts).toArrow().to_pylist()[0]
        return bool(found["pairs"] == distinct and found["mixed"] == 0)


def as_arrays(rows: pa.Table, width: int) -> tuple[Int64s, Int64s]:
    """The ids and the ranks of rows that were fetched."""
    ids = rows.column("row").to_numpy()
    ranks = np.empty((rows.num_rows, width), np.int64)
    for column in range(width):
        ranks[:, column] = rows.column(f"c{column}").to_numpy()
    return ids, ranks


def numbered_values(spark: SparkSession, location: str, files: Sequence[tuple[str, int]]) -> DataFrame:
    """The values of a dictionary, and their keys if it has some, with their places, counted from 1 over its files."""
    values = spark.read.parquet(location)
    names = values.columns
    values = values.selectExpr(*names, "_metadata.file_name as file", "_metadata.row_index as place")
    return with_offsets(values, files).selectExpr(*names, "first + place + 1 as rank")


def with_offsets(frame: DataFrame, files: Sequence[tuple[str, int]]) -> DataFrame:
    """Rows of files (`file`) with the number of rows in all files before theirs (`first`)."""
    if len(files) <= 1:
        return frame.selectExpr("*", "0L as first")
    counts = np.array([count for _, count in files], np.int64)
    names, firsts = [name for name, _ in files], (np.cumsum(counts) - counts).tolist()
    table = pa.table({"file": pa.array(names, pa.string()), "first": pa.array(firsts, pa.int64())})
    return frame.join(frame_of(frame.sparkSession, table).hint("broadcast"), "file")


def _as_date(days: str) -> str:
    return f"date_from_unix_date(cast({days} as int))"


def _direct_text(value: int, type_: ColumnType) -> str:
    return (_EPOCH + datetime.timedelta(value)).isoformat() if type_ is ColumnType.DATE else str(value)
