"""The frame of every command: a table encoded, an engine opened on it, the time of each step taken."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lawful.common.arguments import mapping, text, texts
from lawful.common.errors import ArgumentError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.tables.encoded_table import METADATA, EncodedTable, ranks_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lawful.engines import Engine
    from lawful.results.violating_rows import ViolatingRows

EngineName = Literal["auto", "local", "spark"]
ENGINES: tuple[EngineName, ...] = ("auto", "local", "spark")
Placement = Literal["auto", "replicate", "shuffle"]
PLACEMENTS: tuple[Placement, ...] = ("auto", "replicate", "shuffle")
SMALL_FILES = 256 << 20
"""Files up to this size are read in this process when nobody says otherwise: Spark's start would cost more."""
Progress = Callable[[str], None]
"""Is told what a run is doing now, in a few words."""


def silent(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class SparkSettings:
    """The Spark to start or to connect to, where no session is given.

    Parameters
    ----------
    master
        The master, such as `local[4]` or `spark://host:7077`.
    remote
        A Spark Connect server, such as `sc://host:15002`.
    driver_memory
        The memory of a driver that is started, such as `4g`.
    conf
        More settings of Spark, such as `{"spark.executor.memory": "8g"}`; they win over lawful's own.
    packages
        Packages that Spark is to fetch, by their Maven coordinates, such as `["org.apache.hadoop:hadoop-aws:3.4.1"]`.
    placement
        Where the rows of a table are: `replicate` keeps all of them on every node, `shuffle` spreads them over the
        nodes, `auto` does that for tables that are too large for a node.
    session
        A session to use instead of one that is started or connected to.
    """

    master: str | None = None
    remote: str | None = None
    driver_memory: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    placement: Placement = "auto"
    session: SparkSession | None = None

    def __post_init__(self) -> None:
        if self.placement not in PLACEMENTS:
            raise UsageError(f"unknown placement {self.placement!r}", f"Placements: {', '.join(PLACEMENTS)}.")
        if self.session is not None and (self.master or self.remote or self.driver_memory or self.conf):
            raise UsageError("a session is given, and how to start another one too", "Drop one.")
        conf = mapping("conf", self.conf, '{"spark.executor.memory": "8g"}')
        for name in conf:
            if not text("conf", name).startswith("spark."):
                raise UsageError(f"{name!r} is no setting of Spark", "Their names begin with spark.")
        if self.remote is not None and self.packages:
            raise UsageError(
                "packages are fetched by a Spark that is started, and a remote one runs already",
                "Drop --packages, and start the server with them.",
            )

    def all_conf(self) -> dict[str, str]:
        """The settings, with the packages among them."""
        packages = {"spark.jars.packages": ",".join(texts("packages", self.packages))} if self.packages else {}
        return {**{name: str(value) for name, value in self.conf.items()}, **packages}


@dataclass(frozen=True)
class Where:
    """Where to run: an engine by name, and the Spark that it uses."""

    engine: EngineName = "auto"
    master: str | None = None
    remote: str | None = None
    spark: SparkSession | None = None
    driver_memory: str | None = None
    threads: int | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    placement: Placement = "auto"

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UsageError(f"unknown engine {self.engine!r}", f"Engines: {', '.join(ENGINES)}.")
        if self.engine == "local" and (self.master or self.remote or self.conf):
            what = "a master or a remote is" if self.master or self.remote else "settings of Spark are"
            raise UsageError(f"the local engine uses no Spark, but {what} given", "Drop one.")
        if self.engine == "local" and self.placement != "auto":
            raise UsageError("the local engine has all rows in this process, so there is nothing to place", "Drop one.")

    @staticmethod
    def of(engine: EngineName, spark: SparkSession | SparkSettings | None) -> Where:
        """Make it of an engine's name and of a session, or the settings of one."""
        if isinstance(spark, SparkSettings):
            memory, conf = spark.driver_memory, spark.all_conf()
            return Where(
                engine,
                spark.master,
                spark.remote,
                spark.session,
                driver_memory=memory,
                conf=conf,
                placement=spark.placement,
            )
        if spark is not None and not hasattr(spark, "createDataFrame"):
            raise ArgumentError(
                f"spark must be a session or SparkSettings, not {spark!r}",
                'Write lawful.SparkSettings(master="local[2]").',
            )
        return Where(engine, spark=spark)

    def settle(self, source: Any) -> Literal["local", "spark"]:
        """Decide between the engines for a source.

        Spark is taken when it is asked for in any way, for Spark's own tables and frames, and for files that
        are large or not on this machine; everything else is quicker in this process.
        """
        if self.engine != "auto":
            return self.engine
        is_asked = self.master or self.remote or self.conf or self.placement != "auto"
        if is_asked or self.spark is not None or is_spark_frame(source):
            return "spark"
        if isinstance(source, str | os.PathLike):
            return "local" if is_small(str(source)) else "spark"
        return "local"

    def reads_here(self, source: Any) -> bool:
        """Whether this process alone reads a source."""
        return self.settle(source) == "local" and not is_spark_frame(source)


def is_spark_frame(source: Any) -> bool:
    """Whether a source is a DataFrame of Spark, told without importing Spark."""
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "mapInArrow")


def is_sparks_own(source: Any) -> bool:
    """Whether a source is a table or a query of Spark."""
    return isinstance(source, str) and source.startswith(("table:", "sql:"))


def is_small(source: str, limit: int = SMALL_FILES) -> bool:
    """Whether all files of a path together have at most so many bytes; what is not there is small."""
    if is_sparks_own(source) or "://" in source:
        return False
    path = Path(source)
    try:
        if not path.exists():
            return True  # the error that says so needs no Spark
    except OSError:  # a name that is too long, a folder that may not be looked into
        return True
    files = [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]
    return sum(file.stat().st_size for file in files) <= limit


@dataclass
class Run:
    """A run under way: its table and engine, and the seconds that its steps took."""

    table: EncodedTable
    engine: Engine
    null_policy: NullPolicy
    violating: ViolatingRows
    """Gives the violating rows of laws, also when the run is over."""
    seconds: dict[str, float] = field(default_factory=dict)
    was_cancelled: bool = False

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time of a block to a step."""
        with timed(self.seconds, step):
            yield

    def cancel(self) -> None:
        """Stop all work of the engine; it serves again when it is next opened."""
        self.was_cancelled = True
        self.engine.cancel()


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the time of a block to a step."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = round(seconds.get(step, 0.0) + time.perf_counter() - begin, 4)


def is_encoded_table(source: Any) -> bool:
    """Whether a path is a folder that holds an encoded table."""
    if not isinstance(source, str | os.PathLike) or is_sparks_own(source):
        return False
    folder = Path(source)
    try:
        return (folder / METADATA).is_file() and (folder / ranks_file(0)).parent.is_dir()
    except OSError:
        return False
