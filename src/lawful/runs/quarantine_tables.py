"""Rows that were put aside, in a table of Spark's: nothing twice and nothing lost, whatever is killed.

The table says how far it is: each row has the state and the version that it was put aside from. Rows of a version come
in one file or, where the table's format has transactions, in one of these, so a version is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lawful.common.errors import EngineError, SourceError, UsageError
from lawful.tables.spark_errors import translated
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = "table:"
_STATE, _VERSION = "_state", "_version"
_TOLD = ("_law", "_reason", "_place", "_batch", _STATE)


class QuarantineTable:
    """A table for rows that were put aside.

    Parameters
    ----------
    spark, name
        The session, and the name of the table, which is made when the first row comes.
    columns
        The columns of the state's table.
    """

    def __init__(self, spark: SparkSession, name: str, columns: Iterable[str]) -> None:
        self._spark, self._name = spark, name
        self._columns = tuple(columns)
        taken = {column.casefold() for column in self._columns} & {*_TOLD, _VERSION}
        if taken:
            raise UsageError(
                f"the table has a column {min(taken)!r}, which a quarantine needs for itself",
                "Name a folder for the quarantine.",
            )

    def refuse_others(self) -> bool:
        """Refuse a table with other columns; says whether there is one."""
        with self._told():
            if not self._spark.catalog.tableExists(self._name):
                return False
            there = {name.casefold() for name in self._spark.table(self._name).columns}
        if there != {name.casefold() for name in (*self._columns, *_TOLD, _VERSION)}:
            raise SourceError(
                f"the table {self._name} is there, and its columns are not those of this quarantine",
                "Name another table for the rows that are put aside.",
            )
        return True

    def last_version(self, state: str) -> int:
        """The last version of a state that the table has rows of; 0 if it has none."""
        if not self.refuse_others():
            return 0
        with self._told():
            table = self._spark.table(self._name)
            found = table.where(table[_STATE] == state).agg({_VERSION: "max"}).collect()
        return int(found[0][0] or 0)

    def append(self, state: str, version: int, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the rows of one version, each with what was wrong with it."""
        lines = [{**row, _STATE: state, _VERSION: version} for row in rows]
        texts = [(name, pa.string()) for name in (*self._columns, *_TOLD)]
        table = pa.Table.from_pylist(lines, pa.schema([*texts, (_VERSION, pa.int64())]))
        with self._told():
            frame_of(self._spark, table).coalesce(1).write.mode("append").saveAsTable(self._name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say which table it is that Spark has no way with."""
        try:
            with translated():
                yield
        except (SourceError, EngineError) as error:
            raise SourceError(
                f"rows cannot be put aside in the table {self._name}: {error.typed_message}",
                "What the state has put aside comes to the table when it can be written.",
            ) from None
