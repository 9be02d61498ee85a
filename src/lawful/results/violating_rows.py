"""Where a result gets the violating rows of a law from: an engine that is opened for it when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lawful.common.meanings import NullPolicy
    from lawful.dependencies import Law
    from lawful.engines import Engine
    from lawful.tables.encoded_table import EncodedTable


class ViolatingRows(Protocol):
    """Gives the violating rows of laws on one table, whether the run that checked them is over or not."""

    def engine(self) -> AbstractContextManager[Engine]:
        """Give an engine that is open on the table, for as long as it is needed."""

    def frame(self, law: Law, rows: int) -> DataFrame | None:
        """Give the rows as a Spark DataFrame if the source was Spark's; `rows` says how many there are."""


@dataclass(frozen=True)
class RowsHere:
    """Violating rows found by this process."""

    table: EncodedTable
    null_policy: NullPolicy

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Give an engine in this process."""
        from lawful.engines.local import LocalEngine

        engine = LocalEngine()
        engine.open(self.table, self.null_policy)
        try:
            yield engine
        finally:
            engine.close()

    def frame(self, law: Law, rows: int) -> None:
        """There is no Spark."""
