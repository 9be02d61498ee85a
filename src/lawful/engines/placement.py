"""Where the rows of a table go: all on every node, or spread over the nodes.

Replicated rows are quicker as long as a node has room for them: its disk and memory for the ranks of all columns, and
each of its tasks for one column while the table is encoded. That is the question Spark asks of joins: broadcast what is
small, shuffle what is not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lawful.common.machine import memory_bytes
from lawful.engines.session_settings import runs_on_this_machine
from lawful.engines.worker_memory import bytes_of
from lawful.tables.encoded_table import MOST_ROWS
from lawful.tables.files import format_of
from lawful.tables.options import ReadOptions
from lawful.tables.spark_errors import translated
from lawful.tables.spark_facts import is_connect, parallelism
from lawful.tables.spark_files import list_on_spark, parquet_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RANK_BYTES = 4
_ROW_BYTES_OF_A_TASK = 24
"""What a row of a column takes in the task that ranks it: a code, a rank, and its share of values and pieces."""
_SMALL = 256 << 20
"""Files of fewer bytes are replicated without a look at their rows."""


@dataclass(frozen=True)
class Placed:
    """Where rows go, and why."""

    is_shuffled: bool
    because: str


def place(rows: int, width: int, node_bytes: int, tasks: int) -> Placed:
    """Decide for a table of so many rows and columns, on nodes of so much memory that run so many tasks."""
    needed = rows * (_RANK_BYTES * width + _ROW_BYTES_OF_A_TASK * tasks)
    size = f"{rows:,} rows x {width} would take {needed >> 20:,} MB of each node, which has {node_bytes >> 20:,} MB"
    return Placed(rows > MOST_ROWS or needed > node_bytes, size)


def placed_source(spark: SparkSession, source: Any, options: ReadOptions) -> Placed:
    """Decide for a source: only of Parquet files the rows are known before they are read."""
    if not isinstance(source, str | os.PathLike) or str(source).startswith(("table:", "sql:")):
        return Placed(False, "how many rows a table, query or frame has is not known before it is read")
    with translated():
        files = list_on_spark(spark, os.fspath(source))
        if format_of(files.paths, options, os.fspath(source)) != "parquet" or options.types:
            return Placed(False, "only Parquet files can be shuffled, with the types that they have")
        if sum(int(entry[1]) for entry in files.identity) < _SMALL:
            return Placed(False, f"the files are smaller than {_SMALL >> 20} MB")
        frame = parquet_rows(spark, files)
        rows = frame.count()
    width = len(frame.columns if options.columns is None else options.columns)
    return place(rows if options.limit is None else min(rows, options.limit), width, *node_of(spark))


def node_of(spark: SparkSession) -> tuple[int, int]:
    """The memory of a node and the tasks that it runs, as far as the session tells."""
    if not is_connect(spark):
        master = spark.sparkContext.master or ""
        if runs_on_this_machine(master) and not master.startswith("local-cluster"):
            return memory_bytes(), parallelism(spark)
    heap = bytes_of(spark.conf.get("spark.executor.memory", "1g") or "1g") or 1 << 30
    python = bytes_of(spark.conf.get("spark.executor.pyspark.memory", "") or "") or heap
    return heap + python, max(1, int(spark.conf.get("spark.executor.cores", "1") or 1))
