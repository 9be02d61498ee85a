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
from lawful.engines.session import is_scratch
from lawful.tables.spark_errors import translated
from lawful.tables.to_spark import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = "table:"
_STATE, _VERSION = "_state", "_version"
_TOLD = ("_law", "_reason", "_place", "_batch", _STATE)
_WITH_CATALOG = 2
"""Dots in a name that has a catalog before the schema and the table."""


class QuarantineTable:
    """A table for rows that were put aside.

    Parameters
    ----------
    spark, name
        The session, and the name of the table.
    columns
        The columns of the state's table.
    """

    def __init__(self, spark: SparkSession, name: str, columns: Iterable[str]) -> None:
        self._spark, self.name = spark, name
        own = tuple(columns)
        texts = [(column, pa.string()) for column in (*own, *_TOLD)]
        self._schema = pa.schema([*texts, (_VERSION, pa.int64())])
        taken = {column.casefold() for column in own} & {*_TOLD, _VERSION}
        if taken:
            raise UsageError(
                f"the table has a column {min(taken)!r}, which a quarantine needs for itself",
                "Name a folder for the quarantine.",
            )

    def prepare(self, state: str, version: int) -> None:
        """Make the table if it is not there; refuse one that cannot take the rows of a state at some version."""
        with self._told():
            self._refuse_to_lose()
            if not self._spark.catalog.tableExists(self.name):
                frame_of(self._spark, self._schema.empty_table()).write.saveAsTable(self.name)
            there = {name.casefold(): type_ for name, type_ in self._spark.table(self.name).dtypes}
        wanted = {field.name.casefold(): "bigint" if field.name == _VERSION else "string" for field in self._schema}
        if there != wanted:
            raise SourceError(
                f"the table {self.name} is there, and its columns are not those of this quarantine",
                "Name another table for the rows that are put aside.",
            )
        if (last := self.last_version(state)) > version:
            raise UsageError(
                f"the table {self.name} has rows of version {last} of {state}, which is at version {version}",
                "Remove the rows of the state that was there before, or name another table.",
            )

    def _refuse_to_lose(self) -> None:
        """Refuse a table that would be gone with the session."""
        if is_scratch(str(self._spark.conf.get("spark.sql.warehouse.dir"))) and self.name.count(".") < _WITH_CATALOG:
            raise UsageError(
                f"the table {self.name} would be gone with the Spark that lawful has started",
                "Name a folder; or hand over a session, or settings (--conf), with a catalog that lasts.",
            )

    def last_version(self, state: str) -> int:
        """The last version of a state that the table has rows of; 0 if it has none."""
        with self._told():
            self._spark.catalog.refreshTable(self.name)  # others may have written to it
            table = self._spark.table(self.name)
            found = table.where(table[_STATE] == state).agg({_VERSION: "max"}).collect()
        return int(found[0][0] or 0)

    def append(self, state: str, version: int, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the rows of one version, each with what was wrong with it."""
        lines = [{**row, _STATE: state, _VERSION: version} for row in rows]
        with self._told():
            frame = frame_of(self._spark, pa.Table.from_pylist(lines, self._schema))
            in_order = self._spark.table(self.name).columns
            frame.select(*(f"`{name.replace('`', '``')}`" for name in in_order)).coalesce(1).write.insertInto(self.name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say which table it is that Spark has no way with."""
        try:
            with translated():
                yield
        except (SourceError, EngineError) as error:
            raise SourceError(
                f"rows cannot be put aside in the table {self.name}: {error.typed_message}",
                "What the state has put aside comes to the table when it can be written.",
            ) from None
