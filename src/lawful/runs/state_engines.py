"""The engines of a state that is open: this process or, where Spark is asked for or rows come from there, Spark."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.common.meanings import NullPolicy
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.maintenance.living_state import MakeEngine
from lawful.runs.run import Where, is_spark_frame, is_sparks_own
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.kept_tables import discard
from lawful.tables.local_pipeline import published

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class StateEngines:
    """Makes engines. A Spark that has to be started for them is started once, and stopped with the state.

    Parameters
    ----------
    where
        Where to run. If that is left open, Spark runs what it is given a session for, and the batches that it reads.
    stack
        What is let go when the state is closed.
    """

    def __init__(self, where: Where, stack: ExitStack) -> None:
        self._where, self._stack = where, stack
        self._session: SparkSession | None = where.spark

    def for_sources(self, *sources: Any) -> MakeEngine:
        """What makes the engines that follow a batch of these sources."""
        if self._session is None:
            self._session = next((source.sparkSession for source in sources if is_spark_frame(source)), None)
        return self._on_spark if self._is_for_spark(sources) else lambda: LocalEngine(self._where.threads)

    def is_here(self, *sources: Any) -> bool:
        """Whether this process alone follows a batch of these sources."""
        return not self._is_for_spark(sources)

    def reads_here(self, *sources: Any) -> bool:
        """Whether this process alone reads these sources."""
        return all(self.where_to_read(source).reads_here(source) for source in sources if source is not None)

    def where_to_read(self, source: Any) -> Where:
        """Where a batch is read: files that are here and small by this process, unless Spark is asked for by name."""
        if self._where.engine == "spark" or is_spark_frame(source) or is_sparks_own(source):
            return self._where
        return Where("auto")

    def _is_for_spark(self, sources: tuple[Any, ...]) -> bool:
        where = self._where
        if where.engine != "auto":
            return where.engine == "spark"
        is_asked_for = where.master or where.remote or where.spark is not None
        return bool(is_asked_for) or any(is_spark_frame(source) or is_sparks_own(source) for source in sources)

    def spark(self) -> SparkSession:
        """The session, which is started if there is none."""
        from lawful.engines.session import spark_session

        if self._session is None:
            where = self._where
            handle = spark_session(where.master, where.remote, driver_memory=where.driver_memory, extra=where.conf)
            self._session = self._stack.enter_context(handle).spark
        return self._session

    def _on_spark(self) -> Any:
        from lawful.engines.spark import SparkEngine

        return _OnViews(SparkEngine(self.spark()))


class _OnViews:
    """An engine on Spark that is given views: what workers read has to be in a folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._folder: Path | None = None

    def open(self, table: EncodedTable, null_policy: NullPolicy) -> None:
        """Write the table to a folder, and open that."""
        self.close()
        written = published(table)
        self._folder = written.folder
        try:
            self._engine.open(written, null_policy)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the table, and remove its folder."""
        self._engine.close()
        if self._folder is not None:
            discard(self._folder)
            self._folder = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
